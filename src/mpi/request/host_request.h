/* Nonblocking calls that the host serves, where calls are compared (COLLOPT_CHECK).
 *
 * The host starts such a call at once, since it matches collective calls by their order.  Collopt
 * makes an operation that holds the host's request, and the program gets the request of the
 * operation.  If the ranks' calls differ, the host's request may never complete, but the
 * operation's does, with the error.
 *
 * If a call has arguments that MPI forbids, the host gets it only after the comparison, and only if
 * the ranks agree.  Some hosts accept such arguments, while the other ranks have not called the
 * host. */
#ifndef COLLOPT_MPI_REQUEST_HOST_REQUEST_H
#define COLLOPT_MPI_REQUEST_HOST_REQUEST_H

#include <stdbool.h>

struct collopt_call;
struct collopt_comm;
struct collopt_request;

/* Fills in OP, which is cleared, and starts CALL in the host, unless this rank has an error ERR. */
void collopt_host_request_begin(struct collopt_request *op, struct collopt_comm *c,
                                struct collopt_call *call, int err);
/* Has the host completed OP?  Its calls were compared. */
bool collopt_host_request_done(struct collopt_request *op);
/* Frees what OP has of it. */
void collopt_host_request_release(struct collopt_request *op);

#endif
