/* Makes plans: what runs the call is decided, and its schedule is bound. */
#ifndef COLLOPT_MPI_PLAN_MAKE_H
#define COLLOPT_MPI_PLAN_MAKE_H

#include <stdbool.h>

struct collopt_call;
struct collopt_comm;
struct collopt_facts;
struct collopt_plan;

/* NULL: no memory. */
struct collopt_plan *collopt_plan_make(struct collopt_comm *c, const struct collopt_call *call,
                                       const struct collopt_facts *f);
/* Sets the wires of PLAN, which is not WIRED: where calls are compared, when they have been.
 * False: no memory. */
bool collopt_plan_wire(struct collopt_comm *c, struct collopt_plan *plan);

#endif
