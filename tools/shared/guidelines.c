/* Self-consistent performance guidelines, by predicted times.  See guidelines.h. */
#include "config.h"

#include "shared/guidelines.h"
#include "model/machine.h"
#include "model/model.h"
#include "schedule/problem.h"
#include "topology/topology.h"

#include <math.h>

const struct collopt_guideline_words collopt_guidelines[COLLOPT_GUIDELINES] = {
    [COLLOPT_AS_REDUCE_AND_BCAST] = { "Allreduce <= Reduce + Bcast", COLLOPT_ALLREDUCE,
                                      COLLOPT_REDUCE },
    [COLLOPT_AS_BLOCK_AND_ALLGATHER] = { "Allreduce <= Reduce_scatter_block + Allgather",
                                         COLLOPT_ALLREDUCE, COLLOPT_REDUCE_SCATTER_BLOCK },
    [COLLOPT_REDUCE_AS_ALLREDUCE] = { "Reduce <= Allreduce", COLLOPT_REDUCE, COLLOPT_ALLREDUCE },
    [COLLOPT_SCATTER_AS_ALLREDUCE] = { "Reduce_scatter <= Allreduce", COLLOPT_REDUCE_SCATTER,
                                       COLLOPT_ALLREDUCE },
    [COLLOPT_BLOCK_AS_ALLREDUCE] = { "Reduce_scatter_block <= Allreduce",
                                     COLLOPT_REDUCE_SCATTER_BLOCK, COLLOPT_ALLREDUCE },
    [COLLOPT_BLOCK_AS_SCATTER] = { "Reduce_scatter_block <= Reduce_scatter",
                                   COLLOPT_REDUCE_SCATTER_BLOCK, COLLOPT_REDUCE_SCATTER },
    [COLLOPT_SCAN_AS_EXSCAN] = { "Scan <= Exscan + Reduce_local", COLLOPT_SCAN, COLLOPT_EXSCAN },
    [COLLOPT_EXSCAN_AS_SCAN] = { "Exscan <= a message + Scan", COLLOPT_EXSCAN, COLLOPT_SCAN },
};

static double bytes_of(const struct collopt_problem *p)
{
    return (double)p->count * (double)p->size;
}

static double message(const struct collopt_problem *p)
{
    const struct collopt_way *w = collopt_way(
        p, p->topology->nodes > 1 ? COLLOPT_BETWEEN : COLLOPT_INSIDE);

    return w->latency + 2 * w->overhead + w->byte * bytes_of(p)
        + (bytes_of(p) > w->eager ? w->handshake : 0);
}

double collopt_guideline_limit(enum collopt_guideline g, const struct collopt_problem *p,
                               const double seconds[COLLOPT_COLLECTIVES])
{
    double right = seconds[collopt_guidelines[g].right];

    switch (g) {
    case COLLOPT_AS_REDUCE_AND_BCAST:
    case COLLOPT_AS_BLOCK_AND_ALLGATHER:
        return 2 * right;
    case COLLOPT_BLOCK_AS_ALLREDUCE:
    /* one element for each rank at least; shorter vectors of the others are no match */
    case COLLOPT_BLOCK_AS_SCATTER:
        return p->count < (size_t)p->ranks ? NAN : right;
    case COLLOPT_SCAN_AS_EXSCAN:
        return right + collopt_machine_of(p)->combine * bytes_of(p);
    case COLLOPT_EXSCAN_AS_SCAN:
        return message(p) + right;
    default:
        return right;
    }
}
