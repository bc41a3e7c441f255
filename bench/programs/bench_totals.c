/* Times collopt_exact_sum of a vector in memory beside plain vectorized loops:
 *
 *     LD_PRELOAD=libcollopt.so bench_totals [ELEMENTS]       10^6 elements; one rank
 *     COLLOPT_ISA=avx2 ...                                   on both sides
 *
 * "sum double EXACT PLAIN RATIO MEDIAN": the least ns per element of either, the ratio of these,
 * and the median of the ratios of both in turn.  In processor time, so that other programs take
 * away nothing but caches. */
#include "lib/bench_mpi.h"
#include "lib/statistics.h"

#include "collopt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 15, CHUNK = 4096, QUARTER = CHUNK / 4 };

/* N: of whole chunks, of reals or of complex numbers.  Complex results are added up, so that both
 * parts are needed. */
typedef double plain_sum(const void *x, const void *y, size_t n);

struct plain {
    const char *isa;
    plain_sum *sum_float, *sum_double, *dot_float, *dot_double, *complex_float, *complex_double;
};

/* ---- plain loops, each for every instruction set --------------------------------------------- */

/* Four sums, as an addition takes as long as eight begun one after another. */
#define SUM(isa, real, target) \
    target static double sum_##real##_##isa(const void *from, const void *unused, size_t n) \
    { \
        real a = 0, b = 0, c = 0, d = 0; \
        (void)unused; \
        for (const real *x = from, *end = x + n; x < end; x += CHUNK) \
            _Pragma("omp simd reduction(+: a, b, c, d)") \
            for (size_t i = 0; i < QUARTER; i++) { \
                a += x[i]; \
                b += x[i + QUARTER]; \
                c += x[i + 2 * QUARTER]; \
                d += x[i + 3 * QUARTER]; \
            } \
        return a + b + c + d; \
    }

#define DOT(isa, real, target) \
    target static double dot_##real##_##isa(const void *left, const void *right, size_t n) \
    { \
        const real *x = left, *y = right; \
        real a = 0, b = 0, c = 0, d = 0; \
        for (const real *end = x + n; x < end; x += CHUNK, y += CHUNK) \
            _Pragma("omp simd reduction(+: a, b, c, d)") \
            for (size_t i = 0; i < QUARTER; i++) { \
                a += x[i] * y[i]; \
                b += x[i + QUARTER] * y[i + QUARTER]; \
                c += x[i + 2 * QUARTER] * y[i + 2 * QUARTER]; \
                d += x[i + 3 * QUARTER] * y[i + 3 * QUARTER]; \
            } \
        return a + b + c + d; \
    }

#define COMPLEX_DOT(isa, real, target) \
    target static double complex_##real##_##isa(const void *left, const void *right, size_t n) \
    { \
        const real *x = left, *y = right; \
        real a = 0, b = 0, c = 0, d = 0; \
        _Pragma("omp simd reduction(+: a, b, c, d)") \
        for (size_t i = 0; i < n; i++) { \
            a += x[2 * i] * y[2 * i]; \
            b -= x[2 * i + 1] * y[2 * i + 1]; \
            c += x[2 * i] * y[2 * i + 1]; \
            d += x[2 * i + 1] * y[2 * i]; \
        } \
        return a + b + c + d; \
    }

#define LOOPS(isa, target) \
    SUM(isa, float, target) SUM(isa, double, target) \
    DOT(isa, float, target) DOT(isa, double, target) \
    COMPLEX_DOT(isa, float, target) COMPLEX_DOT(isa, double, target)

