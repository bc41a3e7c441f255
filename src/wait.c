/* Waiting.  Where every rank has a processor, and where the host yields by itself, we wait as the host waits.  Where ranks share
 * processors under a host that does not, a rank that polls keeps from running the one it waits for, so after some fruitless polls
 * the processor is given away. */
#include "config.h"

#include <sched.h>

#include "call.h"

enum {
    POLLS = 20,                 /* before the processor is given away; a yield at each poll costs 1.3 to 2.8 times as much */
    PATIENCE = 1 << 14          /* the same where ranks have processors of their own: somebody else may want one */
};

void collopt_idle(const struct collopt_comm *c, unsigned *polls)
{
    if (++*polls >= (c->polite ? POLLS : PATIENCE)) {
        *polls = 0;
        sched_yield();
    }
}

#ifdef COLLOPT_HOST_SMPI
/* A look would take simulated time, and time passes only while a rank waits: strands wait for whatever comes first. */
int collopt_test(MPI_Request *request, bool *done)
{
    *done = *request == MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int collopt_wait_any(int n, MPI_Request *const request[])
{
    MPI_Request first[n + 1];
    int which = MPI_UNDEFINED, err;

    for (int i = 0; i < n; i++)
        first[i] = *request[i];
    err = n == 0 ? MPI_SUCCESS : PMPI_Waitany(n, first, &which, MPI_STATUS_IGNORE);
    if (which != MPI_UNDEFINED)
        *request[which] = MPI_REQUEST_NULL;
    return err;
}

int collopt_wait(const struct collopt_comm *c, MPI_Request *request)
{
    (void)c;
    return *request == MPI_REQUEST_NULL ? MPI_SUCCESS : PMPI_Wait(request, MPI_STATUS_IGNORE);
}
#else
int collopt_test(MPI_Request *request, bool *done)
{
    int flag = 0, err = PMPI_Test(request, &flag, MPI_STATUS_IGNORE);

    *done = flag;
    return err;
}

int collopt_wait(const struct collopt_comm *c, MPI_Request *request)
{
    unsigned polls = 0;
    bool done = false;

    if (*request == MPI_REQUEST_NULL)
        return MPI_SUCCESS;
    if (!c->polite)
        return PMPI_Wait(request, MPI_STATUS_IGNORE);
    for (;;) {
        int err = collopt_test(request, &done);

        if (err || done)
            return err;
        collopt_idle(c, &polls);
    }
}
#endif
