/* Does a plan pay for itself? */
#ifndef COLLOPT_MPI_PLAN_PAYS_H
#define COLLOPT_MPI_PLAN_PAYS_H

#include <stdbool.h>

struct collopt_call;
struct collopt_comm;
struct collopt_facts;

/* Have the savings of calls like this one reached the cost of a plan?  Each call with this question
 * counts. */
bool collopt_plan_pays(struct collopt_comm *c, const struct collopt_call *call,
                       const struct collopt_facts *f);

#endif
