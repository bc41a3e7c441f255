/* The formulas of rounds and bytes, against the replay of the programs.
 *
 * Where the vector divides into even parts, a formula and the replay are equal: rounds (completion
 * time where a message takes 1 and all else nothing) and bytes of the busiest rank.  Of "about"
 * they differ by a factor of 1.5 at most, and "up to" is an upper bound that is reached by half
 * somewhere.  So is that of a composition: it adds up the largest groups and their busiest ranks,
 * which no rank need be throughout.
 *
 * Elsewhere a part of n elements in k parts has at most ceil(n / k).  Let N be n rounded up to a
 * count that all partitions divide evenly: every part of N is at least as long as that of n.  So
 * the bytes may not exceed those of N.  Rounds have no size: they may not exceed those of n, but
 * parts that are empty may save some.
 *
 * With a collective and a name as arguments, looks at the formulas of that algorithm alone. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/formula.h"
#include "algorithms/groups.h"
#include "base/numbers.h"
#include "catalogue/catalogue.h"
#include "catalogue/expression.h"
#include "model/machine.h"
#include "shared/replay.h"
#include "schedule/bind.h"
#include "schedule/bound.h"
#include "schedule/descriptor.h"
#include "schedule/problem.h"
#include "schedule/schedule.h"
#include "select/decide.h"
#include "topology/topology.h"
#include "trial.h"

static const double rounding = 1e-9, about = 1.5;

/* ---- measuring ------------------------------------------------------------------------------- */

static double busiest_bytes(const struct workshop *w)
{
    size_t most = 0;

    for (int r = 0; r < w->t.ranks; r++) {
        struct collopt_load load;

        collopt_weigh(w->program[r], &load);
        most = load.sent > most ? load.sent : most;
        most = load.received > most ? load.received : most;
    }
    return (double)TRIAL_SIZE * (double)most;
}

static double replayed_rounds(const struct workshop *w, const char *words)
{
    const struct collopt_clock rounds = { .alpha = 1 };
    struct collopt_pairs pairs;
    char why[PROOF_WHY];
    double n;

    if (!collopt_pair(&pairs, w->t.ranks, (const struct collopt_bound *const *)w->program, why,
                      sizeof why))
        ck_abort_msg("%s: %s", words, why);
    n = collopt_replay(&pairs, &rounds, NULL);
    collopt_unpair(&pairs);
    if (n < 0)
        ck_abort_msg("%s: the replay does not come to an end", words);
    return n;
}

/* ---- counts that all partitions divide ------------------------------------------------------- */

static size_t gcd(size_t a, size_t b)
{
    return b ? gcd(b, a % b) : a;
}

static size_t common(size_t a, size_t b)
{
    return a / gcd(a, b) * b;
}

/* Partitions have p parts or one more to be even, a power of two up to p, the same of each other,
 * two strands for each of up to three dimensions, and as many segments as there are. */
static size_t even_count(int ranks, int segments)
{
    size_t power = 1, n;

    while (2 * power <= (size_t)ranks)
        power *= 2;
    n = common(common((size_t)ranks, (size_t)(ranks + ranks % 2)), 4 * power) * power;
    return n * 60 * (size_t)segments;
}

static int parameter_named(const struct collopt_algorithm *a, const char *name)
{
    for (int i = 0; i < COLLOPT_PARAMETERS && a->parameter[i].name; i++)
        if (!strcmp(a->parameter[i].name, name))
            return i;
    return -1;
}

static int segment_parameter(const struct collopt_algorithm *a)
{
    return parameter_named(a, "segment");
}

/* What every rank's part is cut into as well. */
static size_t blocks_each(const struct collopt_algorithm *a, const size_t *values)
{
    int parameter = parameter_named(a, "blocks");

    return parameter >= 0 && values[parameter] ? values[parameter] : 1;
}

/* ---- stated and replayed --------------------------------------------------------------------- */

