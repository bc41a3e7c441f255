/* Waiting.  Where every rank has a processor, we wait as the host waits.  Where ranks share processors, a rank that
 * polls keeps from running the one it waits for, so after some fruitless polls the processor is given away. */
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
