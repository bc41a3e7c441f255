/* Measures the time that collopt adds to a call, in ns.
 *
 *     mpirun -n 2 env LD_PRELOAD=libcollopt.so bench_cost [GPU RUNTIME]
 *
 * passed through: a Scan that COLLOPT_SCAN=host leaves to the host, and an Allreduce after
 * MPI_Pcontrol(0), both on MPI_COMM_SELF, where the host has next to nothing to do; against the
 * host's function called by its address. taken over on one rank: its buffers are the program's own
 * data.  Of memory that was mapped it must be asked whether a GPU runtime has come, and if one has,
 * it must be asked for both buffers; the last where a runtime's library is named. taken over,
 * nothing to do: an Allreduce of no elements, which sends nothing and combines nothing, and one on
 * MPI_COMM_SELF. taken over: an Allreduce of one double on two ranks, against the bare messages and
 * the sum.
 *
 * Both sides of a difference alternate in one run; medians. */
#include "lib/bench_mpi.h"
#include "lib/clock.h"
#include "lib/statistics.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { CALLS = 2000, PAIRS = 301 };

static int rank;
static double in = 1, out;
/* two of them, where only a GPU runtime knows that it is host memory */
static double *mapped;

static void scan_self(const struct bench_functions *f)
{
    f->scan(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

static void self(const struct bench_functions *f)
{
    f->allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

static void self_mapped(const struct bench_functions *f)
{
    f->allreduce(&mapped[0], &mapped[1], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

static void nothing(const struct bench_functions *f)
{
    f->allreduce(&in, &out, 0, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void one(const struct bench_functions *f)
{
    f->allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* The messages of one(), and the sum: what any implementation on this host's messages has to
 * pay. */
static void bare(const struct bench_functions *f)
{
    MPI_Request request;
    double theirs;

    MPI_Irecv(&theirs, 1, MPI_DOUBLE, !rank, 7, MPI_COMM_WORLD, &request);
    MPI_Send(&in, 1, MPI_DOUBLE, !rank, 7, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    out = rank ? theirs + in : in + theirs;
    (void)f;
}

static void exchange(const struct bench_functions *f)
{
    double theirs;

    MPI_Sendrecv(&in, 1, MPI_DOUBLE, !rank, 7, &theirs, 1, MPI_DOUBLE, !rank, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    out = rank ? theirs + in : in + theirs;
    (void)f;
}

static double ns(void (*what)(const struct bench_functions *), const struct bench_functions *f)
{
    double start;

    bench_barrier();
    start = bench_now();
    for (int i = 0; i < CALLS; i++)
        what(f);
    return (bench_now() - start) * 1e9 / CALLS;
}

/* Prints two medians, A's and B's, and their difference. */
static void compare(const char *title, void (*a)(const struct bench_functions *),
                    const struct bench_functions *with_a, void (*b)(const struct bench_functions *),
                    const struct bench_functions *with_b)
{
    double *of_a = bench_new(PAIRS * sizeof *of_a), *of_b = bench_new(PAIRS * sizeof *of_b);

    for (int i = 0; i < 3; i++) {
        ns(a, with_a);
        ns(b, with_b);
    }
    for (int i = 0; i < PAIRS; i++) {
        of_a[i] = ns(a, with_a);
        of_b[i] = ns(b, with_b);
    }
    if (rank == 0) {
        double median_a = bench_quantile(of_a, PAIRS, 0.5),
               median_b = bench_quantile(of_b, PAIRS, 0.5);

        printf("%-54s %8.1f %8.1f %8.1f\n", title, median_a, median_b, median_a - median_b);
        fflush(stdout);
    }
    free(of_a);
    free(of_b);
}

/* A GPU runtime, so that it is asked: initialized, as programs do. */
static void load_runtime(const char *name)
{
    static const char *const begin[] = { "cuInit", "hsa_init", "zeInit" };
    void *library = dlopen(name, RTLD_NOW);
    int (*function)(unsigned);

    if (!library) {
        fprintf(stderr, "bench_cost: %s\n", dlerror());
        return;
    }
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++) {
        *(void **)&function = dlsym(library, begin[i]);
        if (function)
            function(0);
    }
}

int main(int argc, char **argv)
{
    int ranks;

    setenv("COLLOPT_AFTER", "1", 1);
    setenv("COLLOPT_PCONTROL", "on", 1);
    setenv("COLLOPT_SCAN", "host", 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bench_find_host();
    if (ranks != 2) {
        if (rank == 0)
            fprintf(stderr, "bench_cost: needs two ranks\n");
        MPI_Finalize();
        return 2;
    }
    if (rank == 0)
        printf("%-54s %8s %8s %8s\n", "ns per call", "collopt", "without", "added");
    compare("passed through, left to the host by choice", scan_self, &bench_mpi, scan_self,
            &bench_host);
    MPI_Pcontrol(0);
    compare("passed through, switched off", self, &bench_mpi, self, &bench_host);
    MPI_Pcontrol(1);
    compare("taken over on one rank (host beside)", self, &bench_mpi, self, &bench_host);
    mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    compare("the same, in memory that was mapped", self_mapped, &bench_mpi, self_mapped,
            &bench_host);
    if (argc > 1) {
        load_runtime(argv[1]);
        compare("the same, the GPU runtime is asked", self_mapped, &bench_mpi, self_mapped,
                &bench_host);
    }
    compare("taken over, nothing to do (no elements; host beside)", nothing, &bench_mpi, nothing,
            &bench_host);
    compare("taken over, one double, against Irecv + Send + Wait + sum", one, &bench_mpi, bare,
            NULL);
    compare("taken over, one double, against Sendrecv + sum", one, &bench_mpi, exchange, NULL);
    compare("taken over, one double, against the host's Allreduce", one, &bench_mpi, one,
            &bench_host);
    MPI_Finalize();
    return 0;
}