static void open(struct workshop *w, const struct trial *t, char words[TRIAL_WORDS])
{
    char why[PROOF_WHY];

    trial_words(t, words);
    if (!workshop_open(w, t, why))
        ck_abort_msg("%s: %s", words, why);
}

static double upper(struct collopt_formula f)
{
    return f.value * (f.about ? about : 1) * (1 + rounding);
}

static double lower(const struct collopt_algorithm *a, struct collopt_formula f)
{
    bool composed = a->grouped || (a->parameter[0].name && a->parameter[0].algorithm);

    return f.up_to || composed ? 0 : f.value / (f.about ? about : 1) * (1 - rounding);
}

/* The largest share of a bound that was replayed, of rounds and of bytes: a bound that is never
 * reached by half says little. */
enum measure { ROUNDS, BYTES, MEASURES };
static double reached[MEASURES];

/* Every difference is told before the test fails. */
static bool agree(const struct trial *t, enum measure measure, struct collopt_formula f,
                  double least, double replayed)
{
    const char *what = measure == ROUNDS ? "rounds" : "bytes";
    char words[TRIAL_WORDS];

    if (f.none || (f.value > 0 && replayed > reached[measure] * f.value))
        reached[measure] = f.none ? 1 : replayed / f.value;
    if (f.none || (!f.mistake && replayed <= upper(f) && replayed >= least))
        return true;
    trial_words(t, words);
    if (f.mistake)
        fprintf(stderr, "%s: %s not understood at \"%s\"\n", words, what, f.mistake);
    else
        fprintf(stderr, "%s: %s %.15g%s, replayed %.15g\n", words, what, f.value,
                f.about       ? " or about"
                    : f.up_to ? " at most"
                              : "",
                replayed);
    return false;
}

static bool equal(struct workshop *w, const struct trial *t)
{
    const struct collopt_algorithm *a = t->algorithm;
    struct collopt_formula rounds, bytes;
    char words[TRIAL_WORDS];
    bool good;

    open(w, t, words);
    rounds = collopt_formula_rounds(a, &w->problem);
    bytes = collopt_formula_bytes(a, &w->problem);
    good = agree(&w->t, ROUNDS, rounds, lower(a, rounds), replayed_rounds(w, words));
    return agree(&w->t, BYTES, bytes, lower(a, bytes), busiest_bytes(w)) && good;
}

/* COUNT elements need no more than is stated for them rounded up to a multiple of EVEN. */
static bool bounded(struct workshop *w, struct trial t, size_t count, size_t even)
{
    char words[TRIAL_WORDS];
    struct collopt_problem p;
    bool good;

    t.count = count;
    open(w, &t, words);
    good = agree(&w->t, ROUNDS, collopt_formula_rounds(t.algorithm, &w->problem), 0,
                 replayed_rounds(w, words));
    p = w->problem;
    p.count = (count + even - 1) / even * even;
    p.counts = NULL;
    return agree(&w->t, BYTES, collopt_formula_bytes(t.algorithm, &p), 0, busiest_bytes(w)) && good;
}

/* On the nodes of MAP, if the algorithm does not refuse them (test_schedules says when it may). */
static void place_on_nodes(struct trial *t, int map)
{
    struct workshop w = { 0 };
    char why[PROOF_WHY];

    if (!t->algorithm->grouped)
        return;
    t->nodes = (enum trial_nodes)map;
    if (!workshop_state(&w, t, why))
        t->nodes = TRIAL_ONE_NODE;
    workshop_close(&w);
}

