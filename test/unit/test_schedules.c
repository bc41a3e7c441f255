/* Proves every algorithm of the registry, without MPI: all p of trial_ranks(), roots, counts that
 * hurt, in place or not, three operands, two, or a mixture among the ranks, parameters so small
 * that there are several segments, messages cut. With the words of a failure as arguments, replays
 * that one with all programs printed; with a collective and a name, proves that algorithm alone. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "catalogue/catalogue.h"
#include "schedule/bind.h"
#include "schedule/bound.h"
#include "schedule/descriptor.h"
#include "schedule/problem.h"
#include "schedule/schedule.h"
#include "topology/topology.h"
#include "share.h"
#include "trial.h"

enum { SMALL = 8, MEDIUM = 17, COUNTS = 8, FORMS = 2 * TRIAL_FORMS, TOO_SLOW = 5 /* s */,
       BUDGET = 8000 /* steps for one p */ };

struct walk {                   /* over the trials of one algorithm and one p */
    struct workshop shop, one;
    const struct collopt_algorithm *algorithm;
    int ranks;
};

/* Making the schedules of all ranks must not take for ever: that would be a fault of its own, and
 * it is told. */
static bool too_slow(struct walk *w, const struct trial *t, const char *words)
{
    char why[PROOF_WHY];
    clock_t start = clock();
    double seconds;

    if (t->ranks <= 64 || !workshop_state(&w->one, t, why))
        return false;
    collopt_schedule_free(collopt_schedule_new(t->algorithm, &w->one.problem, t->ranks / 2, 0));
    seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (seconds * t->ranks < TOO_SLOW)
        return false;
    fprintf(stderr, "left out, as one rank's schedule takes %.3f s: %s\n", seconds, words);
    return true;
}

/* Grouped algorithms refuse some maps: a prefix depends on the order of ranks, so it cannot be
 * combined by nodes whose ranks do not follow one another; and there cannot be more lanes than
 * ranks on a node. */
static bool refused(struct walk *w, const struct trial *t)
{
    const struct collopt_algorithm *a = t->algorithm;
    const struct collopt_topology *nodes = &w->one.topology;
    char why[PROOF_WHY];

    if (!a->grouped || workshop_state(&w->one, t, why))
        return false;

    bool prefix = a->collective == COLLOPT_SCAN || a->collective == COLLOPT_EXSCAN;
    bool crowded = !strcmp(a->name, "lanes") && nodes->nodes > 1
        && t->value[0] > (size_t)nodes->least;

    ck_assert_msg((prefix && nodes->scattered) || crowded, "%s", why);
    return true;
}

static unsigned long proved;    /* for doc/reliability.md */

static void prove(struct walk *w, const struct trial *t, int interleavings)
{
    static long turn;
    char why[PROOF_WHY], words[TRIAL_WORDS];

    if (left_out(turn++) || refused(w, t))
        return;

    trial_words(t, words);
    if (too_slow(w, t, words))
        return;
    if (!workshop_open(&w->shop, t, why))
        ck_abort_msg("%s: %s", words, why);

    struct proof p = workshop_proof(&w->shop);

    if (!proof_holds(&p, interleavings, why))
        ck_abort_msg("%s: %s", words, why);
    proved++;
}

static void counts_for(int ranks, size_t counts[COUNTS])
{
    size_t p = (size_t)ranks;
    const size_t all[COUNTS] = { 2 * p + 3, p, 0, 1, p - 1, p + 1, 4 * p + 4, 37 };

    for (int i = 0; i < COUNTS; i++)
        counts[i] = all[i];
}

