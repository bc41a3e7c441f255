/* What the model predicts, against the replay of the programs.
 *
 * The replay's machine is the model's: a message keeps both ends busy for its overhead and its
 * bytes, and is then under way for its latency and hops. But a rank of the replay has one way in
 * and one way out, where a rank of the model has one processor, and streams do not meet there: on
 * one node the model is told so (ideal). The replay does not let pipelines overlap, so they are
 * compared where all messages are short and where all are long. Nothing is shared, so messages on
 * a grid are short, and algorithms that use several of a rank's links at once are not compared
 * there.
 *
 * A prediction matters where it may decide: where an algorithm is among the fastest by prediction
 * or by replay. There it must be within bounds; and the replay must find the algorithm with the
 * shortest prediction almost as fast as the fastest.
 *
 * test_model -v prints every comparison. test_model allreduce ring judges one algorithm; its rounds
 * and bytes on 64 ranks, which doc/algorithms.md states, also where they do not decide. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "model/grid.h"
#include "model/machine.h"
#include "model/model.h"
#include "shared/replay.h"
#include "schedule/bound.h"
#include "schedule/descriptor.h"
#include "schedule/problem.h"
#include "topology/topology.h"
#include "trial.h"

static bool verbose;
static const struct collopt_algorithm *alone;   /* what is judged; NULL: all */

/* ---- machines -------------------------------------------------------------------------------- */

enum kind { SHORT, LONG, NODES, GRID, KINDS };

static const char *const kind_names[KINDS] = { "short", "long", "on nodes", "on a grid" };

#define SAME(o, b)  { .overhead = o, .byte = b, .eager = 1e18 }
#define INSIDE(o, b) [COLLOPT_IN_NODE] = SAME(o, b)
#define BETWEEN(o, b) [COLLOPT_OVER_NET] = SAME(o, b)

static const struct collopt_machine machines[KINDS] = {
    [SHORT] = { .way = { INSIDE(0.5, 0), BETWEEN(0.5, 0) }, .ideal = true },
    [LONG] = { .way = { INSIDE(0, 1), BETWEEN(0, 1) }, .ideal = true },
    [NODES] = { .way = { INSIDE(0.5, 1e-6), BETWEEN(2, 1e-6) } },
    [GRID] = { .way = { INSIDE(0.5, 1e-9), BETWEEN(0.5, 1e-9) }, .hop = 1 },
};

struct ends {
    const struct collopt_problem *p;
    const struct collopt_machine *machine;
    bool wired;
    struct collopt_grid grid;
};

static int hops(const struct ends *e, int from, int to)
{
    int n = 0;

    for (int d = 0; d < e->grid.sides; d++) {
        int far = abs(collopt_grid_at(&e->grid, from, d) - collopt_grid_at(&e->grid, to, d));

        n += least(far, e->grid.side[d] - far);
    }
    return n;
}

static const struct collopt_way *way(const struct ends *e, int from, int to, bool *between)
{
    const int *node = e->p->topology->node;

    *between = e->wired || (e->p->topology->nodes > 1 && node[from] != node[to]);
    return &e->machine->way[*between ? COLLOPT_OVER_NET : COLLOPT_IN_NODE];
}

/* Inside a node a processor copies on both sides of every message, so an exchange takes it
 * twice. */
static double takes(int from, int to, size_t n, void *data)
{
    bool between;
    const struct collopt_way *w = way(data, from, to, &between);

    return (between ? 1 : 2) * w->overhead + w->byte * (double)TRIAL_SIZE * (double)n;
}

static double delay(int from, int to, void *data)
{
    const struct ends *e = data;
    bool between;
    const struct collopt_way *w = way(e, from, to, &between);

    return (between ? w->overhead : 0) + (e->wired ? e->machine->hop * hops(e, from, to) : 0);
}

/* ---- what may differ ------------------------------------------------------------------------- */

/* Predicted, as a multiple of what is replayed. */
struct bounds {
    double least, most;
};

static const struct bounds all[KINDS] = { { 0.9, 1.1 }, { 0.9, 1.1 }, { 0.7, 1.3 }, { 0.7, 1.3 } };
/* Streams of scans collide on the ports of nodes, but not in the replay. */
static const struct bounds scans_on_nodes = { 0.7, 1.9 };

