/* Waiting for messages; see wait.h. */
#include "config.h"

#include "mpi/comm/wait.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/failure.h"
#include "mpi/host/poll.h"

/* A failure in a call after its agreement does not concern the ranks that still agree. */
static uint32_t awaited(const struct collopt_comm *c)
{
    return c->agreeing ? collopt_agreement_code(c->agreements) : c->call;
}

int collopt_idle(struct collopt_comm *c, unsigned *polls)
{
    if (collopt_part(c, COLLOPT_PART_LINKS)) {
        collopt_idle_at(&c->poke, c->yields, polls);
        return *polls % COLLOPT_SHM_LOOKS == 0 && collopt_has_failed(c, awaited(c))
            ? MPI_ERR_OTHER : MPI_SUCCESS;
    }
    collopt_give_way(c->yields_in_host ? COLLOPT_POLLS : COLLOPT_PATIENCE, ++*polls);
    return MPI_SUCCESS;
}

#ifdef COLLOPT_HOST_SMPI
int collopt_wait(struct collopt_comm *c, MPI_Request *request)
{
    (void)c;
    return *request == MPI_REQUEST_NULL ? MPI_SUCCESS
                                        : collopt_host.Wait(request, MPI_STATUS_IGNORE);
}
#else
int collopt_wait(struct collopt_comm *c, MPI_Request *request)
{
    unsigned polls = 0;
    bool done = false;

    if (*request == MPI_REQUEST_NULL)
        return MPI_SUCCESS;
    if (!c->yields_in_host)
        return collopt_host.Wait(request, MPI_STATUS_IGNORE);
    for (;;) {
        int err = collopt_test(request, &done);

        if (err || done || (err = collopt_idle(c, &polls)))
            return err;
    }
}
#endif
