/* The choice under COLLOPT_REPRODUCIBLE, by the call alone. */
#ifndef COLLOPT_REPRODUCIBLE_H
#define COLLOPT_REPRODUCIBLE_H

#include "internal.h"

/* Of P that is free of its place (collopt_problem's anywhere); false: no algorithm here can serve it. */
bool collopt_select_reproducible(const struct collopt_problem *p, struct collopt_decision *d);

#endif
