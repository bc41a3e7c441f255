/* The handle of a request: the host's request that the program holds.
 *
 * The calls that pass collopt never show a handle to the host; they show a null request in its
 * place (complete.c). But a request may be completed by code that does not pass collopt: a tool
 * that takes MPI_Wait from the MPI library's handle, a plugin that was loaded with RTLD_DEEPBIND.
 * Such code must not find a request complete that is under way. So the handle is active in the host
 * while the request is under way:
 *
 *     nonblocking     a generalized request, which only collopt completes.  MPICH asks it for
 *                     progress (MPIX_Grequest_start), so any code may complete it there.
 *     persistent      a persistent receive from this rank itself; nobody sends the message.  It
 *                     stays active between two starts, as long as all calls pass collopt.
 *
 * Some hosts call collopt while they make progress (progress.h).  There collopt completes the
 * host's request, where ours has ended, when the program has not tested it by collopt for a while:
 * other code may wait for that request (collopt_handle_look).  On the other hosts, code that
 * completes a persistent request past collopt waits for good. */
#ifndef COLLOPT_MPI_REQUEST_HANDLE_H
#define COLLOPT_MPI_REQUEST_HANDLE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "mpi/host/host.h"
#include "mpi/request/request.h"

/* Makes the handle of R.  Returns an error code.  GONE: a nonblocking R was completed past
 * collopt, and the host has freed its handle. */
int collopt_handle_make(struct collopt_request *r, bool persistent,
                        void (*gone)(struct collopt_request *r));
/* The program gets the handle of a nonblocking request.  Where the Fortran MPI_Ireduce_scatter
 * writes behind its end unless it finds it complete (COLLOPT_WRITES_BEHIND_REQUEST), it is complete
 * from now on, and who completes it past collopt waits while the host frees it. */
void collopt_handle_hand_out(struct collopt_request *r);
/* A start: the handle is active from now on. */
int collopt_handle_activate(struct collopt_handle *h);
/* The end of a request whose completion call has passed collopt.  False: the handle is no more;
 * its request has been released. */
bool collopt_handle_settle(struct collopt_handle *h);
/* Does collopt not know of a start? */
static inline bool collopt_handle_is_idle(const struct collopt_handle *h)
{
    return atomic_load_explicit(&h->shown, memory_order_relaxed) != COLLOPT_SHOWN_ACTIVE;
}
/* A request that is not under way: has code that does not pass collopt started the handle? */
bool collopt_handle_was_started(const struct collopt_handle *h);
/* In the progress of the host, by a thread that has claimed R: completes the handle if the request
 * is done and no call has tested it since the last look.  Does the same for the handle of an
 * inactive persistent request, which other code may wait for. */
void collopt_handle_look(struct collopt_request *r);
/* At the end: the handle of a persistent request that is not freed is inactive in the host. */
void collopt_handle_park(struct collopt_handle *h);
/* Frees the handle, in whatever state; *REQUEST is null then.  R is claimed, and in no table. */
int collopt_handle_free(struct collopt_handle *h, MPI_Request *request);

#endif
