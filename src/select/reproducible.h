/* The choice under COLLOPT_REPRODUCIBLE: depends on the call alone, but for sums that are rounded
 * once, whose bits do not depend on it (exact.h).
 *
 * The problem of an operation that rounds shows one node and no grid.  Algorithms that depend on
 * nodes are left out, and so is the host.  After the choice the schedule fixes the steps, and a
 * fold has the bits of combining from left to right. */
#ifndef COLLOPT_SELECT_REPRODUCIBLE_H
#define COLLOPT_SELECT_REPRODUCIBLE_H

#include <stdbool.h>

struct collopt_decision;
struct collopt_problem;

/* Decides for P with `anywhere` or `once` set, without rows; false: no algorithm of the table can
 * serve it. */
bool collopt_select_reproducible(const struct collopt_problem *p, struct collopt_decision *d);
/* If COLLOPT_REPRODUCIBLE applies to P, removes all knowledge of the placement of its ranks. */
void collopt_hide_placement(struct collopt_problem *p);

#endif