/* All forms, counts and shapes. */
static void prove_product(struct walk *w, int root, const size_t *value)
{
    size_t counts[COUNTS];
    struct trial t = { .algorithm = w->algorithm, .ranks = w->ranks, .root = root };
    int shapes = w->algorithm->collective == COLLOPT_REDUCE_SCATTER ? TRIAL_SHAPES : 1;
    int maps = w->algorithm->grouped ? TRIAL_MAPS : 1;

    counts_for(w->ranks, counts);
    for (int i = 0; i < COLLOPT_PARAMETERS; i++)
        t.value[i] = value[i];
    for (int form = 0; form < FORMS * maps; form++) {
        t.in_place = form % 2;
        t.two_operands = form / 2 % TRIAL_FORMS;
        t.nodes = (enum trial_nodes)(form / FORMS);
        for (int i = 0; i < COUNTS; i++)
            for (int shape = 0; shape < shapes; shape++) {
                /* more maps, fewer counts with each */
                if (maps > 1 && (i + shape + form) % 5)
                    continue;
                t.count = counts[i];
                t.shape = (enum trial_shape)shape;
                t.cut = (size_t)((i + form + shape) % 4 == 0 ? 1 + (i + shape) % 3 : 0);
                t.in_turn = (i + form + shape) / 4 % 2;
                t.near = (i + form + shape + root) % 4;
                prove(w, &t, (i + shape + root) % 3 == 0 ? 4 : 1);
            }
    }
}

/* Steps of all ranks together, about. */
static size_t work(struct walk *w, const struct trial *t)
{
    char why[PROOF_WHY];
    struct collopt_schedule *s;
    struct collopt_bound *b;
    size_t steps = 0;

    if (!workshop_state(&w->one, t, why))
        return 0;
    s = collopt_schedule_new(t->algorithm, &w->one.problem, t->ranks / 2, 0);
    b = s ? collopt_bind(s, &w->one.problem, NULL) : NULL;
    if (b)
        steps = b->steps;
    collopt_bound_free(b);
    collopt_schedule_free(s);
    return steps * (size_t)t->ranks;
}

/* N trials in which forms, counts, shapes and cuts take turns at different paces. */
static void prove_some(struct walk *w, int root, const size_t *value, int n, int turn)
{
    size_t counts[COUNTS];
    struct trial t = { .algorithm = w->algorithm, .ranks = w->ranks, .root = root };

    counts_for(w->ranks, counts);
    for (int i = 0; i < COLLOPT_PARAMETERS; i++)
        t.value[i] = value[i];
    for (int i = 0; i < n; i++) {
        /* a form stays for a while: schedules are made once for it */
        int k = turn + i, form = (turn / 3 + i / 3) % FORMS;

        t.in_place = form % 2;
        t.two_operands = form / 2;
        t.nodes = (enum trial_nodes)(w->algorithm->grouped ? (turn + 3 * i) % TRIAL_MAPS
                                                           : TRIAL_ONE_NODE);
        t.count = counts[(w->ranks > 64 ? 1 - turn % 2 : k) % COUNTS];
        t.shape = (enum trial_shape)(w->algorithm->collective == COLLOPT_REDUCE_SCATTER
                                         ? (k + k / COUNTS) % TRIAL_SHAPES
                                         : 0);
        t.cut = k % 5 == 4 ? (size_t)(1 + k % 3) : 0;
        t.in_turn = k / 5 % 2;
        t.near = k % 4;
        if (t.ranks > 64 && work(w, &t) > 10 * BUDGET)
            memset(t.value, 0, sizeof t.value);         /* as few segments as preset */
        prove(w, &t, i == 0 && w->ranks <= 32 ? 3 : 1);
    }
}

/* How many of MORE trials there is time for.  Beyond 64 ranks, algorithms with long programs take
 * turns: each proves every twelfth p, and every p is proved for every twelfth of them.  With
 * COLLOPT_TEST=all everything is proved. */
static int affordable(struct walk *w, int algorithm, int index, int more)
{
    const char *all = getenv("COLLOPT_TEST");
    struct trial t = { .algorithm = w->algorithm,
                       .ranks = w->ranks,
                       .count = (size_t)w->ranks + 1 };
    size_t n = all && !strcmp(all, "all") ? SIZE_MAX : BUDGET / (work(w, &t) + 1);

    if (n >= (size_t)more)
        return more;
    if (n == 0)
        return w->ranks <= 64 || (algorithm + index) % 12 == 0;
    return (int)n;
}

