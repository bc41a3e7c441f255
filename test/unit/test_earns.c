/* Every algorithm earns its place: for some call on some machine that people have, the fastest
 * choice without it takes at least 2% longer by the model, or a row of KEPT says why it is there.
 *
 * The calls: all collectives; sums, sums that are rounded once, integers and an operation that does
 * not commute; eleven lengths; the first root and one in the middle; parts of a Reduce_scatter that
 * are even, ragged or for few ranks only. The machines: MACHINES below. What a composition gains by
 * an algorithm inside it is the composition's.
 *
 * -v prints for each the call in which it gains most. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/catalogue.h"
#include "model/choose.h"
#include "model/machine.h"
#include "schedule/descriptor.h"
#include "schedule/problem.h"
#include "topology/topology.h"
#include "share.h"
#include "suite.h"

static const double enough = 1.02, plenty = 1.1;

/* ---- what is kept all the same --------------------------------------------------------------- */

static const char textbook[] = "the textbook's, by which others are measured";
static const char fixed[] = "the fixed table of COLLOPT_REPRODUCIBLE names it";
static const char measured[] = "data/collopt: measured to be fastest on a crowded node";

static const struct kept {
    enum collopt_collective collective;
    const char *name, *why;
} kept[] = {
    { COLLOPT_REDUCE, "binomial", textbook },
    { COLLOPT_REDUCE, "linear", textbook },
    { COLLOPT_REDUCE, "circulant", fixed },
    { COLLOPT_ALLREDUCE, "binomial", textbook },
    { COLLOPT_ALLREDUCE, "circulant", fixed },
    { COLLOPT_ALLREDUCE, "mesh", textbook },
    { COLLOPT_ALLREDUCE, "rabenseifner", textbook },
    { COLLOPT_ALLREDUCE, "recursive_doubling", textbook },
    { COLLOPT_ALLREDUCE, "ring", textbook },
    { COLLOPT_REDUCE_SCATTER, "leader", measured },
    { COLLOPT_REDUCE_SCATTER, "recursive_halving", measured },
    { COLLOPT_SCAN, "recursive_doubling", textbook },
    { COLLOPT_SCAN, "window_doubling", fixed },
};

/* ---- machines -------------------------------------------------------------------------------- */

enum where { NODE, CROWDED, CACHES, NODES, DEALT, UNEVEN, TCP, TORUS, MESH };

/* Ranks of a NODE; so many CACHES or NODES of so many ranks, DEALT to nodes in turn, or the last
 * node UNEVEN; sides of a grid. FILE: of bench/nodes. */