/* Among the fastest: in this multiple of the shortest time. */
static const double near = 1.15;
/* The replayed time of the algorithm with the shortest prediction, as a multiple of the shortest
 * replayed one. */
static const double chosen[KINDS] = { 1.15, 1.15, 1.35, 1.15 };

/* On one node: two trees meet on ports, and so does what folds an odd number of ranks; the fewer
 * ranks the more. Swing on nodes: half of its shortest exchanges stay inside a node. Lanes: phases
 * overlap. */
static const struct exception {
    const char *name;
    enum kind kind;
    struct bounds bounds;
} exceptions[] = {
    { "elimination", LONG, { 0.75, 1.2 } },
    { "lanes", NODES, { 0.7, 1.35 } },
    { "swing", NODES, { 0.7, 1.85 } },
    { "two_tree", LONG, { 0.65, 2 } },
    { "two_tree", SHORT, { 0.65, 1.2 } },
    { NULL, SHORT, { 0, 0 } },
};

static struct bounds bounds_of(const struct collopt_algorithm *a, enum kind kind)
{
    for (const struct exception *e = exceptions; e->name; e++)
        if (e->kind == kind && !strcmp(e->name, a->name))
            return e->bounds;
    if (kind == NODES && (a->collective == COLLOPT_SCAN || a->collective == COLLOPT_EXSCAN))
        return scans_on_nodes;
    return all[kind];
}

/* ---- one comparison -------------------------------------------------------------------------- */

static double replayed(const struct workshop *w, const struct collopt_problem *p,
                       const struct collopt_machine *machine)
{
    struct ends e = { .p = p, .machine = machine, .wired = p->topology->wired };
    const struct collopt_clock clock = { .takes = takes, .delay = delay, .data = &e };
    struct collopt_pairs pairs;
    char why[PROOF_WHY];
    double seconds;

    if (e.wired)
        collopt_grid(&e.grid, p->topology->dims);
    ck_assert_msg(collopt_pair(&pairs, p->ranks, (const struct collopt_bound *const *)w->program,
                               why, sizeof why),
                  "%s", why);
    seconds = collopt_replay(&pairs, &clock, NULL);
    collopt_unpair(&pairs);
    return seconds;
}

/* Of one collective on RANKS, with the same number of segments where there are any. */
struct comparison {
    const struct collopt_algorithm *algorithm;
    double predicted, replayed;
};

enum { MOST_ALGORITHMS = 64 };

struct cell {
    int n;
    struct comparison of[MOST_ALGORITHMS];
};

static void compare_one(struct workshop *w, enum kind kind,
                        const struct collopt_topology *topology, struct cell *cell)
{
    struct comparison *c = &cell->of[cell->n++];
    struct collopt_problem p = w->problem;

    ck_assert_int_le(cell->n, MOST_ALGORITHMS);
    p.topology = topology;
    p.machine = &machines[kind];
    c->algorithm = w->t.algorithm;
    c->replayed = replayed(w, &p, p.machine);
    c->predicted = collopt_model(c->algorithm, &p);
}

/* Whether what algorithms state of themselves is judged, as it is in doc/algorithms.md. */
static bool stated(int ranks, enum kind kind)
{
    return ranks == 64 && (kind == SHORT || kind == LONG);
}

static int judge(const struct cell *cell, enum kind kind, int ranks, const char *words)
{
    const struct comparison *first = cell->of, *fastest = cell->of;
    int wrong = 0;

    for (const struct comparison *c = cell->of; c < cell->of + cell->n; c++) {
        first = c->predicted < first->predicted ? c : first;
        fastest = c->replayed < fastest->replayed ? c : fastest;
    }
    for (const struct comparison *c = cell->of; c < cell->of + cell->n; c++) {
        struct bounds b = bounds_of(c->algorithm, kind);
        bool matters = stated(ranks, kind) || c->predicted <= near * first->predicted
            || c->replayed <= near * fastest->replayed;
        bool good = c->predicted >= b.least * c->replayed && c->predicted <= b.most * c->replayed;

        if (alone && c->algorithm != alone)
            continue;
        wrong += matters && !good;
        if (verbose || (matters && !good))
            fprintf(stderr, "%s %s, %s: predicted %g, replayed %g%s\n", c->algorithm->name, words,
                    kind_names[kind], c->predicted, c->replayed,
                    matters ? "" : " (does not decide)");
    }
    if (cell->n && (!alone || first->algorithm == alone)
        && first->replayed > chosen[kind] * fastest->replayed) {
        fprintf(stderr, "%s, %s: %s is chosen, %s takes %.2f of its time\n", words,
                kind_names[kind], first->algorithm->name, fastest->algorithm->name,
                fastest->replayed / first->replayed);
        wrong++;
    }
    return wrong;
}

