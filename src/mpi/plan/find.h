/* Finds the plan of a call, or has it made. */
#ifndef COLLOPT_MPI_PLAN_FIND_H
#define COLLOPT_MPI_PLAN_FIND_H

#include "mpi/host/call.h"

struct collopt_comm;
struct collopt_plan;

/* Nothing is sent.  COLLOPT_FAILED: no memory.  Works on CALL. */
enum collopt_outcome collopt_plan_find(struct collopt_comm *c, struct collopt_call *call,
                                       struct collopt_plan **plan);
/* Bytes of a call on a communicator that is not taken over; 0 where its arguments are the host's to
 * judge.  Who forces an algorithm wants it at once: SIZE_MAX. */
size_t collopt_bytes_to_count(const struct collopt_comm *c, const struct collopt_call *call);

#endif
