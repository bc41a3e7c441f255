/* Every environment variable of collopt, in one table.
 *
 * The rows below are parsed, warned about, hashed, listed by collopt-info and, with the text of
 * doc/manual/variables.md, documented. No other file of the backend looks at the environment. */
#include "config.h"

#include "settings/settings.h"
#include "base/arithmetic.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"
#include "catalogue/choice.h"
#include "catalogue/expression.h"
#include "model/machine.h"
#include "schedule/problem.h"
#include "settings/rules.h"
#include "settings/search_path.h"
#include "topology/host_file.h"
#include "topology/topology.h"

#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>

/* ---- the table ------------------------------------------------------------------------------- */

#define FIELD(f) .field = offsetof(struct collopt_settings, f)
#define FORCE(NAME, c, call) \
    { .name = "COLLOPT_" NAME, .kind = COLLOPT_EXPRESSION, .scope = COLLOPT_AGREED, \
      .values = "ALGORITHM[:KEY=VALUE,...]|host|auto", \
      .preset = "", .collective = c, FIELD(force[c]), \
      .help = "the algorithm for " call "; host: the MPI library's own" }

static const struct collopt_setting_row rows[] = {
    { .name = "COLLOPT", .kind = COLLOPT_SWITCH, .scope = COLLOPT_AGREED, .values = "on|off",
      .preset = "on", FIELD(on), .help = "off: every call goes to the MPI library untouched" },
    /* before COLLOPT_AFTER, which it sets: where ranks differ, the message names the first row */
    { .name = "COLLOPT_REPRODUCIBLE", .kind = COLLOPT_WORD, .scope = COLLOPT_AGREED,
      .values = "off|placement|exact", .preset = "off", FIELD(reproducible),
      .help = "placement: bits depend on nothing but the call; exact: sums are correctly rounded" },
    { .name = "COLLOPT_AFTER", .kind = COLLOPT_NUMBER, .scope = COLLOPT_AGREED, .values = "N|auto",
      .preset = "auto", .least = 1, .most = 1000000000, FIELD(after),
      .help = "take over a communicator at its N-th reduction; auto: once that pays" },
    { .name = "COLLOPT_BEYOND_WORLD", .kind = COLLOPT_SWITCH, .scope = COLLOPT_AGREED,
      .values = "on|off", .preset = "off", FIELD(beyond_world),
      .help = "on: also take over communicators with processes of another MPI_COMM_WORLD, if all "
              "have collopt" },
    { .name = "COLLOPT_PCONTROL", .kind = COLLOPT_SWITCH, .scope = COLLOPT_AGREED,
      .values = "on|off", .preset = "off", FIELD(pcontrol),
      .help = "on: MPI_Pcontrol(0) switches collopt off, 1 on, 2 on with the counters at zero" },
    { .name = "COLLOPT_CHECK", .kind = COLLOPT_SWITCH, .scope = COLLOPT_AGREED, .values = "on|off",
      .preset = "off", FIELD(check),
      .help = "on: before each call, compare over the ranks what they call and with which "
              "arguments" },
    { .name = "COLLOPT_ADAPT", .kind = COLLOPT_SWITCH, .scope = COLLOPT_AGREED, .values = "on|off",
      .preset = "off", FIELD(adapt),
      .help = "on: try algorithms and the MPI library on the program's own calls, and stay with "
              "the fastest" },
    { .name = "COLLOPT_ADAPT_RULES", .kind = COLLOPT_TEXT, .scope = COLLOPT_SET_AGREED,
      .values = "FILE", .preset = "", FIELD(adapt_rules),
      .help = "with COLLOPT_ADAPT=on: at MPI_Finalize, write what was learnt as rules" },
    { .name = "COLLOPT_LOG", .kind = COLLOPT_WORD, .scope = COLLOPT_LOCAL,
      .values = "warn|decide|trace", .preset = "warn", FIELD(log),
      .help = "decide: say once per problem what runs and why; trace: say everything" },
    { .name = "COLLOPT_REPORT", .kind = COLLOPT_TEXT, .scope = COLLOPT_SET_AGREED,
      .values = "FILE|stderr", .preset = "", FIELD(report),
      .help = "at MPI_Finalize, write what was run: JSON to FILE or a table to stderr" },
    { .name = "COLLOPT_TRACE", .kind = COLLOPT_TEXT, .scope = COLLOPT_SET_AGREED,
      .values = "FILE", .preset = "", FIELD(trace),
      .help = "at MPI_Finalize, each rank writes a timeline of its reductions to FILE.<rank>" },
    { .name = "COLLOPT_TRACE_SIZE", .kind = COLLOPT_BYTES, .scope = COLLOPT_LOCAL,
      .values = "BYTES", .preset = "4M", .least = 4096, .most = (size_t)1 << 36,
      FIELD(trace_size),
      .help = "memory of each process for COLLOPT_TRACE, at most; a call takes 72 bytes" },
    { .name = "COLLOPT_RECORD", .kind = COLLOPT_SWITCH, .scope = COLLOPT_LOCAL,
      .values = "on|off", .preset = "on", FIELD(record),
      .help = "on: write down the latest calls where `collopt ps` finds them" },
    { .name = "COLLOPT_STALL", .kind = COLLOPT_NUMBER, .scope = COLLOPT_LOCAL,
      .values = "SECONDS|off", .preset = "off", .least = 1, .most = 1000000, FIELD(stall),
      .help = "say where the ranks of a node are once one waits for so long in a reduction" },
    { .name = "COLLOPT_STALL_ABORT", .kind = COLLOPT_SWITCH, .scope = COLLOPT_LOCAL,
      .values = "on|off", .preset = "off", FIELD(stall_abort),
      .help = "on: end the job when COLLOPT_STALL has said so" },
    { .name = "COLLOPT_WAIT", .kind = COLLOPT_WORD, .scope = COLLOPT_LOCAL,
      .values = "auto|spin|yield", .preset = "auto", FIELD(wait),
      .help = "how to wait for a message; auto: yield the processor where ranks outnumber "
              "processors" },
    { .name = "COLLOPT_SHM", .kind = COLLOPT_WORD, .scope = COLLOPT_AGREED, .values = "auto|off",
      .preset = "auto", FIELD(shm),
      .help = "auto: send within a node by shared memory where it can be had" },
    { .name = "COLLOPT_SHM_SIZE", .kind = COLLOPT_BYTES, .scope = COLLOPT_AGREED, .values = "BYTES",
      .preset = "16M", .least = 65536, .most = (size_t)1 << 36, FIELD(shm_size),
      .help = "shared memory of each process, at most" },
    { .name = "COLLOPT_ASYNC", .kind = COLLOPT_WORD, .scope = COLLOPT_LOCAL,
      .values = "off|thread", .preset = "off", FIELD(async),
      .help = "thread: a thread carries persistent and nonblocking reductions on while the program "
              "computes" },
    { .name = "COLLOPT_GPU", .kind = COLLOPT_WORD, .scope = COLLOPT_AGREED,
      .values = "auto|host|native", .preset = "auto", FIELD(gpu),
      .help = "device memory; auto: staged in host memory; host: there is none; native: all is the "
              "MPI library's" },
    { .name = "COLLOPT_OFFLOAD", .kind = COLLOPT_WORD, .scope = COLLOPT_AGREED,
      .values = "auto|host|ignore", .preset = "auto", FIELD(offload),
      .help = "Allreduce and Reduce between nodes; auto: the MPI library's where it has HCOLL or "
              "the like" },
    { .name = "COLLOPT_NODES", .kind = COLLOPT_WORD, .scope = COLLOPT_AGREED,
      .values = "auto|names", .preset = "auto", FIELD(nodes),
      .help = "names: ranks of one machine with names or networks of their own are not one node" },
    { .name = "COLLOPT_TOPOLOGY", .kind = COLLOPT_SHAPE, .scope = COLLOPT_AGREED,
      .values = "torus:NxN...|mesh:NxN...|nodes:N[,N...]|file:FILE|cartesian|none",
      .preset = "auto", FIELD(topology),
      .help = "how the ranks of MPI_COMM_WORLD lie in the machine; auto: what can be found" },
    { .name = "COLLOPT_CUT", .kind = COLLOPT_BYTES, .scope = COLLOPT_AGREED, .values = "BYTES",
      .preset = "1G", .least = 1, .most = INT_MAX, FIELD(cut),
      .help = "longest message; longer ones are cut" },
    { .name = "COLLOPT_SCRATCH", .kind = COLLOPT_BYTES, .scope = COLLOPT_LOCAL, .values = "BYTES",
      .preset = "64M", .least = 0, .most = SIZE_MAX, FIELD(scratch),
      .help = "scratch memory that a process keeps between calls" },
    { .name = "COLLOPT_COMMUNICATORS", .kind = COLLOPT_NUMBER, .scope = COLLOPT_LOCAL,
      .values = "N", .preset = "16384", .least = 0, .most = 1000000, FIELD(communicators),
      .help = "communicators that collopt takes over at a time, at most" },
    { .name = "COLLOPT_ISA", .kind = COLLOPT_TEXT, .scope = COLLOPT_LOCAL, .values = "auto|NAME",
      .preset = "auto", FIELD(isa),
      .help = "instruction set of the combining loops; auto: the best this processor has" },
    { .name = "COLLOPT_RULES", .kind = COLLOPT_RULES_FILE, .scope = COLLOPT_AGREED,
      .values = "FILE|none", .preset = "", FIELD(rules_file),
      .help = "rules that choose algorithms by ranks, nodes, bytes and operation" },
    { .name = "COLLOPT_MACHINE", .kind = COLLOPT_MACHINE_FILE, .scope = COLLOPT_AGREED,
      .values = "FILE|none", .preset = "", FIELD(machine_file),
      .help = "latencies and bandwidths that the cost model computes with" },
      FORCE("REDUCE", COLLOPT_REDUCE, "MPI_Reduce"), FORCE("ALLREDUCE", COLLOPT_ALLREDUCE,
                                                           "MPI_Allreduce"),
    FORCE("REDUCE_SCATTER", COLLOPT_REDUCE_SCATTER, "MPI_Reduce_scatter"),
    FORCE("REDUCE_SCATTER_BLOCK", COLLOPT_REDUCE_SCATTER_BLOCK, "MPI_Reduce_scatter_block"),
    FORCE("SCAN", COLLOPT_SCAN, "MPI_Scan"),
    FORCE("EXSCAN", COLLOPT_EXSCAN, "MPI_Exscan"),
};

