/* A call of the family handed to the host as it came. */
#include "config.h"

#include "mpi/pass_through.h"
#include "mpi/dispatch.h"
#include "mpi/host.h"
#include "schedule/schedule.h"

#define ROOTED(id) \
    (call->large ? collopt_host.id##_c(in, out, (host_count)n, type, op, call->root, comm) \
                 : collopt_host.id(in, out, (int)n, type, op, call->root, comm))
#define VECTOR(id) \
    (call->large ? collopt_host.id##_c(in, out, (host_count)n, type, op, comm) \
                 : collopt_host.id(in, out, (int)n, type, op, comm))

int collopt_hand_over(const struct collopt_call *call)
{
    const void *in = call->taken ? call->out : call->in;
    void *out = call->out;
    size_t n = call->count;
    MPI_Datatype type = call->type;
    MPI_Op op = call->op;
    MPI_Comm comm = call->comm;

    switch (call->collective) {
    case COLLOPT_REDUCE:
        return ROOTED(Reduce);
    case COLLOPT_ALLREDUCE:
        return VECTOR(Allreduce);
    case COLLOPT_REDUCE_SCATTER:
        return call->large ? collopt_host.Reduce_scatter_c(in, out, call->counts64, type, op, comm)
                           : collopt_host.Reduce_scatter(in, out, call->counts, type, op, comm);
    case COLLOPT_REDUCE_SCATTER_BLOCK:
        return VECTOR(Reduce_scatter_block);
    case COLLOPT_SCAN:
        return VECTOR(Scan);
    case COLLOPT_EXSCAN:
        return VECTOR(Exscan);
    case COLLOPT_COLLECTIVES:
        break;
    }
    return MPI_ERR_INTERN;
}
