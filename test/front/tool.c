/* A profiling tool as others make them: it counts MPI_Allreduce and says at MPI_Finalize what it saw. */

#include <mpi.h>
#include <stdio.h>

static int calls;

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    calls++;
    return PMPI_Allreduce(in, out, count, type, op, comm);
}

int MPI_Finalize(void)
{
    int rank;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        fprintf(stderr, "tool Allreduce %d\n", calls);
    return PMPI_Finalize();
}