enum { ROWS = sizeof rows / sizeof *rows, SHOWN = 80 };

const struct collopt_setting_row *collopt_setting_rows(int *n)
{
    *n = ROWS;
    return rows;
}

static const char *nth_name(int i, const void *data)
{
    (void)data;
    return rows[i].name;
}

/* ---- words separated by | -------------------------------------------------------------------- */

/* The I-th word of "on|off" into WORD, which has room for every word of the table; false if there
 * is none. */
enum { WORD = 32, WORDS = 8 };

static bool nth_word(const char *words, int i, char *word)
{
    size_t n;
    const char *found = collopt_word(words, i, &n);

    snprintf(word, WORD, "%.*s", (int)n, found ? found : "");
    return found != NULL;
}

struct words {
    int n;
    char word[WORDS][WORD];
};

static const char *nth_of_words(int i, const void *data)
{
    return ((const struct words *)data)->word[i];
}

/* Writes "it takes auto|spin|yield; did you mean spin?" */
static void suggest(const char *values, const char *text, char *message, size_t size)
{
    struct words w = { 0 };
    char hint[COLLOPT_HINT];

    while (w.n < WORDS && nth_word(values, w.n, w.word[w.n]))
        w.n++;
    snprintf(message, size, "it takes %s%s", values,
             collopt_hint(hint, "; did you mean ", text, w.n, nth_of_words, &w));
}

