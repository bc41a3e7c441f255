/* Phases: another algorithm among some of the ranks. */
#ifndef COLLOPT_SCHEDULE_PHASE_H
#define COLLOPT_SCHEDULE_PHASE_H

#include <stdbool.h>
#include <stddef.h>

#include "schedule/block.h"
#include "schedule/problem.h"

struct collopt_algorithm;
struct collopt_schedule;
struct collopt_topology;

/* An algorithm with all its parameters. */
struct collopt_inner {
    const struct collopt_algorithm *algorithm;
    size_t value[COLLOPT_PARAMETERS];
    int segments;
};

/* What is the whole problem to the inner algorithm: some ranks, a block of the vector, two
 * places. */
struct collopt_phase {
    int ranks, index;           /* how many take part, and which of them this rank is */
    const int *member;          /* [ranks] who they are, lower ranks first */
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

/* Writes the inner algorithm's schedule into S, at the present strand and behind what is there. */
void collopt_phase(struct collopt_schedule *s, const struct collopt_problem *p,
                   const struct collopt_phase *phase, const struct collopt_inner *inner);

#endif
