/* One Allreduce on simulated ranks, in us of simulated time, for each of the lengths in bytes given; run by torus.sh.
 *
 * The fourth call is timed: the first three engage the communicator and fill its cache.  Vectors are shared between ranks, since only
 * time is looked at. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double slowest(double *in, double *out, int n)
{
    double start, mine, all;

    for (int i = 0; i < 3; i++)
        MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    mine = MPI_Wtime() - start;
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i < argc; i++) {
        size_t bytes = strtoull(argv[i], NULL, 10);
        double *in = SMPI_SHARED_MALLOC(bytes), *out = SMPI_SHARED_MALLOC(bytes), time;

        time = slowest(in, out, (int)(bytes / sizeof *in));
        if (rank == 0)
            printf(" %.0f", time * 1e6);
        SMPI_SHARED_FREE(in);
        SMPI_SHARED_FREE(out);
    }
    if (rank == 0)
        printf("\n");
    MPI_Finalize();
    return 0;
}
