/* Operations that the host serves; see by_host.h. */
#include "config.h"

#include <stdlib.h>

#include "mpi/request/host_request.h"
#include "mpi/comm/arguments.h"
#include "mpi/comm/comm.h"
#include "mpi/host/call.h"
#include "mpi/host/errhandler.h"
#include "mpi/host/fall_back.h"
#include "mpi/node/world.h"
#include "mpi/request/request.h"

/* An error of the host concerns this rank alone.  The completion call raises it, unless the
 * comparison has found a difference. */
static int issue(const struct collopt_call *call, MPI_Request *request)
{
    MPI_Errhandler handler = collopt_save_errhandler(call->comm);
    int err = collopt_fall_back_nonblocking(call, request);

    collopt_restore_errhandler(call->comm, handler);
    return err;
}

static int defer(struct collopt_request *op, const struct collopt_call *call)
{
    op->deferred = malloc(sizeof *call);
    if (!op->deferred)
        return MPI_ERR_NO_MEM;
    *op->deferred = *call;
    return MPI_SUCCESS;
}

/* Calls the host now, unless the program has freed the communicator. */
static int issue_deferred(struct collopt_request *op)
{
    int err = collopt_comm_of(op->owner) == op->comm ? issue(op->deferred, &op->host)
                                                     : MPI_ERR_ARG;

    free(op->deferred);
    op->deferred = NULL;
    return err;
}

static const struct collopt_request_ops ops;

void collopt_host_request_begin(struct collopt_request *op, struct collopt_comm *c,
                                struct collopt_call *call, int err)
{
    op->owner = c;
    op->comm = call->comm;
    op->rank = c->rank;
    op->ranks = c->ranks;
    op->collective = call->collective;
    op->facts.lasting = true;   /* the host's request holds the handles */
    op->timed = c->timed;
    op->yields = c->yields || collopt_world_surroundings() == COLLOPT_CROWDED;
    op->nonblocking = op->by_host = true;
    op->host = MPI_REQUEST_NULL;
    atomic_store_explicit(&op->ops, &ops, memory_order_relaxed);
    if (err)
        op->err = err;
    else
        op->err = collopt_arguments_wrong(c, call) ? defer(op, call) : issue(call, &op->host);
}

bool collopt_host_request_done(struct collopt_request *op)
{
    int flag = 0, err;

    if (op->deferred)
        op->err = issue_deferred(op);
    if (op->err)
        return true;
    err = collopt_host.Test(&op->host, &flag, MPI_STATUS_IGNORE);
    op->err = err;
    op->raised = err != MPI_SUCCESS;
    return flag || err;
}

static bool advance(struct collopt_request *op)
{
    if (!collopt_request_is_compared(op))
        return false;
    if (!op->refused && !collopt_host_request_done(op))
        return false;
    collopt_request_end(op);
    return true;
}

void collopt_host_request_release(struct collopt_request *op)
{
    free(op->deferred);
    op->deferred = NULL;
}

static const struct collopt_request_ops ops = { .advance = advance,
                                                .release = collopt_host_request_release };
