/* Waiting.  Where every rank has a processor, and where the host yields by itself, we wait as the
 * host waits.  Where ranks share processors under a host that does not, a rank that polls keeps
 * from running the one it waits for, so after some fruitless polls the processor is given away. */
#include "config.h"

#include <sched.h>
#include <stdlib.h>

#include "mpi/comm/comm.h"
#include "mpi/call/dispatch.h"
#include "mpi/run/execute.h"
#include "mpi/comm/greatest.h"
#include "mpi/comm/links.h"
#include "shm/channel.h"

enum {
    /* of messages, before the processor is given away; a yield at each poll costs 1.3 to 2.8 times
     * as much */
    POLLS = 20,
    /* the same of shared memory, where a poll is short: 8 ranks on 2 processors take 10 to 14 us
     * for an Allreduce of 8 bytes; with 20 polls, 10 to 19 */
    SHM_POLLS = 5,
    /* the same where ranks have processors of their own: somebody else may want one */
    PATIENCE = 1 << 14,
    LOOKS = 1 << 10             /* at shared memory, before the host makes progress: some 10 us */
};

#ifdef COLLOPT_HOST_SMPI
void collopt_nudge(struct collopt_nudge *n)
{
    (void)n;
}

void collopt_nudge_end(struct collopt_nudge *n)
{
    (void)n;
}
#else
static int no_query(void *extra, MPI_Status *status)
{
    (void)extra, (void)status;
    return MPI_SUCCESS;
}

static int no_free(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int no_cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

/* While a reduction waits for shared memory, what the program has begun must go on: its peer may
 * need that before it comes to the reduction.  Testing a request that is not complete is the one
 * call that has every host make progress without touching the queues of any communicator. */
COLLOPT_OUT_OF_LINE void collopt_nudge(struct collopt_nudge *n)
{
    int flag;

    if (!n->begun && PMPI_Grequest_start(no_query, no_free, no_cancel, NULL, &n->request))
        return;
    n->begun = true;
    collopt_host.Test(&n->request, &flag, MPI_STATUS_IGNORE);
}

void collopt_nudge_end(struct collopt_nudge *n)
{
    if (!n->begun)
        return;
    n->begun = false;
    PMPI_Grequest_complete(n->request);
    collopt_host.Wait(&n->request, MPI_STATUS_IGNORE);
}
#endif

static inline void give_way(unsigned limit, unsigned polls)
{
    if (polls % limit == 0)
        sched_yield();
    else
        collopt_pause();
}

void collopt_idle_at(struct collopt_nudge *n, bool yields, unsigned *polls)
{
    ++*polls;
    if (*polls % LOOKS == 0)
        collopt_nudge(n);
    give_way(yields ? SHM_POLLS : PATIENCE, *polls);
}

/* What fails in a call after its agreement is nothing to those that still agree. */
static uint32_t awaited(const struct collopt_comm *c)
{
    return c->agreeing ? collopt_agreement_code(c->agreements) : c->call;
}

int collopt_idle(struct collopt_comm *c, unsigned *polls)
{
    if (c->links) {
        collopt_idle_at(&c->nudge, c->yields, polls);
        return *polls % LOOKS == 0 && collopt_shm_has_failed(c, awaited(c)) ? MPI_ERR_OTHER
                                                                            : MPI_SUCCESS;
    }
    give_way(c->polite ? POLLS : PATIENCE, ++*polls);
    return MPI_SUCCESS;
}

#ifdef COLLOPT_HOST_SMPI
/* A look would take simulated time, and time passes only while a rank waits: strands wait for
 * whatever comes first. */
int collopt_test(MPI_Request *request, bool *done)
{
    *done = *request == MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int collopt_wait_any(int n, MPI_Request *const request[])
{
    MPI_Request *first = malloc(((size_t)n + 1) * sizeof *first);
    int which = MPI_UNDEFINED, err;

    if (!first)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < n; i++)
        first[i] = *request[i];
    err = n == 0 ? MPI_SUCCESS : collopt_host.Waitany(n, first, &which, MPI_STATUS_IGNORE);
    if (which != MPI_UNDEFINED)
        *request[which] = MPI_REQUEST_NULL;
    free(first);
    return err;
}

int collopt_wait(struct collopt_comm *c, MPI_Request *request)
{
    (void)c;
    return *request == MPI_REQUEST_NULL ? MPI_SUCCESS
        : collopt_host.Wait(request, MPI_STATUS_IGNORE);
}
#else
int collopt_test(MPI_Request *request, bool *done)
{
    int flag = 0, err = collopt_host.Test(request, &flag, MPI_STATUS_IGNORE);

    *done = flag;
    return err;
}

int collopt_wait(struct collopt_comm *c, MPI_Request *request)
{
    unsigned polls = 0;
    bool done = false;

    if (*request == MPI_REQUEST_NULL)
        return MPI_SUCCESS;
    if (!c->polite)
        return collopt_host.Wait(request, MPI_STATUS_IGNORE);
    for (;;) {
        int err = collopt_test(request, &done);

        if (err || done || (err = collopt_idle(c, &polls)))
            return err;
    }
}
#endif
