/* Chooses by the model: ranks all usable algorithms by predicted time; within 1%, the one that
 * sends least comes first.  This takes 15 us on average. */
#ifndef COLLOPT_MODEL_CHOOSE_H
#define COLLOPT_MODEL_CHOOSE_H

#include "catalogue/choice.h"

struct collopt_problem;

struct collopt_candidate {
    struct collopt_choice choice;       /* with all its parameters */
    double seconds;
};

/* Writes the N fastest candidates to BEST, fastest first; returns their number. */
int collopt_choose(const struct collopt_problem *p, int n, struct collopt_candidate *best);

#endif
