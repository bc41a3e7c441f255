/* Nonblocking calls that the host serves, where calls are compared (COLLOPT_CHECK).
 *
 * The host starts such a call at once, since it matches collective calls by their order.  Collopt
 * makes a request that holds the host's, and the program gets collopt's.  If the ranks' calls
 * differ, the host's request may never complete, but collopt's does, with the error.
 *
 * If a call has arguments that MPI forbids, the host gets it only after the comparison, and only if
 * the ranks agree.  Some hosts accept such arguments, while the other ranks have not called the
 * host. */
#ifndef COLLOPT_MPI_REQUEST_HOST_REQUEST_H
#define COLLOPT_MPI_REQUEST_HOST_REQUEST_H

#include <stdbool.h>

#include "mpi/host/host.h"

struct collopt_call;
struct collopt_comm;
struct collopt_request;

struct collopt_host_part {      /* of a request that the host serves */
    MPI_Request request;        /* the host's */
    struct collopt_call *deferred;      /* a copy of the call until the host gets it */
};

/* Fills in the head of R, which is cleared, and starts CALL in the host, unless this rank has an
 * error ERR. */
void collopt_host_part_begin(struct collopt_host_part *h, struct collopt_request *r,
                             struct collopt_comm *c, struct collopt_call *call, int err);
/* Has the host completed R?  Its calls were compared. */
bool collopt_host_part_done(struct collopt_host_part *h, struct collopt_request *r);
void collopt_host_part_release(struct collopt_host_part *h);

/* Starts a request that the host alone serves. */
void collopt_host_request_start(struct collopt_request *r, struct collopt_comm *c,
                                struct collopt_call *call, int err);

#endif
