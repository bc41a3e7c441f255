/* A call of the family handed to the host as it came. */
#include "config.h"

#include "mpi/host/fall_back.h"
#include "mpi/call/dispatch.h"
#include "mpi/host/host.h"
#include "schedule/schedule.h"

/* The arguments of a call of each shape, with counts of either kind. */
#define IN                              (call->taken ? call->out : call->in)
#define COUNTS_int                      call->counts
#define COUNTS_host_count               call->counts64
#define GIVE_COLLOPT_ROOTED(C) \
    IN, call->out, (C)call->count, call->type, call->op, call->root, call->comm
#define GIVE_COLLOPT_VECTOR(C) \
    IN, call->out, (C)call->count, call->type, call->op, call->comm
#define GIVE_COLLOPT_SCATTERED(C) \
    IN, call->out, COUNTS_##C, call->type, call->op, call->comm

#define BLOCKING(N, name, nonblocking, ID, SHAPE) \
    case COLLOPT_##ID: \
        return call->large ? collopt_host.name##_c(GIVE_##SHAPE(host_count)) \
                           : collopt_host.name(GIVE_##SHAPE(int));
#define NONBLOCKING(N, name, nonblocking, ID, SHAPE) \
    case COLLOPT_##ID: \
        return call->large ? collopt_host.I##nonblocking##_c(GIVE_##SHAPE(host_count), request) \
                           : collopt_host.I##nonblocking(GIVE_##SHAPE(int), request);

int collopt_hand_over(const struct collopt_call *call)
{
    switch (call->collective) {
        COLLOPT_COLLECTIVE_NAMES(BLOCKING, )
    case COLLOPT_COLLECTIVES:
        break;
    }
    return MPI_ERR_INTERN;
}

int collopt_hand_over_later(const struct collopt_call *call, MPI_Request *request)
{
    switch (call->collective) {
        COLLOPT_COLLECTIVE_NAMES(NONBLOCKING, )
    case COLLOPT_COLLECTIVES:
        break;
    }
    return MPI_ERR_INTERN;
}
