/* Calls of which it writes down when it made each and when that returned, for trace.py to compare
 * with the trace.  Ranks are late on purpose, so that there is waiting.
 *
 * Arguments: a file, to which each rank adds .RANK, and how often each call is made.  A line has
 * function, form, communicator, its ranks, count, bytes, and the nanoseconds before
 * and after.  The clock is the kernel's, past a stand-in for the one that collopt reads. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

enum { LONGEST = 1000, RANKS = 8 };

static double in[LONGEST * RANKS], out[LONGEST];
static FILE *file;

static long long now(void)
{
    struct timespec t;

    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void late(int rank)
{
    if (world_rank == rank % world_ranks)
        usleep(300);
}

static void note(const char *function, const char *form, const char *comm, int ranks, int count,
                 long long bytes, long long before)
{
    long long after = now();

    fprintf(file, "%s %s %s %d %d %lld %lld %lld\n", function, form, comm, ranks, count, bytes,
            before, after);
}

#define BLOCKING(function, comm, name, count, elements, ...) \
    do { \
        int ranks_; \
        long long before_; \
        MPI_Comm_size(comm, &ranks_); \
        before_ = now(); \
        MPI_##function(__VA_ARGS__); \
        note("MPI_" #function, "blocking", name, ranks_, count, \
             (long long)sizeof(double) * (elements), before_); \
    } while (0)

static void allreduce(MPI_Comm comm, const char *name, int count)
{
    BLOCKING(Allreduce, comm, name, count, count, in, out, count, MPI_DOUBLE, MPI_SUM, comm);
}

static void blocking(MPI_Comm comm, const char *name)
{
    int counts[RANKS];

    for (int r = 0; r < RANKS; r++)
        counts[r] = 1 + r;
    late(0);
    allreduce(comm, name, 1);
    allreduce(comm, name, LONGEST);
    late(1);
    BLOCKING(Reduce, comm, name, 10, 10, in, out, 10, MPI_DOUBLE, MPI_SUM, 0, comm);
    BLOCKING(Scan, comm, name, 3, 3, in, out, 3, MPI_DOUBLE, MPI_SUM, comm);
    late(0);
    BLOCKING(Exscan, comm, name, 4, 4, in, out, 4, MPI_DOUBLE, MPI_SUM, comm);
    BLOCKING(Reduce_scatter_block, comm, name, 5, 5 * ranks_, in, out, 5, MPI_DOUBLE, MPI_SUM,
             comm);
    BLOCKING(Reduce_scatter, comm, name, ranks_ * (ranks_ + 1) / 2, ranks_ * (ranks_ + 1) / 2, in,
             out, counts, MPI_DOUBLE, MPI_SUM, comm);
}

static void nonblocking(MPI_Comm comm, const char *name, int ranks)
{
    MPI_Request request[2];
    MPI_Status status[2];
    long long before = now(), second;

    MPI_Iallreduce(in, out, 7, MPI_DOUBLE, MPI_SUM, comm, &request[0]);
    second = now();
    MPI_Ireduce(in, out + 7, 8, MPI_DOUBLE, MPI_SUM, 0, comm, &request[1]);
    late(1);
    MPI_Waitall(2, request, status);
    note("MPI_Iallreduce", "nonblocking", name, ranks, 7, 7 * sizeof(double), before);
    note("MPI_Ireduce", "nonblocking", name, ranks, 8, 8 * sizeof(double), second);
}

static void persistent(MPI_Comm comm, const char *name, int ranks, int times)
{
    MPI_Request request[1];

    if (!HAVE_INIT)
        return;
    CALL_INIT(Allreduce, allreduce, in, out, 9, MPI_DOUBLE, MPI_SUM, comm);
    for (int i = 0; i < times; i++) {
        long long before = now();

        MPI_Start(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
        note("MPI_Allreduce_init", "persistent", name, ranks, 9, 9 * sizeof(double), before);
    }
    MPI_Request_free(request);
}

/* Communicators that follow each other, two at a time. */
static void short_lived(void)
{
    MPI_Comm one, other;

    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank > 0, world_rank, &other);
    MPI_Comm_set_name(one, "one");
    MPI_Comm_set_name(other, "other");
    allreduce(one, "one", 2);
    late(1);
    allreduce(other, "other", 2);
    MPI_Comm_free(&one);
    MPI_Comm_free(&other);
}

/* An operation that reduces on a communicator of its own: a call inside of another. */
static void nests(void *a, void *b, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((double *)b)[i] += ((double *)a)[i];
    allreduce(MPI_COMM_SELF, "MPI_COMM_SELF", 6);
}

static void nested(void)
{
    MPI_Op op;

    MPI_Op_create(nests, 1, &op);
    BLOCKING(Allreduce, MPI_COMM_WORLD, "MPI_COMM_WORLD", 11, 11, in, out, 11, MPI_DOUBLE, op,
             MPI_COMM_WORLD);
    MPI_Op_free(&op);
}

int main(int argc, char **argv)
{
    char name[1024];
    int times, ranks;
    MPI_Comm solver;

    begin(&argc, &argv, "test_trace");
    times = argc > 2 ? atoi(argv[2]) : 1;
    snprintf(name, sizeof name, "%s.%d", argc > 1 ? argv[1] : "/dev/null", world_rank);
    file = fopen(argc > 1 ? name : "/dev/null", "w");
    if (!file) {
        fail("%s cannot be written", name);
        return end();
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &solver);
    MPI_Comm_set_name(solver, "solver \"2\"");  /* no names in the file have spaces */
    MPI_Comm_size(solver, &ranks);
    for (int i = 0; i < times; i++) {
        at("reductions");
        blocking(MPI_COMM_WORLD, "MPI_COMM_WORLD");
        allreduce(MPI_COMM_SELF, "MPI_COMM_SELF", 1);
        blocking(solver, "solver_\"2\"");
        nonblocking(solver, "solver_\"2\"", ranks);
        short_lived();
        nested();
    }
    persistent(MPI_COMM_WORLD, "MPI_COMM_WORLD", world_ranks, times);
    MPI_Comm_free(&solver);
    fclose(file);
    return end();
}
