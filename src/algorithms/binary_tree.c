/* Pipelined balanced binary tree in rank order, any root; for Allreduce the result goes back down
 * the same tree.
 *
 * Every node combines left subtree, own and right subtree in one pass and sends the segment up
 * while the next one comes in. Cost, S segments: about 2 S + 2 log2 p rounds of m/S, 2m received
 * and combined by a node with two children; Allreduce about 3 S + 4 log2 p. Scratch: two segments
 * for each child. Any operation.
 * Use it for medium vectors of an operation that does not commute; long ones do better in two trees
 * or by elimination. Folklore. */
#include "config.h"

#include "algorithm.h"

enum { UP, DOWN };              /* strands */

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int root, int rank,
                  bool back)
{
    struct collopt_tree t = collopt_binary_tree(0, p->ranks, root, rank);
    struct collopt_tree_turns tmp = { { .slots = 2 }, { .slots = 2 } };
    int segments = collopt_partition(s, p->segments);

    for (int j = 0; j < p->segments; j++) {
        collopt_round(s);
        collopt_strand(s, UP);
        collopt_tree_up(s, t, &tmp, j, block(segments, j, 1));
        if (back) {
            collopt_round(s);
            collopt_strand(s, DOWN);
            collopt_tree_down(s, t, block(segments, j, 1));
        }
    }
}

static void build_reduce(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    build(s, p, p->root, rank, false);
}

static void build_allreduce(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    build(s, p, p->ranks / 2, rank, true);
}

static size_t segment(const struct collopt_problem *p)
{
    return collopt_preset_segment(p, log2_ceil(p->ranks), vector_bytes(p), true);
}

/* Children of the node with the most. */
static int children(int below, int above)
{
    int root = (below > 0) + (above > 0), side = most(below, above);

    return most(root, side > 2 ? 2 : side - 1);
}

static struct collopt_tree_rounds there_and_back(const struct collopt_problem *p)
{
    return collopt_binary_tree_rounds(p->ranks / 2, p->ranks - 1 - p->ranks / 2, true);
}

/* For an Allreduce, at a child of the root or at the root. */
static int streams(const struct collopt_problem *p)
{
    int below = p->ranks / 2, above = p->ranks - 1 - below;

    return most(most(children(below, above), 0), below > 2 ? 3 : below > 1 ? 2 : 0);
}

/* So many ROUNDS, and for each further segment so many MESSAGES in and out of the busiest rank. */
static void pipeline(const struct collopt_problem *p, int rounds, int messages,
                     struct collopt_traffic *t)
{
    double segment = vector_bytes(p) / p->segments;

    collopt_traffic_fill_rounds(t, p->ranks, rounds, segment);
    collopt_pipeline(t, p->segments - 1, messages, 1,
                     (struct collopt_messages){ .pattern = COLLOPT_TREE,
                                                .distance = most(p->ranks / 4, 1), .bytes = segment,
                                                .combined = segment, .uneven = 0.2 });
}

static void traffic_reduce(const struct collopt_problem *p, struct collopt_traffic *t)
{
    int below = p->root, above = p->ranks - 1 - p->root;

    pipeline(p, collopt_binary_tree_rounds(below, above, true).up, children(below, above), t);
}

static void traffic_allreduce(const struct collopt_problem *p, struct collopt_traffic *t)
{
    struct collopt_tree_rounds fill = there_and_back(p);

    pipeline(p, fill.up + fill.down, streams(p), t);
}

static const char source[] = "folklore";

const struct collopt_algorithm collopt_reduce_binary_tree = {
    .name = "binary_tree",
    .summary = "pipelined balanced tree in rank order, any root; medium vectors",
    .collective = COLLOPT_REDUCE, .order = COLLOPT_IN_ORDER, .identical = true,
    .rounds = "up to 2 S + 2 q - 3", .bytes = "up to 2 m", .when = "medium vectors",
    .source = source, .parameter = { COLLOPT_SEGMENT(segment) }, .segments = collopt_segments,
    .traffic = traffic_reduce, .build = build_reduce,
};

const struct collopt_algorithm collopt_allreduce_binary_tree = {
    .name = "binary_tree",
    .summary = "pipelined balanced tree in rank order, up and down; medium vectors",
    .collective = COLLOPT_ALLREDUCE, .order = COLLOPT_IN_ORDER, .identical = true,
    .rounds = "up to 3 S + 4 q", .bytes = "up to 3 m", .when = "medium vectors", .source = source,
    .parameter = { COLLOPT_SEGMENT(segment) }, .segments = collopt_segments,
    .traffic = traffic_allreduce, .build = build_allreduce,
};
