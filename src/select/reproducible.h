/* The choice under COLLOPT_REPRODUCIBLE, by the call alone. */
#ifndef COLLOPT_REPRODUCIBLE_H
#define COLLOPT_REPRODUCIBLE_H

#include "internal.h"

/* Of P that is free of its place (collopt_problem's anywhere); false: no algorithm here can serve it. */
bool collopt_select_reproducible(const struct collopt_problem *p, struct collopt_decision *d);
/* Where COLLOPT_REPRODUCIBLE matters for P, takes what is known of the place of its ranks away. */
void collopt_put_nowhere(struct collopt_problem *p);

/* outside.c: the choice for a problem that is described, without a job.  P's operation, if it commutes and rounds, is a sum of
 * doubles; where P has no machine it is one node.  All parameters are in D's choice. */
void collopt_select_outside(const struct collopt_problem *p, struct collopt_decision *d);

#endif
