/* collopt-plan: shows the schedule of a collective, without starting MPI. */
#include "config.h"

#include "base/text.h"
#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "catalogue/expression.h"
#include "collopt.h"
#include "kernels/exact_words.h"
#include "plan/html.h"
#include "plan/json.h"
#include "plan/plan.h"
#include "plan/svg.h"
#include "plan/text.h"
#include "schedule/problem.h"
#include "select/decide.h"
#include "select/exact.h"
#include "shared/output.h"
#include "topology/topology.h"

#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 4096 };

static const struct {
    const char *name;
    bool (*write)(const struct plan *plan, int rank, FILE *to);
} formats[] = {
    { "text", plan_text },
    { "svg", plan_svg },
    { "html", plan_html },
    { "json", plan_json },
};

enum { FORMATS = sizeof formats / sizeof *formats };

struct request {
    struct plan plan;
    const char *algorithm;      /* NULL: what would be selected */
    int format, rank;
    int nodes, each;            /* how many there are; or ranks on each; 0: not given */
    size_t bytes;               /* of a vector, in place of a count; 0: not given */
    bool counted;
    bool exact;                 /* a correctly rounded sum */
    int *node;
};

/* ---- mistakes -------------------------------------------------------------------------------- */

__attribute__((format(printf, 1, 2), noreturn))
static void fail(const char *format, ...)
{
    va_list ap;

    fputs("collopt-plan: ", stderr);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
    exit(2);
}

static const char *nth_collective(int i, const void *data)
{
    (void)data;
    return collopt_collective_names[i];
}

static const char *nth_format(int i, const void *data)
{
    (void)data;
    return formats[i].name;
}

/* The number of WORD among N names; there is no way back if it is none of them. */
static int named(const char *what, const char *word, int n,
                 const char *(*nth)(int i, const void *data))
{
    char message[400];
    int i = collopt_word_among(what, word, n, nth, message, sizeof message);

    if (i < 0)
        fail("%s", message);
    return i;
}

static size_t number(const char *option, const char *text, size_t least, size_t most)
{
    size_t value;

    if (!collopt_parse_size(text, &value))
        fail("--%s %.60s is not a number", option, text);
    if (value < least || value > most)
        fail("--%s %.60s is not from %zu to %zu", option, text, least, most);
    return value;
}

static double real(const char *option, const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !(value >= 0) || isinf(value))
        fail("--%s %.60s is not a number of seconds, such as 1e-6", option, text);
    return value;
}

/* ---- what is asked --------------------------------------------------------------------------- */

static void usage(FILE *to)
{
    fputs(
        "Usage: collopt-plan COLLECTIVE [OPTION]...\n"
        "Show what the ranks of allreduce, reduce, reduce_scatter, reduce_scatter_block, scan or\n"
        "exscan send one another and combine, round by round.\n"
        "\n"
        "      --algorithm ALGORITHM  name[:key=value,...] as in COLLOPT_ALLREDUCE; what\n"
        "                         would be selected if not given\n"
        "      --ranks N        ranks (8)\n"
        "      --count N        elements in the vector of one rank (1000)\n"
        "      --size N         bytes of one element (8)\n"
        "      --bytes N        bytes of the vector, in place of a count\n"
        "      --root N         root of a reduce (0)\n"
        "      --nodes N        nodes, each of which has consecutive ranks (1)\n"
        "      --node-ranks N   ranks on each node, in place of that\n"
        "      --order          the operation does not commute\n"
        "      --exact          a correctly rounded sum of doubles, or with --size 4 of floats\n"
        "                       (COLLOPT_REPRODUCIBLE=exact)\n"
        "      --in-place       with MPI_IN_PLACE\n"
        "      --rank N         only what this rank does\n"
        "      --format text|svg|html|json  (text)\n"
        "      --json           the same as --format json\n"
        "      --alpha S        seconds that a message takes (1e-6)\n"
        "      --beta S         seconds for each of its bytes (1e-10)\n"
        "      --gamma S        seconds to combine a byte (5e-11)\n"
        "      --help           print this help\n"
        "      --version        print the version\n",
        to);
}

