/* Phases, and while one is written: words of its algorithm in terms of the schedule around it. */
#ifndef COLLOPT_SCHEDULE_SCOPE_H
#define COLLOPT_SCHEDULE_SCOPE_H

#include <stdbool.h>

#include "schedule/block.h"

struct collopt_topology;

/* The whole problem of the inner algorithm: some ranks, a block of the vector, two places. */
struct collopt_phase {
    int ranks, index;           /* how many take part, and which of them this rank is */
    const int *member;          /* [ranks] who they are, lower ranks first; NULL: all ranks */
    int root;                   /* its index; Reduce */
    const struct collopt_topology *topology;        /* of the members; NULL: nothing is known of
                                                     * them, or is to be looked at */
    struct collopt_block whole; /* the vector; of a Reduce_scatter all its parts together */
    int in, out;                /* two different places that hold it; OUT is not used where there is
                                 * no result */
    bool again;                 /* other phases are among the same ranks or some of them: so it has
                                 * no multicasts */
    /* Reduce_scatter: what member i is to get is PART[first[i]] ... PART[first[i+1] - 1], blocks in
     * ascending order. */
    const struct collopt_block *part;
    const int *first;           /* [ranks + 1] */
};

/* The state of a phase, or of the schedule around all of them, while it is written. */
struct frame {
    int strand;                 /* of the actions that follow */
    int accumulator;            /* place, or -1 if it is not computed yet */
    int counts_partition;       /* or -1 */
    bool has_out;
    bool keep_rounds;           /* of the actions that follow */
};

/* A phase that is being written, inside of OUTER; and what that had. */
struct scope {
    const struct collopt_phase *phase;
    const struct scope *outer;
    struct collopt_block whole; /* what the inner algorithm calls the whole vector */
    struct frame before;
};

int collopt_outer_rank(const struct scope *scope, int rank);
int collopt_outer_place(const struct scope *scope, int place);
struct collopt_block collopt_outer_block(const struct scope *scope, struct collopt_block b);

#endif
