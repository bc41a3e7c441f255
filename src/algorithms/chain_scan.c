/* Pipelined chain for Scan and Exscan: the prefix sum travels up the ranks segment by segment.
 *
 * Every rank receives the sum of the ranks below, combines its own operand on the right, and sends
 * that up. Cost, S segments: p-2 + S rounds of m/S, m sent and combined; scratch: three segments.
 * In rank order, neighbours only. Use it for very long vectors on few ranks. Folklore. */
#include "config.h"

#include "algorithm.h"

static void build_scan(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct turns tmp = { .slots = COLLOPT_CHAIN_SLOTS };
    int segments = collopt_partition(s, p->segments);

    for (int j = 0; j < p->segments; j++) {
        struct collopt_block segment = block(segments, j, 1);
        struct collopt_region sum = out(segment);

        collopt_round(s);
        if (rank > 0) {
            struct collopt_region below = at(turn(s, &tmp), segment);

            collopt_receive(s, rank - 1, below);
            collopt_combine(s, sum, below, in(segment));
        } else {
            sum = in(segment);
        }
        if (rank + 1 < p->ranks)
            collopt_send(s, rank + 1, sum);
    }
    if (rank == 0)
        collopt_copy(s, out(whole()), in(whole()));
}

static void build_exscan(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct turns tmp = { .slots = COLLOPT_CHAIN_SLOTS };
    int segments = collopt_partition(s, p->segments);

    for (int j = 0; j < p->segments; j++) {
        struct collopt_block segment = block(segments, j, 1);
        struct collopt_region sum = in(segment);

        collopt_round(s);
        if (rank > 0)
            collopt_receive(s, rank - 1, out(segment));
        if (rank + 1 == p->ranks)
            continue;
        if (rank > 0) {
            sum = at(turn(s, &tmp), segment);
            collopt_combine(s, sum, out(segment), in(segment));
        }
        collopt_send(s, rank + 1, sum);
    }
}

static size_t segment(const struct collopt_problem *p)
{
    return collopt_preset_segment(p, p->ranks, vector_bytes(p), true);
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    double segment = vector_bytes(p) / p->segments;
    struct collopt_messages m = { .pattern = COLLOPT_ALONG, .distance = 1, .bytes = segment,
                                  .combined = segment };

    collopt_messages(t, p->ranks - 1, m);
    collopt_pipeline(t, p->segments - 1, 1, 1, m);
}

static const char source[] = "folklore";

const struct collopt_algorithm collopt_scan_chain = {
    .name = "chain", .summary = "pipelined chain up the ranks; very long vectors, few ranks",
    .collective = COLLOPT_SCAN, .order = COLLOPT_IN_ORDER, .source = source,
    .parameter = { COLLOPT_SEGMENT(segment) }, .segments = collopt_segments, .traffic = traffic,
    .build = build_scan,
};

const struct collopt_algorithm collopt_exscan_chain = {
    .name = "chain", .summary = "pipelined chain up the ranks; very long vectors, few ranks",
    .collective = COLLOPT_EXSCAN, .order = COLLOPT_IN_ORDER, .source = source,
    .parameter = { COLLOPT_SEGMENT(segment) }, .segments = collopt_segments, .traffic = traffic,
    .build = build_exscan,
};