/* ---- one value ------------------------------------------------------------------------------- */

/* Other words for on and off. */
static int switch_value(const char *text)
{
    static const char *const on[] = { "on", "1", "yes", "true" },
                             *const off[] = { "off", "0", "no", "false" };

    for (int i = 0; i < 4; i++) {
        if (strcmp(text, on[i]) == 0)
            return 1;
        if (strcmp(text, off[i]) == 0)
            return 0;
    }
    return -1;
}

static bool in_range(const struct collopt_setting_row *row, size_t value, char *message,
                     size_t size)
{
    char from[24], to[24];

    if (value >= row->least && value <= row->most)
        return true;
    snprintf(from, sizeof from, "%zu", row->least);
    snprintf(to, sizeof to, "%zu", row->most);
    if (row->kind == COLLOPT_BYTES) {
        collopt_size_text(row->least, from, sizeof from);
        collopt_size_text(row->most, to, sizeof to);
    }
    snprintf(message, size, "it takes %s to %s", from, to);
    return false;
}

static const char not_forced[] = "auto";        /* an algorithm, as in info keys and rules: as if
                                                 * nothing were said */
static const char no_file[] = "none";   /* stands for no file, also not one in a default place */

static bool is_file(const struct collopt_setting_row *row)
{
    return row->kind == COLLOPT_RULES_FILE || row->kind == COLLOPT_MACHINE_FILE;
}

