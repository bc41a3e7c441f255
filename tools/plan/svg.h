/* A plan as a drawing. Its parts are of the class message, or of none, and have the round to which
 * they belong in data-round; the result is of the round behind the last. */
#ifndef COLLOPT_TOOLS_PLAN_SVG_H
#define COLLOPT_TOOLS_PLAN_SVG_H

#include <stdbool.h>
#include <stdio.h>

struct plan;

/* False, after a message on stderr, if it would be too large. */
bool plan_can_be_drawn(const struct plan *plan);

/* RANK: only what it takes part in; -1: everything. */
bool plan_svg(const struct plan *plan, int rank, FILE *to);

#endif
