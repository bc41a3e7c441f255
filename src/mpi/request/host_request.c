/* Operations that the host serves; see by_host.h. */
#include "config.h"

#include <stdlib.h>

#include "mpi/request/host_request.h"
#include "mpi/comm/comm.h"
#include "mpi/call/dispatch.h"
#include "mpi/request/request.h"
#include "mpi/host/fall_back.h"
#include "mpi/node/world.h"

/* An error of the host concerns this rank alone.  The completion call raises it, unless the
 * comparison has found a difference. */
static int hand_over(const struct collopt_call *call, MPI_Request *request)
{
    MPI_Errhandler handler = collopt_quiet(call->comm);
    int err = collopt_hand_over_later(call, request);

    collopt_as_before(call->comm, handler);
    return err;
}

static int put_off(struct collopt_operation *op, const struct collopt_call *call)
{
    op->put_off = malloc(sizeof *call);
    if (!op->put_off)
        return MPI_ERR_NO_MEM;
    *op->put_off = *call;
    return MPI_SUCCESS;
}

/* Calls the host now, unless the program has freed the communicator. */
static int catch_up(struct collopt_operation *op)
{
    int err = collopt_comm_of(op->owner) == op->comm ? hand_over(op->put_off, &op->host)
                                                     : MPI_ERR_ARG;

    free(op->put_off);
    op->put_off = NULL;
    return err;
}

void collopt_by_host_begin(struct collopt_operation *op, struct collopt_comm *c,
                           struct collopt_call *call, int outcome)
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
    if (outcome != COLLOPT_DECLINED)
        op->err = outcome;
    else
        op->err = collopt_arguments_wrong(c, call) ? put_off(op, call) : hand_over(call, &op->host);
}

bool collopt_by_host_done(struct collopt_operation *op)
{
    int flag = 0, err;

    if (op->put_off)
        op->err = catch_up(op);
    if (op->err)
        return true;
    err = collopt_host.Test(&op->host, &flag, MPI_STATUS_IGNORE);
    op->err = err;
    op->raised = err != MPI_SUCCESS;
    return flag || err;
}

bool collopt_by_host_advance(struct collopt_operation *op)
{
    if (!collopt_operation_is_compared(op))
        return false;
    if (!op->refused && !collopt_by_host_done(op))
        return false;
    collopt_operation_end(op);
    return true;
}
