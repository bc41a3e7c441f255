/* A plan as data. */
#ifndef COLLOPT_TOOLS_PLAN_JSON_H
#define COLLOPT_TOOLS_PLAN_JSON_H

#include <stdbool.h>
#include <stdio.h>

struct plan;

/* RANK: only what it takes part in; -1: everything. */
bool plan_json(const struct plan *plan, int rank, FILE *to);

#endif