static bool is_for_grids(const struct collopt_algorithm *a)
{
    return collopt_parameter_named(a, "dims") >= 0;
}

/* SEGMENTS of even length, where there are any. */
static bool open(struct workshop *w, const struct collopt_algorithm *a, int ranks, enum kind kind,
                 int segments)
{
    struct trial t = { .algorithm = a,
                       .ranks = ranks,
                       .count = (size_t)ranks * 64 * 9 * 5 * 7,
                       .nodes = TRIAL_ONE_NODE };
    int segment = collopt_parameter_named(a, "segment"), dims = collopt_parameter_named(a, "dims");
    char why[PROOF_WHY];

    if (a->grouped)
        t.nodes = TRIAL_FOURS;
    if (segment >= 0)
        t.value[segment] = t.count / (size_t)segments * TRIAL_SIZE;
    if (dims >= 0 && kind == GRID)
        t.value[dims] = 8 | 8 << COLLOPT_SIDE_BITS;
    return workshop_open(w, &t, why);
}

/* Adds A to the cells of machines on which it can be compared. */
static void compare(struct workshop *w, const struct collopt_algorithm *a, int ranks, int segments,
                    struct cell cell[KINDS])
{
    struct collopt_topology nodes = { .nodes = (ranks + 3) / 4 }, grid = { .nodes = 1 };
    int node[64];

    for (int r = 0; r < ranks; r++)
        node[r] = r / 4;
    nodes.node = node;
    ck_assert(collopt_topology_measure(&nodes, ranks));
    if (!a->grouped && !is_for_grids(a) && open(w, a, ranks, SHORT, segments)) {
        compare_one(w, SHORT, w->problem.topology, &cell[SHORT]);
        compare_one(w, LONG, w->problem.topology, &cell[LONG]);
    }
    if (ranks % 4 == 0 && segments == 1 && !is_for_grids(a) && open(w, a, ranks, NODES, segments))
        compare_one(w, NODES, &nodes, &cell[NODES]);
    if (ranks == 64 && segments == 1 && !a->grouped && !is_for_grids(a)) {
        collopt_topology_grid(&grid, 2, (const int[]){ 8, 8 }, 3);
        grid.wired = true;
        if (open(w, a, ranks, GRID, segments))
            compare_one(w, GRID, &grid, &cell[GRID]);
    }
}

START_TEST(times_are_replayed)
{
    static const int ranks[] = { 2, 3, 4, 5, 8, 12, 16, 33, 64 };
    struct workshop w = { 0 };
    int wrong = 0;

    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        for (int segments = 1; segments <= 30; segments *= 30) {
            static struct cell cell[KINDS];
            char words[100];

            for (int k = 0; k < KINDS; k++)
                cell[k].n = 0;
            for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++)
                if ((*a)->collective == (enum collopt_collective)_i)
                    compare(&w, *a, ranks[i], segments, cell);
            snprintf(words, sizeof words, "%s on %d ranks, %d segments",
                     collopt_collective_names[_i], ranks[i], segments);
            for (int k = 0; k < KINDS; k++)
                wrong += judge(&cell[k], k, ranks[i], words);
        }
    workshop_close(&w);
    ck_assert_msg(wrong == 0, "%s: %d predictions are wrong", collopt_collective_names[_i], wrong);
}
END_TEST

/* ---- far nodes ------------------------------------------------------------------------------- */

