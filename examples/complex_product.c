/* The product of complex numbers, element by element over the ranks, by an operation of our own.
 *
 * MPI hands the operation two vectors, in and inout, and how many elements they have; it must work
 * on all of them.  Whole numbers in the product (i, 1 + i, 2 - i, ...) keep it exact. */
#include <mpi.h>
#include <stdio.h>

enum { N = 100 };

struct number {
    double re, im;
};

static struct number times(struct number a, struct number b)
{
    return (struct number){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

static void multiply(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const struct number *a = in;
    struct number *b = inout;

    (void)type;
    for (int i = 0; i < *count; i++)
        b[i] = times(a[i], b[i]);
}

static struct number factor(int rank, int i)
{
    static const struct number factors[] = { { 0, 1 }, { 1, 1 }, { 2, -1 }, { -1, 0 }, { 1, -2 } };

    return factors[(rank + i) % 5];
}

int main(int argc, char **argv)
{
    struct number mine[N], product[N] = { { 0, 0 } };
    MPI_Datatype number;
    MPI_Op product_of_complex;
    int rank, ranks, wrong = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    MPI_Type_contiguous(2, MPI_DOUBLE, &number);
    MPI_Type_commit(&number);
    MPI_Op_create(multiply, 1, &product_of_complex);

    for (int i = 0; i < N; i++)
        mine[i] = factor(rank, i);
    MPI_Reduce(mine, product, N, number, product_of_complex, 0, MPI_COMM_WORLD);

    if (rank == 0) {
        for (int i = 0; i < N; i++) {
            struct number expected = factor(0, i);

            for (int r = 1; r < ranks; r++)
                expected = times(expected, factor(r, i));
            wrong += product[i].re != expected.re || product[i].im != expected.im;
        }
        printf("complex_product: element 0 is %g%+gi, element %d is %g%+gi\n",
               product[0].re, product[0].im, N - 1, product[N - 1].re, product[N - 1].im);
    }
    MPI_Op_free(&product_of_complex);
    MPI_Type_free(&number);
    MPI_Finalize();
    return wrong > 0;
}
