/* Settings for one run: algorithms with parameters that they can take, and what else changes the
 * way of a call. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "catalogue/expression.h"
#include "fuzz.h"
#include "schedule/descriptor.h"
#include "schedule/parameters.h"
#include "schedule/problem.h"
#include "settings/settings.h"

/* ---- algorithms ------------------------------------------------------------------------------ */

static const struct collopt_algorithm *any_algorithm(struct fuzz_random *r,
                                                     enum collopt_collective c, bool grouped)
{
    const struct collopt_algorithm *of[200];
    size_t n = 0;

    for (const struct collopt_algorithm *const *a = collopt_algorithms;
         *a && n < sizeof of / sizeof *of; a++)
        if ((*a)->collective == c && (grouped || !(*a)->grouped))
            of[n++] = *a;
    return of[fuzz_below(r, n)];
}

/* One of the words of "a|b|c". */
static void word(struct fuzz_random *r, const char *words, char *text, size_t size)
{
    size_t n = 1, i;

    for (const char *s = words; *s; s++)
        n += *s == '|';
    for (i = fuzz_below(r, n); i > 0; i--)
        words = strchr(words, '|') + 1;
    snprintf(text, size, "%.*s", (int)strcspn(words, "|"), words);
}

/* Dims for so many ranks. */
static void list(struct fuzz_random *r, int ranks, char *text, size_t size)
{
    size_t used = 0;
    int left = ranks;

    text[0] = '\0';
    for (int d = 2; left > 1 && used + 8 < size; d++)
        while (left % d == 0 && used + 8 < size) {
            int n = d;

            left /= d;
            if (left % d == 0 && fuzz_chance(r, 3)) {
                n *= d;
                left /= d;
            }
            used += (size_t)snprintf(text + used, size - used, "%s%d", used ? "x" : "", n);
        }
    if (used == 0)
        snprintf(text, size, "1");
}

static void parameter(struct fuzz_random *r, const struct collopt_parameter *p, int ranks,
                      char *text, size_t size)
{
    static const size_t bytes[] = { 1, 8, 100, 256, 1000, 4000, 4096, 8192, 30000, 65536, 1 << 20 };
    size_t value = p->bytes ? bytes[fuzz_below(r, sizeof bytes / sizeof *bytes)]
                            : p->least + fuzz_below(r, 9);

    value = value < p->least ? p->least : value > p->most ? p->most : value;
    if (p->algorithm)
        snprintf(text, size, "(%s)", any_algorithm(r, p->of, false)->name);
    else if (p->list_bits)
        list(r, ranks, text, size);
    else if (p->words)
        word(r, p->words, text, size);
    else
        snprintf(text, size, "%zu", value);
}

static void algorithm(struct fuzz_random *r, enum collopt_collective c, int ranks, char *text,
                      size_t size)
{
    const struct collopt_algorithm *a = any_algorithm(r, c, true);
    size_t used = (size_t)snprintf(text, size, "%s", a->name);
    char mark = ':';

    for (int i = 0; i < COLLOPT_PARAMETERS && a->parameter[i].name; i++) {
        char value[200];

        if (fuzz_chance(r, 3))
            continue;
        parameter(r, &a->parameter[i], ranks, value, sizeof value);
        used += (size_t)snprintf(text + used, size - used, "%c%s=%s", mark, a->parameter[i].name,
                                 value);
        mark = ',';
    }
}

/* Some parameters do not go together; then others are drawn. */
void job_algorithm(struct fuzz_random *r, int collective, int ranks, char text[JOB_WORDS])
{
    enum collopt_collective c = (enum collopt_collective)collective;
    struct collopt_choice choice;
    char why[300];

    do
        algorithm(r, c, ranks, text, JOB_WORDS);
    while (!collopt_parse_choice(text, c, &choice, why, sizeof why));
}

/* ---- settings -------------------------------------------------------------------------------- */

static void algorithm_or_host(struct fuzz_random *r, enum collopt_collective c, int ranks,
                              char *text)
{
    job_algorithm(r, (int)c, ranks, text);
    if (fuzz_chance(r, 30))
        snprintf(text, JOB_WORDS, "host");
}

/* What those settings are given whose kind does not say enough, and how often any are given at all:
 * once in N times. */
