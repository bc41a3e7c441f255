/* The requests of persistent and nonblocking reductions, by their handles (handle.h).
 * start.c makes, starts and frees them, complete.c completes them.
 *
 * A table leads from handles to requests. Programs that have none pay one load and one branch.
 * Handles of nonblocking reductions become null when they have ended, and serve the next ones. */
#ifndef COLLOPT_MPI_REQUEST_TABLE_H
#define COLLOPT_MPI_REQUEST_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "mpi/host/host.h"
#include "mpi/request/handle.h"
#include "mpi/request/request.h"

/* Persistent requests, and nonblocking ones that are under way. */
extern atomic_int collopt_requests_in_use;

static inline bool collopt_requests_none(void)
{
    return __builtin_expect(
        atomic_load_explicit(&collopt_requests_in_use, memory_order_relaxed) == 0, 1);
}

/* HOW_MANY more are in use. */
static inline void collopt_requests_count(int how_many)
{
    atomic_fetch_add_explicit(&collopt_requests_in_use, how_many, memory_order_relaxed);
}

/* The request with the handle REQUEST; NULL: it is one of the program's own. */
struct collopt_request *collopt_requests_find(MPI_Request request);
/* The same, where REQUEST may be NULL. */
static inline struct collopt_request *collopt_requests_find_at(const MPI_Request *request)
{
    return collopt_requests_none() || !request ? NULL : collopt_requests_find(*request);
}

/* Is any of N requests a request's? */
bool collopt_requests_any(int n, const MPI_Request *requests);
/* Makes a handle for R and enters it in the table. An error code. */
int collopt_requests_enter(struct collopt_request *r, bool persistent);
/* Advances the persistent requests in shared memory that need no MPI.  False: none is active. */
bool collopt_requests_help(void);
/* Removes R from the table, since the program frees its request.  True: the caller releases R.
 * False: R is active and is released when it is complete. */
bool collopt_requests_remove(struct collopt_request *r);
/* Frees R, which is not active and not in the table. */
void collopt_requests_release(struct collopt_request *r);
/* Frees the requests that the program freed while they were active and that are complete now. */
void collopt_requests_release_freed(void);
/* A request with a handle, for a nonblocking reduction; NULL: no memory. */
struct collopt_request *collopt_requests_take_idle(void);
void collopt_requests_make_idle(struct collopt_request *r);
/* A thread that has claimed the persistent R, which is not under way, has found that its handle
 * was started past collopt: starts it. */
void collopt_requests_adopt(struct collopt_request *r);
/* Raises ERR on COMM, or, if OWNER has left it since, on MPI_COMM_WORLD. */
int collopt_requests_complain(const struct collopt_comm *owner, MPI_Comm comm, int err);

/* The program frees a handle that a request needs: it is freed with the last of these, and
 * *HANDLE is null. False: none needs it. */
bool collopt_requests_keep_op(MPI_Op *op);
bool collopt_requests_keep_type(MPI_Datatype *type);
/* Before MPI_Finalize: completes those that the other ranks need. */
void collopt_requests_finish(void);
/* Frees the handles, when nothing advances requests any more. */
void collopt_requests_end(void);

#endif
