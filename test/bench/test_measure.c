/* The core of the benches on sides whose times are known: the clock is this test's own, one for
 * each rank, and goes on only while a side is at work, so that what else the machine does cannot be
 * seen. */
#include "lib/clock.h"
#include "lib/measure.h"

#include <math.h>
#include <stdio.h>

static int rank, failed;
static double now;

double bench_now(void)
{
    return now;
}

/* A side whose calls take US, on rank 1 US_RANK_1, and every EVERYth LATE us more. */
struct work {
    double us, us_rank_1, late;
    long every, calls;
};

static void work(const struct bench_functions *f, const void *what)
{
    struct work *w = (struct work *)what;

    (void)f;
    w->calls++;
    now += 1e-6 * (rank == 1 ? w->us_rank_1 : w->us);
    if (w->every && w->calls % w->every == 0)
        now += 1e-6 * w->late;
}

static void check(int right, const char *what, const struct bench_figures *f)
{
    if (right)
        return;
    printf("FAIL: test_measure, rank %d: %s: %g us, %g us, %g (%g to %g), %d pairs of %ld calls, "
           "%d outliers\n",
           rank, what, f->first_us, f->second_us, f->ratio, f->low, f->high, f->pairs, f->calls,
           f->outliers);
    failed = 1;
}

/* But for what sums of many small numbers lose. */
static int equal(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fabs(b);
}

/* The seconds it took by the clock of this rank. */
static double compare(struct work *a, struct work *b, const struct bench_effort *effort,
                      void (*refresh)(const void *), struct bench_figures *f)
{
    struct bench_side first = { BENCH_HOST, work, a, refresh },
                      second = { BENCH_COLLOPT, work, b, refresh };
    double start = now;

    bench_compare(&first, &second, effort, f);
    return now - start;
}

static void ratio(void)
{
    struct work slow = { .us = 200, .us_rank_1 = 400 }, fast = { .us = 200, .us_rank_1 = 50 };
    struct bench_effort effort = { .seconds = 0.2, .precise = 0.05 };
    struct bench_figures f;

    compare(&slow, &fast, &effort, NULL, &f);
    check(equal(f.first_us, 400) && equal(f.second_us, 200),
          "the slowest rank counts, 400 us and 200 us", &f);
    check(equal(f.ratio, 2) && equal(f.low, 2) && equal(f.high, 2) && f.outliers == 0,
          "400 us to 200 us", &f);
    check(f.calls * 200 > 500 && f.calls * 200 <= 1000, "a run of about a millisecond", &f);
    check(f.pairs >= 20 && f.pairs < 30, "the interval is narrow after 20 pairs", &f);
    compare(&fast, &slow, &effort, NULL, &f);
    check(equal(f.ratio, 0.5), "the other way round", &f);
    effort.hopeless = 0.9;
    compare(&fast, &slow, &effort, NULL, &f);
    check(f.pairs == 6, "hopeless after six pairs", &f);
}

/* One call in seven is disturbed, on either side, and far worse on one. */
static void disturbed(void)
{
    struct work a = { 300, 300, 50e3, 7, 0 }, b = { 100, 100, 5e3, 7, 0 };
    struct bench_effort effort = { .seconds = 10, .precise = 0.05, .calls = 1 };
    struct bench_figures f;

    compare(&a, &b, &effort, NULL, &f);
    check(equal(f.ratio, 3) && equal(f.first_us, 300) && equal(f.second_us, 100),
          "the median of undisturbed calls", &f);
    check(f.low <= f.ratio && f.ratio <= f.high, "the interval holds the ratio", &f);
    check(f.outliers > 0, "disturbed pairs are outliers", &f);
}

/* Times that are never sure: half of the calls take three times as long. */
static void patience(void)
{
    struct work a = { 100, 100, 200, 2, 0 }, b = { .us = 100, .us_rank_1 = 100 },
                slow = { .us = 1e6, .us_rank_1 = 1e6 }, same = slow;
    struct bench_effort effort = { .seconds = 0.2, .precise = 0.05, .calls = 1 };
    struct bench_figures f;
    double spent = compare(&a, &b, &effort, NULL, &f);

    check(spent > 0.2 && spent < 0.21, "when the time is up, it ends", &f);
    check(f.low < 1.5 && f.high > 2.5, "and the interval says so", &f);
    compare(&slow, &same, &effort, NULL, &f);
    check(f.pairs == 6 && equal(f.ratio, 1), "six pairs, be it ever so long", &f);
}

/* All ranks do the same, and what was asked for: both sides equally often. */
static void exactly(void)
{
    struct work a = { .us = 5, .us_rank_1 = 5 }, b = a;
    struct bench_effort effort = { .seconds = 0, .calls = 3, .pairs = 13 };
    struct bench_figures f;
    double least[2];

    compare(&a, &b, &effort, NULL, &f);
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
    (void)what;
    refreshed++;
    now += 300e-6;
}

/* An input is written once before each call, and not in its time. */
static void fresh(void)
{
    struct work a = { .us = 100, .us_rank_1 = 100 }, b = { .us = 50, .us_rank_1 = 50 };
    struct bench_effort effort = { .seconds = 0.2, .precise = 0.05, .calls = 5 };
    struct bench_figures f;

    compare(&a, &b, &effort, refresh, &f);
    check(equal(f.first_us, 100) && equal(f.second_us, 50), "100 us and 50 us without the input",
          &f);
    check(refreshed == a.calls + b.calls, "an input for each call", &f);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bench_find_host();
    ratio();
    disturbed();
    patience();
    exactly();
    fresh();
    MPI_Finalize();
    return failed;
}
