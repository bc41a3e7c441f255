/* Two trees: each half of the vector is pipelined through an in-order tree of its own; who has
 * children in one has none in the other, so that all ranks send and receive all the time.
 *
 * The second tree is the mirror image of the first. An odd number of ranks has its last one on top
 * of both. Reduce puts the root on top of two trees over the ranks below it and two over those
 * above. Allreduce sends results down the trees. The edges are coloured so that no rank has two
 * messages in one direction at a time, and everybody sends and receives in the order that this
 * gives: what is due next never waits behind what is due later. A rank sends LAG slots after its
 * children, so that a segment may be on its way for a while without anybody waiting for it. Cost, S
 * segments in all: S + 2 log2 p - 1 rounds of m/S, m sent and received (Reduce with a root between
 * others: 2 S + 2 log2 p, and 2m; Allreduce: 2 S + 4 log2 p, and 2m). Scratch: three segments for
 * each child. Any operation. Use it for long vectors, above all Reduce to the first or last rank.
 * Sanders, Speck and Traeff, Parallel Comput. 35 (2009). */
#include "config.h"

#include "algorithm.h"

/* One rank in one of the trees. */
struct branch {
    struct collopt_tree tree;
    struct collopt_two_tree_slots slots;
    struct collopt_tree_turns tmp;
};

enum { TURNS = 3 };             /* the segment that comes, the one that waits for the other child's,
                                 * the one that is sent */
enum { LAG = 4, SHORT_LAG = 2 };        /* slots from a child's sending to its parent's */

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

/* The rank on top of the tree over LO .. HI-1; -1: none. */
static int top(int lo, int hi, bool second)
{
    if (lo == hi)
        return -1;
    if ((hi - lo) % 2)
        return hi - 1;
    return second ? hi - (1 << log2_floor(hi - lo)) : lo + (1 << log2_floor(hi - lo)) - 1;
}

static struct branch branch_of(struct collopt_tree tree, int lo, int hi, bool second, int rank,
                               int lag)
{
    return (struct branch){ tree, collopt_two_tree_slots(lo, hi, second, rank, lag),
                            { { .slots = TURNS }, { .slots = TURNS } } };
}

/* The root has its children on two sides, and takes from both when the deeper one is ready. */
static struct branch branch_of_root(const struct collopt_problem *p, bool second)
{
    int below = top(0, p->root, second), above = top(p->root + 1, p->ranks, second);
    struct branch b = { .tree = { -1, below, above }, .tmp = { { .slots = TURNS },
                                                               { .slots = TURNS } } };

    if (below >= 0)
        b.slots.left = collopt_two_tree_slots(0, p->root, second, below, LAG).up;
    if (above >= 0)
        b.slots.right = collopt_two_tree_slots(p->root + 1, p->ranks, second, above, LAG).up;
    b.slots.left = b.slots.right = most(b.slots.left, b.slots.right);
    b.slots.up = b.slots.left + 1;
    return b;
}

/* Both trees, of whose segments the first one's come first. */
struct work {
    struct collopt_schedule *s;
    struct branch branch[2];
    int partition, each;
};

static struct collopt_block segment_of(const struct work *w, int tree, int j)
{
    return block(w->partition, tree * w->each + j, 1);
}

/* Slot T of the way to the root: first what is sent, so that it need not wait for what comes. */
static void slot_up(struct work *w, int t)
{
    for (int i = 0; i < 2; i++) {
        struct branch *b = &w->branch[i];
        int j = collopt_two_tree_due(t, b->slots.up, w->each);

        if (j >= 0)
            collopt_tree_give(w->s, b->tree, &b->tmp, j, segment_of(w, i, j));
    }
    for (int i = 0; i < 2; i++) {
        struct branch *b = &w->branch[i];
        int left = collopt_two_tree_due(t, b->slots.left, w->each),
            right = collopt_two_tree_due(t, b->slots.right, w->each);

        if (left >= 0)
            collopt_tree_take(w->s, b->tree.left, &b->tmp.left, segment_of(w, i, left));
        if (right >= 0)
            collopt_tree_take(w->s, b->tree.right, &b->tmp.right, segment_of(w, i, right));
    }
}

