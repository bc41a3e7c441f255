/* An extension module with MPI, for a program that opens two: the first one begins MPI, the second
 * one calls MPI_Allreduce six times, says on rank 0 what a collopt in this process has made of it,
 * and ends MPI. */
#include <mpi.h>
#include <stdio.h>

#include "collopt.h"

static int reduce(void)
{
    int rank, ranks, sum, wrong = 0;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 6; i++) {
        int mine = rank + i;

        sum = -1;
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        wrong += sum != ranks * (ranks - 1) / 2 + ranks * i;
    }
    if (wrong)
        fprintf(stderr, "late rank %d: %d of 6 results are wrong\n", rank, wrong);
    else if (rank == 0 && collopt_version)
        fprintf(stderr, "late ok: run %llu passed %llu\n",
                (unsigned long long)collopt_calls("allreduce", NULL),
                (unsigned long long)collopt_calls_passed("Allreduce"));
    else if (rank == 0)
        fprintf(stderr, "late ok\n");
    return wrong;
}

int run(int argc, char **argv)
{
    int begun, provided, wrong;

    MPI_Initialized(&begun);
    if (!begun)
        return MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
    wrong = reduce();
    MPI_Finalize();
    return wrong != 0;
}
