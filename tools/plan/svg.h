/* A plan as a drawing; what would be too large is refused, with a message. */
#ifndef COLLOPT_TOOLS_PLAN_SVG_H
#define COLLOPT_TOOLS_PLAN_SVG_H

#include <stdbool.h>
#include <stdio.h>

struct plan;

/* RANK: only what it takes part in; -1: everything. */
bool plan_svg(const struct plan *plan, int rank, FILE *to);

#endif
