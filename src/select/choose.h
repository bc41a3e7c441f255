/* The choice by the model: all algorithms that can serve a problem, by predicted time. */
#ifndef COLLOPT_CHOOSE_H
#define COLLOPT_CHOOSE_H

#include "internal.h"

struct collopt_candidate {
    struct collopt_choice choice;       /* with all its parameters */
    double seconds;
};

/* The N best of them, the best first, into BEST; returns how many there are. */
int collopt_choose(const struct collopt_problem *p, int n, struct collopt_candidate *best);

/* measured.c: where P was measured, and what was best there; NULL: nowhere. */
const char *collopt_measured(const struct collopt_problem *p, struct collopt_choice *choice);
/* Into messages of how many bytes longer ones are best cut; 0: they are best left whole. */
size_t collopt_longest_message(const struct collopt_problem *p);

#endif