static const struct machine {
    enum where where;
    int side[COLLOPT_SIDES];
    const char *file;
} machines[] = {
#define ON(where_, ...) { where_, { __VA_ARGS__ }, NULL }
    ON(NODE, 2), ON(NODE, 4), ON(NODE, 8), ON(NODE, 12), ON(NODE, 16), ON(NODE, 24), ON(NODE, 32),
    ON(NODE, 64), { NODE, { 72 }, "grace-72" },
    ON(CROWDED, 4), ON(CROWDED, 8), ON(CROWDED, 64),
    ON(CACHES, 2, 8), ON(CACHES, 2, 24), ON(CACHES, 2, 32), ON(CACHES, 8, 8), ON(CACHES, 16, 8),
    { CACHES, { 4, 12 }, "a64fx-48" }, { CACHES, { 32, 4 }, "epyc-7742-2x64" },
    { CACHES, { 4, 72 }, "grace-4x72" }, { CACHES, { 2, 56 }, "xeon-8480-2x56" },
    ON(NODES, 2, 1), ON(NODES, 3, 1), ON(NODES, 4, 1), ON(NODES, 6, 1), ON(NODES, 8, 1),
    ON(NODES, 10, 1), ON(NODES, 12, 1), ON(NODES, 16, 1), ON(NODES, 20, 1), ON(NODES, 24, 1),
    ON(NODES, 32, 1), ON(NODES, 64, 1), ON(NODES, 100, 1), ON(NODES, 128, 1), ON(NODES, 256, 1),
    ON(NODES, 1024, 1), ON(NODES, 31, 1), ON(NODES, 97, 1), ON(NODES, 2, 4), ON(NODES, 3, 4),
    ON(NODES, 4, 4), ON(NODES, 6, 4), ON(NODES, 8, 4), ON(NODES, 10, 4), ON(NODES, 16, 4),
    ON(NODES, 32, 4), ON(NODES, 64, 4), ON(NODES, 100, 4), ON(NODES, 256, 4), ON(NODES, 2, 8),
    ON(NODES, 4, 8), ON(NODES, 8, 8), ON(NODES, 16, 8), ON(NODES, 128, 8), ON(NODES, 2, 16),
    ON(NODES, 8, 16), ON(NODES, 20, 16), ON(NODES, 2, 24), ON(NODES, 4, 24), ON(NODES, 16, 24),
    ON(NODES, 36, 32), ON(NODES, 2, 48), ON(NODES, 4, 48), ON(NODES, 10, 48), ON(NODES, 12, 48),
    ON(NODES, 32, 48), ON(NODES, 2, 64), ON(NODES, 8, 64), ON(NODES, 64, 64), ON(NODES, 2, 128),
    ON(NODES, 4, 128), ON(NODES, 16, 128), ON(NODES, 64, 128),
    ON(DEALT, 8, 16), ON(DEALT, 16, 48),
    ON(UNEVEN, 16, 48),
    ON(TCP, 2, 1), ON(TCP, 4, 1), ON(TCP, 8, 1), ON(TCP, 16, 1), ON(TCP, 2, 4), ON(TCP, 4, 4),
    ON(TCP, 8, 4), ON(TCP, 16, 4), ON(TCP, 4, 8), ON(TCP, 8, 16),
    ON(TORUS, 8, 8), ON(TORUS, 16, 16), ON(TORUS, 4, 4, 4), ON(TORUS, 6, 4, 4), ON(TORUS, 6, 3, 8),
    ON(TORUS, 8, 8, 8), ON(TORUS, 12, 8, 8), ON(TORUS, 16, 8, 8), ON(TORUS, 16, 16, 16),
    ON(TORUS, 4, 4, 4, 4, 2),
    ON(MESH, 8, 8), ON(MESH, 16, 16), ON(MESH, 4, 4, 4), ON(MESH, 6, 3, 8), ON(MESH, 8, 8, 8),
    ON(MESH, 16, 8, 8), ON(MESH, 16, 16, 16),
};

static const char *const where_names[] = { "a node of", "a crowded node of", "caches of a node",
                                           "nodes", "nodes, ranks dealt", "nodes, the last smaller",
                                           "nodes on TCP", "torus", "mesh" };

enum { MOST_RANKS = 1 << 13, WORDS = 200 };

struct placed {                 /* the ranks of a machine */
    int ranks;
    struct collopt_topology topology, caches;
    const struct collopt_topology *groups[COLLOPT_GROUPINGS];
    int node[MOST_RANKS];
    struct collopt_machine machine;
    struct collopt_machine_file *file;
    char words[WORDS];
};

static void on_nodes(struct placed *w, struct collopt_topology *t, const struct machine *m)
{
    int nodes = m->side[0], each = m->side[1];

    w->ranks = m->where == UNEVEN ? nodes * each - each / 2 : nodes * each;
    for (int r = 0; r < w->ranks; r++)
        w->node[r] = m->where == DEALT ? r % nodes : r / each;
    t->nodes = nodes;
    t->node = w->node;
    ck_assert(collopt_topology_measure(t, w->ranks));
}

