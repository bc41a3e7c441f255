/* A tool that goes about it as Darshan's library for preloading does: MPI_X and PMPI_X are one
 * function, which goes on by the next PMPI_X after itself, and it reduces at the end of MPI_Init
 * and at the beginning of MPI_Finalize. */

#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef int init_function(int *argc, char ***argv);
typedef int init_thread_function(int *argc, char ***argv, int required, int *provided);
typedef int finalize_function(void);
typedef int set_function(MPI_Comm comm, MPI_Info info);

static void *next(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);

    if (!function)
        abort();
    return function;
}

static void reduce(const char *where)
{
    int rank, ranks, sum = 0;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != ranks * (ranks - 1) / 2)
        fprintf(stderr, "darshan: wrong sum\n");
    else if (rank == 0)
        fprintf(stderr, "darshan %s\n", where);
}

int MPI_Init(int *argc, char ***argv)
{
    int err = ((init_function *)next("PMPI_Init"))(argc, argv);

    reduce("begins");
    return err;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int err = ((init_thread_function *)next("PMPI_Init_thread"))(argc, argv, required, provided);

    reduce("begins");
    return err;
}

int MPI_Finalize(void)
{
    reduce("ends");
    return ((finalize_function *)next("PMPI_Finalize"))();
}

int MPI_Comm_set_info(MPI_Comm comm, MPI_Info info)
{
    return ((set_function *)next("PMPI_Comm_set_info"))(comm, info);
}

int PMPI_Init(int *argc, char ***argv) __attribute__((alias("MPI_Init")));
int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
    __attribute__((alias("MPI_Init_thread")));
int PMPI_Finalize(void) __attribute__((alias("MPI_Finalize")));
int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info) __attribute__((alias("MPI_Comm_set_info")));
