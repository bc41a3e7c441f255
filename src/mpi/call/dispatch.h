/* The way of a blocking call: to its plan, or back to the host.  A call that falls back has its own
 * arguments, and nothing was written or sent by then. */
#ifndef COLLOPT_MPI_CALL_DISPATCH_H
#define COLLOPT_MPI_CALL_DISPATCH_H

struct collopt_call;

/* Works on CALL, which the caller does not use afterwards. */
int collopt_dispatch(struct collopt_call *call);

#endif
