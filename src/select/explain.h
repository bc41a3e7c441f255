/* The choice for a described problem, without a job. */
#ifndef COLLOPT_SELECT_EXPLAIN_H
#define COLLOPT_SELECT_EXPLAIN_H

struct collopt_decision;
struct collopt_problem;

/* Sets in P what COLLOPT_REPRODUCIBLE means for it: an operation that commutes and rounds is taken
 * as a sum of doubles. */
void collopt_explain_reproducible(struct collopt_problem *p);
/* Decides for P, as if that had been called; without a machine P is on one node. D's choice has all
 * parameters. */
void collopt_select_outside(const struct collopt_problem *p, struct collopt_decision *d);

#endif
