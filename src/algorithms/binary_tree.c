/* Pipelined balanced binary tree in rank order, any root.
 *
 * Every node combines left subtree, own and right subtree in one pass and sends the segment up
 * while the next one comes in. Cost, S segments: about 2 S + 2 log2 p rounds of m/S, 2m received
 * and combined by a node with two children. Scratch: two segments for each child. Any operation.
 * Use it for medium vectors; long ones do better in two trees. Folklore. */
#include "config.h"

#include "algorithm.h"

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct collopt_tree t = collopt_binary_tree(0, p->ranks, p->root, rank);
    struct collopt_tree_turns tmp = { { .slots = 2 }, { .slots = 2 } };
    int segments = collopt_partition(s, p->segments);

    for (int j = 0; j < p->segments; j++) {
        collopt_round(s);
        collopt_tree_up(s, t, &tmp, j, block(segments, j, 1));
    }
}

/* Children of the node with the most. */
static int children(int below, int above)
{
    int root = (below > 0) + (above > 0), side = most(below, above);

    return most(root, side > 2 ? 2 : side - 1);
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    int below = p->root, above = p->ranks - 1 - p->root;
    double segment = vector_bytes(p) / p->segments;

    collopt_traffic_fill_rounds(t, p->ranks, collopt_binary_tree_rounds(below, above), segment);
    collopt_pipeline(t, p->segments - 1, children(below, above), 1,
                     (struct collopt_messages){ .pattern = COLLOPT_TREE,
                                                .distance = most(p->ranks / 4, 1), .bytes = segment,
                                                .combined = segment, .uneven = 0.2 });
}

const struct collopt_algorithm collopt_reduce_binary_tree = {
    .name = "binary_tree",
    .summary = "pipelined balanced tree in rank order, any root; medium vectors",
    .collective = COLLOPT_REDUCE, .order = COLLOPT_IN_ORDER, .source = "folklore",
    .parameter = { COLLOPT_SEGMENT(collopt_preset_segment_tree) }, .segments = collopt_segments,
    .traffic = traffic, .build = build,
};
