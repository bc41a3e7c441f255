/* The thread of COLLOPT_ASYNC=thread; see async.h.
 *
 * On a node it combines inputs in shared memory without MPI calls: predefined operations with
 * kernels, data in host memory.  Under MPI_THREAD_MULTIPLE it also makes the MPI library progress,
 * which advances requests by messages.  It looks for work while a request is active, then sleeps.
 * It may run on all processors, wherever its rank is bound.
 *
 * It yields after each look, so that a rank that wakes on its processor need not wait for the end
 * of its time slice; a rank that waits yields too (request.c).  A thread of low priority
 * (SCHED_IDLE) may be delayed by half a second while it has a part of the work. */
#include "config.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "mpi/request/async.h"
#include "base/log.h"
#include "mpi/host/host.h"
#include "mpi/host/poll.h"
#include "mpi/request/p2p_request.h"
#include "mpi/request/nonblocking.h"
#include "mpi/request/table.h"
#include "settings/settings.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;        /* of what is below */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_t thread;
static bool runs, failed;
static uint64_t wakes;          /* number of starts */
static atomic_bool ending;

static bool may_call_mpi(void)
{
    int level = MPI_THREAD_SINGLE;

    return PMPI_Query_thread(&level) == MPI_SUCCESS && level == MPI_THREAD_MULTIPLE;
}

/* False: no request is active. */
static bool help(bool calls, struct collopt_poke *poke)
{
    bool on_node = collopt_nonblocking_help();
    bool by_p2p = calls && collopt_p2p_request_under_way();

    on_node |= collopt_requests_help();
    if (by_p2p)
        collopt_poke_progress(poke);
    return on_node || by_p2p;
}

/* Sleeps until a request is started after start number *SEEN. */
static void sleep_until_woken(uint64_t *seen)
{
    pthread_mutex_lock(&lock);
    while (wakes == *seen && !atomic_load(&ending))
        pthread_cond_wait(&changed, &lock);
    *seen = wakes;
    pthread_mutex_unlock(&lock);
}

static void *work(void *unused)
{
    enum { PATIENCE = 1 << 10 };        /* fruitless looks */
    struct collopt_poke poke = { .begun = false };
    bool calls = may_call_mpi();
    uint64_t seen = 0;

    (void)unused;
    for (unsigned fruitless = 0; !atomic_load(&ending);) {
        fruitless = help(calls, &poke) ? 0 : fruitless + 1;
        if (fruitless == PATIENCE) {
            sleep_until_woken(&seen);
            fruitless = 0;
        }
        sched_yield();
    }
    collopt_poke_end(&poke);
    return NULL;
}

/* No signal handler of the program's runs in the thread. */
static bool create(void)
{
    sigset_t all, before;
    pthread_attr_t attr;
    cpu_set_t everywhere;
    bool created;

    memset(&everywhere, 0xff, sizeof everywhere);
    pthread_attr_init(&attr);
    pthread_attr_setaffinity_np(&attr, sizeof everywhere, &everywhere);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    created = pthread_create(&thread, &attr, work, NULL) == 0
        || pthread_create(&thread, NULL, work, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return created;
}

void collopt_async_wake(void)
{
    bool complain = false;

#ifdef COLLOPT_ONE_THREAD
    return;
#endif
    if (collopt_settings()->async != COLLOPT_ASYNC_THREAD)
        return;
    pthread_mutex_lock(&lock);
    wakes++;
    if (!runs && !failed && !atomic_load(&ending)) {
        runs = create();
        failed = complain = !runs;
    }
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    if (complain)
        collopt_warn_once("COLLOPT_ASYNC=thread: no thread could be made; reductions go on in the "
                          "calls of the program");
}

void collopt_async_end(void)
{
    bool ran;

    pthread_mutex_lock(&lock);
    atomic_store(&ending, true);
    ran = runs;
    runs = false;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    if (ran)
        pthread_join(thread, NULL);
}
