/* Phases: another algorithm among some of the ranks.  It sees ranks 0 to n-1, a whole vector, IN
 * and OUT; a scope (scope.h) translates, and scopes nest.  So any algorithm can run inside nodes or
 * between them. */
#ifndef COLLOPT_SCHEDULE_PHASE_H
#define COLLOPT_SCHEDULE_PHASE_H

#include <stddef.h>

#include "schedule/problem.h"
#include "schedule/scope.h"

struct collopt_algorithm;
struct collopt_schedule;

/* An algorithm with all its parameters. */
struct collopt_inner {
    const struct collopt_algorithm *algorithm;
    size_t value[COLLOPT_PARAMETERS];
    int segments;
};

/* Writes A's schedule for P into S; that of one rank is the same for all algorithms. */
void collopt_build(struct collopt_schedule *s, const struct collopt_algorithm *a,
                   const struct collopt_problem *p, int rank);
/* Writes the inner algorithm's schedule into S, at the present strand and behind what is there. */
void collopt_phase(struct collopt_schedule *s, const struct collopt_problem *p,
                   const struct collopt_phase *phase, const struct collopt_inner *inner);

#endif
