/* Looks at the buffers of requests; see buffers.h. */
#include "config.h"

#include "mpi/request/buffers.h"
#include "mpi/comm/comm.h"
#include "mpi/device/gpu.h"
#include "mpi/device/staging.h"
#include "mpi/host/attributes.h"
#include "mpi/host/call.h"
#include "mpi/node/world.h"

void collopt_buffers_set(struct collopt_buffers *b, const struct collopt_comm *c,
                         const struct collopt_call *call)
{
    b->users_in = call->in == MPI_IN_PLACE ? call->out : call->in;
    b->users_out = call->out;
    b->inputs = collopt_call_elements(call, c->ranks);
    b->results = collopt_call_results(call, c->rank);
}

/* A datatype with a layout of its own may reach anywhere from its address. */
static bool may_be_on_device(const struct collopt_buffers *b, const struct collopt_facts *f)
{
    return (!f->dense && !f->predefined) || !collopt_plainly_host(b->users_in)
        || !collopt_plainly_host(b->users_out);
}

int collopt_buffers_begin(struct collopt_buffers *b, const struct collopt_facts *f)
{
    b->in = b->users_in;
    b->out = b->users_out;
    if (!may_be_on_device(b, f) || !collopt_gpu_possible())
        return MPI_SUCCESS;
    return collopt_stage_begin(f, collopt_world_comm(), b->inputs, b->results, &b->in, &b->out,
                               &b->staging);
}

int collopt_buffers_end(struct collopt_buffers *b, bool done)
{
    struct collopt_staging *s = b->staging;

    b->staging = NULL;
    return s ? collopt_stage_end(s, done) : MPI_SUCCESS;
}
