/* Arguments of calls on a communicator; see arguments.h. */
#include "config.h"

#include "mpi/comm/arguments.h"
#include "mpi/comm/comm.h"
#include "mpi/host/attributes.h"
#include "mpi/host/call.h"
#include "mpi/host/errhandler.h"
#include "mpi/host/quirks.h"

/* Rank 0 gets nothing from an Exscan, but in place its input lies in the receive buffer. */
static bool gets_nothing(const struct collopt_call *call, const struct collopt_comm *c)
{
    return call->collective == COLLOPT_EXSCAN && c->rank == 0 && call->in != MPI_IN_PLACE;
}

/* Is the receive buffer of any use? */
static bool has_out(const struct collopt_call *call, const struct collopt_comm *c)
{
    if (gets_nothing(call, c) && !collopt_quirk(COLLOPT_LOOKS_AT_UNUSED_OUT))
        return false;
    return call->collective != COLLOPT_REDUCE || c->rank == call->root;
}

/* Only a derived datatype can describe data at address 0, MPI_BOTTOM in C; and where there is no
 * data, any address will do.  MPICH refuses a null one of rank 0 in an Exscan, if it was built to
 * check arguments.  Rank 0 alone cannot ask it to: the others would wait, and MPI allows it. */
bool collopt_arguments_odd(const struct collopt_comm *c, const struct collopt_call *call,
                           bool predefined, uint64_t bytes)
{
    bool may_be_null = !predefined || bytes == 0;

    if (!has_out(call, c))
        return call->in == MPI_IN_PLACE || (call->in == NULL && !may_be_null);
    if (call->out == MPI_IN_PLACE || (call->in == NULL && !may_be_null))
        return true;
    if (call->in == call->out && call->in != NULL && bytes > 0)
        return true;
    return call->out == NULL && !may_be_null && !gets_nothing(call, c)
        && collopt_call_count(call, c->rank) > 0;
}

/* Builds of MPICH may leave out the checks of arguments, and Open MPI can be told to
 * (mpi_param_check).  Without MPI_Init (sessions) there is no communicator to try it on. */
static bool host_looks = true;

/* In MPI_Init no other thread calls MPI, and nobody has set an error handler yet.  Open MPI raises
 * some errors on MPI_COMM_WORLD. */
void collopt_arguments_begin(void)
{
    MPI_Errhandler of_self = collopt_save_errhandler(MPI_COMM_SELF),
                   of_world = collopt_save_errhandler(MPI_COMM_WORLD);
    int x[2] = { 0 };

    host_looks = collopt_host.Allreduce(x, x, 2, MPI_INT, MPI_SUM, MPI_COMM_SELF) != MPI_SUCCESS;
    collopt_restore_errhandler(MPI_COMM_WORLD, of_world);
    collopt_restore_errhandler(MPI_COMM_SELF, of_self);
}

/* MPI forbids send buffer == receive buffer, and the host's checks refuse it: some everywhere, the
 * others in Reduce, and in Allreduce of more than one element. */
static COLLOPT_OUT_OF_LINE bool refused_by_checks(const struct collopt_call *call)
{
    if (!collopt_quirk(COLLOPT_REFUSES_EVERY_ALIAS) && call->collective != COLLOPT_REDUCE
        && (call->collective != COLLOPT_ALLREDUCE || call->count <= 1))
        return false;
    return host_looks;
}

/* The host takes equal buffers for MPI_IN_PLACE where it does not check them.  Since they may be
 * equal on one rank only, collopt must do the same. */
void collopt_arguments_take_in_place(const struct collopt_comm *c, struct collopt_call *call)
{
    if (call->in == call->out && call->in != NULL && has_out(call, c) && !refused_by_checks(call)) {
        call->in = MPI_IN_PLACE;
        call->taken = true;
    }
}

bool collopt_arguments_fit(const struct collopt_comm *c, struct collopt_call *call,
                           struct collopt_facts *f)
{
    if (collopt_call_negative(call, c->ranks) || call->root < 0 || call->root >= c->ranks
        || !collopt_facts(call->op, call->type, f)
        || f->size == 0)
        return false;
    collopt_arguments_take_in_place(c, call);
    return !collopt_arguments_odd(c, call, f->predefined,
                                  collopt_call_elements(call, c->ranks) * f->size);
}

bool collopt_arguments_size(const struct collopt_comm *c, const struct collopt_call *call,
                            enum collopt_reason why, uint64_t *bytes)
{
    struct collopt_facts f;

    if (!c || why == COLLOPT_PASS_ARGUMENTS || why == COLLOPT_PASS_INTERCOMM
        || why == COLLOPT_PASS_NESTED || collopt_call_negative(call, c->ranks)
        || !collopt_facts(call->op, call->type, &f))
        return false;
    *bytes = collopt_call_elements(call, c->ranks) * f.size;
    return true;
}

bool collopt_arguments_wrong(const struct collopt_comm *c, struct collopt_call *call)
{
    struct collopt_facts f;

    if (collopt_call_negative(call, c->ranks) || call->root < 0 || call->root >= c->ranks)
        return true;
    return collopt_facts(call->op, call->type, &f) && f.size > 0
        && !collopt_arguments_fit(c, call, &f);
}
