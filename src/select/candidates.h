/* Which algorithms are worth a trial. */
#ifndef COLLOPT_SELECT_CANDIDATES_H
#define COLLOPT_SELECT_CANDIDATES_H

struct collopt_choice;
struct collopt_problem;

/* At most MOST choices worth a trial if the decision is open: that decision, then others that
 * may be as fast. */
int collopt_candidates(const struct collopt_problem *p, struct collopt_choice *choice, int most);

#endif
