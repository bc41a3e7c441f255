/* The command line of collopt-tune.  Its own options may stand before the launcher or, with
 * launchers that have none of the same name, among the launcher's words. */
#include "config.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tune/options.h"
#include "base/text.h"
#include "schedule/problem.h"
#include "tune/text.h"

enum { MOST_RANKS = 1 << 24 };
enum { FACTOR = 4 };            /* of a range of sizes: 8:64M is 8, 32, 128, ... */

const struct tune_operation tune_operations[TUNE_OPERATIONS] = {
    { "sum", 8, true, false, "commutative" },
    { "prod", 8, true, false, "commutative" },
    { "user", 8, true, false, "commutative" },
    { "noncommutative", 8, false, false, "noncommutative" },
    { "min", 8, true, true, "exact" },
    { "max", 8, true, true, "exact" },
    { "maxloc", 12, true, true, "exact" },
    { "minloc", 12, true, true, "exact" },
};

static const char *operation_name(int i)
{
    return tune_operations[i].name;
}

static const char *collective_name(int i)
{
    return collopt_collective_names[i];
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool name_one(const char *option, const char *word, int n, const char *(*name)(int),
                     bool *chosen)
{
    char right[300] = "all";

    for (int i = 0; i < n; i++) {
        if (strcmp(word, name(i)) == 0)
            return chosen[i] = true;
        snprintf(right + strlen(right), sizeof right - strlen(right), " %s", name(i));
    }
    for (int i = 0; i < n; i++)
        chosen[i] = chosen[i] || strcmp(word, "all") == 0;
    if (strcmp(word, "all") == 0)
        return true;
    tune_say("%s: there is no \"%s\"; there are: %s", option, word, right);
    return false;
}

static bool name_list(const char *option, const char *list, int n, const char *(*name)(int),
                      bool *chosen)
{
    char *copy = tune_must(strdup(list)), *rest, *word = strtok_r(copy, ",", &rest);
    bool right = word != NULL;

    memset(chosen, 0, (size_t)n * sizeof *chosen);
    if (!word)
        tune_say("%s: an empty list; give names separated by commas, such as %s,%s", option,
                 name(0), name(1));
    for (; word && right; word = strtok_r(NULL, ",", &rest))
        right = name_one(option, word, n, name, chosen);
    free(copy);
    return right;
}

static int by_size(const void *x, const void *y)
{
    size_t a = *(const size_t *)x, b = *(const size_t *)y;

    return (a > b) - (a < b);
}

/* SIZE, FROM:TO or FROM:TO:FACTOR. */
static bool size_word(struct tune_options *o, char *word)
{
    char *colon = strchr(word, ':'), *second = colon ? strchr(colon + 1, ':') : NULL;
    size_t from, to, factor = FACTOR;

    if (colon)
        *colon = '\0';
    if (second)
        *second = '\0';
    if (!collopt_parse_size(word, &from) || from == 0 || from > SIZE_MAX / 2)
        return false;
    to = from;
    if ((colon && !collopt_parse_size(colon + 1, &to))
        || (second && !collopt_parse_size(second + 1, &factor)))
        return false;
    if (to < from || factor < 2 || to > SIZE_MAX / 2 / factor)
        return false;
    for (size_t size = from; size <= to; size *= factor) {
        if (o->sizes == TUNE_SIZES)
            return false;
        o->size[o->sizes++] = size;
    }
    return true;
}

static bool size_list(struct tune_options *o, const char *list)
{
    char *copy = tune_must(strdup(list)), *rest, *word = strtok_r(copy, ",", &rest);
    bool right = word != NULL;
    int n = 0;

    o->sizes = 0;
    for (; word && right; word = strtok_r(NULL, ",", &rest))
        right = size_word(o, word);
    if (!right)
        tune_say("--sizes: \"%s\" is not understood; sizes are such as 8 or 64K, ranges such as "
                 "8:64M (times %d) or 8:1M:2, "
                 "%d sizes at most",
                 list, FACTOR, TUNE_SIZES);
    qsort(o->size, (size_t)o->sizes, sizeof *o->size, by_size);
    for (int i = 0; i < o->sizes; i++)          /* each once */
        if (n == 0 || o->size[i] != o->size[n - 1])
            o->size[n++] = o->size[i];
    o->sizes = n;
    free(copy);
    return right;
}

/* "120", "120s", "5m", "1h". */
static bool time_word(struct tune_options *o, const char *text)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = { { "", 1 }, { "s", 1 }, { "m", 60 }, { "h", 3600 } };
    char *end;
    double value = strtod(text, &end);

    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (end != text && strcmp(end, units[i].unit) == 0 && value > 0 && value < 1e7) {
            o->seconds = value * units[i].seconds;
            return true;
        }
    tune_say("--time: \"%s\" is not a time such as 120s, 5m or 1h", text);
    return false;
}

