/* The greatest and the least value of each of 30 columns, and the rank that owns it: MPI_MAXLOC to
 * rank 0, MPI_MINLOC to everybody.  Of equal values the one on the lowest rank wins. */
#include <mpi.h>
#include <stdio.h>

enum { N = 30 };

struct located {            /* MPI_DOUBLE_INT */
    double value;
    int rank;
};

static double height(int rank, int i)       /* equal on several ranks now and then */
{
    return (rank + 1) * (i + 3) * 7 % 5 + 0.5;
}

static struct located search(int ranks, int i, int sign)
{
    struct located best = { height(0, i), 0 };

    for (int r = 1; r < ranks; r++)
        if (sign * height(r, i) > sign * best.value)
            best = (struct located){ height(r, i), r };
    return best;
}

static int differ(const struct located *a, struct located b)
{
    return a->value != b.value || a->rank != b.rank;
}

int main(int argc, char **argv)
{
    struct located mine[N], greatest[N], least[N];
    int rank, ranks, wrong = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    for (int i = 0; i < N; i++)
        mine[i] = (struct located){ height(rank, i), rank };
    MPI_Reduce(mine, greatest, N, MPI_DOUBLE_INT, MPI_MAXLOC, 0, MPI_COMM_WORLD);
    MPI_Allreduce(mine, least, N, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);

    for (int i = 0; i < N; i++) {
        if (rank == 0)
            wrong += differ(&greatest[i], search(ranks, i, 1));
        wrong += differ(&least[i], search(ranks, i, -1));
    }
    if (rank == 0)
        printf("maxloc: column 0: greatest %.1f on rank %d, least %.1f on rank %d\n",
               greatest[0].value, greatest[0].rank, least[0].value, least[0].rank);
    MPI_Finalize();
    return wrong > 0;
}
