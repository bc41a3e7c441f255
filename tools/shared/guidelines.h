/* Self-consistent performance guidelines: no collective should take longer than others that give
 * the same result (Traff, Gropp and Thakur, IEEE TPDS 21, 2010). This file checks predicted
 * times; bench/guidelines measures. */
#ifndef COLLOPT_TOOLS_SHARED_GUIDELINES_H
#define COLLOPT_TOOLS_SHARED_GUIDELINES_H

#include "schedule/problem.h"

struct collopt_problem;

enum collopt_guideline {
    COLLOPT_AS_REDUCE_AND_BCAST, COLLOPT_AS_BLOCK_AND_ALLGATHER, COLLOPT_REDUCE_AS_ALLREDUCE,
    COLLOPT_SCATTER_AS_ALLREDUCE, COLLOPT_BLOCK_AS_ALLREDUCE, COLLOPT_BLOCK_AS_SCATTER,
    COLLOPT_SCAN_AS_EXSCAN, COLLOPT_EXSCAN_AS_SCAN, COLLOPT_GUIDELINES
};

struct collopt_guideline_words {
    const char *text;           /* "Reduce <= Allreduce" */
    enum collopt_collective left, right;        /* the reduction on each side */
};

extern const struct collopt_guideline_words collopt_guidelines[COLLOPT_GUIDELINES];

/* The longest time allowed for the left side, for P's vector, ranks and machine, if the right
 * side takes SECONDS[collective] (NAN: unknown). A Bcast is assumed to take as long as a Reduce,
 * an Allgather as a Reduce_scatter_block. NAN: nothing to compare. */
double collopt_guideline_limit(enum collopt_guideline g, const struct collopt_problem *p,
                               const double seconds[COLLOPT_COLLECTIVES]);

#endif
