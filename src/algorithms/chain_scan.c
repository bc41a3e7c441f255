/* Pipelined chain for Scan and Exscan: the prefix sum travels up the ranks segment by segment.
 *
 * Every rank receives the sum of the ranks below, combines its own operand on the right, and sends
 * that up. Cost, S segments: p-2 + S rounds of m/S, m sent and combined; scratch: three segments.
 * In rank order, neighbours only. Use it for very long vectors on few ranks. Folklore. */
#include "config.h"

#include "algorithm.h"

/* The sum of a segment for the next rank. */
static struct collopt_region next_sum(struct collopt_schedule *s, const struct collopt_problem *p,
                                      int rank, struct turns *tmp, struct collopt_block segment)
{
    bool inclusive = p->collective == COLLOPT_SCAN;
    struct collopt_region below = out(segment), sum = out(segment);

    if (rank == 0)
        return in(segment);
    if (inclusive || rank + 1 < p->ranks)
        *(inclusive ? &below : &sum) = at(turn(s, tmp), segment);
    collopt_receive(s, rank - 1, below);
    if (inclusive || rank + 1 < p->ranks)
        collopt_combine(s, sum, below, in(segment));
    return sum;
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct turns tmp = { .slots = COLLOPT_CHAIN_SLOTS };
    int segments = collopt_partition(s, p->segments);

    for (int j = 0; j < p->segments; j++) {
        struct collopt_region sum;

        collopt_round(s);
        sum = next_sum(s, p, rank, &tmp, block(segments, j, 1));
        if (rank + 1 < p->ranks)
            collopt_send(s, rank + 1, sum);
    }
    if (rank == 0 && p->collective == COLLOPT_SCAN)
        collopt_copy(s, out(whole()), in(whole()));
}

static size_t segment(const struct collopt_problem *p)
{
    return collopt_preset_segment(p, p->ranks, vector_bytes(p));
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    double segment = vector_bytes(p) / p->segments;
    struct collopt_messages m = { .pattern = COLLOPT_ALONG, .distance = 1, .bytes = segment,
                                  .combined = segment };

    collopt_messages(t, p->ranks - 1, m);
    collopt_pipeline(t, p->segments - 1, 1, 1, m);
}

COLLOPT_SCAN_AND_EXSCAN(chain,
    .name = "chain", .summary = "pipelined chain up the ranks; very long vectors, few ranks",
    .order = COLLOPT_IN_ORDER, .source = "folklore", .parameter = { COLLOPT_SEGMENT(segment) },
    .segments = collopt_segments, .traffic = traffic, .build = build);
