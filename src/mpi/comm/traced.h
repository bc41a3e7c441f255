/* The reductions on a communicator, one by one, for COLLOPT_TRACE (report/traced.h). */
#ifndef COLLOPT_MPI_COMM_TRACED_H
#define COLLOPT_MPI_COMM_TRACED_H

#include "mpi/comm/comm.h"
#include "mpi/host/call.h"
#include "report/traced.h"
#include "settings/settings.h"

/* Are calls on C wanted one by one? */
static inline bool collopt_traces(const struct collopt_comm *c)
{
    return c->timed && collopt_settings()->trace;
}

/* Keeps a call on C, of which CALL->comm is still missing.  NULL: no room. */
struct collopt_traced *collopt_trace(struct collopt_comm *c, struct collopt_traced call);
/* Returns WHAT with the name, collective, count and communicator of CALL on C.  The communicator is
 * NULL if the trace has no room. */
struct collopt_traced collopt_trace_describe(struct collopt_comm *c,
                                             const struct collopt_call *call,
                                             struct collopt_traced what);
/* Keeps that.  NULL: no room. */
struct collopt_traced *collopt_trace_call(struct collopt_comm *c, const struct collopt_call *call,
                                          struct collopt_traced what);

#endif
