/* A communicator is taken over: its ranks exchange how messages reach them, and collopt runs its
 * reductions from then on. */
#ifndef COLLOPT_MPI_COMM_TAKE_OVER_H
#define COLLOPT_MPI_COMM_TAKE_OVER_H

#include <stddef.h>

#include "mpi/comm/comm.h"
#include "mpi/device/gpu.h"
#include "mpi/node/process.h"
#include "report/counters.h"

/* Why C does not serve calls, as all its ranks know; COLLOPT_REASONS: it does. Checked calls are
 * compared before they fall back. */
static inline enum collopt_reason collopt_comm_obstacle(const struct collopt_comm *c)
{
    if (collopt_is_off() && !(c->checked && c->status == COLLOPT_TAKEN_OVER))
        return COLLOPT_PASS_OFF;
    if (c->status == COLLOPT_TAKEN_OVER)
        return COLLOPT_REASONS;
    if (c->status == COLLOPT_NEW)
        return COLLOPT_PASS_EARLY;
    return c->status == COLLOPT_INTERCOMM ? COLLOPT_PASS_INTERCOMM
        : collopt_gpu_allows()            ? COLLOPT_PASS_REFUSED
                                          : COLLOPT_PASS_NATIVE;
}

/* Counts a call with a vector of BYTES on a NEW communicator and, when due, takes it over or leaves
 * it to the host for good. Collective. An error code: this rank alone cannot go on; it is
 * raised. */
int collopt_comm_take_over(struct collopt_comm *c, size_t bytes);
/* Counts a nonblocking call, which cannot take C over: the next blocking one may. A communicator of
 * one rank is taken over here too. */
void collopt_comm_note(struct collopt_comm *c, size_t bytes);
/* Takes over MPI_COMM_WORLD in MPI_Init, where it is cheapest, unless COLLOPT_AFTER is a number.
 * Collective. */
void collopt_comm_take_over_world(void);

#endif
