/* The way of a persistent or nonblocking call: to shared memory, to a plan by messages, or back to
 * the host, alike on all ranks. */
#ifndef COLLOPT_MPI_CALL_DISPATCH_REQUEST_H
#define COLLOPT_MPI_CALL_DISPATCH_REQUEST_H

#include <stdbool.h>

#include "mpi/host/call.h"

struct collopt_comm;
struct collopt_plan;

/* Takes the communicator of a persistent CALL over, if need be, and compares the calls of all ranks
 * if that is wanted.  COLLOPT_RUN: by messages, or by shared memory where *PLAN is NULL.
 * COLLOPT_FALL_BACK: not counted so far; CALL says why.  COLLOPT_FAILED: *ERR is raised. */
enum collopt_outcome collopt_dispatch_persistent(struct collopt_call *call,
                                                 struct collopt_comm **state,
                                                 struct collopt_plan **plan, int *err);
/* The same for a nonblocking call.  It must not wait, so it takes over no communicator, and the
 * comparison comes later (comparison.h).  COLLOPT_FAILED: *ERR is not raised. */
enum collopt_outcome collopt_dispatch_nonblocking(struct collopt_call *call,
                                                  struct collopt_comm **state,
                                                  struct collopt_plan **plan, int *err);
/* Can nonblocking calls on C use shared memory?  All ranks answer alike. */
bool collopt_publishes(const struct collopt_comm *c, const struct collopt_call *call);

#endif
