/* Conjugate gradients for the Poisson equation on the unit square: a small application whose time
 * at many ranks is the time of its reductions.
 *
 *     conjugate_gradient [N [TIMES [pipelined]]]
 *
 * N x N points (default 128), solved TIMES times (default 1).
 *
 * -laplace(u) = f with u = 0 on the boundary, five-point stencil, rows of the grid divided over the
 * ranks.  An iteration exchanges one row with each neighbour and needs two sums over all ranks.
 * Each sum is a blocking one of 8 bytes.  Pipelined, both are one MPI_Iallreduce of 16 bytes, which
 * overlaps the stencil (P. Ghysels and W. Vanroose, Parallel Computing 40,
 * 2014, algorithm 4 without a preconditioner).  u is a cubic in x and in y, for which the stencil
 * is exact: the answer can be checked against u itself, to the accuracy of the iteration. */
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double tolerance = 1e-10;    /* of the residual, relative to that of u = 0 */
static int rank, ranks;
static int n;                       /* points in a row, without the boundary */
static int from, rows;              /* this rank's rows: from, from + 1, ... */
static double reducing;             /* seconds spent in reductions */

/* A field is rows + 2 rows of n points; row 0 and row rows + 1 are the neighbours', or the
 * boundary. */
static double *new_field(void)
{
    double *f = calloc((size_t)(rows + 2) * n, sizeof *f);

    if (!f)
        MPI_Abort(MPI_COMM_WORLD, 2);
    return f;
}

static double *row(double *field, int i)
{
    return field + (size_t)(i + 1) * n;
}

/* This rank's part. */
static double part_of_dot(double *a, double *b)
{
    double part = 0;

    for (size_t i = 0; i < (size_t)rows * n; i++)
        part += row(a, 0)[i] * row(b, 0)[i];
    return part;
}

static double dot(double *a, double *b)
{
    double part = part_of_dot(a, b), sum, start = MPI_Wtime();

    MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    reducing += MPI_Wtime() - start;
    return sum;
}

