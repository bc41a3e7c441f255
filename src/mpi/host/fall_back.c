/* Gives a call to the host as it came. */
#include "config.h"

#include "mpi/host/fall_back.h"
#include "mpi/host/call.h"

/* The arguments of a call of each shape, with counts of either kind. */
#define IN                              (call->taken ? call->out : call->in)
#define GIVE_COLLOPT_ROOTED(C) \
    IN, call->out, (C)call->count, call->type, call->op, call->root, call->comm
#define GIVE_COLLOPT_VECTOR(C) \
    IN, call->out, (C)call->count, call->type, call->op, call->comm
#define GIVE_COLLOPT_SCATTERED(C) \
    IN, call->out, call->counts, call->type, call->op, call->comm

#define BLOCKING(N, name, nonblocking, ID, SHAPE) \
    case COLLOPT_##ID: \
        return call->large ? collopt_host.name##_c(GIVE_##SHAPE(host_count)) \
                           : collopt_host.name(GIVE_##SHAPE(int));
#define NONBLOCKING(N, name, nonblocking, ID, SHAPE) \
    case COLLOPT_##ID: \
        return call->large ? collopt_host.I##nonblocking##_c(GIVE_##SHAPE(host_count), request) \
                           : collopt_host.I##nonblocking(GIVE_##SHAPE(int), request);

int collopt_fall_back(const struct collopt_call *call)
{
    switch (call->collective) {
        COLLOPT_COLLECTIVE_NAMES(BLOCKING, )
    case COLLOPT_COLLECTIVES:
        break;
    }
    return MPI_ERR_INTERN;
}

int collopt_fall_back_nonblocking(const struct collopt_call *call, MPI_Request *request)
{
    switch (call->collective) {
        COLLOPT_COLLECTIVE_NAMES(NONBLOCKING, )
    case COLLOPT_COLLECTIVES:
        break;
    }
    return MPI_ERR_INTERN;
}
