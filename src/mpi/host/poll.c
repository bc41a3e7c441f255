/* Polling; see poll.h. */
#include "config.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "mpi/host/poll.h"
#include "shm/channel.h"

/* The number of looks at shared memory before the processor is given away.  With 5 looks, 8 ranks
 * on 2 processors take 10 to 14 us for an Allreduce of 8 bytes; with 20 looks, 10 to 19 us. */
enum { SHM_POLLS = 5 };

/* Looks before a rank sleeps where time is scarce, some 300 us, and how long it sleeps then. */
enum { LOOKS_AWAKE = 1 << 12, SLEEP_NS = 50000 };

bool collopt_time_is_scarce;

#ifdef COLLOPT_HOST_SMPI
void collopt_poke_progress(struct collopt_poke *p)
{
    (void)p;
}

void collopt_poke_end(struct collopt_poke *p)
{
    (void)p;
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

/* Testing a request that is not complete is the one call that has every host make progress without
 * touching the queues of any communicator. */
COLLOPT_OUT_OF_LINE void collopt_poke_progress(struct collopt_poke *p)
{
    int flag;

    if (!p->begun && PMPI_Grequest_start(no_query, no_free, no_cancel, NULL, &p->request))
        return;
    p->begun = true;
    collopt_host.Test(&p->request, &flag, MPI_STATUS_IGNORE);
}

void collopt_poke_end(struct collopt_poke *p)
{
    if (!p->begun)
        return;
    p->begun = false;
    PMPI_Grequest_complete(p->request);
    collopt_host.Wait(&p->request, MPI_STATUS_IGNORE);
}
#endif

static bool sleeps(unsigned limit, unsigned polls)
{
    return collopt_time_is_scarce && limit < COLLOPT_PATIENCE && polls >= LOOKS_AWAKE;
}

void collopt_give_way(unsigned limit, unsigned polls)
{
    if (sleeps(limit, polls))
        nanosleep(&(struct timespec){ .tv_nsec = SLEEP_NS }, NULL);
    else if (polls % limit == 0)
        sched_yield();
    else
        collopt_pause();
}

void collopt_idle_at(struct collopt_poke *p, bool yields, unsigned *polls)
{
    unsigned limit = yields ? SHM_POLLS : COLLOPT_PATIENCE;

    if (++*polls % COLLOPT_SHM_LOOKS == 0 || sleeps(limit, *polls))
        collopt_poke_progress(p);
    collopt_give_way(limit, *polls);
}

#ifdef COLLOPT_HOST_SMPI
/* A test would take simulated time, which passes only while a rank waits.  So a strand waits for
 * any of its requests instead. */
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

#else
int collopt_test(MPI_Request *request, bool *done)
{
    int flag = 0, err = collopt_host.Test(request, &flag, MPI_STATUS_IGNORE);

    *done = flag;
    return err;
}

#endif
