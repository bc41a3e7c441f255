/* Collectives by name, and who has a result. */
#include "config.h"

#include "schedule/problem.h"

const char *const collopt_collective_names[COLLOPT_COLLECTIVES] = {
    [COLLOPT_REDUCE] = "reduce",
    [COLLOPT_ALLREDUCE] = "allreduce",
    [COLLOPT_REDUCE_SCATTER] = "reduce_scatter",
    [COLLOPT_REDUCE_SCATTER_BLOCK] = "reduce_scatter_block",
    [COLLOPT_SCAN] = "scan",
    [COLLOPT_EXSCAN] = "exscan",
};

bool collopt_has_result(const struct collopt_problem *p, int rank)
{
    switch (p->collective) {
    case COLLOPT_REDUCE:
        return rank == p->root;
    case COLLOPT_EXSCAN:
        return rank != 0;
    default:
        return true;
    }
}
