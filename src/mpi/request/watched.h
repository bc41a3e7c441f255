/* Requests of the host's for reductions, which are watched for the report and the trace: when they
 * were started, and how long the program waited for them.  They stay the host's, and it sees every
 * call.
 *
 * Only where COLLOPT_REPORT or COLLOPT_TRACE is set; else there are none, and looking for them
 * costs one load.  One that is completed past collopt is counted at the end, without a time. */
#ifndef COLLOPT_MPI_REQUEST_WATCHED_H
#define COLLOPT_MPI_REQUEST_WATCHED_H

#include <stdatomic.h>
#include <stdbool.h>

#include "mpi/comm/noted.h"
#include "mpi/host/call.h"
#include "mpi/host/host.h"

struct collopt_comm;
struct collopt_watched;

extern atomic_int collopt_watched_in_use;

static inline bool collopt_watched_none(void)
{
    return __builtin_expect(
        atomic_load_explicit(&collopt_watched_in_use, memory_order_relaxed) == 0, 1);
}

/* ---- starting -------------------------------------------------------------------------------- */

/* The host is about to start the nonblocking CALL on C, or to make a persistent request, whose
 * starts STARTS notes.  NULL: it is not watched. */
struct collopt_watched *collopt_watch_started(struct collopt_comm *c,
                                              const struct collopt_call *call,
                                              const struct collopt_noting *noting);
struct collopt_watched *collopt_watch_made(struct collopt_comm *c, const struct collopt_call *call,
                                           struct collopt_noted *starts);
/* The host has, with ERR, which is returned.  W may be NULL. */
int collopt_watch(struct collopt_watched *w, const MPI_Request *request, int err);
/* The same for MPI_Start of a persistent REQUEST. */
struct collopt_watched *collopt_watch_starts(const MPI_Request *request);
int collopt_watch_has_started(struct collopt_watched *w, int err);
/* Before MPI_Request_free. */
void collopt_watch_frees(const MPI_Request *request);
/* Is any of N requests watched? */
bool collopt_watched_any(int n, const MPI_Request *requests);

/* ---- completing ------------------------------------------------------------------------------ */

struct collopt_watching {       /* a completion call that the host serves */
    struct collopt_watched *first;      /* those under way among its requests */
    uint64_t begun;             /* 0: it does not wait */
};

/* Before a call with N REQUESTS, which WAITS for one of them at least. */
void collopt_watching_find(struct collopt_watching *w, int n, const MPI_Request *requests,
                           bool waits);
static inline void collopt_watching_begin(struct collopt_watching *w, int n,
                                          const MPI_Request *requests, bool waits)
{
    w->first = NULL;
    if (!collopt_watched_none())
        collopt_watching_find(w, n, requests, waits);
}
/* Before MPI_Waitall of REQUESTS: waits for each in turn, so that it is known how long that took,
 * whatever else is among them. */
void collopt_watching_each(struct collopt_watching *w, int n, MPI_Request *requests);
/* After the call, which returned ERR, before REQUESTS change again. */
void collopt_watching_finish(struct collopt_watching *w, const MPI_Request *requests, int err);
static inline int collopt_watching_end(struct collopt_watching *w, const MPI_Request *requests,
                                       int err)
{
    if (__builtin_expect(w->first != NULL, 0))
        collopt_watching_finish(w, requests, err);
    return err;
}

/* In MPI_Finalize and MPI_Abort, before the report: counts those whose end was not seen. */
void collopt_watched_end(void);

#endif
