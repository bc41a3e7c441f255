/* Ring: a reduce-scatter round the ring of ranks, and for Allreduce an allgather round it.
 *
 * Part b starts at rank b+1 and travels up the ring, combined at every stop; after p-1 rounds it is complete at rank b.
 * p-1 more rounds bring it to everyone.
 * Cost: p-1 rounds, (p-1)/p m sent and combined; Allreduce twice the rounds and bytes.  Scratch: two parts.  Messages go to
 * neighbours only.  Cyclic order: commutative operations only.
 * Use it for very long vectors, above all where links are shared.
 * Patarasuk and Yuan, J. Parallel Distrib. Comput. 69 (2009). */
#include "config.h"

#include "algorithm.h"

/* Every rank RANK ends with part RANK complete in LAST; on the way the sums lie in OUT if KEEP, else in scratch. */
static void reduce_scatter(struct collopt_schedule *s, const struct collopt_problem *p, int rank, int partition, bool keep)
{
    int up = modulo(rank + 1, p->ranks), down = modulo(rank - 1, p->ranks);
    struct turns tmp = { .slots = 2 };
    struct collopt_region sum = in(block(partition, down, 1));

    for (int k = 0; k < p->ranks - 1; k++) {
        struct collopt_block take = block(partition, modulo(rank - k - 2, p->ranks), 1);
        struct collopt_region got = at(turn(s, &tmp), take);

        collopt_round(s);
        collopt_send(s, up, sum);
        collopt_receive(s, down, got);
        sum = keep || k == p->ranks - 2 ? out(take) : got;
        collopt_combine(s, sum, got, in(take));
    }
    if (p->ranks == 1)
        collopt_copy(s, out(block(partition, 0, 1)), sum);
}

static void allgather(struct collopt_schedule *s, const struct collopt_problem *p, int rank, int partition)
{
    int up = modulo(rank + 1, p->ranks), down = modulo(rank - 1, p->ranks);

    for (int k = 0; k < p->ranks - 1; k++) {
        collopt_round(s);
        collopt_send(s, up, out(block(partition, modulo(rank - k, p->ranks), 1)));
        collopt_receive(s, down, out(block(partition, modulo(rank - k - 1, p->ranks), 1)));
    }
}

static void build_allreduce(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    int parts = collopt_partition(s, p->ranks);

    reduce_scatter(s, p, rank, parts, true);
    allgather(s, p, rank, parts);
}

static void build_reduce_scatter(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    reduce_scatter(s, p, rank, collopt_partition_counts(s), false);
}

static void cost_reduce_scatter(const struct collopt_problem *p, struct collopt_cost *c)
{
    double part = vector_bytes(p) / p->ranks;

    c->rounds = p->ranks - 1;
    c->bytes = (p->ranks - 1) * part;
    c->combined = c->bytes;
    c->scratch = least(p->ranks - 1, 2) * part;
}

static void cost_allreduce(const struct collopt_problem *p, struct collopt_cost *c)
{
    cost_reduce_scatter(p, c);
    c->rounds *= 2;
    c->bytes *= 2;
}

const struct collopt_algorithm collopt_allreduce_ring = {
    .name = "ring", .summary = "reduce-scatter and allgather round a ring; very long vectors",
    .collective = COLLOPT_ALLREDUCE, .order = COLLOPT_COMMUTATIVE, .identical = true,
    .cost = cost_allreduce, .build = build_allreduce,
};

const struct collopt_algorithm collopt_reduce_scatter_ring = {
    .name = "ring", .summary = "parts travel round a ring; very long vectors",
    .collective = COLLOPT_REDUCE_SCATTER, .order = COLLOPT_COMMUTATIVE, .identical = true,
    .cost = cost_reduce_scatter, .build = build_reduce_scatter,
};

const struct collopt_algorithm collopt_reduce_scatter_block_ring = {
    .name = "ring", .summary = "parts travel round a ring; very long vectors",
    .collective = COLLOPT_REDUCE_SCATTER_BLOCK, .order = COLLOPT_COMMUTATIVE, .identical = true,
    .cost = cost_reduce_scatter, .build = build_reduce_scatter,
};