static void slot_down(struct work *w, int t)
{
    for (int i = 0; i < 2; i++) {
        const struct branch *b = &w->branch[i];
        int left =
            collopt_two_tree_due(t, collopt_two_tree_down(&b->slots, b->slots.left), w->each);
        int right =
            collopt_two_tree_due(t, collopt_two_tree_down(&b->slots, b->slots.right), w->each);

        if (b->tree.left >= 0 && left >= 0)
            collopt_send(w->s, b->tree.left, out(segment_of(w, i, left)));
        if (b->tree.right >= 0 && right >= 0)
            collopt_send(w->s, b->tree.right, out(segment_of(w, i, right)));
    }
    for (int i = 0; i < 2; i++) {
        const struct branch *b = &w->branch[i];
        int j = collopt_two_tree_due(t, collopt_two_tree_down(&b->slots, b->slots.up), w->each);

        if (b->tree.parent >= 0 && j >= 0)
            collopt_receive(w->s, b->tree.parent, out(segment_of(w, i, j)));
    }
}

/* Three ranks would wait longer for what comes back than they do for what is on its way. */
static int lag_of_allreduce(int ranks)
{
    return ranks > 3 ? LAG : SHORT_LAG;
}

static struct branch branch_at(const struct collopt_problem *p, bool second, int rank)
{
    int root = p->root, lo = rank < root ? 0 : root + 1, hi = rank < root ? root : p->ranks;

    if (p->collective == COLLOPT_ALLREDUCE)
        return branch_of(collopt_two_tree(0, p->ranks, second, rank), 0, p->ranks, second, rank,
                         lag_of_allreduce(p->ranks));
    if (rank == root)
        return branch_of_root(p, second);
    return branch_of(tree_of(lo, hi, second, root, rank), lo, hi, second, rank, LAG);
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    bool back = p->collective == COLLOPT_ALLREDUCE;
    int each = segments_each(p), slots;
    struct work w = { .s = s, .partition = collopt_partition(s, 2 * each), .each = each };

    for (int i = 0; i < 2; i++)
        w.branch[i] = branch_at(p, i, rank);
    slots = back ? w.branch[0].slots.end : most(w.branch[0].slots.up, w.branch[1].slots.up);
    for (int t = 0; t < slots + 2 * each; t++) {
        collopt_round(s);
        slot_up(&w, t);
        if (!back)
            continue;
        collopt_round(s);
        slot_down(&w, t);
    }
}

/* Each hop takes LAG slots, in which others pass. */
static size_t segment(const struct collopt_problem *p)
{
    return collopt_preset_segment(p, LAG * collopt_two_tree_height(p->ranks), vector_bytes(p));
}

/* PASSES up and down, and for each further segment MESSAGES in and out of an inner rank. While the
 * slots of the first one pass, a rank has little else under way that would hide what each message
 * takes of its processor. */
static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    bool back = p->collective == COLLOPT_ALLREDUCE;
    int segments = 2 * segments_each(p), passes = back ? 2 : 1,
        messages = back || (p->root > 0 && p->root < p->ranks - 1) ? 2 : 1;
    struct collopt_messages m = { .pattern = COLLOPT_TREE, .distance = most(p->ranks / 4, 1),
                                  .bytes = vector_bytes(p) / segments,
                                  .combined = vector_bytes(p) / segments, .uneven = 0.5 };
    int first = least(segments - 1, passes * LAG * collopt_two_tree_height(p->ranks));

    collopt_traffic_fill(t, p->ranks, passes, m.bytes);
    collopt_pipeline(t, first, messages, 1, m);
    m.slotted = true;
    collopt_pipeline(t, segments - 1 - first, messages, 1, m);
}

#define TWO_TREE \
    .name = "two_tree", .order = COLLOPT_IN_ORDER, .parameter = { COLLOPT_SEGMENT(segment) }, \
    .source = "Sanders, Speck and Traeff, Parallel Comput. 35 (2009)", \
    .segments = collopt_segments, .traffic = traffic, .build = build

const struct collopt_algorithm collopt_reduce_two_tree = {
    TWO_TREE, .collective = COLLOPT_REDUCE,
    .summary = "each half of the vector through its own tree, in rank order; long vectors",
};

const struct collopt_algorithm collopt_allreduce_two_tree = {
    TWO_TREE, .collective = COLLOPT_ALLREDUCE,
    .summary = "each half of the vector through its own tree and back, in rank order; long vectors",
};
