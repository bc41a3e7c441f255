/* An MPI program that calls what the front intercepts: three times MPI_Allreduce, the rest once.
 * Says on rank 0 "app ok", and how many of the MPI_Allreduce a collopt in this process has seen, as
 * far as include/collopt.h tells.
 *
 *     app [cd]     cd: leave the directory first, so that relative paths mean nothing any more */

#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collopt.h"

typedef int init_function(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info,
                          MPI_Request *);

/* A name that this host lacks; it is there only when collopt is. */
#if defined OPEN_MPI && OMPI_MAJOR_VERSION < 5
# define LACKING "MPI_Allreduce_init"
#else
# define LACKING "MPIX_Allreduce_init"
#endif

static int rank, ranks;

static void check(int right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "app rank %d: wrong %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* How the processor rounds, traps and treats subnormal numbers, without what has happened so far.
 * An object that was linked with -ffast-math changes it for the whole process when it is loaded. */
static unsigned arithmetic(void)
{
#if defined __SSE__
    return __builtin_ia32_stmxcsr() & ~0x3fu;
#elif defined __aarch64__
    unsigned long control;

    __asm__ volatile ("mrs %0, fpcr" : "=r" (control));
    return (unsigned)control;
#else
    return 0;
#endif
}

static int keeps_subnormals(void)
{
    volatile double tiny = 0x1p-1074;

    return tiny * 2 != 0;
}

/* The first calls of the process come from several threads at once. */
static void *local(void *unused)
{
    int one = 1, sum = 2;

    (void)unused;
    check(MPI_Reduce_local(&one, &sum, 1, MPI_INT, MPI_SUM) == MPI_SUCCESS && sum == 3,
          "Reduce_local");
    return NULL;
}

#ifndef SMPI_H
static void in_threads(void)
{
    pthread_t thread[4];

    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, local, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
}
#endif

int main(int argc, char **argv)
{
    int provided, mine, sum = 0, subnormals = keeps_subnormals();
    unsigned before = arithmetic();
    MPI_Request request;
    MPI_Info info;
    MPI_Comm copy;

    if (argc > 1 && strcmp(argv[1], "cd") == 0 && chdir("/"))
        return 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    mine = rank + 1;
#ifdef SMPI_H                   /* there, threads would be strangers to the simulation */
    for (int i = 0; i < 4; i++)
        local(NULL);
#else
    in_threads();
#endif

    for (int i = 0; i < 3; i++) {
        sum = 0;
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        check(sum == ranks * (ranks + 1) / 2, "Allreduce");
        check(arithmetic() == before && keeps_subnormals() == subnormals,
              "arithmetic after Allreduce");
    }
    MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(sum == ranks, "Iallreduce");
    MPI_Reduce(rank ? &mine : MPI_IN_PLACE, rank ? NULL : &mine, 1, MPI_INT, MPI_SUM, 0,
               MPI_COMM_WORLD);
    check(rank || mine == ranks * (ranks + 1) / 2, "Reduce");

    MPI_Info_create(&info);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &copy);
    MPI_Comm_set_info(copy, info);
    MPI_Comm_free(&copy);
    MPI_Info_free(&info);
#define TRIPLE(i)       i, i + 0.5, i * 10000000000LL
    MPI_Pcontrol(1, "more", 0.5, TRIPLE(1), TRIPLE(2), TRIPLE(3), TRIPLE(4), TRIPLE(5), TRIPLE(6),
                 TRIPLE(7), TRIPLE(8), TRIPLE(9), TRIPLE(10), 0.25L, "last");

    init_function *lacking = (init_function *)dlsym(RTLD_DEFAULT, LACKING);

    check(!lacking
              || lacking(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request)
                  != MPI_SUCCESS,
          LACKING);
    if (rank == 0 && collopt_version)
        fprintf(stderr, "collopt %u.%u.%u saw Allreduce %llu\n", collopt_version() >> 16,
                collopt_version() >> 8 & 255, collopt_version() & 255,
                (unsigned long long)(collopt_calls("allreduce", NULL)
                                     + collopt_calls_passed("Allreduce")
                                     + collopt_calls_passed("Iallreduce")));
    if (rank == 0)
        fprintf(stderr, "app ok\n");
    MPI_Finalize();
    return 0;
}
