/* The choice for sums that are rounded once (COLLOPT_REPRODUCIBLE=exact).
 *
 * Either the contributions travel as they are, to be combined in one fold, or as exact accumulators
 * that any algorithm adds on the way (kernels/exact_words.h).  All give the same bits, so the model
 * decides, and may look at nodes. */
#ifndef COLLOPT_SELECT_EXACT_H
#define COLLOPT_SELECT_EXACT_H

#include <stdbool.h>

struct collopt_choice;
struct collopt_decision;
struct collopt_problem;
struct collopt_remembered;

/* Decides for P with `once` set; false: nothing can serve it. */
bool collopt_select_exact(const struct collopt_problem *p, struct collopt_remembered *r,
                          struct collopt_decision *d);
/* Sets D's choice and rows if CHOICE can serve P, whatever P is; else *why is the reason, as the
 * end of a sentence. */
bool collopt_select_given(const struct collopt_choice *choice, const struct collopt_problem *p,
                          struct collopt_decision *d, const char **why);
/* The end of a decision's reason. */
const char *collopt_rows_text(const struct collopt_decision *d);

#endif