static bool candidates_word(struct tune_options *o, const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);

    o->candidates = (int)value;
    o->no_more = true;
    if (end != text && !*end && value >= 1 && value <= TUNE_PROMISING)
        return true;
    tune_say("--candidates: \"%s\" is not a number from 1 to %d", text, TUNE_PROMISING);
    return false;
}

static bool ranks_word(struct tune_options *o, const char *text)
{
    char *copy = tune_must(strdup(text)), *rest, *word = strtok_r(copy, ",", &rest);
    bool right = word != NULL;
    int n = 0;

    for (o->rankses = 0; word && right; word = strtok_r(NULL, ",", &rest)) {
        right = o->rankses < TUNE_RANKS && collopt_parse_size(word, &o->ranks[o->rankses])
            && o->ranks[o->rankses] >= 2 && o->ranks[o->rankses] <= MOST_RANKS;
        o->rankses += right;
    }
    free(copy);
    if (!right) {
        tune_say("--ranks: \"%s\" is not understood; it takes numbers from 2 on, such as 2,4,8, %d "
                 "of them at most",
                 text, TUNE_RANKS);
        return false;
    }
    qsort(o->ranks, (size_t)o->rankses, sizeof *o->ranks, by_size);
    for (int i = 0; i < o->rankses; i++)        /* each once */
        if (n == 0 || o->ranks[i] != o->ranks[n - 1])
            o->ranks[n++] = o->ranks[i];
    o->rankses = n;
    return true;
}

static bool mpi_word(struct tune_options *o, const char *text)
{
    o->mpi = text;
    if (strcmp(text, "openmpi") == 0 || strcmp(text, "mpich") == 0)
        return true;
    tune_say("--mpi: \"%s\" is neither openmpi nor mpich", text);
    return false;
}

static bool progress_word(struct tune_options *o, const char *text)
{
    static const char *const words[] = { "auto", "on", "off" };

    for (int i = 0; i < 3; i++)
        if (strcmp(text, words[i]) == 0) {
            o->progress = (enum tune_progress)i;
            return true;
        }
    tune_say("--progress: \"%s\" is not auto, on or off", text);
    return false;
}

static bool output_word(struct tune_options *o, const char *text)
{
    o->output = text;
    if (*text)
        return true;
    tune_say("-o: an empty name");
    return false;
}

static bool machine_word(struct tune_options *o, const char *text)
{
    o->machine = text;
    if (*text)
        return true;
    tune_say("--machine: an empty name");
    return false;
}

static bool picture_word(struct tune_options *o, const char *text)
{
    const char *ending = strrchr(text, '.');

    o->picture = text;
    if (ending && (strcmp(ending, ".svg") == 0 || strcmp(ending, ".png") == 0))
        return true;
    tune_say(
        "--picture: \"%s\" ends neither with .svg nor with .png, which is how the format is chosen",
        text);
    return false;
}

static bool program_word(struct tune_options *o, const char *text)
{
    o->program = text;
    return true;
}

static bool collectives_word(struct tune_options *o, const char *text)
{
    return name_list("--collectives", text, COLLOPT_COLLECTIVES, collective_name, o->collective);
}

static bool operations_word(struct tune_options *o, const char *text)
{
    return name_list("--ops", text, TUNE_OPERATIONS, operation_name, o->operation);
}

/* ---- the command line ------------------------------------------------------------------------ */

static const struct {
    const char *name;
    bool (*take)(struct tune_options *o, const char *value);
} valued[] = {
    { "-o", output_word },
    { "--machine", machine_word },
    { "--collectives", collectives_word },
    { "--ops", operations_word },
    { "--sizes", size_list },
    { "--time", time_word },
    { "--candidates", candidates_word },
    { "--mpi", mpi_word },
    { "--program", program_word },
    { "--progress", progress_word },
    { "--picture", picture_word },
    { "--ranks", ranks_word },
};
enum { VALUED = sizeof valued / sizeof *valued };