/* Was CONTENTS read? Else MESSAGE says what is wrong; the command LISTER lists all of it. */
static bool is_read(const void *contents, const struct collopt_mistakes *m, const char *lister,
                    char *message, size_t size)
{
    if (!contents)
        collopt_mistakes_text(m, lister, message, size);
    return contents != NULL;
}

static bool read_rules(struct collopt_settings *s, const char *file, char *message, size_t size)
{
    struct collopt_mistakes m = { .file = file };

    s->rules = collopt_rules_read(file, collopt_note_mistake, &m);
    return is_read(s->rules, &m, "collopt-tune --check", message, size);
}

static bool read_machine(struct collopt_settings *s, const char *file, char *message, size_t size)
{
    struct collopt_mistakes m = { .file = file };

    s->machine = collopt_machine_read(file, collopt_note_mistake, &m);
    return is_read(s->machine, &m, "collopt-info --check-machine", message, size);
}

static bool read_hosts(struct collopt_settings *s, const char *file, char *message, size_t size)
{
    struct collopt_mistakes m = { .file = file };

    s->hosts = collopt_hosts_read(file, collopt_note_mistake, &m);
    return is_read(s->hosts, &m, "collopt-info --check-topology", message, size);
}

static bool read_shape(struct collopt_settings *s, const char *text, char *message, size_t size)
{
    struct collopt_shape shape;

    return collopt_parse_shape(text, &shape, message, size)
        && (shape.kind != COLLOPT_HOSTS || read_hosts(s, shape.file, message, size));
}

/* The word that stands for 0; NULL: there is none. */
static const char *word_for_none(const struct collopt_setting_row *row)
{
    bool word = row->kind == COLLOPT_NUMBER && strchr(row->values, '|');

    return word ? strchr(row->values, '|') + 1 : NULL;
}

/* Sets ROW's field to TEXT; else MESSAGE says what would be right. */
static bool set(struct collopt_settings *s, const struct collopt_setting_row *row, const char *text,
                char *message, size_t size)
{
    void *field = (char *)s + row->field;
    const char *none = word_for_none(row);
    struct collopt_choice choice;
    size_t value;
    int word;

    switch (row->kind) {
    case COLLOPT_SWITCH:
        word = switch_value(text);
        if (word < 0) {
            suggest(row->values, text, message, size);
            return false;
        }
        *(bool *)field = word;
        return true;
    case COLLOPT_WORD:
        word = collopt_word_index(row->values, text, strlen(text));
        if (word < 0) {
            suggest(row->values, text, message, size);
            return false;
        }
        /* whatever enum it is */
        memcpy(field, &(unsigned){ (unsigned)word }, sizeof(unsigned));
        return true;
    case COLLOPT_NUMBER:
        if (none && strcmp(text, none) == 0) {
            *(int *)field = 0;
            return true;
        }
        /* fall through */
    case COLLOPT_BYTES:
        if (!collopt_parse_size(text, &value)) {
            snprintf(message, size, "it takes a number%s%s%s",
                     row->kind == COLLOPT_BYTES ? " of bytes, such as 512, 64K, 1M, 2G"
                                                : ", such as 8",
                     none ? ", or " : "", none ? none : "");
            return false;
        }
        if (!in_range(row, value, message, size))
            return false;
        if (row->kind == COLLOPT_BYTES)
            *(size_t *)field = value;
        else
            *(int *)field = (int)value;
        return true;
    case COLLOPT_EXPRESSION:
        if (strcmp(text, not_forced) == 0)
            text = row->preset;
        else if (!collopt_parse_choice(text, row->collective, &choice, message, size))
            return false;
        break;
    case COLLOPT_SHAPE:
        if (strcmp(text, row->preset) != 0 && !read_shape(s, text, message, size))
            return false;
        break;
    case COLLOPT_RULES_FILE:
        if (strcmp(text, no_file) != 0 && !read_rules(s, text, message, size))
            return false;
        break;
    case COLLOPT_MACHINE_FILE:
        if (strcmp(text, no_file) != 0 && !read_machine(s, text, message, size))
            return false;
        break;
    case COLLOPT_TEXT:
        break;
    }
    if (strcmp(text, row->preset) == 0 || (is_file(row) && strcmp(text, no_file) == 0))
        *(const char **)field = NULL;
    else
        *(const char **)field = strdup(text);
    return true;
}

