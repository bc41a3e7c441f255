#include "lib/options.h"

#include <ctype.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static char *message_at;

/* Returns false, so that a parser can `return wrong(...)`. */
__attribute__((format(printf, 1, 2)))
static bool wrong(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(message_at, OPTIONS_MESSAGE, format, ap);
    va_end(ap);
    return false;
}

/* ---- lists of names -------------------------------------------------------------------------- */

static bool name_one(const char *option, const char *word, const char *const *names, bool *chosen)
{
    char right[300] = "all";

    for (int i = 0; names[i]; i++)
        if (strcmp(word, names[i]) == 0 || strcmp(word, "all") == 0)
            chosen[i] = true;
    for (int i = 0; names[i]; i++) {
        if (strcmp(word, names[i]) == 0 || strcmp(word, "all") == 0)
            return true;
        snprintf(right + strlen(right), sizeof right - strlen(right), " %s", names[i]);
    }
    return wrong("%s: there is no \"%s\"; there are: %s", option, word, right);
}

static bool name_list(const char *option, const char *list, const char *const *names, bool *chosen)
{
    char *copy = strdup(list), *rest, *word = strtok_r(copy, ",", &rest);
    int n = 0;

    for (; names[n]; n++)
        chosen[n] = false;
    if (!word)
        return wrong("%s: an empty list; give names separated by commas, such as %s,%s", option,
                     names[0], names[1]);
    for (; word; word = strtok_r(NULL, ",", &rest))
        if (!name_one(option, word, names, chosen))
            return false;
    free(copy);
    return true;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

enum { FACTOR = 8 };            /* of a range: 8:16M is 8, 64, 512, 4K, 32K, 256K, 2M, 16M */

static const char size_help[] =
    "sizes are such as 8, 64K or 16M, ranges such as 8:16M (times 8) or 8:1M:2";

/* A size at *TEXT, which is moved behind it; 0: there is none. */
static size_t take_size(const char **text)
{
    static const char units[] = "KMGT";
    unsigned long long value;
    const char *unit;
    char *end;

    if (!isdigit((unsigned char)**text))
        return 0;
    value = strtoull(*text, &end, 10);
    unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    for (int i = 0; unit && i <= unit - units; i++) {
        if (value > SIZE_MAX >> 11)
            return 0;
        value <<= 10;
    }
    *text = end + (unit ? 1 : 0);
    return value > SIZE_MAX / 2 ? 0 : (size_t)value;
}

static bool add_size(struct options *o, size_t size)
{
    if (o->sizes == OPTIONS_SIZES)
        return wrong("--sizes: more than %d sizes; give fewer, or a range with a greater factor "
                     "such as 8:16M:4",
                     OPTIONS_SIZES);
    o->size[o->sizes++] = size;
    return true;
}

/* SIZE, FROM:TO or FROM:TO:FACTOR. */
static bool size_word(struct options *o, const char *word)
{
    const char *text = word;
    size_t from = take_size(&text), to = from, factor = FACTOR;

    if (from && *text == ':') {
        text++;
        to = take_size(&text);
        if (to && *text == ':') {
            text++;
            factor = take_size(&text);
        }
    }
    if (!from || !to || *text || factor < 2 || to < from)
        return wrong("--sizes: \"%s\" is not understood; %s", word, size_help);
    for (size_t size = from; add_size(o, size); size *= factor)
        if (size > to / factor)
            return true;
    return false;
}

static bool size_list(struct options *o, const char *list)
{
    char *copy = strdup(list), *rest, *word = strtok_r(copy, ",", &rest);

    o->sizes = 0;
    if (!word)
        return wrong("--sizes: an empty list; %s", size_help);
    for (; word; word = strtok_r(NULL, ",", &rest))
        if (!size_word(o, word))
            return false;
    free(copy);
    return true;
}

bool options_collectives(struct options *o, const char *list, char *message)
{
    message_at = message;
    return name_list("--collectives", list, bench_collective_names, o->collective);
}

bool options_sizes(struct options *o, const char *list, char *message)
{
    message_at = message;
    return size_list(o, list);
}

/* ---- algorithms ------------------------------------------------------------------------------ */

/* The length of the first expression of a list.  It ends at a comma outside parentheses, unless
 * another KEY=VALUE of the expression follows. */
static size_t expression_length(const char *list)
{
    int depth = 0;
    size_t n = 0;

    for (; list[n]; n++) {
        const char *next = list + n + 1;

        depth += (list[n] == '(') - (list[n] == ')');
        if (list[n] == ',' && depth <= 0 && next[strcspn(next, ":=,(")] != '=')
            break;
    }
    return n;
}

static bool algorithm_list(struct options *o, const char *list)
{
    o->algorithms = 0;
    o->all_algorithms = false;
    while (*list) {
        size_t n = expression_length(list);

        if (o->algorithms == OPTIONS_ALGORITHMS)
            return wrong("--algorithms: more than %d", OPTIONS_ALGORITHMS);
        if (n == 3 && memcmp(list, "all", 3) == 0)
            o->all_algorithms = true;
        else if (n > 0)
            o->algorithm[o->algorithms++] = strndup(list, n);
        list += n + (list[n] == ',');
    }
    if (o->algorithms == 0 && !o->all_algorithms)
        return wrong("--algorithms: an empty list; give auto, all, or names such as "
                     "ring,recursive_doubling");
    return true;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static bool number(const char *option, const char *text, double least, double most,
                   const char *what, double *value)
{
    char *end;

    *value = strtod(text, &end);
    if (end == text || *end || !(*value >= least && *value <= most))
        return wrong("%s: \"%s\" is not %s", option, text, what);
    return true;
}

static bool whole(const char *option, const char *text, double least, double most, const char *what,
                  double *value)
{
    return number(option, text, least, most, what, value)
        && (*value == floor(*value) || wrong("%s: \"%s\" is not %s", option, text, what));
}

static bool progress_word(struct options *o, const char *text)
{
    static const char *const words[] = { "auto", "on", "off" };

    for (int i = 0; i < 3; i++)
        if (strcmp(text, words[i]) == 0) {
            o->progress = (enum progress)i;
            return true;
        }
    return wrong("--progress: \"%s\" is not auto, on or off", text);
}

static bool input_word(struct options *o, const char *text)
{
    o->same_input = strcmp(text, "same") == 0;
    return o->same_input || strcmp(text, "fresh") == 0
        || wrong("--input: \"%s\" is not fresh or same", text);
}

static bool on_word(struct options *o, const char *text)
{
    o->on_nodes = strcmp(text, "nodes") == 0;
    return o->on_nodes || strcmp(text, "world") == 0
        || wrong("--on: \"%s\" is not world or nodes", text);
}

static bool form_word(struct options *o, const char *text)
{
    for (int i = 0; bench_form_names[i]; i++)
        if (strcmp(text, bench_form_names[i]) == 0) {
            o->form = (enum bench_form)i;
            return BENCH_HAVE_PERSISTENT || o->form != BENCH_PERSISTENT
                || wrong("--form: persistent: the MPI library that this program was compiled for "
                         "has no MPI_Allreduce_init; there are blocking and nonblocking");
        }
    return wrong("--form: \"%s\" is not blocking, persistent or nonblocking", text);
}

/* Refuses options that only blocking calls have. */
static bool form_fits(const struct options *o)
{
    if (o->form == BENCH_BLOCKING)
        return true;
    if (o->collective[BENCH_REDUCE_LOCAL])
        return wrong("--form: MPI_Reduce_local is blocking only; "
                     "give --collectives without it, or none");
    if (o->all_algorithms || o->algorithms != 1 || strcmp(o->algorithm[0], "auto") != 0)
        return wrong("--form: %s reductions have one algorithm; give --algorithms auto, or none",
                     bench_form_names[o->form]);
    return o->serve ? wrong("--form: --serve measures blocking calls only") : true;
}

static bool picture_name(struct options *o, const char *text)
{
    const char *ending = strrchr(text, '.');

    if (!ending || (strcmp(ending, ".svg") != 0 && strcmp(ending, ".png") != 0))
        return wrong("--picture: \"%s\" ends neither with .svg nor with .png, which is how the "
                     "format is chosen",
                     text);
    o->picture = text;
    return true;
}

static bool setting_text(struct options *o, const char *text)
{
    if (!*text || strpbrk(text, "\"\r\n"))
        return wrong("--setting: one line without quotes names the machine and the way of running, "
                     "such as \"8 hosts, TCP\"");
    o->setting = text;
    return true;
}

/* ---- the command line ------------------------------------------------------------------------ */

enum {
    COLLECTIVES = 1000, OPS, TYPES, SIZES, ALGORITHMS, ON, FORM, IN_PLACE, INPUT, TIME, PRECISION,
    CALLS, PAIRS, SEED, SETTING, CSV, JSON, PICTURE, PROGRESS, SERVE, HELP, VERSION
};

static const struct option options[] = { { "collectives", required_argument, NULL, COLLECTIVES },
                                         { "ops", required_argument, NULL, OPS },
                                         { "types", required_argument, NULL, TYPES },
                                         { "sizes", required_argument, NULL, SIZES },
                                         { "algorithms", required_argument, NULL, ALGORITHMS },
                                         { "on", required_argument, NULL, ON },
                                         { "form", required_argument, NULL, FORM },
                                         { "in-place", no_argument, NULL, IN_PLACE },
                                         { "input", required_argument, NULL, INPUT },
                                         { "time", required_argument, NULL, TIME },
                                         { "precision", required_argument, NULL, PRECISION },
                                         { "calls", required_argument, NULL, CALLS },
                                         { "pairs", required_argument, NULL, PAIRS },
                                         { "seed", required_argument, NULL, SEED },
                                         { "setting", required_argument, NULL, SETTING },
                                         { "csv", required_argument, NULL, CSV },
                                         { "json", no_argument, NULL, JSON },
                                         { "picture", required_argument, NULL, PICTURE },
                                         { "progress", required_argument, NULL, PROGRESS },
                                         { "serve", no_argument, NULL, SERVE },
                                         { "help", no_argument, NULL, HELP },
                                         { "version", no_argument, NULL, VERSION },
                                         { NULL, 0, NULL, 0 } };

void options_help(FILE *to)
{
    fputs("usage: mpirun -n RANKS env LD_PRELOAD=libcollopt.so collopt-bench [OPTION]...\n"
          "\n"
          "Time of the MPI library's own reductions beside collopt's, in pairs in one run, every "
          "result checked.\n"
          "\n"
          "  --collectives LIST  allreduce,reduce,reduce_scatter,reduce_scatter_block,scan,exscan "
          "unless given; reduce_local; all\n"
          "  --ops LIST          sum unless given; prod,min,max,maxloc,minloc,user,noncommutative; "
          "all\n"
          "  --types LIST        double unless given; float,int,long; all\n"
          "  --sizes LIST        bytes of one rank's vector, 8:16M unless given: SIZE, FROM:TO "
          "(times 8), FROM:TO:FACTOR\n"
          "  --algorithms LIST   auto unless given: what collopt would choose; all; or names as "
          "COLLOPT_ALLREDUCE takes them\n"
          "  --on world|nodes    all ranks, or those of each node by themselves, all nodes at the "
          "same time; world unless given\n"
          "  --form blocking|persistent|nonblocking  how both call; blocking unless given\n"
          "                      persistent: MPI_Start, MPI_Wait of what MPI_Allreduce_init made;\n"
          "                      nonblocking: MPI_Iallreduce, MPI_Wait\n"
          "  --in-place          with MPI_IN_PLACE\n"
          "  --input WHICH       fresh: every rank writes its vector, if it has 2 KiB or more, "
          "before each call, as programs do;\n"
          "                      same: once, so that peers' vectors are found in the cache; fresh "
          "unless given\n"
          "  --time SECONDS      for one cell, about; 0.5 unless given\n"
          "  --precision PERCENT a cell is done when the 95% interval of its ratio is within this; "
          "1 unless given\n"
          "  --calls N           calls in a run; unless given, as many as take a millisecond\n"
          "  --pairs N           exactly so many pairs of runs, whatever time and precision say\n"
          "  --seed N            order of the cells and values of the vectors; chosen and told "
          "unless given\n"
          "  --setting TEXT      what the files call this machine and way of running\n"
          "  --csv FILE          one line for each cell, as soon as it is measured\n"
          "  --json              print JSON in place of the tables\n"
          "  --picture FILE      ratio over bytes, .svg or .png, by gnuplot\n"
          "  --progress WHEN     auto, on or off: how far it is, on the standard error output\n"
          "  --serve             measure what the standard input asks for: for collopt-tune\n"
          "  --help, --version\n"
          "\n"
          "A ratio above 1: collopt is faster.  Exit status: 0; 1 if a result is wrong, nothing "
          "was measured or a file cannot be\n"
          "written; 2 for wrong arguments.  collopt-bench(1) says more.\n",
          to);
}

static bool take(struct options *o, int option, const char *value)
{
    double n;

    switch (option) {
    case COLLECTIVES:
        return name_list("--collectives", value, bench_collective_names, o->collective);
    case OPS:           return name_list("--ops", value, bench_operation_names, o->operation);
    case TYPES:         return name_list("--types", value, bench_type_names, o->type);
    case SIZES:         return size_list(o, value);
    case ALGORITHMS:    return algorithm_list(o, value);
    case ON:            return on_word(o, value);
    case FORM:          return form_word(o, value);
    case IN_PLACE:      return o->in_place = true;
    case INPUT:         return input_word(o, value);
    case TIME:
        return number("--time", value, 0, 1e6, "a number of seconds, from 0 on",
                      &o->effort.seconds);
    case PRECISION:
        if (!number("--precision", value, 0, 100, "a number of percent, 0 to 100", &n))
            return false;
        o->effort.precise = n / 100;
        return true;
    case CALLS:
        if (!whole("--calls", value, 1, 1e9, "a whole number from 1 on", &n))
            return false;
        o->effort.calls = (long)n;
        return true;
    case PAIRS:
        if (!whole("--pairs", value, 1, 1e6, "a whole number, 1 to 1000000", &n))
            return false;
        o->effort.pairs = (int)n;
        return true;
    case SEED:
        return whole("--seed", value, 0, 9007199254740992.0, "a whole number, 0 to 2^53", &o->seed);
    case SETTING:       return setting_text(o, value);
    case PICTURE:       return picture_name(o, value);
    case PROGRESS:      return progress_word(o, value);
    case CSV:           o->csv = value; return true;
    case JSON:          o->json = true; return true;
    case SERVE:         return o->serve = true;
    case HELP:          return o->help = true;
    default:            return o->version = true;
    }
}

static void presets(struct options *o)
{
    *o = (struct options){ .effort = { .seconds = 0.5, .precise = 0.01 }, .seed = -1 };
    for (int i = 0; i < BENCH_REDUCE_LOCAL; i++)
        o->collective[i] = true;
    o->operation[BENCH_SUM] = o->type[BENCH_DOUBLE] = true;
    size_list(o, "8:16M");
    algorithm_list(o, "auto");
}

bool options_read(struct options *o, int argc, char **argv, char *message)
{
    int option;

    message_at = message;
    presets(o);
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
        if (option == '?')
            return wrong("%s is not an option; --help lists them", argv[optind - 1]);
        if (option == ':')
            return wrong("%s needs a value; --help says which", argv[optind - 1]);
        if (!take(o, option, optarg))
            return false;
    }
    if (optind < argc)
        return wrong("%s: there is nothing to be given without an option; --help lists them",
                     argv[optind]);
    if (o->serve && o->on_nodes)
        return wrong("--on: --serve measures on MPI_COMM_WORLD only");
    return form_fits(o);
}