static const struct special {
    const char *name;
    size_t once_in;
    const char *words;          /* NULL: as their kind says */
} specials[] = {
    { "COLLOPT", 40, NULL },
    { "COLLOPT_REPRODUCIBLE", 6, "placement|exact" },
    { "COLLOPT_AFTER", 1, "1|1|1|1|1|2|4||" },         /* the last two: not given */
    { "COLLOPT_PCONTROL", 2, "on" },
    { "COLLOPT_CHECK", 6, NULL },
    { "COLLOPT_ADAPT", 6, "on" },
    { "COLLOPT_ADAPT_RULES", 4, "/dev/null" },
    { "COLLOPT_LOG", 0, NULL },
    { "COLLOPT_REPORT", 8, "/dev/null" },
    { "COLLOPT_TRACE", 8, "/dev/null" },
    { "COLLOPT_TRACE_SIZE", 0, NULL },          /* what has no room would be said */
    { "COLLOPT_STALL", 0, NULL },       /* says where calls are not recorded */
    { "COLLOPT_STALL_ABORT", 0, NULL },
    { "COLLOPT_WAIT", 4, NULL },
    { "COLLOPT_ASYNC", 6, "thread" },
    { "COLLOPT_GPU", 8, "host|auto|host|native" },
    { "COLLOPT_NODES", 8, "names" },
    { "COLLOPT_OFFLOAD", 8, "host|ignore" },
    { "COLLOPT_TOPOLOGY", 3,
      "nodes:1|nodes:2|nodes:3|nodes:1,3,2|nodes:cyclic:2|nodes:cyclic:3" },
    { "COLLOPT_CUT", 3, "40|256|1000|4096|10000|100000" },
    { "COLLOPT_SCRATCH", 4, "0|5000|100K" },
    { "COLLOPT_COMMUNICATORS", 10, "0|2|3|1000" },
    { "COLLOPT_ISA", 5, "generic|auto" },
    { "COLLOPT_MACHINE", 8, "none" },
};

static const struct special *special_of(const char *name)
{
    static const struct special any = { NULL, 4, NULL };

    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (strcmp(specials[i].name, name) == 0)
            return &specials[i];
    return &any;
}

/* How the ranks of the world lie; of Cartesian communicators, as the program says. */
static void shape(struct fuzz_random *r, int ranks, char *text)
{
    static const char *const plain[] = { "cartesian", "none", "nodes:1", "nodes:2" };
    char dims[200];

    list(r, ranks, dims, sizeof dims);
    if (fuzz_chance(r, 2))
        snprintf(text, JOB_WORDS, "%s:%s", fuzz_chance(r, 2) ? "torus" : "mesh", dims);
    else
        snprintf(text, JOB_WORDS, "%s", plain[fuzz_below(r, sizeof plain / sizeof *plain)]);
}

/* A value for ROW; false: none that could be made up. */
static bool value_for(struct fuzz_random *r, const struct collopt_setting_row *row, int ranks,
                      char *text)
{
    const char *words = special_of(row->name)->words;

    if (words) {
        word(r, words, text, JOB_WORDS);
        return true;
    }
    switch (row->kind) {
    case COLLOPT_SWITCH:
    case COLLOPT_WORD:
        word(r, row->values, text, JOB_WORDS);
        return true;
    case COLLOPT_NUMBER:
    case COLLOPT_BYTES:
        snprintf(
            text, JOB_WORDS, "%zu",
            row->least
                + fuzz_below(r, row->most - row->least < 10 ? row->most - row->least + 1 : 10));
        return true;
    case COLLOPT_EXPRESSION:
        algorithm_or_host(r, row->collective, ranks, text);
        return true;
    case COLLOPT_SHAPE:
        shape(r, ranks, text);
        return true;
    case COLLOPT_RULES_FILE:
        snprintf(text, JOB_WORDS, "@%d", (int)fuzz_below(r, 100000));
        return true;
    default:
        return false;
    }
}

enum { MOST_ROWS = 100 };

struct settings {               /* by number of their row; "": not given */
    char value[MOST_ROWS][JOB_WORDS];
};

/* -1: there is none of that name. */
static int row_of(const char *name)
{
    int n;
    const struct collopt_setting_row *rows = collopt_setting_rows(&n);

    for (int i = 0; i < n && i < MOST_ROWS; i++)
        if (strcmp(rows[i].name, name) == 0)
            return i;
    return -1;
}

static bool is(const struct settings *s, const char *name, const char *value)
{
    int i = row_of(name);

    return strcmp(i < 0 ? "" : s->value[i], value) == 0;
}