static void place(struct placed *w, const struct machine *m)
{
    bool grid = m->where >= TORUS;
    enum collopt_network network;
    char file[400];
    int sides = 0;

    *w = (struct placed){ .topology = { .nodes = 1 }, .ranks = m->side[0] };
    w->topology.oversubscribed = m->where == CROWDED;
    if (m->where == CACHES) {
        on_nodes(w, &w->caches, m);
        w->caches.inside = true;
        w->groups[COLLOPT_BY_CACHE] = &w->caches;
        w->topology.groups = w->groups;
    } else if (m->where >= NODES && !grid) {
        on_nodes(w, &w->topology, m);
    }
    while (sides < COLLOPT_SIDES && m->side[sides])
        sides++;
    for (int d = 1; d < sides && grid; d++)
        w->ranks *= m->side[d];
    if (grid)
        collopt_topology_grid(&w->topology, sides, m->side, m->where == TORUS ? 63 : 0);
    w->topology.wired = grid;
    network = collopt_network_of(&w->topology, m->where != TCP);
    snprintf(file, sizeof file, COLLOPT_SOURCE "/bench/nodes/%s.machine", m->file ? m->file : "");
    w->file = m->file ? collopt_machine_read(file, NULL, NULL) : NULL;
    ck_assert(w->file || !m->file);
    collopt_machine_pick(&w->machine, network, true, w->file);
    for (int d = 0, n = snprintf(w->words, WORDS, "%s", where_names[m->where]); d < sides; d++)
        n += snprintf(w->words + n, (size_t)(WORDS - n), "%s%d", d ? "x" : " ", m->side[d]);
}

/* ---- calls ----------------------------------------------------------------------------------- */

enum { MOST_ALGORITHMS = 256, LENGTHS = 11 };

/* The most that an algorithm has gained, and in which call. */
static struct gain {
    double times;
    char words[WORDS + 100];
} gains[MOST_ALGORITHMS];

static int index_of(const struct collopt_algorithm *a)
{
    int i = 0;

    while (collopt_algorithms[i] != a)
        i++;
    return i;
}

static void look(const struct collopt_problem *p, const char *call, const char *where)
{
    struct collopt_candidate all[MOST_ALGORITHMS];
    int n = collopt_choose(p, MOST_ALGORITHMS, all), first = 0;
    double second = 1e300;

    for (int i = 1; i < n; i++)
        first = all[i].seconds < all[first].seconds ? i : first;
    for (int i = 0; i < n; i++)
        second = i != first && all[i].seconds < second ? all[i].seconds : second;
    if (n < 2 || all[first].seconds <= 0)
        return;

    struct gain *g = &gains[index_of(all[first].choice.algorithm)];

    if (second / all[first].seconds > g->times) {
        g->times = second / all[first].seconds;
        snprintf(g->words, sizeof g->words, "%s, %s", call, where);
    }
}

/* Of a Reduce_scatter: nearly even, all to the first, to four, ragged. */
enum shape { EVEN, FIRST, FEW, RAGGED, SHAPES };
static const char *const shape_names[SHAPES] = { "", " to one rank", " to few ranks", " ragged" };

static void share_out(size_t count, int ranks, enum shape shape, size_t *counts)
{
    size_t all = 0;

    for (int r = 0; r < ranks; r++) {
        size_t part = shape == RAGGED ? count * (size_t)(r % 3) / (size_t)ranks
            : shape == FEW            ? (r < 4 ? count / 4 : 0)
                                      : 0;

        counts[r] = part;
        all += part;
    }
    counts[0] += count - all;
    if (shape == EVEN)
        collopt_even_counts(count, ranks, counts);
}

static void call(struct collopt_problem p, const char *operation, const struct placed *w)
{
    static size_t counts[MOST_RANKS];
    enum collopt_collective c = p.collective;
    int forms = c == COLLOPT_REDUCE_SCATTER ? SHAPES : c == COLLOPT_REDUCE ? 2 : 1;
    size_t ranks = (size_t)p.ranks;
    char words[100];

    if (c == COLLOPT_REDUCE_SCATTER_BLOCK)
        p.count = p.count / ranks * ranks;
    for (int form = 0; form < forms && p.count > 0; form++) {
        if (c == COLLOPT_REDUCE)
            p.root = form * p.ranks / 2;
        if (c == COLLOPT_REDUCE_SCATTER) {
            share_out(p.count, p.ranks, (enum shape)form, counts);
            p.counts = form == EVEN && p.count % ranks == 0 ? NULL : counts;
        }
        snprintf(words, sizeof words, "%s of %zu bytes, %s%s%s", collopt_collective_names[c],
                 p.count * p.size, operation, p.root ? ", root in the middle" : "",
                 c == COLLOPT_REDUCE_SCATTER ? shape_names[form] : "");
        look(&p, words, w->words);
    }
}

