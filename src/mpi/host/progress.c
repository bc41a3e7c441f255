/* Asks the host to be called while it makes progress; see progress.h.
 *
 * Open MPI calls what is registered with opal_progress_register() in each of its calls that make
 * progress; its own nonblocking collectives use that.  MPICH has MPIX_Async_start() for the same,
 * from 4.3 on.  Neither is part of MPI, so both are looked up by name.  A host that has neither
 * does not call collopt. */
#include "config.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "mpi/host/progress.h"
#include "mpi/host/poll.h"

static atomic_bool lent, begun, ended;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int (*registered)(void);

typedef void function(void);

static function *find(const char *name)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);
    function *found;

    memcpy(&found, &symbol, sizeof found);
    return found;
}

/* ---- Open MPI -------------------------------------------------------------------------------- */

static const char enter[] = "opal_progress_register", leave[] = "opal_progress_unregister";

static void tell_openmpi(const char *name, int (*go_on)(void))
{
    typedef int registering(int (*)(void));

    ((registering *)find(name))(go_on);
}

/* ---- MPICH ----------------------------------------------------------------------------------- */

/* MPICH holds a lock while it calls poll(), so poll() must not make MPICH progress. */
static const char start[] = "PMPIX_Async_start";
static int (*peek)(MPI_Request request);
enum { NOT_DONE = 0, DONE = 1, NULL_STREAM = 0x3c000000 };

static int poll(void *thing)
{
    (void)thing;
    if (atomic_load_explicit(&ended, memory_order_relaxed))
        return DONE;
    registered();
    return NOT_DONE;
}

static void tell_mpich(void)
{
    typedef int starting(int (*)(void *), void *, int);

    ((starting *)find(start))(poll, NULL, NULL_STREAM);
}

/* A build with one lock for all of MPI holds it while it calls poll(), under
 * MPI_THREAD_MULTIPLE. */
static bool calls_under_its_lock(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int level = MPI_THREAD_MULTIPLE, length;

    PMPI_Query_thread(&level);
    PMPI_Get_library_version(version, &length);
    return level == MPI_THREAD_MULTIPLE
        && (strstr(version, "ch3") || strstr(version, "thread-cs=global"));
}

/* MPICH's handles are ints; an MPIX_Stream is one. */
static bool is_mpich(void)
{
    return sizeof(MPI_Comm) == sizeof(int) && find(start) && collopt_host.X_Request_is_complete
        && !calls_under_its_lock();
}

/* ---- both ------------------------------------------------------------------------------------ */

void collopt_progress_agree(MPI_Comm hidden)
{
    int can = (find(enter) && find(leave)) || is_mpich(), all = 0;

    if (collopt_host.Allreduce(&can, &all, 1, MPI_INT, MPI_MIN, hidden) == MPI_SUCCESS)
        atomic_store_explicit(&lent, all, memory_order_relaxed);
}

bool collopt_progress_lent(void)
{
    return atomic_load_explicit(&lent, memory_order_relaxed);
}

/* REGISTERED and PEEK are set under the lock, before another thread goes on.  The host may be told
 * later. */
void collopt_progress_begin(int (*go_on)(void))
{
    bool first, mpich;

    if (atomic_load_explicit(&begun, memory_order_acquire))
        return;
    mpich = !find(enter) && is_mpich();
    pthread_mutex_lock(&lock);
    first = !registered;
    if (first) {
        registered = go_on;
        peek = mpich ? collopt_host.X_Request_is_complete : NULL;
    }
    pthread_mutex_unlock(&lock);
    if (first && find(enter))
        tell_openmpi(enter, go_on);
    else if (first && mpich)
        tell_mpich();
    atomic_store_explicit(&begun, true, memory_order_release);
}

int collopt_progress_test(MPI_Request *request, bool *done)
{
    *done = false;
    return peek && !peek(*request) ? MPI_SUCCESS : collopt_test(request, done);
}

bool collopt_progress_peek(MPI_Request request)
{
    int flag = 0;

    if (peek)
        return peek(request);
    return collopt_host.Request_get_status(request, &flag, MPI_STATUS_IGNORE) || flag;
}

void collopt_progress_end(void)
{
    atomic_store_explicit(&lent, false, memory_order_relaxed);
    atomic_store_explicit(&ended, true, memory_order_relaxed);
    if (registered && find(enter))
        tell_openmpi(leave, registered);
}
