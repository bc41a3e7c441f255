/* The sum of doubles that are spread over the ranks, in three ways, in pairs:
 *
 *     mpirun -n 2 env LD_PRELOAD=libcollopt.so exact_sum
 *
 * plain: a vectorized sum on each rank, and an Allreduce of 8 bytes.  fixed point: two Allreduces,
 * one for the greatest exponent and the number of terms, one of sums of integers, into which each
 * term is split in two (A. A. Mirin, P. H. Worley, Improving the Performance Scalability of the
 * Community Atmosphere Model, IJHPCA 26, 2012, written from its description); it cuts off what is
 * some 80 bits below the greatest.  exact: collopt_exact_sum.  All by the functions that the
 * program sees, so collopt runs the Allreduces of all three where it is there. */
#include "lib/bench_mpi.h"
#include "lib/measure.h"

#include "collopt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct field {
    double *x;
    int n;
};

static volatile double total;

/* ---- plain ----------------------------------------------------------------------------------- */

typedef double lanes __attribute__((vector_size(64)));

#if defined __x86_64__ && defined __GNUC__ && !defined __clang__
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
static double plain_sum(const double *x, int n)
{
    lanes a = { 0 }, b = { 0 }, v;
    double sum = 0;
    int i;

    for (i = 0; i + 16 <= n; i += 16) {
        memcpy(&v, x + i, sizeof v);
        a += v;
        memcpy(&v, x + i + 8, sizeof v);
        b += v;
    }
    a += b;
    for (int j = 0; j < 8; j++)
        sum += a[j];
    for (; i < n; i++)
        sum += x[i];
    return sum;
}

static void plain(const struct bench_functions *f, const void *what)
{
    const struct field *field = what;
    double part = plain_sum(field->x, field->n), all;

    f->allreduce(&part, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    total = all;
}

/* ---- fixed point ----------------------------------------------------------------------------- */

static double greatest(const double *x, int n)
{
    double most = 0;

    for (int i = 0; i < n; i++)
        most = fabs(x[i]) > most ? fabs(x[i]) : most;
    return most;
}

static void fixed_point(const struct bench_functions *f, const void *what)
{
    const struct field *field = what;
    int exponent, bits, ranks;
    int64_t most[2], part[2] = { 0 }, all[2];
    double up, step;

    frexp(greatest(field->x, field->n), &exponent);
    f->allreduce((int64_t[]){ exponent, field->n }, most, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bits = 62 - (int)ceil(log2((double)most[1] * ranks + 1));
    up = ldexp(1, bits - (int)most[0]);
    step = ldexp(1, bits);
    for (int i = 0; i < field->n; i++) {
        double scaled = field->x[i] * up;
        int64_t high = (int64_t)scaled;

        part[0] += high;
        part[1] += (int64_t)((scaled - (double)high) * step);
    }
    f->allreduce(part, all, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    total = ldexp((double)all[0], (int)most[0] - bits) + ldexp((double)all[1],
                                                             (int)most[0] - 2 * bits);
}

/* ---- exact ----------------------------------------------------------------------------------- */

static void exact(const struct bench_functions *f, const void *what)
{
    const struct field *field = what;
    double all;

    (void)f;
    collopt_exact_sum(COLLOPT_EXACT_SUM, COLLOPT_EXACT_DOUBLE, (size_t)field->n, field->x, 1, NULL,
                      0, &all, (int)MPI_Comm_c2f(MPI_COMM_WORLD));
    total = all;
}

static void compare(int rank, const char *name,
                    void (*other)(const struct bench_functions *, const void *),
                    const struct field *field)
{
    struct bench_side first = { BENCH_COLLOPT, exact, field, NULL },
                      second = { BENCH_COLLOPT, other, field, NULL };
    struct bench_effort effort = { .seconds = 2, .precise = 0.02 };
    struct bench_figures found;

    bench_compare(&first, &second, &effort, &found);
    if (rank == 0) {
        printf("%9d %-12s %11.2f %11.2f %7.2f  %.2f to %.2f\n", field->n, name, found.first_us,
               found.second_us, found.ratio, found.low, found.high);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    static const int lengths[] = { 1, 100, 10000, 1000000 };
    int rank;

    setenv("COLLOPT_AFTER", "1", 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bench_find_host();
    if (!collopt_exact_sum) {
        if (rank == 0)
            fprintf(stderr, "exact_sum: collopt is not loaded; start it with LD_PRELOAD\n");
        MPI_Finalize();
        return 2;
    }
    if (rank == 0)
        printf("  doubles against        exact us    other us   ratio  95%%\n");
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        struct field field = { bench_new((size_t)lengths[l] * sizeof *field.x), lengths[l] };

        for (int i = 0; i < field.n; i++)
            field.x[i] = sin(i * 3.7 + rank) * exp(cos(i * 0.9));
        compare(rank, "plain", plain, &field);
        compare(rank, "fixed point", fixed_point, &field);
        free(field.x);
    }
    MPI_Finalize();
    return 0;
}
