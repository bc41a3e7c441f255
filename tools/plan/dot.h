/* A plan as a graph; what would be too large is refused, with a message. */
#ifndef COLLOPT_TOOLS_PLAN_DOT_H
#define COLLOPT_TOOLS_PLAN_DOT_H

#include <stdbool.h>
#include <stdio.h>

struct plan;

/* RANK: only what it takes part in; -1: everything. */
bool plan_dot(const struct plan *plan, int rank, FILE *to);

#endif
