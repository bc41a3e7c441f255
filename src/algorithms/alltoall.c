/* All-to-all: the vector is cut into as many parts as there are ranks, and the owner of a part
 * receives it from all ranks and combines it in one fold; then the results go where they belong.
 *
 * Nothing is combined on the way, and yet no more bytes travel than in a ring: an operation that
 * wants all operands at once gets them, such as sums that are rounded once. For a Scan the owner
 * makes the prefixes of all ranks in one step, each where its last operand was; a fold for each
 * would cost p squared.
 * Cost: p-1 rounds and (p-1)/p m for Reduce_scatter, twice that elsewhere; (p-1)/p m combined;
 * (p-1)/p m of scratch, m for Scan. In rank order. Use it for long vectors where results must not
 * depend on partial sums. Pairwise exchange is folklore; sums and prefixes at the owner:
 * collopt. */
#include "config.h"

#include <stdlib.h>

#include "algorithm.h"
#include "model/model.h"

/* Every rank sends every other its part. Returns the regions of the contributions to this rank's
 * own part, from ranks r < CONTRIBUTORS; the other ranks contribute nothing. NULL: no memory. */
static struct collopt_region *exchange(struct collopt_schedule *s, const struct collopt_problem *p,
                                       int rank, int parts, int contributors)
{
    struct collopt_block mine = block(parts, rank, 1);
    struct collopt_region *operand = collopt_workspace(s, (size_t)p->ranks * sizeof *operand);

    if (!operand)
        return NULL;
    operand[rank] = in(mine);
    for (int j = 1; j < p->ranks; j++) {
        int to = modulo(rank + j, p->ranks), from = modulo(rank - j, p->ranks);

        collopt_round(s);
        if (rank < contributors)
            collopt_send(s, to, in(block(parts, to, 1)));
        if (from >= contributors)
            continue;
        operand[from] = at(collopt_packed_slot(s), mine);
        collopt_receive(s, from, operand[from]);
    }
    return operand;
}

/* All ranks get the results. */
static void spread(struct collopt_schedule *s, const struct collopt_problem *p, int rank, int parts)
{
    collopt_multicast(s, p->ranks, NULL);
    for (int j = 1; j < p->ranks; j++) {
        int to = modulo(rank + j, p->ranks), from = modulo(rank - j, p->ranks);

        collopt_round(s);
        collopt_send(s, to, out(block(parts, rank, 1)));
        collopt_receive(s, from, out(block(parts, from, 1)));
    }
    collopt_multicast(s, 0, NULL);
}

static void gather(struct collopt_schedule *s, const struct collopt_problem *p, int rank, int parts,
                   struct collopt_region mine)
{
    for (int j = 1; j < p->ranks; j++) {
        int from = modulo(p->root + j, p->ranks);

        collopt_round(s);
        if (rank == p->root)
            collopt_receive(s, from, out(block(parts, from, 1)));
        else if (rank == from)
            collopt_send(s, p->root, mine);
    }
}

/* A rank without OUT combines its part in the scratch of one contribution. */
static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    bool reduce = p->collective == COLLOPT_REDUCE;
    int parts = collopt_scatters(p->collective) ? collopt_partition_counts(s)
                                                : collopt_partition(s, p->ranks);
    struct collopt_region *operand = exchange(s, p, rank, parts, p->ranks), mine;

    if (!operand)
        return;
    mine = reduce && rank != p->root ? operand[p->root] : out(block(parts, rank, 1));
    collopt_fold_once(s, mine, p->ranks, operand);
    free(operand);
    if (reduce)
        gather(s, p, rank, parts, mine);
    else if (p->collective == COLLOPT_ALLREDUCE)
        spread(s, p, rank, parts);
}

/* The prefixes of this rank's part, each where its last contribution was; this rank's own is copied
 * to scratch, as input is not to be written, and its prefix home. That of rank r is operand[r -
 * BEFORE]. */
static void make_prefixes(struct collopt_schedule *s, int contributors, int rank, int before,
                          struct collopt_block mine, struct collopt_region *operand)
{
    if (rank < contributors) {
        struct collopt_region own = at(collopt_packed_slot(s), mine);

        collopt_copy(s, own, operand[rank]);
        operand[rank] = own;
    }
    collopt_prefixes(s, contributors, operand);
    if (rank > 0)
        collopt_copy(s, out(mine), operand[rank - before]);
}

/* Rank 0 has no prefix but its own vector. */
static void build_prefix(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    int before = p->collective == COLLOPT_EXSCAN, parts = collopt_partition(s, p->ranks),
        contributors = p->ranks - before;
    struct collopt_region *operand = exchange(s, p, rank, parts, contributors);

    if (!operand)
        return;
    make_prefixes(s, contributors, rank, before, block(parts, rank, 1), operand);
    for (int j = 1; j < p->ranks; j++) {
        int to = modulo(rank + j, p->ranks), from = modulo(rank - j, p->ranks);

        collopt_round(s);
        if (to > 0)
            collopt_send(s, to, operand[to - before]);
        if (rank > 0)
            collopt_receive(s, from, out(block(parts, from, 1)));
    }
    free(operand);
    if (rank == 0 && before == 0)
        collopt_copy(s, out(whole()), in(whole()));
}

/* ---- traffic --------------------------------------------------------------------------------- */

/* On a node each rank writes its part of an Allreduce's result once, and all others read it. */
static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    bool multicast = p->collective == COLLOPT_ALLREDUCE && p->topology->nodes == 1
        && collopt_machine_of(p)->shm;
    struct collopt_messages m = { .pattern = multicast ? COLLOPT_PAIRS : COLLOPT_TREE,
                                  .distance = 1, .bytes = vector_bytes(p) / p->ranks,
                                  .fan = p->ranks - 1, .multicast = multicast };

    collopt_traffic_exchange(t, p, (p->ranks - 1) * vector_bytes(p) / p->ranks);
    if (multicast || p->collective == COLLOPT_REDUCE)
        collopt_messages(t, 1, m);
    else if (!collopt_scatters(p->collective))
        collopt_traffic_exchange(t, p, 0);
}

#define ALLTOALL \
    .name = "alltoall", .order = COLLOPT_IN_ORDER, .once = true, .traffic = traffic, \
    .source = "folklore; exact sums at the owner: collopt"

COLLOPT_SCATTER_AND_BLOCK(alltoall,
    ALLTOALL, .build = build,
    .summary = "every rank gets its part from all ranks and combines it in one fold; long vectors, "
               "exact sums");

const struct collopt_algorithm collopt_allreduce_alltoall = {
    ALLTOALL, .collective = COLLOPT_ALLREDUCE, .build = build,
    .summary = "every part is combined in one fold by a rank of its own, then sent to all; long "
               "vectors",
};

const struct collopt_algorithm collopt_reduce_alltoall = {
    ALLTOALL, .collective = COLLOPT_REDUCE, .build = build,
    .summary = "every part is combined in one fold by one rank, then sent to the root; long "
               "vectors, exact sums",
};

COLLOPT_SCAN_AND_EXSCAN(alltoall,
    ALLTOALL, .build = build_prefix,
    .summary = "for every part, a rank of its own makes the prefixes of all ranks; long vectors, "
               "exact sums");
