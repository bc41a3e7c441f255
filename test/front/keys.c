/* Gives MPI_COMM_WORLD a key of ours, and reduces five times. */

#include <mpi.h>
#include <stdio.h>

#include "collopt.h"

int main(int argc, char **argv)
{
    int rank, ranks, sum, right = 1;
    MPI_Info info;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Info_create(&info);
    MPI_Info_set(info, "collopt_allreduce", "chain");
    MPI_Comm_set_info(MPI_COMM_WORLD, info);
    MPI_Info_free(&info);
    for (int i = 0; i < 5; i++) {
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        right = right && sum == ranks * (ranks - 1) / 2;
    }
    if (rank == 0)
        fprintf(stderr, "keys %s: %d by the key\n", right ? "ok" : "wrong",
                (int)collopt_calls("allreduce", "chain"));
    return MPI_Finalize();
}
