/* The total of a field is to have the same bits on any number of ranks and however the field is
 * divided among them: by collopt_exact_sum of collopt.h, where collopt is in the process.  Beside
 * it the usual way, a sum on each rank and MPI_Allreduce, whose last bits differ; so do those
 * without collopt.
 *
 * With "show" as its argument it prints the totals. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "collopt.h"

enum { CELLS = 30000, DIVISIONS = 3 };

static const char *const divisions[DIVISIONS] = { "blocks", "cyclic", "unequal blocks" };

/* The same on all machines: no function of the C library rounds here. */
static double cell(int i)
{
    double x = (i * 7919L % CELLS + 1) / (double)CELLS;

    return (i % 2 ? -1 : 1) * (1 / x + x * 1e-7);
}

/* Which rank has cell I. */
static int owner(int division, int i, int ranks)
{
    double place = i / (double)CELLS;

    return division == 0 ? (int)((long)i * ranks / CELLS)
         : division == 1 ? i % ranks
                         : (int)(place * place * ranks);
}

static int take(double *field, int division, int rank, int ranks)
{
    int n = 0;

    for (int i = 0; i < CELLS; i++)
        if (owner(division, i, ranks) == rank)
            field[n++] = cell(i);
    return n;
}

static double plain_total(const double *field, int n, MPI_Comm comm)
{
    double part = 0, total;

    for (int i = 0; i < n; i++)
        part += field[i];
    MPI_Allreduce(&part, &total, 1, MPI_DOUBLE, MPI_SUM, comm);
    return total;
}

static double exact_total(const double *field, int n, MPI_Comm comm)
{
    double total;

    if (!collopt_exact_sum)
        return plain_total(field, n, comm);
    if (collopt_exact_sum(COLLOPT_EXACT_SUM, COLLOPT_EXACT_DOUBLE, (size_t)n, field, 1, NULL, 0,
                          &total, (int)MPI_Comm_c2f(comm)))
        MPI_Abort(comm, 1);
    return total;
}

/* The correctly rounded sum. */
static const double right = 0x1.44e7a965314f3p+14;

int main(int argc, char **argv)
{
    static double field[CELLS];
    int rank, ranks, wrong = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int d = 0; d < DIVISIONS; d++) {
        int n = take(field, d, rank, ranks);
        double plain = plain_total(field, n, MPI_COMM_WORLD),
               exact = exact_total(field, n, MPI_COMM_WORLD);

        wrong |= collopt_exact_sum ? exact != right : fabs(exact - right) > 1e-6;
        wrong |= fabs(plain - right) > 1e-6;
        if (rank == 0 && argc > 1 && strcmp(argv[1], "show") == 0)
            printf("%d ranks, %-15s exact %a, plain %a\n", ranks, divisions[d], exact, plain);
    }
    if (rank == 0)
        printf("conserved_total: %s\n", wrong ? "wrong" : "right");
    MPI_Finalize();
    return wrong;
}
