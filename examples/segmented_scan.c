/* A segmented scan: the running sum over the ranks that starts anew wherever a segment starts.
 *
 * Each element is a value and the number of its segment; neighbours with the same number belong
 * together.  The operation
 *
 *     (u, i) op (v, j)  =  (u + v, j)  if i = j,   (v, j)  otherwise
 *
 * is associative and not commutative: MPI must combine in rank order, and so must everything in
 * between. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

enum { N = 50 };

struct pair {
    double value;
    int segment;
};

static void add_in_segment(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const struct pair *a = in;
    struct pair *b = inout;

    (void)type;
    for (int i = 0; i < *count; i++)
        if (a[i].segment == b[i].segment)
            b[i].value += a[i].value;
}

/* Segments of i % 3 + 1 ranks each. */
static struct pair element(int rank, int i)
{
    return (struct pair){ rank * 10 + i, rank / (i % 3 + 1) };
}

static MPI_Datatype make_pair(void)
{
    int lengths[] = { 1, 1 };
    MPI_Aint places[] = { offsetof(struct pair, value), offsetof(struct pair, segment) };
    MPI_Datatype types[] = { MPI_DOUBLE, MPI_INT }, raw, made;

    MPI_Type_create_struct(2, lengths, places, types, &raw);
    MPI_Type_create_resized(raw, 0, sizeof(struct pair), &made);
    MPI_Type_free(&raw);
    MPI_Type_commit(&made);
    return made;
}

int main(int argc, char **argv)
{
    struct pair mine[N], sums[N];
    MPI_Datatype pair;
    MPI_Op segmented_sum;
    int rank, ranks, wrong = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    pair = make_pair();
    MPI_Op_create(add_in_segment, 0, &segmented_sum);

    for (int i = 0; i < N; i++)
        mine[i] = element(rank, i);
    MPI_Scan(mine, sums, N, pair, segmented_sum, MPI_COMM_WORLD);

    for (int i = 0; i < N; i++) {
        double expected = 0;

        for (int r = rank; r >= 0 && element(r, i).segment == mine[i].segment; r--)
            expected += element(r, i).value;
        wrong += sums[i].value != expected || sums[i].segment != mine[i].segment;
    }
    if (rank == ranks - 1)
        printf("segmented_scan: last rank: %g in segments of one, %g of two, %g of three\n",
               sums[0].value, sums[1].value, sums[2].value);
    MPI_Op_free(&segmented_sum);
    MPI_Type_free(&pair);
    MPI_Finalize();
    return wrong > 0;
}