_Static_assert(sizeof(enum collopt_log) == sizeof(unsigned)
                   && sizeof(enum collopt_wait) == sizeof(unsigned)
                   && sizeof(enum collopt_gpu) == sizeof(unsigned)
                   && sizeof(enum collopt_nodes) == sizeof(unsigned)
                   && sizeof(enum collopt_offloading) == sizeof(unsigned)
                   && sizeof(enum collopt_reproducible) == sizeof(unsigned),
               "set() and collopt_setting_value_text() copy enums as unsigned");

void collopt_setting_value_text(const struct collopt_settings *s,
                                const struct collopt_setting_row *row, char *text, size_t size)
{
    const void *field = (const char *)s + row->field;
    const char *none = word_for_none(row);
    struct collopt_choice choice;
    char message[8];
    const char *string;
    unsigned word;

    switch (row->kind) {
    case COLLOPT_SWITCH:
        snprintf(text, size, "%s", *(const bool *)field ? "on" : "off");
        return;
    case COLLOPT_WORD:
        memcpy(&word, field, sizeof word);
        if (size >= WORD)
            nth_word(row->values, (int)word, text);
        return;
    case COLLOPT_NUMBER:
        if (none && *(const int *)field == 0)
            snprintf(text, size, "%s", none);
        else
            snprintf(text, size, "%d", *(const int *)field);
        return;
    case COLLOPT_BYTES:
        collopt_size_text(*(const size_t *)field, text, size);
        return;
    case COLLOPT_EXPRESSION:
        string = *(const char *const *)field;
        if (string
            && collopt_parse_choice(string, row->collective, &choice, message, sizeof message))
            collopt_choice_text(&choice, text, size);
        else
            snprintf(text, size, "%s", row->preset);
        return;
    case COLLOPT_SHAPE:
    case COLLOPT_RULES_FILE:
    case COLLOPT_MACHINE_FILE:
    case COLLOPT_TEXT:
        string = *(const char *const *)field;
        snprintf(text, size, "%s", string ? string : row->preset);
        return;
    }
}

/* ---- the environment ------------------------------------------------------------------------- */

static const struct collopt_setting_row *row_named(const char *name, size_t n)
{
    for (int i = 0; i < ROWS; i++)
        if (strlen(rows[i].name) == n && memcmp(rows[i].name, name, n) == 0)
            return &rows[i];
    return NULL;
}

__attribute__((format(printf, 2, 3)))
static void tell(void (*warn)(const char *sentence), const char *format, ...)
{
    char sentence[1024];
    va_list ap;

    if (!warn)
        return;
    va_start(ap, format);
    vsnprintf(sentence, sizeof sentence, format, ap);
    va_end(ap);
    warn(sentence);
}

/* Variables set by modules, Spack and CMake for a library, and by collopt's own tests. */
static bool is_of_installations(const char *name, size_t n)
{
    static const char *const others[] = {
        "ROOT", "DIR", "HOME", "BASE", "PREFIX", "PATH", "BIN", "BINDIR", "LIB", "LIBDIR", "INC",
        "INCLUDE", "INCDIR", "MAN", "DOC", "VERSION", "BUILD", "SOURCE", NULL,
    };

    for (int i = 0; others[i]; i++)
        if (strlen(others[i]) == n && memcmp(others[i], name, n) == 0)
            return true;
    return false;
}

static void tell_unknown(void (*warn)(const char *sentence), const char *name, size_t n)
{
    char copy[SHOWN], hint[COLLOPT_HINT];

    snprintf(copy, sizeof copy, "%.*s", (int)(n < SHOWN ? n : SHOWN - 1), name);
    if (strcmp(copy, "COLLOPT_NODE_RANKS") == 0 || strcmp(copy, "COLLOPT_FAKE_NODES") == 0) {
        tell(warn, "%s is no variable any more and is ignored; write COLLOPT_TOPOLOGY=nodes:%.*s",
             copy, SHOWN, name[n] ? name + n + 1 : "");
        return;
    }
    tell(warn, "%s is not a variable of collopt and is ignored;%s collopt-info --all lists them",
         copy, collopt_hint(hint, " did you mean ", copy, ROWS, nth_name, NULL));
}

