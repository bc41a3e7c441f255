/* Binding: a compiled schedule meets a count. */
#ifndef COLLOPT_SCHEDULE_BIND_H
#define COLLOPT_SCHEDULE_BIND_H

#include "schedule/bound.h"

struct collopt_problem;
struct collopt_schedule;

/* P->count and P->counts give the offsets. CUTS are in ascending order and end with a PIECE of 0;
 * of those whose ABOVE is less than the message's length the last one applies; NULL: there are
 * none. Returns NULL if memory is out. */
struct collopt_bound *collopt_bind(const struct collopt_schedule *s,
                                   const struct collopt_problem *p, const struct collopt_cut *cuts);

/* The same where shared memory carries the messages of some ranks: those of their messages that are
 * only read are not copied to scratch first. */
struct collopt_bound *collopt_bind_near(const struct collopt_schedule *s,
                                        const struct collopt_problem *p,
                                        const struct collopt_cut *cuts,
                                        const struct collopt_nearby *nearby);
void collopt_bound_free(struct collopt_bound *b);

#endif