/* Up to 17 ranks every root with every variant; beyond, MORE pairs of them, which change from p to
 * p. */
static void prove_ranks(int algorithm, int index, int more)
{
    int ranks = trial_ranks(index);
    const struct collopt_algorithm *a = collopt_algorithms[algorithm];
    struct walk w = { .algorithm = a, .ranks = ranks };
    size_t variant[TRIAL_VARIANTS][COLLOPT_PARAMETERS];
    int root[TRIAL_ROOTS], roots = trial_roots(a, ranks, root),
                           variants = trial_variants(a, ranks, variant);

    if (variants == 0)
        return;

    int trials = more ? affordable(&w, algorithm, index, more) : roots * variants;

    for (int i = 0; i < trials; i++) {
        int r = more ? (ranks + i) % roots : i % roots,
            v = more ? (ranks / 2 + i) % variants : i / roots;

        if (ranks <= SMALL && roots <= 5)
            prove_product(&w, root[r], variant[v]);
        else
            prove_some(&w, root[r], variant[v],
                       ranks > MEDIUM   ? 1
                           : roots == 1 ? 9
                                        : 4,
                       (ranks + algorithm) * 7 + i * 5);
    }
    workshop_close(&w.shop);
    workshop_close(&w.one);
}

static void prove_range(int algorithm, int from, int to, int more)
{
    for (int i = 0; i < trial_size_count; i++)
        if (trial_ranks(i) >= from && trial_ranks(i) <= to)
            prove_ranks(algorithm, i, more);
    fprintf(stderr, "%lu problems proved: %s %s, %d to %d ranks\n", proved,
            collopt_collective_names[collopt_algorithms[algorithm]->collective],
            collopt_algorithms[algorithm]->name, from, to);
    proved = 0;
}

START_TEST(up_to_17_ranks)
{
    prove_range(_i, 1, MEDIUM, 0);
}
END_TEST

START_TEST(up_to_64_ranks)
{
    prove_range(_i, MEDIUM + 1, 64, 2);
}
END_TEST

START_TEST(up_to_1024_ranks)
{
    prove_range(_i, 65, 999, 2);
    prove_range(_i, 1000, 1024, 1);
}
END_TEST

static int replay_words(int words, char **word)
{
    struct trial t;
    struct workshop shop = { 0 };
    char why[PROOF_WHY];

    if (!trial_read(&t, words, word))
        return 2;
    if (!workshop_open(&shop, &t, why)) {
        fprintf(stderr, "%s\n", why);
        return 2;
    }

    struct proof p = workshop_proof(&shop);

    for (int r = 0; r < t.ranks; r++) {
        print_schedule(shop.schedule[r], stdout);
        proof_print(shop.program[r], r, stdout);
    }

    bool good = proof_holds(&p, 8, why);

    printf("%s\n", good ? "proved" : why);
    workshop_close(&shop);
    return !good;
}

int main(int argc, char **argv)
{
    Suite *suite = suite_create("schedules");
    const struct {
        const char *name;
        const TTest *test;
    } range[] = { { "small", up_to_17_ranks },
                  { "medium", up_to_64_ranks },
                  { "large", up_to_1024_ranks } };
    const size_t ranges = getenv("TEST_QUICK") ? 1 : sizeof range / sizeof *range;
    int first, end, failed;

    if (argc > 3)
        return replay_words(argc - 1, argv + 1);
    if (!trial_range(argc - 1, argv + 1, &first, &end))
        return 2;
    for (size_t i = 0; i < ranges; i++) {
        TCase *tcase = tcase_create(range[i].name);

        tcase_set_timeout(tcase, 3600);
        tcase_add_loop_test(tcase, range[i].test, first, end);
        suite_add_tcase(suite, tcase);
    }

    SRunner *runner = srunner_create(suite);

    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
