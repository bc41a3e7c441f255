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

/* A rank needs memory for some vectors of rows. */
static const size_t most_in_rows = (size_t)8 << 20;

bool collopt_problem_in_rows(const struct collopt_problem *p, struct collopt_problem *rows)
{
    if (p->row == 0 || p->count > most_in_rows / p->row)
        return false;
    *rows = *p;
    rows->size = p->row;
    rows->once = false;
    rows->row = 0;
    rows->rows = rows->exact = true;
    return true;
}

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
