/* Which algorithm runs a problem, and why. */
#ifndef COLLOPT_SELECT_DECIDE_H
#define COLLOPT_SELECT_DECIDE_H

#include "select/decision.h"

struct collopt_problem;

/* Fills DECISION for P from the first source that answers: a forced algorithm, the user's rules,
 * what the host hands to the network, measurements on such a machine, the model (where the host's
 * measured time is known, it takes part). Under COLLOPT_REPRODUCIBLE a table takes the place of all
 * but the first (reproducible.c). If a forced algorithm cannot serve P, one notice is printed and
 * the next source answers. Predictions are for collopt_rounded() elements: one takes as long as
 * tens of short calls, so programs whose counts never repeat should not pay for each. */
void collopt_select(const struct collopt_problem *p, struct collopt_decision *decision);
/* The same, with the prediction cache R, unless it is NULL. */
struct collopt_remembered;
void collopt_select_again(const struct collopt_problem *p, struct collopt_remembered *r,
                          struct collopt_decision *decision);

#endif