static void all_calls(const struct placed *w)
{
    static const struct {
        const char *name;
        bool commutative, exact, once;
    } operation[] = { { "sum", .commutative = true },
                      { "sum rounded once", .commutative = true, .once = true },
                      { "integer sum", .commutative = true, .exact = true },
                      { "does not commute", .commutative = false } };

    for (int c = 0; c < COLLOPT_COLLECTIVES; c++)
        for (size_t o = 0; o < sizeof operation / sizeof *operation; o++)
            for (int l = 0; l < LENGTHS; l++)
                call((struct collopt_problem){ .collective = (enum collopt_collective)c,
                                               .ranks = w->ranks, .size = 8,
                                               .count = (size_t)1 << 2 * l,
                                               .commutative = operation[o].commutative,
                                               .exact = operation[o].exact,
                                               .once = operation[o].once, .segments = 1,
                                               .topology = &w->topology, .machine = &w->machine },
                     operation[o].name, w);
}

/* ---- the verdict ----------------------------------------------------------------------------- */

/* Reduce_scatter and Reduce_scatter_block count as one, and Scan and Exscan. */
static enum collopt_collective family(enum collopt_collective c)
{
    return c == COLLOPT_REDUCE_SCATTER_BLOCK ? COLLOPT_REDUCE_SCATTER
        : c == COLLOPT_EXSCAN                ? COLLOPT_SCAN
                                             : c;
}

static const struct kept *row_of(const struct collopt_algorithm *a)
{
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (kept[i].collective == family(a->collective) && !strcmp(kept[i].name, a->name))
            return &kept[i];
    return NULL;
}

static const struct gain *gain_of(const struct collopt_algorithm *a)
{
    const struct gain *most = &gains[index_of(a)];

    for (int i = 0; collopt_algorithms[i]; i++)
        if (!strcmp(collopt_algorithms[i]->name, a->name) && gains[i].times > most->times
            && family(collopt_algorithms[i]->collective) == family(a->collective))
            most = &gains[i];
    return most;
}

static bool verbose, used[sizeof kept / sizeof *kept];

static int judge(const struct collopt_algorithm *a)
{
    const struct gain *g = gain_of(a);
    const struct kept *row = row_of(a);
    const char *collective = collopt_collective_names[a->collective];

    if (row)
        used[row - kept] = true;
    if (verbose)
        printf("%-20s %-22s %.3f %s%s%s\n", collective, a->name, g->times, g->words,
               row ? "; " : "", row ? row->why : "");
    if (row && g->times > plenty)
        fprintf(stderr, "%s %s needs no row of KEPT: %.2f in %s\n", collective, a->name, g->times,
                g->words);
    else if (!row && g->times < enough)
        fprintf(stderr,
                "%s %s does not earn its place: no call takes 2%% longer without it (at most %.3f, "
                "%s). If it is for machines that MACHINES of test_earns.c lacks, add them; for "
                "another reason, add a row to KEPT; else leave it out and tell why in "
                "doc/algorithms.in\n",
                collective, a->name, g->times, g->times > 0 ? g->words : "no call");
    else
        return 0;
    return 1;
}

TEST(algorithms_earn_their_place)
{
    static struct placed w;
    int wrong = 0;

    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        if (left_out((long)i))
            continue;
        place(&w, &machines[i]);
        all_calls(&w);
        if (w.file)
            collopt_machine_free(w.file);
    }
    /* some machines do not tell */
    for (int i = 0; collopt_algorithms[i] && test_share() == 1; i++)
        wrong += judge(collopt_algorithms[i]);
    for (size_t i = 0; i < sizeof kept / sizeof *kept && test_share() == 1; i++)
        ck_assert_msg(used[i], "%s %s is in KEPT and nowhere else",
                      collopt_collective_names[kept[i].collective], kept[i].name);
    ck_assert_int_eq(wrong, 0);
}

int main(int argc, char **argv)
{
    verbose = argc > 1 && !strcmp(argv[1], "-v");
    return suite_run("earns");
}
