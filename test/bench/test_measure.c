/* The core of the benches on sides whose times are known: they spin by the clock, and one rank longer than the others. */
#include "measure.h"

#include <stdio.h>

static int rank, failed;

struct spin {
    double us, us_rank_1;
    long calls;
};

static void spin(const struct bench_functions *f, const void *what)
{
    struct spin *s = (struct spin *)what;
    double until = bench_now() + 1e-6 * (rank == 1 ? s->us_rank_1 : s->us);

    (void)f;
    s->calls++;
    while (bench_now() < until)
        ;
}

static void check(int right, const char *what, const struct bench_figures *f)
{
    if (right)
        return;
    printf("FAIL: test_measure, rank %d: %s: %g us, %g us, %g (%g to %g), %d pairs of %ld calls\n", rank, what, f->first_us,
           f->second_us, f->ratio, f->low, f->high, f->pairs, f->calls);
    failed = 1;
}

/* Bounds are far, for busy machines: the clock goes on while a rank waits for its processor. */
static void ratio(void)
{
    struct spin slow = { .us = 200, .us_rank_1 = 400 }, fast = { .us = 200, .us_rank_1 = 50 };
    struct bench_side first = { BENCH_HOST, spin, &slow }, second = { BENCH_COLLOPT, spin, &fast };
    struct bench_effort effort = { .seconds = 0.2, .precise = 0.05 };
    struct bench_figures f, g;

    bench_compare(&first, &second, &effort, &f);
    check(f.ratio > 1.6 && f.ratio < 2.4, "the slowest rank counts, 400 us and 200 us", &f);
    check(f.low <= f.ratio && f.ratio <= f.high, "the interval holds the ratio", &f);
    check(f.first_us > 380 && f.second_us > 190, "no less than the clock says", &f);
    check(f.pairs >= 6, "six pairs at least", &f);
    bench_compare(&second, &first, &effort, &g);
    check(g.ratio < 0.7, "the other way round", &g);
}

/* All ranks do the same, and what was asked for: both sides equally often. */
static void exactly(void)
{
    struct spin a = { .us = 5, .us_rank_1 = 5 }, b = a;
    struct bench_side first = { BENCH_HOST, spin, &a }, second = { BENCH_COLLOPT, spin, &b };
    struct bench_effort effort = { .seconds = 0, .calls = 3, .pairs = 13 };
    struct bench_figures f;
    double least[2];

    bench_compare(&first, &second, &effort, &f);
    check(f.pairs == 13 && f.calls == 3, "13 pairs of 3 calls", &f);
    check(a.calls == b.calls && a.calls >= 13 * 3, "calls of both sides", &f);
    least[0] = -f.ratio;
    least[1] = f.ratio;
    bench_max(least, 2);
    check(-least[0] == f.ratio && least[1] == f.ratio, "the same figures on all ranks", &f);
}

static long refreshed;

/* Takes longer than the calls. */
static void refresh(const void *what)
{
    double until = bench_now() + 300e-6;

    (void)what;
    refreshed++;
    while (bench_now() < until)
        ;
}

/* An input is written once before each call, and not in its time. */
static void fresh(void)
{
    struct spin a = { .us = 100, .us_rank_1 = 100 }, b = { .us = 50, .us_rank_1 = 50 };
    struct bench_side first = { BENCH_HOST, spin, &a, refresh }, second = { BENCH_COLLOPT, spin, &b, refresh };
    struct bench_effort effort = { .seconds = 0.2, .precise = 0.05, .calls = 5 };
    struct bench_figures f;

    bench_compare(&first, &second, &effort, &f);
    check(f.first_us >= 100 && f.first_us < 200 && f.second_us >= 50 && f.second_us < 150, "100 us and 50 us without the input", &f);
    check(refreshed == a.calls + b.calls, "an input for each call", &f);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bench_find_host();
    ratio();
    exactly();
    fresh();
    MPI_Finalize();
    return failed;
}