static bool formulas_hold(struct workshop *w, const struct collopt_algorithm *a, int ranks,
                          int root, const size_t *values, int segments)
{
    struct trial t = { .algorithm = a, .ranks = ranks, .root = root,
                       .count = even_count(ranks, segments) * blocks_each(a, values) };
    int parameter = segment_parameter(a);
    bool good;

    memcpy(t.value, values, sizeof t.value);
    place_on_nodes(&t, (ranks + root + segments) % TRIAL_LOOSE);
    if (parameter >= 0)
        t.value[parameter] = t.count / (size_t)segments * TRIAL_SIZE;
    good = equal(w, &t);
    if (ranks <= 33) {
        good &= bounded(w, t, t.count - t.count / 3 - 1, t.count);
        if (parameter < 0)
            good &= bounded(w, t, (size_t)ranks + 1, t.count) && bounded(w, t, 1, t.count)
                && bounded(w, t, 0, t.count);
    }
    return good;
}

/* Up to 8 ranks all roots, parameters and numbers of segments; beyond, some that change from p to
 * p; from 34 every fifth p. */
START_TEST(formulas_are_replayed)
{
    static const int segments[] = { 1, 2, 3, 6 };
    const struct collopt_algorithm *a = collopt_algorithms[_i];
    size_t variant[TRIAL_VARIANTS][COLLOPT_PARAMETERS];
    bool cuts = segment_parameter(a) >= 0;
    int wrong = 0;
    struct workshop w = { 0 };

    reached[ROUNDS] = reached[BYTES] = 0;
    memset(variant, 0, cuts ? sizeof variant : 0);
    for (int i = 0; i < trial_size_count && trial_ranks(i) <= 257; i++) {
        int ranks = trial_ranks(i), root[TRIAL_ROOTS], roots = trial_roots(a, ranks, root);
        int variants = cuts ? 4 : trial_variants(a, ranks, variant), all = roots * variants;
        int some = ranks <= 8 ? all
            : ranks <= 33     ? 3
                              : (ranks + _i) % 5 == 0,
            first = ranks <= 8 ? 0 : 7 * i;

        for (int k = first; k < first + (some < all ? some : all); k++)
            wrong += !formulas_hold(&w, a, ranks, root[k % roots], variant[k / roots % variants],
                                      cuts ? segments[(k / roots + k) % 4] : 1);
    }
    workshop_close(&w);
    ck_assert_msg(wrong == 0, "%s %s: %d formulas are not those of the programs",
                  collopt_collective_names[a->collective], a->name, wrong);
    ck_assert_msg(reached[ROUNDS] >= 0.5 && reached[BYTES] >= 0.5,
                  "%s %s: rounds reach %.2f of what is stated, bytes %.2f",
                  collopt_collective_names[a->collective], a->name, reached[ROUNDS],
                  reached[BYTES]);
}
END_TEST

/* ---- at scale -------------------------------------------------------------------------------- */

/* Messages that one rank posts in one direction, one behind the other: no more than the rounds. */
static void few_messages(const struct collopt_algorithm *a, struct workshop *w, int rank,
                         double rounds)
{
    struct collopt_schedule *s = collopt_schedule_new(a, &w->problem, rank, 0);
    struct collopt_bound *b = s ? collopt_bind(s, &w->problem, NULL) : NULL;
    struct collopt_load load;
    char words[TRIAL_WORDS];

    trial_words(&w->t, words);
    ck_assert_msg(b, "%s: rank %d has no program", words, rank);
    collopt_weigh(b, &load);
    ck_assert_msg((double)load.sends <= rounds && (double)load.receives <= rounds,
                  "%s: rank %d sends %zu messages and receives %zu in %.0f rounds", words, rank,
                  load.sends, load.receives, rounds);
    collopt_bound_free(b);
    collopt_schedule_free(s);
}

/* An algorithm whose rounds are logarithmic for long vectors is so for the shortest, be its default
 * radix or lambda another. */