static bool is_given(const struct settings *s, const char *name)
{
    return !is(s, name, "");
}

static void forget(struct settings *s, const char *name)
{
    int i = row_of(name);

    if (i >= 0)
        s->value[i][0] = '\0';
}

/* What would have no effect, which collopt says. */
static void make_consistent(struct settings *s)
{
    if (is_given(s, "COLLOPT_REPRODUCIBLE")) {
        forget(s, "COLLOPT_ADAPT");
        forget(s, "COLLOPT_AFTER");
        forget(s, "COLLOPT_RULES");
    }
    if (!is_given(s, "COLLOPT_ADAPT"))
        forget(s, "COLLOPT_ADAPT_RULES");
}

/* May the MPI library's own collectives run instead of collopt's? */
static bool host_may_run(const struct settings *s)
{
    for (int i = 0; i < MOST_ROWS; i++)
        if (strcmp(s->value[i], "host") == 0 && i != row_of("COLLOPT_GPU"))
            return true;
    return is(s, "COLLOPT", "off") || is(s, "COLLOPT_GPU", "native") || is_given(s, "COLLOPT_ADAPT")
        || is_given(s, "COLLOPT_COMMUNICATORS") || is_given(s, "COLLOPT_RULES")
        || (!is_given(s, "COLLOPT_REPRODUCIBLE") && !is(s, "COLLOPT_AFTER", "1"));
}

static void draw_settings(struct fuzz_random *r, int ranks, struct settings *s)
{
    int n;
    const struct collopt_setting_row *rows = collopt_setting_rows(&n);

    for (int i = 0; i < n && i < MOST_ROWS; i++) {
        size_t once_in = rows[i].kind == COLLOPT_EXPRESSION ? 2 : special_of(rows[i].name)->once_in;

        if (once_in == 0 || !fuzz_chance(r, once_in) || !value_for(r, &rows[i], ranks, s->value[i]))
            s->value[i][0] = '\0';
    }
    make_consistent(s);
}

static size_t draw_most(struct fuzz_random *r)
{
    static const size_t most[] = { 2000, 20000, 100000, 1000000, (size_t)4 << 20 };

    return most[fuzz_below(r, sizeof most / sizeof *most)];
}

void job_print(int ranks)
{
    static struct settings s;
    struct fuzz_random random = fuzz_draw(0, 77), *r = &random;
    int n;
    const struct collopt_setting_row *rows = collopt_setting_rows(&n);

    if (!fuzz_chance(r, 10))
        draw_settings(r, ranks, &s);
    printf("threads=%d\nsteps=%d\nmost=%zu\nburst=%d\nchurn=%d\ntricks=1\napart=1\ntrusted=%d\n",
           fuzz_chance(r, 3) ? 2 + (int)fuzz_below(r, FUZZ_THREADS - 1) : 1,
           200 + (int)fuzz_below(r, 400), draw_most(r),
           fuzz_chance(r, 3)       ? 0
               : fuzz_chance(r, 2) ? 20
                                   : 500,
           fuzz_chance(r, 3) ? 10 : 1, host_may_run(&s));
    for (int i = 0; i < n && i < MOST_ROWS; i++)
        if (s.value[i][0])
            printf("%s=%s\n", rows[i].name, s.value[i]);
}

/* ---- rules ----------------------------------------------------------------------------------- */

void job_rules(int ranks)
{
    static const char *const bytes[] = { "*", "0-100", "100-4K", "1K-1M", "8", "64K-" },
                             *const op[] = { "*", "exact", "commutative" };
    struct fuzz_random random = fuzz_draw(0, 78), *r = &random;

    for (size_t i = 1 + fuzz_below(r, 12); i > 0; i--) {
        enum collopt_collective c = (enum collopt_collective)fuzz_below(r, COLLOPT_COLLECTIVES);
        char text[JOB_WORDS];

        algorithm_or_host(r, c, ranks, text);
        if (fuzz_chance(r, 10))
            snprintf(text, sizeof text, "auto");
        printf("%s %s * * %s %s %s\n", collopt_collective_names[c], fuzz_chance(r, 4) ? "2-" : "*",
               bytes[fuzz_below(r, sizeof bytes / sizeof *bytes)],
               op[fuzz_below(r, sizeof op / sizeof *op)], text);
    }
}
