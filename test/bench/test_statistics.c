/* The statistics of the benches against figures that are known: those of the tables of order
 * statistics, and small sums. */
#include "lib/statistics.h"

#include <math.h>
#include <stdio.h>

static int failed;

static void equal(double found, double right, const char *what, int n)
{
    if (fabs(found - right) <= 1e-12)
        return;
    printf("FAIL: %s of %d values is %g, should be %g\n", what, n, found, right);
    failed = 1;
}

/* Conover's table of 95% intervals of the median: the values that enclose it, counted from 1. */
static void intervals(void)
{
    static const struct { int n, low, high;
    } known[] = { { 1, 1, 1 },   { 5, 1, 5 },    { 6, 1, 6 },    { 8, 1, 8 },
                  { 9, 2, 8 },   { 10, 2, 9 },   { 15, 4, 12 },  { 20, 6, 15 },
                  { 25, 8, 18 }, { 30, 10, 21 }, { 50, 18, 33 }, { 100, 40, 61 } };

    for (unsigned i = 0; i < sizeof known / sizeof *known; i++) {
        double v[100], low, high;
        int n = known[i].n;

        for (int k = 0; k < n; k++)
            /* 1 to n out of order; none of these n is a multiple of 7 */
            v[k] = 1 + (7 * k) % n;
        bench_median_interval(v, n, &low, &high);
        equal(low, known[i].low, "lower end of the interval", n);
        equal(high, known[i].high, "upper end of the interval", n);
    }
}

static void quantiles(void)
{
    double v[] = { 4, 1, 3, 2 };

    equal(bench_quantile(v, 4, 0), 1, "least", 4);
    equal(bench_quantile(v, 4, 0.5), 2.5, "median", 4);
    equal(bench_quantile(v, 4, 0.25), 1.75, "quarter", 4);
    equal(bench_quantile(v, 4, 1), 4, "greatest", 4);
    equal(bench_quantile(v, 1, 0.5), 1, "median", 1);
}

static void outliers(void)
{
    double same[] = { 1, 1, 1, 1, 1, 1.001 }, spread[] = { 1, 2, 3, 4, 5, 6, 7, 8 },
           far[] = { 1, 2, 3, 4, 5, 6, 7, 100, -100 };

    equal(bench_outliers(same, 6), 1, "outliers", 6);
    equal(bench_outliers(spread, 8), 0, "outliers", 8);
    equal(bench_outliers(far, 9), 2, "outliers", 9);
}

int main(void)
{
    intervals();
    quantiles();
    outliers();
    return failed;
}
