/* Bine tree: a binomial tree whose edges have the distances of Swing, the longest ones far from the
 * root.
 *
 * Its edges are those along which the root's own block travels in Swing's reduce-scatter
 * (swing_table.c): a rank that sends this block in step s = 0, 1 ... there sends its sum in step s
 * here, to the same partner, at distance 1, 1, 3, 5, 11 ... up or down. Ranks are numbered from the
 * root. An odd number of ranks lacks node 1, a leaf that would send to the root in the first step.
 * Cost: q = ceil(log2 p) rounds, at most q m. Scratch: three vectors. In no order of ranks:
 * commutative operations only. Building takes O(p) time and memory, but for p or p + 1 a power of
 * two.
 * Use it for short vectors where near ranks are near; any root. De Sensi et al., SC 2025 (arXiv
 * 2508.17311), for powers of two. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "algorithm.h"

struct bine {
    int ranks, root, nodes, steps;
    unsigned char *table;       /* NULL where the number of nodes is a power of two */
};

static struct bine bine(const struct collopt_problem *p)
{
    int nodes = p->ranks + p->ranks % 2;

    return (struct bine){ .ranks = p->ranks, .root = p->root, .nodes = nodes,
                          .steps = log2_ceil(nodes) };
}

/* TABLE and the room for making it; false: out of memory. */
static bool tabulate(struct bine *b, int *work)
{
    if (!work)
        return false;
    b->table = (unsigned char *)(work + 2 * b->nodes);
    collopt_swing_table(b->nodes, b->table, work);
    return true;
}

static bool is_regular(const struct bine *b)
{
    return (b->nodes & (b->nodes - 1)) == 0;
}

static size_t room(const struct bine *b)
{
    return (size_t)b->nodes * (2 * sizeof(int) + 1);
}

/* Node 1 is nobody where the number of ranks is odd. */
static int node_of(const struct bine *b, int rank)
{
    int v = modulo(rank - b->root, b->ranks);

    return v > 0 && b->ranks % 2 ? v + 1 : v;
}

static int rank_of(const struct bine *b, int node)
{
    return modulo((node > 1 && b->ranks % 2 ? node - 1 : node) + b->root, b->ranks);
}

static bool nobody(const struct bine *b, int node)
{
    return node == 1 && b->ranks % 2;
}

/* The step in which NODE sends; all of them for the root. */
static int sends_in(const struct bine *b, int node)
{
    if (!b->table) {
        int position = collopt_swing_position(b->nodes, node);

        return position ? b->steps - 1 - log2_floor(position) : b->steps;
    }
    return b->table[modulo(node % 2 ? node : -node, b->nodes)];
}

static int partner(const struct bine *b, int node, int step)
{
    int distance = collopt_swing_distance(step);

    return modulo(node % 2 ? node - distance : node + distance, b->nodes);
}

static void climb(struct collopt_schedule *s, const struct bine *b, int node)
{
    int step = sends_in(b, node), mine = COLLOPT_IN, sum = -1;
    struct turns tmp = { .slots = 2 };

    for (int k = 0; k < step; k++) {
        int child = partner(b, node, k), got;

        collopt_round(s);
        if (sends_in(b, child) != k || nobody(b, child))
            continue;
        if (sum < 0)
            got = sum = node == 0 ? COLLOPT_OUT : collopt_packed_slot(s);
        else
            got = turn(s, &tmp);
        collopt_receive(s, rank_of(b, child), at(got, whole()));
        collopt_combine(s, at(sum, whole()), at(mine, whole()), at(got, whole()));
        mine = sum;
    }
    if (node != 0) {
        collopt_round(s);
        collopt_send(s, rank_of(b, partner(b, node, step)), at(mine, whole()));
    }
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct bine b = bine(p);
    int *work = p->ranks > 1 && !is_regular(&b) ? collopt_workspace(s, room(&b)) : NULL;

    if (p->ranks == 1)
        collopt_copy(s, out(whole()), in(whole()));
    else if (is_regular(&b) || tabulate(&b, work))
        climb(s, &b, node_of(&b, rank));
    free(work);
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    struct bine b = bine(p);

    for (int s = 0; s < b.steps; s++)
        collopt_messages(t, 1, (struct collopt_messages){ .pattern = COLLOPT_TREE,
                                                          .distance
                                                              = abs(collopt_swing_distance(s)),
                                                          .astride = s > 0,
                                                          .bytes = vector_bytes(p),
                                                          .combined = vector_bytes(p) });
}

const struct collopt_algorithm collopt_reduce_bine_tree = {
    .name = "bine_tree",
    .summary = "binomial tree over the distances of swing; short vectors on rings and tori",
    .collective = COLLOPT_REDUCE, .order = COLLOPT_COMMUTATIVE, .identical = true, .rounds = "q",
    .bytes = "up to q m", .when = "short vectors where near ranks are near",
    .source = "De Sensi et al., SC 2025 (arXiv 2508.17311); p not a power of two: collopt",
    .traffic = traffic, .build = build,
};