START_TEST(logarithmic_stays_logarithmic)
{
    /* test_scale has more of them, and weighs the programs */
    static const int ranks[] = { 4096, 4093 };
    const struct collopt_algorithm *a = collopt_algorithms[_i];
    struct workshop w = { 0 };

    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        const size_t p = (size_t)ranks[i], counts[] = { p * 16, 0, 1, 2, 17, p - 1, p + 1 };
        const int rank[] = { 0, 1, ranks[i] / 2, ranks[i] - 1 };
        double most = 0;
        char why[PROOF_WHY];

        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            struct trial t = { .algorithm = a,
                               .ranks = ranks[i],
                               .count = counts[c],
                               .shape = TRIAL_NEARLY };
            struct collopt_formula f;
            double rounds;

            if (!workshop_state(&w, &t, why))
                break;
            w.problem.segments = 1;
            f = collopt_formula_rounds(a, &w.problem);
            rounds = upper(f);
            if (f.none || (c == 0 && rounds > 8 * 12))
                break;
            most = c == 0 ? rounds : most;
            ck_assert_msg(rounds <= 2.5 * most,
                          "%s %s p %d count %zu: %.0f rounds, for long vectors %.0f",
                          collopt_collective_names[a->collective], a->name, ranks[i], counts[c],
                          rounds, most);
            for (size_t r = 0; r < sizeof rank / sizeof *rank; r++)
                few_messages(a, &w, rank[r], rounds);
        }
    }
    workshop_close(&w);
}
END_TEST

START_TEST(every_collective_has_a_logarithmic_one)
{
    for (int c = 0; c < COLLOPT_COLLECTIVES; c++) {
        int n = 0;

        for (int i = 0; collopt_algorithms[i]; i++) {
            struct trial t = { .algorithm = collopt_algorithms[i],
                               .ranks = 65536,
                               .count = 8,
                               .shape = TRIAL_NEARLY };
            struct workshop w = { 0 };
            struct collopt_formula f;
            char why[PROOF_WHY];

            if (collopt_algorithms[i]->collective != (enum collopt_collective)c
                || !workshop_state(&w, &t, why))
                continue;
            f = collopt_formula_rounds(collopt_algorithms[i], &w.problem);
            n += !f.none && upper(f) <= 3 * 16;
            workshop_close(&w);
        }
        ck_assert_msg(n > 0, "%s has no algorithm of logarithmic rounds",
                      collopt_collective_names[c]);
    }
}
END_TEST

/* ---- what is chosen at scale ----------------------------------------------------------------- */

/* Segments of a pipeline, one behind the other; of a composition those of all its phases, which are
 * packed as in groups.h. */
static int segments_in_all(const struct collopt_problem *p, const struct collopt_algorithm *a)
{
    int all = 0;

    if (!a->grouped)
        return p->segments;
    for (int i = 0; i < 3; i++)
        all += collopt_packed_segments(p->segments, i);
    return all;
}

/* Messages of its CHUNKS may be stated one behind the other, though they overlap. */
static int chunks_of(const struct collopt_problem *p, const struct collopt_algorithm *a)
{
    int parameter = collopt_parameter_named(a, "chunks");

    return parameter >= 0 && p->value[parameter] ? (int)p->value[parameter] : 1;
}

/* Nothing goes from rank to rank.  Groups of eight have seven messages on a level of three bits,
 * there and back 14/3 a bit; a pipeline has two for each segment.  Inside a node of few ranks all
 * may send to all, in two phases there and back. */
static double most_rounds(const struct collopt_problem *p, const struct collopt_algorithm *a)
{
    return 5 * log2_ceil(p->ranks) * chunks_of(p, a) + 2 * (segments_in_all(p, a) - 1)
        + (a->grouped ? 4 * (p->topology->largest - 1) : 0);
}

