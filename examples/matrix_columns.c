/* y = A x with A spread over the ranks by columns, x and y by the same division.
 *
 * A rank's columns times its part of x give a vector of full length; the sum of those vectors, of
 * which every rank wants its own part, is what MPI_Reduce_scatter is for.  Parts differ in length
 * when the ranks do not divide N. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 500 };

static double a(int i, int j)
{
    return (i * 3 + j * 7) % 13 - 6;
}

static double x(int j)
{
    return j % 9 - 4;
}

static int first(int rank, int ranks)       /* column or row of a rank */
{
    return (int)((long)N * rank / ranks);
}

static void multiply_columns(int from, int to, double *part)
{
    for (int i = 0; i < N; i++) {
        part[i] = 0;
        for (int j = from; j < to; j++)
            part[i] += a(i, j) * x(j);
    }
}

int main(int argc, char **argv)
{
    int rank, ranks, from, to, wrong = 0, *counts;
    double part[N], expected[N], y[N], mine = 0, sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!(counts = malloc((size_t)ranks * sizeof *counts)))
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int r = 0; r < ranks; r++)
        counts[r] = first(r + 1, ranks) - first(r, ranks);
    from = first(rank, ranks);
    to = first(rank + 1, ranks);

    multiply_columns(from, to, part);
    MPI_Reduce_scatter(part, y, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);

    multiply_columns(0, N, expected);
    for (int i = from; i < to; i++) {
        wrong += y[i - from] != expected[i];
        mine += (i % 3 + 1) * y[i - from];
    }
    MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("matrix_columns: checksum %.0f\n", sum);
    free(counts);
    MPI_Finalize();
    return wrong > 0;
}
