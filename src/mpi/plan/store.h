/* The plans of a communicator, kept for the next call like theirs.
 *
 * A plan for handles of the user's own is used again only if all that was learnt of them is the
 * same.
 *
 * Ranks keep different plans: they free, make and reuse handles differently, and forget plans at
 * different times.  So no decision depends on what is kept.  A communicator of p ranks keeps up to
 * 256 + 4 p plans, so the root may rotate. */
#ifndef COLLOPT_MPI_PLAN_STORE_H
#define COLLOPT_MPI_PLAN_STORE_H

#include <stdbool.h>
#include <stddef.h>

struct collopt_call;
struct collopt_comm;
struct collopt_facts;
struct collopt_plan;

/* The plan that a call like this one had before, or NULL.  COUNT: collopt_call_key().  Unless
 * facts.predefined, renew it with the facts of today's handles; false: it does not serve them. */
struct collopt_plan *collopt_plan_known(struct collopt_comm *c, const struct collopt_call *call,
                                        size_t count);
bool collopt_plan_renew(struct collopt_comm *c, struct collopt_plan *plan,
                        const struct collopt_facts *f);
/* A new plan for CALL, kept.  Where memory is short, what was kept for other calls is given up for
 * it.  NULL: that did not help; ranks that wait for this one in a blocking call get an error. */
struct collopt_plan *collopt_plan_new(struct collopt_comm *c, const struct collopt_call *call,
                                      const struct collopt_facts *f);

#endif
