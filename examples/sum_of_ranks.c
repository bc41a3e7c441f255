/* The sum of the ranks by an operation of our own, with the result everywhere, out of place and in
 * place. */
#include <mpi.h>
#include <stdio.h>

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const int *a = in;
    int *b = inout;

    (void)type;
    for (int i = 0; i < *count; i++)
        b[i] += a[i];
}

int main(int argc, char **argv)
{
    int rank, ranks, sum = -1, in_place, expected;
    MPI_Op my_sum;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    MPI_Op_create(add, 1, &my_sum);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, my_sum, MPI_COMM_WORLD);
    in_place = rank;
    MPI_Allreduce(MPI_IN_PLACE, &in_place, 1, MPI_INT, my_sum, MPI_COMM_WORLD);
    MPI_Op_free(&my_sum);

    expected = ranks * (ranks - 1) / 2;
    if (rank == 0)
        printf("sum_of_ranks: 0 + ... + %d = %d\n", ranks - 1, sum);
    MPI_Finalize();
    return sum != expected || in_place != expected;
}
