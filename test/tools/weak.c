/* Not linked with collopt: is it there, and what does it say? */
#include <mpi.h>
#include <stdio.h>

#include "collopt.h"

int main(int argc, char **argv)
{
    int rank, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 10; i++) {
        double one = 1, sum = 0;

        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (sum != ranks) {
            fprintf(stderr, "rank %d: sum %g of %d\n", rank, sum, ranks);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    if (rank == 0 && !collopt_version)
        printf("absent\n");
    else if (rank == 0)
        printf("present: %llu run, %llu passed, %d algorithms\n",
               (unsigned long long)collopt_calls("allreduce", NULL),
               (unsigned long long)collopt_calls_passed("MPI_Allreduce"),
               collopt_algorithm_count("allreduce"));
    MPI_Finalize();
    return 0;
}
