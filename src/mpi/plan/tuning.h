/* COLLOPT_ADAPT: trials on the program's own calls. */
#ifndef COLLOPT_MPI_PLAN_TUNING_H
#define COLLOPT_MPI_PLAN_TUNING_H

#include <stdbool.h>
#include <stdint.h>

struct collopt_choice;
struct collopt_comm;
struct collopt_problem;

/* The trials for problems like P; NULL: no memory. */
struct collopt_adapted *collopt_adapted_for(struct collopt_comm *c,
                                            const struct collopt_problem *p);
/* Before each call of a trial: the ranks agree, if due. Returns an error code, not
 * raised yet. */
int collopt_adapt_agree(struct collopt_comm *c, struct collopt_adapted *a);
/* The candidate for the next call, and whether to time it; before the call, that it is made; and
 * after a call that was to be timed, successful or not, its time. */
int collopt_adapt_next(const struct collopt_adapted *a, bool *timed);
void collopt_adapt_begins(struct collopt_adapted *a);
void collopt_adapt_ends(struct collopt_adapted *a, int candidate, int64_t time);
const struct collopt_choice *collopt_adapt_choice(const struct collopt_adapted *a, int candidate);
unsigned long long collopt_adapt_calls(const struct collopt_adapted *a);

#endif