static void read_options(struct request *r, int argc, char **argv)
{
    static const struct option options[] = {
        { "algorithm", required_argument, NULL, 'A' }, { "ranks", required_argument, NULL, 'p' },
        { "count", required_argument, NULL, 'n' }, { "size", required_argument, NULL, 's' },
        { "root", required_argument, NULL, 'r' }, { "nodes", required_argument, NULL, 'N' },
        { "node-ranks", required_argument, NULL, 'E' }, { "bytes", required_argument, NULL, 'B' },
        { "order", no_argument, NULL, 'o' }, { "in-place", no_argument, NULL, 'i' },
        { "exact", no_argument, NULL, 'e' },
        { "rank", required_argument, NULL, 'k' }, { "format", required_argument, NULL, 'f' },
        { "json", no_argument, NULL, 'j' },
        { "alpha", required_argument, NULL, 'a' }, { "beta", required_argument, NULL, 'b' },
        { "gamma", required_argument, NULL, 'g' }, { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, 'v' }, { NULL, 0, NULL, 0 },
    };
    struct collopt_problem *p = &r->plan.problem;
    int option, index = 0;

    while ((option = getopt_long(argc, argv, "", options, &index)) != -1)
        switch (option) {
        case 'A': r->algorithm = optarg; break;
        case 'p': p->ranks = (int)number("ranks", optarg, 1, MOST_RANKS); break;
        case 'n':
            p->count = number("count", optarg, 0, (size_t)1 << 40);
            r->counted = true;
            break;
        case 'B': r->bytes = number("bytes", optarg, 1, (size_t)1 << 40); break;
        case 's': p->size = number("size", optarg, 1, 1 << 20); break;
        case 'r': p->root = (int)number("root", optarg, 0, INT_MAX); break;
        case 'N': r->nodes = (int)number("nodes", optarg, 1, MOST_RANKS); break;
        case 'E': r->each = (int)number("node-ranks", optarg, 1, INT_MAX); break;
        case 'o': p->commutative = false; break;
        case 'e': r->exact = true; break;
        case 'i': r->plan.how |= COLLOPT_IN_PLACE; break;
        case 'k': r->rank = (int)number("rank", optarg, 0, INT_MAX); break;
        case 'j': r->format = named("format", "json", FORMATS, nth_format); break;
        case 'f': r->format = named("format", optarg, FORMATS, nth_format); break;
        case 'a': r->plan.machine.alpha = real("alpha", optarg); break;
        case 'b': r->plan.machine.beta = real("beta", optarg); break;
        case 'g': r->plan.machine.gamma = real("gamma", optarg); break;
        case 'h':
            usage(stdout);
            exit(0);
        case 'v':
            printf("collopt-plan %d.%d.%d\n", COLLOPT_VERSION_MAJOR, COLLOPT_VERSION_MINOR,
                   COLLOPT_VERSION_PATCH);
            exit(0);
        default:
            usage(stderr);
            exit(2);
        }
    if (optind + 1 != argc) {
        usage(stderr);
        exit(2);
    }
    p->collective = (enum collopt_collective)named("collective", argv[optind], COLLOPT_COLLECTIVES,
                                                   nth_collective);
}

/* ---- what it means --------------------------------------------------------------------------- */

/* As many on one as on another, as far as that goes, or EACH. */
static void place_ranks(struct request *r)
{
    struct collopt_topology *t = &r->plan.topology;
    int ranks = r->plan.problem.ranks;

    t->nodes = r->each ? (ranks - 1) / r->each + 1 : r->nodes ? r->nodes : 1;
    t->node = r->node = malloc((size_t)ranks * sizeof *r->node);
    if (!r->node)
        fail("out of memory");
    for (int k = 0; k < ranks; k++)
        r->node[k] = r->each ? k / r->each : (int)((long)k * t->nodes / ranks);
    if (!collopt_topology_measure(t, ranks))
        fail("out of memory");
    r->plan.problem.topology = t;
}

static void count_elements(struct request *r)
{
    struct collopt_problem *p = &r->plan.problem;

    if (!r->bytes)
        return;
    if (r->counted)
        fail("--bytes and --count both say how long the vector is; give one of them");
    if (r->bytes % p->size)
        fail("--bytes %zu are not whole elements of %zu bytes (--size)", r->bytes, p->size);
    p->count = r->bytes / p->size;
}

