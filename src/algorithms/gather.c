/* Gather: a rank receives all vectors that go into its result, and combines them in one fold.
 *
 * Nothing is combined on the way, so an operation that wants all operands at once gets them: sums
 * that are rounded once. All messages are under way together.
 * Cost: p-1 messages and (p-1) m at the busiest rank, (p-1) m combined there, p-1 vectors of
 * scratch. In rank order. Use it for short vectors where results must not depend on partial sums.
 * Folklore. */
#include "config.h"

#include <stdlib.h>

#include "algorithm.h"

/* TO = the fold of the vectors of ranks 0 to LAST; those of other ranks are received. A single one
 * is copied. */
static void collect(struct collopt_schedule *s, const struct collopt_problem *p, int rank, int last,
                    struct collopt_region to)
{
    struct collopt_region *operand = collopt_workspace(s, ((size_t)last + 1) * sizeof *operand);

    if (!operand)
        return;
    for (int j = 0; j < p->ranks; j++) {
        int from = modulo(rank - j, p->ranks);          /* each rank begins with another one, not
                                                         * all with rank 0 */

        if (from > last)
            continue;
        operand[from] = from == rank ? in(whole()) : at(collopt_packed_slot(s), whole());
        if (from != rank)
            collopt_receive(s, from, operand[from]);
    }
    if (last > 0)
        collopt_fold_once(s, to, last + 1, operand);
    else
        collopt_copy(s, to, operand[0]);
    free(operand);
}

static void build_reduce(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    if (rank == p->root)
        collect(s, p, rank, p->ranks - 1, out(whole()));
    else
        collopt_send(s, p->root, in(whole()));
}

static void build_allreduce(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    collopt_multicast(s, p->ranks, NULL);
    for (int j = 1; j < p->ranks; j++)
        collopt_send(s, modulo(rank + j, p->ranks), in(whole()));
    collect(s, p, rank, p->ranks - 1, out(whole()));
    collopt_multicast(s, 0, NULL);
}

/* A single operand of an Exscan is received straight in the result. */
static void build_prefix(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    int last = p->collective == COLLOPT_SCAN ? rank : rank - 1;

    for (int to = rank + 1; to < p->ranks; to++)
        collopt_send(s, to, in(whole()));
    if (last == 0 && rank == 1) {
        collopt_round(s);
        collopt_receive(s, 0, out(whole()));
    } else if (last >= 0) {
        collect(s, p, rank, last, out(whole()));
    }
}

/* The first rank of a Scan sends as many messages as the last one receives. */
static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    double m = vector_bytes(p);
    bool tree = p->collective == COLLOPT_REDUCE;

    collopt_messages(t, 1, (struct collopt_messages){ .pattern = tree ? COLLOPT_TREE
                                                                      : COLLOPT_PAIRS,
                                                      .distance = 1, .bytes = m,
                                                      .combined = (p->ranks - 1) * m,
                                                      .fan = p->ranks - 1,
                                                      .multicast = p->collective
                                                                   == COLLOPT_ALLREDUCE });
}

#define GATHER \
    .name = "gather", .order = COLLOPT_IN_ORDER, .once = true, .source = "folklore", \
    .traffic = traffic

const struct collopt_algorithm collopt_reduce_gather = {
    GATHER, .collective = COLLOPT_REDUCE, .build = build_reduce,
    .summary = "the root gets all vectors and combines them in one fold; short vectors, exact sums",
};

const struct collopt_algorithm collopt_allreduce_gather = {
    GATHER, .collective = COLLOPT_ALLREDUCE, .build = build_allreduce,
    .summary = "every rank gets all vectors and combines them in one fold; short vectors, exact "
               "sums",
};

COLLOPT_SCAN_AND_EXSCAN(gather,
    GATHER, .build = build_prefix,
    .summary = "every rank combines the vectors of all lower ones in one fold; short vectors, "
               "exact sums");
