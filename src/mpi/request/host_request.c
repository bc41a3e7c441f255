/* Requests that the host serves; see host_request.h. */
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

static int defer(struct collopt_host_part *h, const struct collopt_call *call)
{
    h->deferred = malloc(sizeof *call);
    if (!h->deferred)
        return MPI_ERR_NO_MEM;
    *h->deferred = *call;
    return MPI_SUCCESS;
}

/* Calls the host now, unless the program has freed the communicator. */
static int issue_deferred(struct collopt_host_part *h, const struct collopt_request *r)
{
    int err = collopt_comm_of(r->owner) == r->comm ? issue(h->deferred, &h->request) : MPI_ERR_ARG;

    collopt_host_part_release(h);
    return err;
}

void collopt_host_part_begin(struct collopt_host_part *h, struct collopt_request *r,
                             struct collopt_comm *c, struct collopt_call *call, int err)
{
    r->owner = c;
    r->comm = call->comm;
    r->collective = call->collective;
    r->facts.predefined = true;    /* the host's request holds the handles */
    r->measured.timed = c->timed;
    r->yields = c->yields || collopt_world_surroundings() == COLLOPT_CROWDED;
    r->nonblocking = r->by_host = true;
    h->request = MPI_REQUEST_NULL;
    if (err)
        r->err = err;
    else
        r->err = collopt_arguments_wrong(c, call) ? defer(h, call) : issue(call, &h->request);
}

bool collopt_host_part_done(struct collopt_host_part *h, struct collopt_request *r)
{
    int flag = 0, err;

    if (h->deferred)
        r->err = issue_deferred(h, r);
    if (r->err)
        return true;
    err = collopt_host.Test(&h->request, &flag, MPI_STATUS_IGNORE);
    r->err = err;
    r->raised = err != MPI_SUCCESS;
    return flag || err;
}

void collopt_host_part_release(struct collopt_host_part *h)
{
    free(h->deferred);
    h->deferred = NULL;
}

/* ---- a request that is nothing else ---------------------------------------------------------- */

struct host_request {
    struct collopt_request r;
    struct collopt_host_part part;
};
_Static_assert(sizeof(struct host_request) <= COLLOPT_REQUEST_SIZE, "requests have one size");

static struct collopt_host_part *part_of(struct collopt_request *r)
{
    return &((struct host_request *)r)->part;
}

static bool advance(struct collopt_request *r)
{
    if (!collopt_request_is_compared(r))
        return false;
    if (!r->refused && !collopt_host_part_done(part_of(r), r))
        return false;
    collopt_request_end(r);
    return true;
}

static void release(struct collopt_request *r)
{
    collopt_host_part_release(part_of(r));
}

void collopt_host_request_start(struct collopt_request *r, struct collopt_comm *c,
                                struct collopt_call *call, int err)
{
    static const struct collopt_request_ops ops = { .advance = advance, .release = release };

    collopt_host_part_begin(part_of(r), r, c, call, err);
    collopt_set_ops(r, &ops);
    collopt_set_state(r, COLLOPT_STARTED);
}