#define ROW(isa) \
    { #isa, sum_float_##isa, sum_double_##isa, dot_float_##isa, dot_double_##isa, \
      complex_float_##isa, complex_double_##isa }

LOOPS(generic, )
#ifdef __x86_64__
#ifdef __clang__
#define WIDE
#else
#define WIDE ",prefer-vector-width=512"
#endif
LOOPS(avx2, __attribute__((target("avx2,fma"))))
LOOPS(avx512, __attribute__((target("avx512f,avx512vl,avx512bw" WIDE))))
#endif

static const struct plain loops[] = {
    ROW(generic),
#ifdef __x86_64__
    ROW(avx2), ROW(avx512),
#endif
};

/* The instruction set that collopt takes. */
static const char *isa_name(void)
{
    const char *forced = getenv("COLLOPT_ISA");

    if (forced && *forced && strcmp(forced, "auto") != 0)
        return forced;
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512vl"))
        return "avx512";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return "avx2";
#endif
    return "generic";
}

/* Of instruction sets that this program does not name: what the compiler takes anyway. */
static const struct plain *find_plain(void)
{
    const char *name = isa_name();

    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
        if (strcmp(loops[i].isa, name) == 0)
            return &loops[i];
    return &loops[0];
}

/* ---- measuring ------------------------------------------------------------------------------- */

struct vectors {
    void *x, *y;
    size_t n;
};

struct total {
    const char *name;
    int operation, type;
    plain_sum *plain;
    int reals;                  /* of them the plain loop sees so many in an element */
};

static volatile double kept;

static double processor_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double time_exact(const struct total *t, const struct vectors *v)
{
    double start = processor_time(), result[2];

    collopt_exact_sum(t->operation, t->type, v->n, v->x, 1, v->y, 1, result,
                      (int)MPI_Comm_c2f(MPI_COMM_SELF));
    kept = result[0];
    return processor_time() - start;
}

static double time_plain(const struct total *t, const struct vectors *v)
{
    double start = processor_time();

    kept = t->plain(v->x, t->operation == COLLOPT_EXACT_SQUARES ? v->x : v->y,
                    (size_t)t->reals * v->n);
    return processor_time() - start;
}

static void measure(const struct total *t, const struct vectors *v)
{
    double exact[ROUNDS], plain[ROUNDS], ratio[ROUNDS], each = 1e9 / (double)v->n;

    time_exact(t, v);
    time_plain(t, v);
    for (int i = 0; i < ROUNDS; i++) {
        exact[i] = each * time_exact(t, v);
        plain[i] = each * time_plain(t, v);
        ratio[i] = exact[i] / plain[i];
    }

    double least = bench_quantile(exact, ROUNDS, 0), least_plain = bench_quantile(plain, ROUNDS, 0);

    printf("%-22s %7.3f %7.3f %6.1f %6.1f\n", t->name, least, least_plain, least / least_plain,
           bench_quantile(ratio, ROUNDS, 0.5));
    fflush(stdout);
}

static void measure_all(const struct plain *p, const struct vectors *wide,
                        const struct vectors *narrow)
{
    enum { SUM = COLLOPT_EXACT_SUM, SQUARES = COLLOPT_EXACT_SQUARES, DOT = COLLOPT_EXACT_DOT,
           FLOATS = COLLOPT_EXACT_FLOAT, DOUBLES = COLLOPT_EXACT_DOUBLE,
           FLOAT_COMPLEX = COLLOPT_EXACT_FLOAT_COMPLEX,
           DOUBLE_COMPLEX = COLLOPT_EXACT_DOUBLE_COMPLEX };
    const struct total totals[] = {
        { "sum double", SUM, DOUBLES, p->sum_double, 1 },
        { "sum float", SUM, FLOATS, p->sum_float, 1 },
        { "sum double complex", SUM, DOUBLE_COMPLEX, p->sum_double, 2 },
        { "sum float complex", SUM, FLOAT_COMPLEX, p->sum_float, 2 },
        { "squares double", SQUARES, DOUBLES, p->dot_double, 1 },
        { "squares float", SQUARES, FLOATS, p->dot_float, 1 },
        { "squares double complex", SQUARES, DOUBLE_COMPLEX, p->dot_double, 2 },
        { "squares float complex", SQUARES, FLOAT_COMPLEX, p->dot_float, 2 },
        { "dot double", DOT, DOUBLES, p->dot_double, 1 },
        { "dot float", DOT, FLOATS, p->dot_float, 1 },
        { "dot double complex", DOT, DOUBLE_COMPLEX, p->complex_double, 1 },
        { "dot float complex", DOT, FLOAT_COMPLEX, p->complex_float, 1 },
    };

    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++) {
        const struct total *t = &totals[i];
        bool single = t->type == FLOATS || t->type == FLOAT_COMPLEX;

        measure(t, single ? narrow : wide);
    }
}

static struct vectors new_vectors(size_t n, size_t size)
{
    return (struct vectors){ bench_new(2 * n * size), bench_new(2 * n * size), n };
}

static void fill(const struct vectors *wide, const struct vectors *narrow)
{
    double *x = wide->x, *y = wide->y;
    float *narrow_x = narrow->x, *narrow_y = narrow->y;

    for (size_t i = 0; i < 2 * wide->n; i++) {
        double at = (double)i;

        narrow_x[i] = (float)(x[i] = sin(at * 3.7) * exp(cos(at * 0.9)));
        narrow_y[i] = (float)(y[i] = cos(at * 1.7) * exp(sin(at * 0.3)));
    }
}

int main(int argc, char **argv)
{
    long wanted;

    MPI_Init(&argc, &argv);
    wanted = argc > 1 ? atol(argv[1]) : 1000000;
    if (!collopt_exact_sum || wanted < 1) {
        fprintf(stderr, wanted < 1 ? "bench_totals: needs a number of elements, 1 or more\n"
                                   : "bench_totals: collopt is not loaded; start it with "
                                     "LD_PRELOAD\n");
        MPI_Finalize();
        return 2;
    }

    size_t n = ((size_t)wanted + CHUNK - 1) / CHUNK * CHUNK;
    struct vectors wide = new_vectors(n, sizeof(double)), narrow = new_vectors(n, sizeof(float));
    const struct plain *plain = find_plain();

    fill(&wide, &narrow);
    printf("%zu elements, %s; ns per element\n%-22s %7s %7s %6s %6s\n", n, isa_name(), "",
           "exact", "plain", "ratio", "median");
    measure_all(plain, &wide, &narrow);
    free(wide.x);
    free(wide.y);
    free(narrow.x);
    free(narrow.y);
    MPI_Finalize();
    return 0;
}