static void tell_value(void (*warn)(const char *sentence), const struct collopt_setting_row *row,
                       const char *value, const char *message)
{
    if (is_file(row)
        || (row->kind == COLLOPT_SHAPE && strncmp(value, "file:", 5) == 0 && value[5])) {
        tell(warn, "%s is not used: %s", row->name, message);
        return;
    }
    tell(warn, "%s=%.*s is not understood: %s%s %s%s", row->name, SHOWN, value, message,
         message[strlen(message) - 1] == '?' ? "" : ";", *row->preset ? "using " : "not forced",
         row->preset);
}

static const char *text_of(const struct collopt_settings *s, const struct collopt_setting_row *row)
{
    const char *text = *(const char *const *)((const char *)s + row->field);

    return text ? text : "";
}

/* Hashes the contents of files, not their names: nodes may have their own copies.  A text counts
 * to its last letter, however long. Expressions that mean the same are the same, unless they are
 * so long that they might not be written out whole. */
uint64_t collopt_setting_hash(const struct collopt_settings *s,
                              const struct collopt_setting_row *row)
{
    enum { LONG = 256 };
    char text[2 * LONG];

    if (row->scope == COLLOPT_LOCAL)
        return COLLOPT_HASH_START;
    if (row->kind == COLLOPT_RULES_FILE)
        return s->rules ? s->rules->hash : 0;       /* that of a file without rules */
    if (row->kind == COLLOPT_MACHINE_FILE)
        return s->machine ? s->machine->hash : 0;
    if (row->kind == COLLOPT_SHAPE && s->hosts)
        return s->hosts->hash;
    if (row->scope == COLLOPT_SET_AGREED)
        return collopt_hash_text(COLLOPT_HASH_START, *text_of(s, row) ? "set" : "");
    if (row->kind == COLLOPT_SHAPE || row->kind == COLLOPT_TEXT
        || (row->kind == COLLOPT_EXPRESSION && strlen(text_of(s, row)) >= LONG))
        return collopt_hash_text(COLLOPT_HASH_START, text_of(s, row));
    collopt_setting_value_text(s, row, text, sizeof text);
    return collopt_hash_text(COLLOPT_HASH_START, text);
}

/* Hashes everything that must be the same. */
static uint64_t hash(const struct collopt_settings *s)
{
    uint64_t h = COLLOPT_HASH_START;

    for (int i = 0; i < ROWS; i++)
        h = collopt_hash_text((h ^ collopt_setting_hash(s, &rows[i])) * COLLOPT_HASH_PRIME,
                              rows[i].name);
    return h;
}

/* Looks on the search path for files that no variable names. Returns the number of mistakes. */
static int look_for_file(struct collopt_settings *s, const struct collopt_setting_row *row,
                         char *const *environment, void (*warn)(const char *sentence))
{
    char path[4096], message[768];

    const char *ending = row->kind == COLLOPT_RULES_FILE ? "rules" : "machine";

    if (!collopt_default_file(environment, collopt_host_name, ending, path, sizeof path)
        || set(s, row, path, message, sizeof message))
        return 0;
    tell(warn, "a file of %s in a default place is not used: %s; %s=none keeps collopt from it",
         row->kind == COLLOPT_RULES_FILE ? "rules" : "machines", message, row->name);
    return 1;
}

static void drop_adapt_rules(struct collopt_settings *s)
{
    free((char *)s->adapt_rules);
    s->adapt_rules = NULL;
}

/* The host's first calls would be in the host's order, a tuned choice is another one elsewhere, and
 * candidates that take turns have as many orders. Returns how many settings have no effect. */
static int make_reproducible(struct collopt_settings *s, bool after_given, bool rules_given,
                             void (*warn)(const char *sentence))
{
    int idle = 0;

    if (s->reproducible == COLLOPT_NOT_REPRODUCIBLE)
        return 0;
    if (after_given && s->after != 1) {
        tell(warn,
             "COLLOPT_AFTER=%d has no effect: with COLLOPT_REPRODUCIBLE, communicators are taken "
             "over at their first reduction",
             s->after);
        idle++;
    }
    if (s->rules && rules_given) {
        tell(warn,
             "COLLOPT_RULES has an effect only where any order gives the same bits: "
             "COLLOPT_REPRODUCIBLE is set");
        idle++;
    }
    if (s->adapt) {
        tell(warn,
             "COLLOPT_ADAPT has no effect: COLLOPT_REPRODUCIBLE is set, and candidates combine in "
             "different orders");
        s->adapt = false;
        drop_adapt_rules(s);
        idle++;
    }
    s->after = 1;
    return idle;
}