static void check_choice(struct collopt_problem p, int each)
{
    struct collopt_decision d;
    struct collopt_formula f;
    char name[400];

    collopt_select(&p, &d);
    ck_assert_msg(d.choice.algorithm, "%s p %d count %zu: nothing is selected",
                  collopt_collective_names[p.collective], p.ranks, p.count);
    collopt_set_parameters(&p, &d.choice);
    f = collopt_formula_rounds(d.choice.algorithm, &p);
    collopt_choice_text(&d.choice, name, sizeof name);
    ck_assert_msg(f.none || f.value <= most_rounds(&p, d.choice.algorithm),
                  "%s by %s p %d, %d of a node, %s, count %zu%s: %.0f rounds",
                  collopt_collective_names[p.collective], name, p.ranks, each,
                  p.machine == &collopt_shipped_machines[COLLOPT_TCP] ? "TCP" : "fast", p.count,
                  p.commutative ? "" : " in order", f.value);
}

/* As even as can be; NULL where they are. */
static const size_t *nearly_even(size_t *counts, size_t count, int ranks)
{
    for (int r = 0; r < ranks; r++)
        counts[r] = count / (size_t)ranks + ((size_t)r < count % (size_t)ranks);
    return count % (size_t)ranks ? counts : NULL;
}

/* Of all collectives and shipped networks; EACH ranks of a node. */
static void check_choices(int ranks, int each, const struct collopt_topology *topology,
                          size_t *shares)
{
    const size_t p = (size_t)ranks, counts[] = { 0, 1, 2, 17, p - 1, p, p + 1, 16 * p };

    for (int network = COLLOPT_FAST_NETWORK; network <= COLLOPT_TCP; network++)
        for (int i = 0; i < 2 * COLLOPT_COLLECTIVES * (int)(sizeof counts / sizeof *counts); i++) {
            struct collopt_problem problem = {
                .collective = (enum collopt_collective)(i / 2 % COLLOPT_COLLECTIVES),
                .ranks = ranks,
                .size = TRIAL_SIZE,
                .count = counts[i / 2 / COLLOPT_COLLECTIVES],
                .commutative = i % 2,
                .segments = 1,
                .topology = topology,
                .machine = &collopt_shipped_machines[network],
            };

            if (problem.collective == COLLOPT_REDUCE)
                problem.root = ranks / 3;
            if (problem.collective == COLLOPT_REDUCE_SCATTER_BLOCK)
                problem.count = (problem.count + p - 1) / p * p;
            if (problem.collective == COLLOPT_REDUCE_SCATTER)
                problem.counts = nearly_even(shares, problem.count, ranks);
            check_choice(problem, each);
        }
}

/* Vectors up to 128 bytes for each rank.  Longer ones may well go round a ring: over TCP parts of
 * 32 KiB and more do (select/measured.c), as their bytes then take longer than the messages. */
START_TEST(choices_are_logarithmic)
{
    static const int ranks[] = { 4096, 4093, 16384, 65521, 65536 };
    int p = ranks[_i], *node = malloc((size_t)p * sizeof *node);
    size_t *shares = malloc((size_t)p * sizeof *shares);

    ck_assert(node && shares);
    for (int each = 1; each <= 16; each *= 16) {
        struct collopt_topology t = { .nodes = (p - 1) / each + 1, .node = node };

        for (int r = 0; r < p; r++)
            node[r] = r / each;
        ck_assert(collopt_topology_measure(&t, p));
        check_choices(p, each, &t, shares);
    }
    free(node);
    free(shares);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("formulas");
    TCase *tcase = tcase_create("formulas"), *scale = tcase_create("scale");
    int first, end, failed;

    if (!trial_range(argc - 1, argv + 1, &first, &end))
        return 2;
    tcase_set_timeout(tcase, 600);
    tcase_add_loop_test(tcase, formulas_are_replayed, first, end);
    suite_add_tcase(suite, tcase);
    tcase_set_timeout(scale, 600);
    tcase_add_loop_test(scale, logarithmic_stays_logarithmic, first, end);
    if (argc == 1) {
        tcase_add_test(scale, every_collective_has_a_logarithmic_one);
        tcase_add_loop_test(scale, choices_are_logarithmic, 0, 5);
    }
    suite_add_tcase(suite, scale);

    SRunner *runner = srunner_create(suite);

    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
