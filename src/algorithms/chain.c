/* Pipelined chain with two sides: sums travel from both ends of the ranks towards the root, segment
 * by segment.
 *
 * A rank above the root receives a segment from the next rank up, puts its own operand on the left
 * and sends it down; a rank below the root sends up. The root combines both sides and its own in
 * one pass. For Allreduce the root is the middle rank, and the result travels back out along the
 * chain while later segments still come in. Cost, S segments: D-1 + S rounds of m/S, D the longer
 * side (a root between two sides: about D-2 + 2S and twice the bytes), m sent and combined;
 * scratch: three segments from each side. Allreduce: D or D+1 rounds more. In rank order, any root,
 * neighbours only.
 * Use it for very long vectors on few ranks.  Folklore. */
#include "config.h"

#include "algorithm.h"

enum { INWARD, OUTWARD };       /* strands */

/* A tree without branches on either side of the root. */
static struct collopt_tree links(const struct collopt_problem *p, int root, int rank)
{
    return (struct collopt_tree){
        .parent = rank < root ? rank + 1 : rank > root ? rank - 1 : -1,
        .left = rank > 0 && rank <= root ? rank - 1 : -1,
        .right = rank >= root && rank < p->ranks - 1 ? rank + 1 : -1,
    };
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    bool back = p->collective == COLLOPT_ALLREDUCE;
    struct collopt_tree t = links(p, back ? p->ranks / 2 : p->root, rank);
    struct collopt_tree_turns tmp = { { .slots = COLLOPT_CHAIN_SLOTS },
                                      { .slots = COLLOPT_CHAIN_SLOTS } };
    int segments = collopt_partition(s, p->segments);

    for (int j = 0; j < p->segments; j++) {
        collopt_round(s);
        collopt_strand(s, INWARD);
        collopt_tree_up(s, t, &tmp, j, block(segments, j, 1));
        if (back) {
            collopt_round(s);
            collopt_strand(s, OUTWARD);
            collopt_tree_down(s, t, block(segments, j, 1));
        }
    }
}

/* Up, and for Allreduce as far back, with one hop more for what comes from both sides at the same
 * time; for each further segment MESSAGES in and out. */
static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    bool back = p->collective == COLLOPT_ALLREDUCE;
    int below = p->root, above = p->ranks - 1 - p->root,
        hops = back ? p->ranks / 2 + (p->ranks > 1 && p->ranks % 2)
                    : most(below, above) + (below == above),
        messages = back ? least(p->ranks - 1, 2) : below > 0 && above > 0 ? 2 : 1;
    double segment = vector_bytes(p) / p->segments;
    struct collopt_messages m = { .pattern = COLLOPT_ALONG, .distance = 1, .bytes = segment,
                                  .combined = segment };

    collopt_messages(t, hops, m);
    collopt_pipeline(t, p->segments - 1, messages, 1, m);
    m.combined = 0;
    collopt_messages(t, back ? hops : 0, m);
}

COLLOPT_REDUCE_AND_ALLREDUCE(chain,
    .name = "chain", .order = COLLOPT_IN_ORDER, .source = "folklore",
    .summary = "pipelined chain from both ends to the root, and back; very long vectors, few ranks",
    .parameter = { COLLOPT_SEGMENT(collopt_preset_segment_chain) }, .segments = collopt_segments,
    .traffic = traffic, .build = build);
