#ifndef _GNU_SOURCE
# define _GNU_SOURCE 1    /* dladdr */
#endif
#include "lib/bench_mpi.h"
#include "collopt.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if COLLOPT_HAVE_PERSISTENT
# define INIT(name) MPI_##name##_init
# define INIT_PREFIX "PMPI_"
#elif COLLOPT_HAVE_PERSISTENT_X
# define INIT(name) MPIX_##name##_init
# define INIT_PREFIX "PMPIX_"
#else
# define INIT(name) NULL
# define INIT_PREFIX ""
#endif

#define EACH_REDUCTION(DO) \
    DO(Allreduce, allreduce) DO(Reduce, reduce) DO(Reduce_scatter, reduce_scatter) \
    DO(Reduce_scatter_block, reduce_scatter_block) DO(Scan, scan) DO(Exscan, exscan)
#define FORMS(Name, name) .name = MPI_##Name, .i##name = MPI_I##name, .init_##name = INIT(Name),

const struct bench_functions bench_mpi = {
    EACH_REDUCTION(FORMS)
    .reduce_local = MPI_Reduce_local, .start = MPI_Start, .wait = MPI_Wait,
    .request_free = MPI_Request_free, .bcast = MPI_Bcast, .barrier = MPI_Barrier
};
struct bench_functions bench_host;

/* ---- the host's own functions ---------------------------------------------------------------- */

static void give_up(const char *why)
{
    fprintf(stderr, "bench: the MPI library's own functions cannot be found: %s\n",
            why ? why : "no reason given");
    MPI_Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

/* A pointer to a function, from one to an object: by way of its bytes, as POSIX has it. */
static void look_up(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);

    if (!address)
        give_up(dlerror());
    memcpy(function, &address, sizeof address);
}

#define LOOK_UP(Name, name) \
    look_up(library, "PMPI_" #Name, &bench_host.name); \
    look_up(library, "PMPI_I" #name, &bench_host.i##name); \
    if (BENCH_HAVE_PERSISTENT) \
        look_up(library, INIT_PREFIX #Name "_init", &bench_host.init_##name);

/* collopt does not intercept MPI_Comm_compare: wherever that is, the host is. */
void bench_find_host(void)
{
    int (*known)(MPI_Comm, MPI_Comm, int *) = PMPI_Comm_compare;
    void *address, *library;
    Dl_info info;

    memcpy(&address, &known, sizeof address);
    if (!dladdr(address, &info) || !info.dli_fname)
        give_up("no library has MPI_Comm_compare");
    library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    if (!library)
        give_up(dlerror());
    EACH_REDUCTION(LOOK_UP)
    look_up(library, "PMPI_Reduce_local", &bench_host.reduce_local);
    look_up(library, "PMPI_Start", &bench_host.start);
    look_up(library, "PMPI_Wait", &bench_host.wait);
    look_up(library, "PMPI_Request_free", &bench_host.request_free);
    look_up(library, "PMPI_Bcast", &bench_host.bcast);
    look_up(library, "PMPI_Barrier", &bench_host.barrier);
}

/* ---- starting together ----------------------------------------------------------------------- */

/* A message to the rank STEP above and one from the rank STEP below.  Yields while it waits: the
 * host's own barrier may take tens of milliseconds where ranks outnumber processors. */
static void pass_on(int step, const double *mine, double *theirs, int n)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int rank, ranks, done;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Irecv(theirs, n, MPI_DOUBLE, (rank - step % ranks + ranks) % ranks, 77, MPI_COMM_WORLD,
              &requests[0]);
    MPI_Isend(mine, n, MPI_DOUBLE, (rank + step) % ranks, 77, MPI_COMM_WORLD, &requests[1]);
    for (int polls = 1;; polls++) {
        MPI_Testall(2, requests, &done, statuses);
        if (done)
            break;
        if (polls % 20 == 0)
            sched_yield();
    }
}

/* By dissemination. */
void bench_barrier(void)
{
    int ranks;

    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int step = 1; step < ranks; step *= 2)
        pass_on(step, NULL, NULL, 0);
}

/* As above: that some values arrive twice does not change the greatest. */
void bench_max(double *v, int n)
{
    double *theirs = bench_new((size_t)n * sizeof *theirs);
    int ranks;

    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int step = 1; step < ranks; step *= 2) {
        pass_on(step, v, theirs, n);
        for (int i = 0; i < n; i++)
            v[i] = theirs[i] > v[i] ? theirs[i] : v[i];
    }
    free(theirs);
}

/* ---- memory ---------------------------------------------------------------------------------- */

void *bench_new(size_t bytes)
{
    void *made = NULL;

    if (posix_memalign(&made, 4096, bytes ? bytes : 1)) {
        fprintf(stderr, "bench: no memory for %zu bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    memset(made, 0, bytes);
    return made;
}

const char *bench_size_text(size_t bytes, char *text, size_t size)
{
    static const char units[] = { 0, 'K', 'M', 'G', 0 };
    int unit = 0;

    while (bytes && bytes % 1024 == 0 && units[unit + 1]) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, size, "%zu%.1s", bytes, &units[unit]);
    return text;
}

/* ---- what collopt ran ------------------------------------------------------------------------ */

/* Name number I under which collopt counts calls of COLLECTIVE: the algorithms, then the forms
 * that have none; NULL: there are no more. */
static const char *counted(const char *collective, int i)
{
    static const char *const forms[] = { "persistent", "nonblocking" };
    int algorithms = collopt_algorithm_count(collective);

    if (algorithms < 0 || i >= algorithms + 2 || i >= BENCH_ALGORITHMS)
        return NULL;
    return i < algorithms ? collopt_algorithm_name(collective, i) : forms[i - algorithms];
}

void bench_algorithm_start(struct bench_algorithm *a, const char *collective)
{
    a->collective = collective;
    a->local = collopt_version ? collopt_calls("reduce_local", NULL) : 0;
    for (int i = 0; collopt_version && counted(collective, i); i++)
        a->before[i] = collopt_calls(collective, counted(collective, i));
}

const char *bench_algorithm_ran(const struct bench_algorithm *a)
{
    if (!collopt_version)
        return "none";
    if (strcmp(a->collective, "reduce_local") == 0)
        return collopt_calls("reduce_local", NULL) > a->local ? "kernels" : "host";
    for (int i = 0; counted(a->collective, i); i++)
        if (collopt_calls(a->collective, counted(a->collective, i)) > a->before[i])
            return counted(a->collective, i);
    return "host";
}
