/* Doubly pipelined dual root: two trees over half of the ranks each, whose roots exchange sums;
 * results come down while later segments still go up.
 *
 * Both trees are numbered in post-order: the root is the last rank, its first child the last of the
 * first half of the others, its second child the rank before it. A node combines first child,
 * second child and own, so rank order is kept; the roots exchange their halves' sums and combine
 * them alike.
 * Cost, S segments: about 3 S + 4 log2 p rounds of m/S, 3m in and out, 2m combined. Scratch: two
 * segments for each child. Any operation, and little scratch. Use it for long vectors of an
 * operation that does not commute. Traeff, arXiv 2109.12626. */
#include "config.h"

#include "algorithm.h"

enum { UP, DOWN };              /* strands */

struct node {
    int parent, first, second, dual;    /* -1: none */
};

static struct node node_of(int ranks, int rank)
{
    struct node n = { -1, -1, -1, -1 };
    int half = ranks / 2, lo = rank < half ? 0 : half, hi = rank < half ? half : ranks;

    if (ranks > 1 && rank == hi - 1)
        n.dual = rank < half ? ranks - 1 : half - 1;
    while (rank != hi - 1) {            /* the others are split in two subtrees */
        int mid = lo + (hi - 1 - lo) / 2;

        n.parent = hi - 1;
        if (rank < mid) {
            hi = mid;
        } else {
            lo = mid;
            hi = hi - 1;
        }
    }

    int below = hi - 1 - lo;

    if (below > 1)
        n.first = lo + below / 2 - 1;
    if (below > 0)
        n.second = hi - 2;
    return n;
}

struct streams {
    struct turns first, second, dual;
};

static void up(struct collopt_schedule *s, const struct node *n, struct streams *tmp,
               struct collopt_block segment, bool low)
{
    struct collopt_row row = { .operands = 0 };

    if (n->first >= 0) {
        row.to = at(turn(s, &tmp->first), segment);
        collopt_receive(s, n->first, row.to);
        collopt_row_add(s, &row, row.to);
    }
    if (n->second >= 0) {
        row.to = at(turn(s, &tmp->second), segment);
        collopt_receive(s, n->second, row.to);
        collopt_row_add(s, &row, row.to);
    }
    collopt_row_add(s, &row, in(segment));
    collopt_row_flush(s, &row);
    if (n->dual >= 0) {
        struct collopt_region theirs = at(turn(s, &tmp->dual), segment);

        collopt_send(s, n->dual, row.operand[0]);
        collopt_receive(s, n->dual, theirs);
        merge(s, out(segment), row.operand[0], theirs, !low);
    } else if (n->parent >= 0) {
        collopt_send(s, n->parent, row.operand[0]);
    } else {
        collopt_copy(s, out(segment), row.operand[0]);
    }
}

static void down(struct collopt_schedule *s, const struct node *n, struct collopt_block segment)
{
    if (n->parent >= 0)
        collopt_receive(s, n->parent, out(segment));
    if (n->first >= 0)
        collopt_send(s, n->first, out(segment));
    if (n->second >= 0)
        collopt_send(s, n->second, out(segment));
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct node n = node_of(p->ranks, rank);
    struct streams tmp = { { .slots = 2 }, { .slots = 2 }, { .slots = 2 } };
    int segments = collopt_partition(s, p->segments);

    for (int j = 0; j < p->segments; j++) {
        collopt_round(s);
        collopt_strand(s, UP);
        up(s, &n, &tmp, block(segments, j, 1), rank < p->ranks / 2);
        collopt_round(s);
        collopt_strand(s, DOWN);
        down(s, &n, block(segments, j, 1));
    }
}

static size_t segment(const struct collopt_problem *p)
{
    return collopt_preset_segment(p, 2 * log2_ceil(p->ranks), vector_bytes(p), true);
}

struct work {
    int streams, taken_in;      /* of the busiest ranks: in and out; combined there */
};

/* The upper half is the larger; its root and the root's children are the busiest. */
static struct work work(const struct collopt_problem *p)
{
    struct work w = { 0, 0 };

    for (int rank = p->ranks - 1; rank >= most(p->ranks / 2, p->ranks - 8); rank--) {
        struct node n = node_of(p->ranks, rank);
        int children = (n.first >= 0) + (n.second >= 0), root = n.dual >= 0;

        w.streams = most(w.streams, children + (n.parent >= 0) + root);
        w.taken_in = most(w.taken_in, children + root);
    }
    return w;
}

/* Rounds of the first segment. */
static int fill(const struct collopt_problem *p)
{
    int others = most((p->ranks + 1) / 2 - 1, 0);
    struct collopt_tree_rounds r =
        collopt_binary_tree_rounds(others / 2, others - others / 2, false);

    return r.up + 1 + r.down;
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    double segment = vector_bytes(p) / p->segments;

    /* Two ranks do in two strands, by turns, what others do in one exchange. */
    collopt_traffic_fill_rounds(t, p->ranks, most(fill(p), 2), segment);
    collopt_pipeline(t, p->segments - 1, work(p).streams, 1,
                     (struct collopt_messages){ .pattern = COLLOPT_TREE,
                                                .distance = most(p->ranks / 4, 1), .bytes = segment,
                                                .combined = segment, .uneven = 0.4 });
}

const struct collopt_algorithm collopt_allreduce_dual_root = {
    .name = "dual_root",
    .summary = "two trees whose roots exchange, pipelined up and down; long vectors, any operation",
    .collective = COLLOPT_ALLREDUCE, .order = COLLOPT_IN_ORDER, .identical = true,
    .rounds = "up to 3 S + 4 q", .bytes = "up to 3 m", .when = "long vectors, little scratch",
    .source = "Traeff, arXiv 2109.12626", .parameter = { COLLOPT_SEGMENT(segment) },
    .segments = collopt_segments, .traffic = traffic, .build = build,
};