static void exchange_rows(double *p)
{
    int above = rank > 0 ? rank - 1 : MPI_PROC_NULL,
        below = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;

    MPI_Sendrecv(row(p, 0), n, MPI_DOUBLE, above, 0, row(p, rows), n, MPI_DOUBLE, below, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(row(p, rows - 1), n, MPI_DOUBLE, below, 1, row(p, -1), n, MPI_DOUBLE, above, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* q = A p, the five-point stencil times the square of the mesh width. */
static void apply(double *q, double *p)
{
    exchange_rows(p);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++) {
            double west = j > 0 ? row(p, i)[j - 1] : 0, east = j < n - 1 ? row(p, i)[j + 1] : 0;

            row(q, i)[j] = 4 * row(p, i)[j] - west - east - row(p, i - 1)[j] - row(p, i + 1)[j];
        }
}

/* y = y + factor x */
static void add(double *y, double factor, double *x)
{
    for (size_t i = 0; i < (size_t)rows * n; i++)
        row(y, 0)[i] += factor * row(x, 0)[i];
}

/* y = x + factor y */
static void scale_and_add(double *y, double factor, double *x)
{
    for (size_t i = 0; i < (size_t)rows * n; i++)
        row(y, 0)[i] = row(x, 0)[i] + factor * row(y, 0)[i];
}

/* Solves A u = f from u = 0; returns the iterations and the norm of the residual relative to that
 * of f. */
static int solve(double *u, double *f, double *residual)
{
    double *r = new_field(), *p = new_field(), *q = new_field();
    double rr = dot(f, f), goal = tolerance * tolerance * rr, start = rr;
    int iterations = 0;

    memset(u, 0, (size_t)(rows + 2) * n * sizeof *u);
    memcpy(row(r, 0), row(f, 0), (size_t)rows * n * sizeof *r);
    memcpy(row(p, 0), row(f, 0), (size_t)rows * n * sizeof *p);
    while (rr > goal && iterations < 10 * n) {
        double step, before = rr;

        apply(q, p);
        step = rr / dot(p, q);
        add(u, step, p);
        add(r, -step, q);
        rr = dot(r, r);
        scale_and_add(p, rr / before, r);
        iterations++;
    }
    free(r);
    free(p);
    free(q);
    *residual = sqrt(rr / start);
    return iterations;
}

/* sum = r.r and w.r over all ranks; meanwhile q = A w. */
static void sum_and_apply(double sum[2], double *r, double *w, double *q)
{
    double part[2] = { part_of_dot(r, r), part_of_dot(w, r) }, start = MPI_Wtime();
    MPI_Request request;

    MPI_Iallreduce(part, sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    reducing += MPI_Wtime() - start;
    apply(q, w);
    start = MPI_Wtime();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    reducing += MPI_Wtime() - start;
}

/* The same as solve().  w = A r, s = A p, z = A s and q = A w. */
static int solve_pipelined(double *u, double *f, double *residual)
{
    double *r = new_field(), *w = new_field(), *q = new_field();
    double *p = new_field(), *s = new_field(), *z = new_field();
    double *field[] = { r, w, q, p, s, z };
    double sum[2], first = dot(f, f), goal = tolerance * tolerance * first, before = 0, step = 0;
    int iterations = 0;

    memset(u, 0, (size_t)(rows + 2) * n * sizeof *u);
    memcpy(row(r, 0), row(f, 0), (size_t)rows * n * sizeof *r);
    apply(w, r);
    for (;; iterations++) {
        double factor;

        sum_and_apply(sum, r, w, q);
        if (sum[0] <= goal || iterations == 10 * n)
            break;
        factor = iterations > 0 ? sum[0] / before : 0;
        step = sum[0] / (iterations > 0 ? sum[1] - factor * sum[0] / step : sum[1]);
        before = sum[0];
        scale_and_add(z, factor, q);
        scale_and_add(s, factor, w);
        scale_and_add(p, factor, r);
        add(u, step, p);
        add(r, -step, s);
        add(w, -step, z);
    }
    for (int i = 0; i < 6; i++)
        free(field[i]);
    *residual = sqrt(sum[0] / first);
    return iterations;
}

/* u = g(x) h(y) and f = -laplace(u), with g = x - x^3 and h = 2 y - y^2 - y^3. */
static double exact(double x, double y)
{
    return (x - x * x * x) * (2 * y - y * y - y * y * y);
}

static double force(double x, double y)
{
    return 6 * x * (2 * y - y * y - y * y * y) + (x - x * x * x) * (2 + 6 * y);
}

int main(int argc, char **argv)
{
    int times, iterations = 0;
    bool pipelined = argc > 3 && strcmp(argv[3], "pipelined") == 0;
    double *u, *f, h, residual = 1, error = 0, start, seconds;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    n = argc > 1 ? atoi(argv[1]) : 128;
    times = argc > 2 ? atoi(argv[2]) : 1;
    if (pipelined)              /* its recurrences lose digits */
        tolerance = 1e-8;
    if (n < ranks || times < 1 || (argc > 3 && !pipelined)) {
        if (rank == 0)
            fprintf(stderr,
                    "conjugate_gradient: needs at least one row for each rank, and to be run once; "
                    "after that only \"pipelined\"\n");
        MPI_Finalize();
        return 2;
    }
    from = (int)((long)n * rank / ranks);
    rows = (int)((long)n * (rank + 1) / ranks) - from;
    h = 1.0 / (n + 1);

    u = new_field();
    f = new_field();
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++)
            row(f, i)[j] = h * h * force((j + 1) * h, (from + i + 1) * h);

    start = MPI_Wtime();
    for (int t = 0; t < times; t++)
        iterations = (pipelined ? solve_pipelined : solve)(u, f, &residual);
    seconds = MPI_Wtime() - start;

    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++)
            error = fmax(error, fabs(row(u, i)[j] - exact((j + 1) * h, (from + i + 1) * h)));

    if (rank == 0) {
        printf("conjugate_gradient: %d x %d points, %d iterations, residual %.1e\n", n, n,
               iterations, residual);
        printf("time: %.4f s, %.4f s of it in reductions\n", seconds, reducing);
    }
    free(u);
    free(f);
    MPI_Finalize();
    return !(residual <= tolerance) || !(error < 100 * tolerance);
}