/* Has WORD the form NAME or NAME=VALUE?  *VALUE: that, or NULL. */
static int option_number(const char *word, const char **value)
{
    size_t n = strcspn(word, "=");

    *value = word[n] && word[1] == '-' ? word + n + 1 : NULL;
    for (int i = 0; i < VALUED; i++)
        if (strlen(valued[i].name) == n && strncmp(word, valued[i].name, n) == 0
            && (*value || !word[n]))
            return i;
    return -1;
}

static bool flag(struct tune_options *o, const char *word)
{
    bool *which = strcmp(word, "--check") == 0 ? &o->check
        : strcmp(word, "--help") == 0          ? &o->help
        : strcmp(word, "--json") == 0          ? &o->json
        : strcmp(word, "--version") == 0       ? &o->version
        : strcmp(word, "--verify") == 0        ? &o->verify
                                               : NULL;

    if (which)
        *which = true;
    return which != NULL;
}

/* These have neither -o nor --time nor any other option of ours. */
static bool leaves_room(const char *launcher)
{
    static const char *const names[] = { "mpirun", "mpiexec", "orterun", "prterun" };
    const char *slash = strrchr(launcher, '/'), *name = slash ? slash + 1 : launcher;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static void presets(struct tune_options *o, int argc)
{
    *o = (struct tune_options){ .seconds = 120, .candidates = 5 };
    o->word = tune_must(calloc((size_t)argc + 1, sizeof *o->word));
    collectives_word(o, "all");
    operations_word(o, "sum,noncommutative");
    size_list(o, "8:64M");
}

char *tune_beside(const char *rules)
{
    static const char ending[] = ".rules";
    size_t n = strlen(rules), size = n + sizeof ".machine";
    char *name = tune_must(malloc(size));

    if (n > strlen(ending) && strcmp(rules + n - strlen(ending), ending) == 0)
        n -= strlen(ending);
    snprintf(name, size, "%.*s.machine", (int)n, rules);
    return name;
}

static bool has_number(const struct tune_options *o)
{
    for (int i = 0; i < o->words; i++)
        if (strstr(o->word[i], "%n"))
            return true;
    return false;
}

static bool complete(struct tune_options *o)
{
    if (o->help || o->version)
        return true;
    if (o->words == 0) {
        tune_say(o->check ? "--check needs the name of a file"
                 : "a launcher is missing, as in: collopt-tune -o site.rules mpirun -n 64");
        return false;
    }
    if (!o->check && !o->output) {
        tune_say("-o FILE is missing: where the rules go%s",
                 leaves_room(o->word[0])
                     ? ""
                     : "; it must stand before the launcher, whose own options follow it");
        return false;
    }
    if (!o->check && o->rankses && !has_number(o)) {
        tune_say("--ranks: no word of the launcher has %%n, where the number of ranks is to stand, "
                 "as in mpirun -n %%n");
        return false;
    }
    if (!o->check && !o->machine)
        o->machine = tune_beside(o->output);
    if (!o->check && strcmp(o->machine, o->output) == 0) {
        tune_say("--machine and -o are both %s; rules and what messages cost go into two files",
                 o->output);
        return false;
    }
    return true;
}

bool tune_options(struct tune_options *o, int argc, char **argv)
{
    bool ours = true;           /* may an option be ours? */

    presets(o, argc);
    for (int i = 1; i < argc; i++) {
        const char *value;
        int k = ours ? option_number(argv[i], &value) : -1;

        if (k >= 0) {
            if (!value && ++i == argc) {
                tune_say("%s needs a value; --help says which", argv[i - 1]);
                return false;
            }
            if (!valued[k].take(o, value ? value : argv[i]))
                return false;
        } else if (ours && strcmp(argv[i], "--") == 0 && o->words == 0) {
            ours = false;       /* what follows is the launcher's */
        } else if (!(ours && o->words == 0 && flag(o, argv[i]))) {
            if (ours && o->words == 0 && argv[i][0] == '-') {
                tune_say("%s is not an option; --help lists them", argv[i]);
                return false;
            }
            o->word[o->words++] = argv[i];
            ours = ours && (o->check || leaves_room(o->word[0]));
        }
    }
    return complete(o);
}

void tune_tell(const struct tune_options *o, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vfprintf(o->json ? stderr : stdout, format, ap);
    va_end(ap);
}
