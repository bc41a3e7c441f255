/* A plan as a page whose drawing moves, round by round. */
#ifndef COLLOPT_TOOLS_PLAN_HTML_H
#define COLLOPT_TOOLS_PLAN_HTML_H

#include <stdbool.h>
#include <stdio.h>

struct plan;

/* RANK: only what it takes part in; -1: everything. Takes what plan_svg() takes. */
bool plan_html(const struct plan *plan, int rank, FILE *to);

#endif
