/* Two trees: each half of the vector is pipelined through an in-order tree of its own; who has children in one has none in
 * the other, so that all ranks send and receive all the time.
 *
 * The second tree is the mirror image of the first.  An odd number of ranks has its last one on top of both.  Reduce puts the
 * root on top of two trees over the ranks below it and two over those above.  Allreduce sends results down the trees.
 * Cost, S segments in all: about S + 2 log2 p rounds of m/S, m sent and received (Reduce with a root between others, and
 * Allreduce: 2m).  Scratch: two segments for each child.  Any operation.
 * Use it for long vectors, above all Reduce to the first or last rank.  Sanders, Speck and Traeff, Parallel Comput. 35 (2009). */
#include "config.h"

#include "algorithm.h"

/* The segments of one tree: the first or the second half of them. */
struct pipeline {
    struct collopt_tree tree;
    struct collopt_tree_turns tmp;
};

static int segments_each(const struct collopt_problem *p)
{
    return (p->segments + 1) / 2;
}

/* Both trees over LO .. HI-1, with ROOT, if it is not one of them, above. */
static struct collopt_tree tree_of(int lo, int hi, bool second, int root, int rank)
{
    struct collopt_tree t = { -1, -1, -1 };

    if (rank != root)
        t = collopt_two_tree(lo, hi, second, rank);
    if (t.parent < 0 && rank != root)
        t.parent = root;
    return t;
}

/* Who is on top of the tree over LO .. HI-1; -1: nobody. */
static int top(int lo, int hi, bool second)
{
    if (lo == hi)
        return -1;
    if ((hi - lo) % 2)
        return hi - 1;
    return second ? hi - (1 << log2_floor(hi - lo)) : lo + (1 << log2_floor(hi - lo)) - 1;
}

static void build_reduce(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    int root = p->root, each = segments_each(p), segments = collopt_partition(s, 2 * each);
    struct collopt_tree_turns tmp[2] = { { { .slots = 2 }, { .slots = 2 } }, { { .slots = 2 }, { .slots = 2 } } };
    struct collopt_tree tree[2];

    for (int i = 0; i < 2; i++) {
        tree[i] = tree_of(rank < root ? 0 : root + 1, rank < root ? root : p->ranks, i, root, rank);
        if (rank == root)
            tree[i] = (struct collopt_tree){ -1, top(0, root, i), top(root + 1, p->ranks, i) };
    }
    for (int j = 0; j < each; j++) {
        collopt_round(s);
        for (int i = 0; i < 2; i++) {
            collopt_strand(s, i);
            collopt_tree_up(s, tree[i], &tmp[i], block(segments, i * each + j, 1));
        }
    }
}

static void build_allreduce(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    int each = segments_each(p), segments = collopt_partition(s, 2 * each);
    struct collopt_tree_turns tmp[2] = { { { .slots = 2 }, { .slots = 2 } }, { { .slots = 2 }, { .slots = 2 } } };
    struct collopt_tree tree[2];

    for (int i = 0; i < 2; i++)
        tree[i] = collopt_two_tree(0, p->ranks, i, rank);
    for (int j = 0; j < each; j++) {
        collopt_round(s);
        for (int i = 0; i < 2; i++) {
            collopt_strand(s, i);
            collopt_tree_up(s, tree[i], &tmp[i], block(segments, i * each + j, 1));
        }
        collopt_round(s);
        for (int i = 0; i < 2; i++) {
            collopt_strand(s, 2 + i);
            collopt_tree_down(s, tree[i], block(segments, i * each + j, 1));
        }
    }
}

static size_t segment(const struct collopt_problem *p)
{
    return collopt_preset_segment(2 * log2_ceil(p->ranks), vector_bytes(p), true);
}

/* Rounds are an estimate: one tree's messages wait for the other's. */
static void cost_reduce(const struct collopt_problem *p, struct collopt_cost *c)
{
    int sides = (p->root > 0) + (p->root < p->ranks - 1), each = segments_each(p);
    double m = vector_bytes(p);

    c->rounds = sides == 2 ? 4 * each + log2_ceil(p->ranks) : sides ? 2 * each + 2 * log2_ceil(p->ranks) - 2 : 0;
    c->bytes = sides * m;
    c->combined = c->bytes;
    c->scratch = 2 * sides * least(each, 2) * m / (2 * each);
}

static int children(struct collopt_tree t)
{
    return (t.left >= 0) + (t.right >= 0);
}

/* The busiest rank is among the first or last few, as the trees repeat themselves. */
static void cost_allreduce(const struct collopt_problem *p, struct collopt_cost *c)
{
    int each = segments_each(p), sent = 0, received = 0, combined = 0;

    for (int r = 0; r < p->ranks; r = r == 7 && p->ranks > 16 ? p->ranks - 8 : r + 1) {
        struct collopt_tree a = collopt_two_tree(0, p->ranks, false, r), b = collopt_two_tree(0, p->ranks, true, r);
        int parents = (a.parent >= 0) + (b.parent >= 0), below = children(a) + children(b);

        sent = most(sent, parents + below);
        received = most(received, parents + below);
        combined = most(combined, below);
    }
    c->rounds = 4 * each + 3 * log2_ceil(p->ranks) - 1;
    if (p->ranks <= 3)
        c->rounds = p->ranks == 3 ? 3 * each + 2 : (p->ranks - 1) * 2 * each;
    c->bytes = most(sent, received) * vector_bytes(p) / 2;
    c->combined = combined * vector_bytes(p) / 2;
    c->scratch = combined * least(each, 2) * vector_bytes(p) / (2 * each);
}

const struct collopt_algorithm collopt_reduce_two_tree = {
    .name = "two_tree", .summary = "each half of the vector through its own tree, in rank order; long vectors",
    .collective = COLLOPT_REDUCE, .order = COLLOPT_IN_ORDER, .identical = true,
    .parameter = { COLLOPT_SEGMENT(segment) }, .segments = collopt_segments,
    .cost = cost_reduce, .build = build_reduce,
};

const struct collopt_algorithm collopt_allreduce_two_tree = {
    .name = "two_tree", .summary = "each half of the vector through its own tree and back, in rank order; long vectors",
    .collective = COLLOPT_ALLREDUCE, .order = COLLOPT_IN_ORDER, .identical = true,
    .parameter = { COLLOPT_SEGMENT(segment) }, .segments = collopt_segments,
    .cost = cost_allreduce, .build = build_allreduce,
};