static void check(const struct request *r)
{
    const struct collopt_problem *p = &r->plan.problem;
    size_t ranks = (size_t)p->ranks;

    if (r->nodes && r->each)
        fail("--nodes and --node-ranks both say where the ranks are; give one of them");
    if (r->nodes > p->ranks)
        fail("--nodes %d: there are %d ranks", r->nodes, p->ranks);
    if (p->root >= p->ranks)
        fail("--root %d is not one of %d ranks", p->root, p->ranks);
    if (p->root > 0 && p->collective != COLLOPT_REDUCE)
        fail("--root is for reduce; %s has none", collopt_collective_names[p->collective]);
    if (r->rank >= p->ranks)
        fail("--rank %d is not one of %d ranks", r->rank, p->ranks);
    if (p->collective == COLLOPT_REDUCE_SCATTER_BLOCK && p->count % ranks)
        fail("--count %zu is not the same for all of %zu ranks; reduce_scatter_block takes %zu or "
             "%zu",
             p->count, ranks, p->count - p->count % ranks, p->count - p->count % ranks + ranks);
}

/* Reduce_scatter: the first ranks get one more where the count does not divide. */
static void share_out(struct collopt_problem *p)
{
    size_t *counts;

    if (p->collective != COLLOPT_REDUCE_SCATTER || p->count % (size_t)p->ranks == 0)
        return;
    counts = malloc((size_t)p->ranks * sizeof *counts);
    if (!counts)
        fail("out of memory");
    collopt_even_counts(p->count, p->ranks, counts);
    p->counts = counts;
}

static void round_once(struct collopt_problem *p)
{
    if (!p->commutative)
        fail("--exact is for sums, which commute; leave out --order");
    if (p->size != sizeof(double) && p->size != sizeof(float))
        fail("--exact is for elements of 8 bytes, doubles, and of 4, floats; not of --size %zu",
             p->size);
    p->exact = false;
    p->once = true;
    p->row = collopt_exact_row(p->size == sizeof(double) ? COLLOPT_DOUBLE : COLLOPT_FLOAT,
                               p->ranks);
}

static void choose(struct request *r)
{
    struct collopt_problem *p = &r->plan.problem;
    struct collopt_choice *choice = &r->plan.choice;
    struct collopt_decision decision = { 0 };
    const char *why;
    char message[1024];

    if (!r->algorithm || strcmp(r->algorithm, "auto") == 0) {
        collopt_select(p, &decision);
        *choice = decision.choice;
    } else if (!collopt_parse_choice(r->algorithm, p->collective, choice, message,
                                     sizeof message)) {
        fail("--algorithm %.80s is not understood: %s", r->algorithm, message);
    }
    if (!choice->algorithm)
        fail("the MPI library's own %s is not known here; name an algorithm by --algorithm",
             collopt_collective_names[p->collective]);
    if (r->algorithm && strcmp(r->algorithm, "auto") != 0)
        collopt_select_given(choice, p, &decision, NULL);
    if (decision.rows) {
        collopt_problem_in_rows(p, p);
        r->plan.how &= ~(unsigned)COLLOPT_IN_PLACE;     /* they stand for the program's buffers */
    }
    collopt_set_parameters(p, choice);
    memcpy(choice->value, p->value, sizeof choice->value);      /* so that titles say them */
    if (!collopt_usable(choice->algorithm, p, &why))
        fail("%s cannot serve this: %s", choice->algorithm->name, why);
}

int main(int argc, char **argv)
{
    struct request r = {
        .plan = { .problem = { .ranks = 8,
                               .count = 1000,
                               .size = 8,
                               .commutative = true,
                               .exact = true },
                  .machine = { .alpha = 1e-6, .beta = 1e-10, .gamma = 5e-11 } },
        .rank = -1,
    };
    bool good;

    output_guard("collopt-plan", 1);
    read_options(&r, argc, argv);
    count_elements(&r);
    check(&r);
    place_ranks(&r);
    share_out(&r.plan.problem);
    if (r.exact)
        round_once(&r.plan.problem);
    choose(&r);
    good = plan_make(&r.plan) && formats[r.format].write(&r.plan, r.rank, stdout);
    plan_free(&r.plan);
    free((size_t *)r.plan.problem.counts);
    free(r.node);
    return good ? 0 : 1;
}
