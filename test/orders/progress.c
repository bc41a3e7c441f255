/* Threads that ask the host, an MPICH with MPIX_Async_start, to be called while it makes progress:
 * each may use afterwards what the first one has found. */
#include <dlfcn.h>

static void *symbol_named(const char *name);
#define dlsym(handle, name) symbol_named(name)
#include "mpi/host/progress.c"

struct collopt_host collopt_host;
static int told;

static int is_complete(MPI_Request request)
{
    (void)request;
    return 1;
}

static int get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    (void)request, (void)status;
    *flag = 0;
    return MPI_SUCCESS;
}

static int begin_async(int (*function)(void *), void *data, int stream)
{
    (void)function, (void)data, (void)stream;
    told++;
    return MPI_SUCCESS;
}

static void *symbol_named(const char *name)
{
    return strcmp(name, "PMPIX_Async_start") ? NULL : (void *)(uintptr_t)begin_async;
}

int PMPI_Query_thread(int *level)
{
    *level = MPI_THREAD_MULTIPLE;
    return MPI_SUCCESS;
}

int PMPI_Get_library_version(char *version, int *length)
{
    *version = '\0';
    *length = 0;
    return MPI_SUCCESS;
}

static int go_on(void)
{
    return 0;
}

static void begin(void)
{
    begun = ended = false;
    registered = NULL;
    peek = NULL;
    told = 0;
    collopt_host.X_Request_is_complete = is_complete;
    collopt_host.Request_get_status = get_status;
}

static void ask(void)
{
    collopt_progress_begin(go_on);
    explore_check(collopt_progress_peek(MPI_REQUEST_NULL), "the way to look is not known");
}

static void end(void)
{
    explore_check(told == 1, "the host is told twice");
}

int main(void)
{
    static const struct explore_model models[] = {
        { "progress", begin, { ask, ask, ask }, end },
        { NULL, NULL, { NULL }, NULL }
    };

    return explore(models);
}