int collopt_settings_from(struct collopt_settings *s, char *const *environment,
                          void (*warn)(const char *sentence))
{
    static const char prefix[] = "COLLOPT_";
    static const size_t own_part = sizeof prefix - 1;
    bool seen[ROWS] = { false };
    char message[768];
    int wrong = 0;

    *s = (struct collopt_settings){ .on = true };
    for (int i = 0; i < ROWS; i++)
        if (*rows[i].preset)
            set(s, &rows[i], rows[i].preset, message, sizeof message);
    for (char *const *variable = environment; variable && *variable; variable++) {
        const char *name = *variable;
        size_t n = strcspn(name, "=");
        const char *value = name[n] ? name + n + 1 : "";
        const struct collopt_setting_row *row = row_named(name, n);

        if (!row) {
            if (strncmp(name, prefix, own_part) == 0
                && !is_of_installations(name + own_part, n - own_part)) {
                tell_unknown(warn, name, n);
                wrong++;
            }
            continue;
        }
        if (!*value)            /* is not set */
            continue;
        if (seen[row - rows])   /* the first one counts, as for getenv */
            continue;
        seen[row - rows] = true;
        if (!set(s, row, value, message, sizeof message)) {
            tell_value(warn, row, value, message);
            wrong++;
        }
    }
    for (int i = 0; i < ROWS; i++)
        if (is_file(&rows[i]) && !seen[i])
            wrong += look_for_file(s, &rows[i], environment, warn);
    s->bundled = s->on && !s->machine && !seen[row_named("COLLOPT_MACHINE", 15) - rows];
    wrong += make_reproducible(s, seen[row_named("COLLOPT_AFTER", 13) - rows],
                               seen[row_named("COLLOPT_RULES", 13) - rows], warn);
    if (s->adapt_rules && !s->adapt) {
        tell(warn, "COLLOPT_ADAPT_RULES has no effect: nothing is learnt, COLLOPT_ADAPT is off");
        drop_adapt_rules(s);
        wrong++;
    }
    s->hash = hash(s);
    return wrong;
}

extern char **environ;

static struct collopt_settings settings;

static void warn(const char *sentence)
{
    collopt_warn("%s", sentence);
}

/* ---- privileged processes: the environment is their user's, whose files are not theirs to read or
 * write ------------- */

static bool names_file(const struct collopt_setting_row *row, const char *value)
{
    if (row->kind == COLLOPT_SHAPE)
        return strncmp(value, "file:", 5) == 0;
    if (row->kind == COLLOPT_TEXT)
        return strstr(row->values, "FILE") && *value && strcmp(value, "stderr") != 0;
    return is_file(row) && *value && strcmp(value, no_file) != 0;
}

/* HOME and XDG_CONFIG_HOME lead to the default files. */
static bool leads_to_file(const char *variable)
{
    size_t n = strcspn(variable, "=");
    const struct collopt_setting_row *row = row_named(variable, n);

    if (!row)
        return strncmp(variable, "HOME=", 5) == 0 || strncmp(variable, "XDG_CONFIG_HOME=", 16) == 0;
    if (!variable[n] || !names_file(row, variable + n + 1))
        return false;
    tell(warn,
         "%.*s is not used: the process has privileges that its user has not, and files that the "
         "user's environment names are neither read nor written",
         (int)n, variable);
    return true;
}

/* ENVIRONMENT without the variables that lead to files; NULL: no memory. */
static char **without_files(char *const *environment)
{
    size_t n = 0, kept = 0;
    char **list;

    while (environment && environment[n])
        n++;
    list = malloc((n + 1) * sizeof *list);
    for (size_t i = 0; list && i < n; i++)
        if (!leads_to_file(environment[i]))
            list[kept++] = environment[i];
    if (list)
        list[kept] = NULL;
    return list;
}

/* Numbers in files are the same on all ranks, however their programs round. */
static void read_settings(void)
{
    uint64_t arithmetic = collopt_default_fpenv();
    char **environment = getauxval(AT_SECURE) ? without_files(environ) : environ;

    collopt_settings_from(&settings, environment, warn);
    collopt_log_up_to(settings.log);
    if (environment != environ)
        free(environment);
    collopt_arithmetic_of(arithmetic);
}

const struct collopt_settings *collopt_settings(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_settings);
    return &settings;
}
