/* Nonblocking calls that the host serves, where calls are compared (COLLOPT_CHECK).
 *
 * The host begins such a call at once, as it matches the calls on a communicator by their order.
 * Its request is part of an operation, and the program gets the operation's.  So whoever completes
 * the call learns of a difference, where the host's request would never be complete.
 *
 * Only arguments that MPI forbids are kept from the host until all ranks are known to have such:
 * some hosts do not refuse them, and the other ranks may not have called the host. */
#ifndef COLLOPT_MPI_BY_HOST_H
#define COLLOPT_MPI_BY_HOST_H

#include <stdbool.h>

struct collopt_call;
struct collopt_comm;
struct collopt_operation;

/* Fills in OP, which is cleared, and has the host begin CALL.  OUTCOME: COLLOPT_DECLINED, or the
 * error code for which this rank cannot. */
void collopt_by_host_begin(struct collopt_operation *op, struct collopt_comm *c,
                           struct collopt_call *call, int outcome);
/* OP was compared: has the host ended it? */
bool collopt_by_host_done(struct collopt_operation *op);
/* Goes on without waiting; true: it is DONE. */
bool collopt_by_host_advance(struct collopt_operation *op);

#endif
