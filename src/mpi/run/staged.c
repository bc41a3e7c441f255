/* Runs plans on copies of device memory; see staged.h. */
#include "config.h"

#include "mpi/run/staged.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/failure.h"
#include "mpi/device/gpu.h"
#include "mpi/device/staging.h"
#include "mpi/plan/plan.h"
#include "mpi/run/execute.h"

/* How many elements of result this rank gets. */
static size_t results(const struct collopt_comm *c, const struct collopt_plan *plan, size_t inputs)
{
    switch (plan->collective) {
    case COLLOPT_REDUCE:
        return c->rank == plan->root ? inputs : 0;
    case COLLOPT_EXSCAN:
        return c->rank == 0 ? 0 : inputs;
    case COLLOPT_REDUCE_SCATTER:
        return plan->counts[c->rank];
    case COLLOPT_REDUCE_SCATTER_BLOCK:
        return plan->count;
    default:
        return inputs;
    }
}

static COLLOPT_OUT_OF_LINE int ask_and_execute(struct collopt_comm *c, struct collopt_plan *plan,
                                               const void *in, void *out)
{
    size_t inputs = (size_t)(plan->bytes / plan->facts.size);
    struct collopt_staging *s;
    int err;

    if (plan->in_place)
        in = out;
    err = collopt_stage_begin(&plan->facts, collopt_comm_to_pack(c), inputs,
                              results(c, plan, inputs), &in, &out, &s);
    if (err) {
        collopt_give_up(c, c->call);
        return err;
    }
    err = collopt_execute(c, plan, in, out, NULL);
    /* after an error the host may still read and write there: the memory is left to it */
    return err || !s ? err : collopt_stage_end(s, true);
}

int collopt_execute_anywhere(struct collopt_comm *c, struct collopt_plan *plan, const void *in,
                             void *out)
{
    if (!collopt_gpu_possible())
        return collopt_execute(c, plan, in, out, NULL);
    return ask_and_execute(c, plan, in, out);
}