enum { HOSTS = 128, GROUP = 64 };
static const size_t whole_vector = (size_t)HOSTS * 4096;

/* A byte takes 1, and nothing else takes time.  As a multiple of what a vector takes. */
static double vectors(enum collopt_collective collective, const char *name, int segments,
                      double group, double taper)
{
    const struct collopt_machine machine = {
        .way = { INSIDE(0, 1),
                 [COLLOPT_OVER_NET] = { .byte = 1, .eager = 1e18, .group = group, .taper = taper } }
    };
    struct collopt_topology hosts = { .nodes = HOSTS };
    struct collopt_problem p = { .collective = collective,
                                 .ranks = HOSTS,
                                 .count = whole_vector / TRIAL_SIZE,
                                 .size = TRIAL_SIZE,
                                 .commutative = true,
                                 .segments = segments,
                                 .topology = &hosts,
                                 .machine = &machine };
    int node[HOSTS];

    for (int r = 0; r < HOSTS; r++)
        node[r] = r;
    hosts.node = node;
    ck_assert(collopt_topology_measure(&hosts, HOSTS));
    return collopt_model(collopt_algorithm_named(collective, name, strlen(name)), &p)
        / (double)whole_vector;
}

static double halving(double group, double taper)
{
    return vectors(COLLOPT_REDUCE_SCATTER_BLOCK, "recursive_halving", 1, group, taper);
}

/* Half of the vector is sent by all to ranks that are a group away, the rest to nearer ones. */
START_TEST(far_groups_cost_bytes)
{
    double least_of_all = (HOSTS - 1.0) / HOSTS, full = halving(GROUP, 1),
           preset = halving(GROUP, 2), narrow = halving(GROUP, 8), near = halving(2 * GROUP, 8);

    ck_assert_double_eq_tol(full, least_of_all, 1e-9);
    ck_assert_double_eq_tol(halving(1, 1), least_of_all, 1e-9);
    ck_assert_msg(preset >= full + 0.5 && preset < 1.3 * (full + 0.5), "taper 2: %g", preset);
    ck_assert_msg(narrow >= full + 3.5 && narrow < 1.3 * (full + 3.5), "taper 8: %g", narrow);
    ck_assert_msg(near > full && near < 1.3 * full, "all of one group: %g", near);
}
END_TEST

/* 48 ranks on nodes of 32 and 16: the first 32 are folded to 16, each of which has its partner on
 * the other node at last.  Whole vectors are 16 through one port; of rabenseifner's halves, halved
 * five times, they are half a vector each way. */
START_TEST(folded_ranks_cross_nodes)
{
    enum { RANKS = 48, FIRST = 32 };
    static const struct {
        const char *name;
        double least, most;
    } all[] = { { "recursive_doubling", 16, 32 },
                { "rabenseifner", 1, 4 },
                { "recursive_multiplying", 16, 100 } };
    const struct collopt_machine machine = { .way = { INSIDE(0, 1e-6),
                                                      [COLLOPT_OVER_NET] = { .byte = 1e-3,
                                                                             .shared = 1,
                                                                             .eager = 1e18,
                                                                             .group = 64,
                                                                             .taper = 1 } } };
    int node[RANKS];
    struct collopt_topology nodes = { .nodes = 2, .node = node };

    for (int r = 0; r < RANKS; r++)
        node[r] = r >= FIRST;
    ck_assert(collopt_topology_measure(&nodes, RANKS));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct collopt_algorithm *a = collopt_algorithm_named(COLLOPT_ALLREDUCE, all[i].name,
                                                                    strlen(all[i].name));
        struct collopt_problem p = { .collective = COLLOPT_ALLREDUCE,
                                     .ranks = RANKS,
                                     .count = whole_vector / TRIAL_SIZE,
                                     .size = TRIAL_SIZE,
                                     .commutative = true,
                                     .segments = 1,
                                     .topology = &nodes,
                                     .machine = &machine };
        const struct collopt_choice choice = { .algorithm = a };
        double found;

        collopt_set_parameters(&p, &choice);
        found = collopt_model(a, &p) / (double)whole_vector;
        ck_assert_msg(found >= all[i].least && found <= all[i].most, "%s: %g vectors", a->name,
                      found);
    }
}
END_TEST

