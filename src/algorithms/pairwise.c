/* Pairwise reduce-scatter in rank order: in step j every rank sends the input that rank - j is to
 * have to that rank, and receives from rank + j its own part.
 *
 * Contributions come from above first (rank+1 .. p-1), then from below (0 .. rank-1), so two
 * accumulators, each filled from left to right, keep rank order: the result is below op above. No
 * partial sums are stored or sent, nothing but input. Cost: p-1 rounds, (p-1)/p m sent and
 * combined, one part of scratch for each receive under way and one more. Any operation, any counts.
 * Use it for long vectors of an operation that does not commute, and on few ranks. Folklore; two
 * accumulators are ours. */
#include "config.h"

#include "algorithm.h"

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    int parts = collopt_partition_counts(s);
    struct collopt_block mine = block(parts, rank, 1);
    struct collopt_row above = { .to = out(mine) }, below = { .operands = 0 };
    struct turns tmp = { .slots = (int)p->value[0] };
    int batch = least(COLLOPT_FOLD_OPERANDS - 1, (tmp.slots + 1) / 2);

    collopt_row_add(s, &above, in(mine));
    for (int j = 1; j < p->ranks; j++) {
        int to = modulo(rank - j, p->ranks), from = modulo(rank + j, p->ranks);
        struct collopt_region theirs;

        if (from == 0) {                /* the first from below stays where it arrives */
            collopt_row_flush(s, &above);
            theirs = below.to = at(collopt_packed_slot(s), mine);
        } else {
            theirs = at(turn(s, &tmp), mine);
        }
        collopt_round(s);
        collopt_send(s, to, in(block(parts, to, 1)));
        collopt_receive(s, from, theirs);
        collopt_row_add(s, from > rank ? &above : &below, theirs);
        if (j % batch == 0) {
            collopt_row_flush(s, &above);
            collopt_row_flush(s, &below);
        }
    }
    collopt_row_flush(s, &below);
    collopt_row_flush(s, &above);
    if (below.operands > 0)
        collopt_combine(s, out(mine), below.to, above.operand[0]);
}

static size_t window(const struct collopt_problem *p)
{
    return collopt_preset_window(vector_bytes(p) / p->ranks);
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    double part = vector_bytes(p) / p->ranks;
    int others = p->ranks - 1, some = least(others, 32);

    for (int i = 0; i < some; i++)
        collopt_messages(t, (double)others / some,
                         (struct collopt_messages){ .pattern = COLLOPT_SHIFT,
                                                    .distance = 1 + i * others / some,
                                                    .bytes = part, .combined = part });
}

COLLOPT_SCATTER_AND_BLOCK(pairwise,
    .name = "pairwise",
    .summary = "every rank sends its input to the rank that combines it, in rank order; long "
               "vectors",
    .order = COLLOPT_IN_ORDER, .source = "folklore; in rank order by two accumulators: collopt",
    .parameter = { COLLOPT_WINDOW(window) }, .traffic = traffic, .build = build);
