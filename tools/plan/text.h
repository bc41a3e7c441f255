/* A plan in words. */
#ifndef COLLOPT_TOOLS_PLAN_TEXT_H
#define COLLOPT_TOOLS_PLAN_TEXT_H

#include <stdbool.h>
#include <stdio.h>

struct plan;

/* RANK: only what it takes part in; -1: everything. */
bool plan_text(const struct plan *plan, int rank, FILE *to);

#endif