/* All ranks of a node of 32 have their partner elsewhere at the distance 32; at 16 too, if 16 ranks
 * on another node come first, and none if it is the first itself. */
START_TEST(pairs_cross_where_nodes_begin)
{
    enum { RANKS = 64 };
    static const int begin[2][2] = { { 16, 48 }, { 32, 48 } };
    const struct collopt_machine machine = { .way = { INSIDE(0, 1e-6),
                                                      [COLLOPT_OVER_NET] = { .byte = 1e-3,
                                                                             .shared = 1,
                                                                             .eager = 1e18,
                                                                             .group = 64,
                                                                             .taper = 1 } } };
    const struct collopt_algorithm *a = collopt_algorithm_named(COLLOPT_ALLREDUCE,
                                                                "recursive_doubling", 18);
    struct collopt_topology nodes = { .nodes = 3 };
    struct collopt_problem p = { .collective = COLLOPT_ALLREDUCE,
                                 .ranks = RANKS,
                                 .count = 4096,
                                 .size = 8,
                                 .commutative = true,
                                 .segments = 1,
                                 .topology = &nodes,
                                 .machine = &machine };

    for (int i = 0; i < 2; i++) {
        int node[RANKS];
        double found;

        for (int r = 0; r < RANKS; r++)
            node[r] = (r >= begin[i][0]) + (r >= begin[i][1]);
        nodes.node = node;
        ck_assert(collopt_topology_measure(&nodes, RANKS));
        found = collopt_model(a, &p) / (double)(p.count * p.size);
        ck_assert_msg(nodes.grain == 16 && found >= (i == 0 ? 48 : 32) && found <= 80,
                      "%d: %g vectors", i, found);
    }
}
END_TEST

/* Of groups of four a quarter of the ranks swings by one step across an end, and three quarters by
 * three; halving begins with five distances that all cross. */
START_TEST(some_cross)
{
    double crossed = 8 * halving(1, 1),
           some = vectors(COLLOPT_REDUCE_SCATTER_BLOCK, "swing", 1, 4, 8), most_of = halving(4, 8);

    ck_assert_msg(some > 2.5 && some < 4, "swing: %g", some);
    ck_assert_msg(most_of > 7 && most_of < 1.3 * crossed, "halving: %g", most_of);
}
END_TEST

/* In a circulant graph all ranks send as far in each round, most of them farther than a leaf switch
 * has ports. */
START_TEST(full_bisection_serves_circulants)
{
    enum { SEGMENTS = 256 };
    double full = vectors(COLLOPT_REDUCE, "circulant_pipeline", SEGMENTS, GROUP, 1),
           preset = vectors(COLLOPT_REDUCE, "circulant_pipeline", SEGMENTS, GROUP, 2);

    ck_assert_msg(full > 1 && full < 1.1, "full bisection: %g", full);
    ck_assert_msg(preset > 1.9 && preset < 2.8, "taper 2: %g", preset);
}
END_TEST

static void add_all(TCase *tcase)
{
    tcase_add_loop_test(tcase, times_are_replayed, 0, COLLOPT_COLLECTIVES);
    tcase_add_test(tcase, far_groups_cost_bytes);
    tcase_add_test(tcase, folded_ranks_cross_nodes);
    tcase_add_test(tcase, pairs_cross_where_nodes_begin);
    tcase_add_test(tcase, some_cross);
    tcase_add_test(tcase, full_bisection_serves_circulants);
}

int main(int argc, char **argv)
{
    Suite *suite = suite_create("model");
    TCase *tcase = tcase_create("model");
    SRunner *runner = srunner_create(suite);
    struct trial t;
    int failed;

    if (argc > 2) {
        if (!trial_read(&t, argc - 1, argv + 1))
            return 2;
        alone = t.algorithm;
    }
    verbose = alone || (argc > 1 && !strcmp(argv[1], "-v"));
    tcase_set_timeout(tcase, 120);
    if (alone)
        tcase_add_loop_test(tcase, times_are_replayed, alone->collective, alone->collective + 1);
    else
        add_all(tcase);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
