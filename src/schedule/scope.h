/* The phase that is being written: words of the inner algorithm in terms of the schedule around
 * it. */
#ifndef COLLOPT_SCHEDULE_SCOPE_H
#define COLLOPT_SCHEDULE_SCOPE_H

#include <stdbool.h>

#include "schedule/block.h"

struct collopt_phase;

/* A phase that is being written, inside of OUTER; and what the schedule around it had. */
struct scope {
    const struct collopt_phase *phase;
    const struct scope *outer;
    struct collopt_block whole;         /* what the inner algorithm calls the whole vector */
    int strand, accumulator, counts_partition;
    bool has_out, keep_rounds;
};

int collopt_outer_rank(const struct scope *scope, int rank);
int collopt_outer_place(const struct scope *scope, int place);
struct collopt_block collopt_outer_block(const struct scope *scope, struct collopt_block b);

#endif
