#include "lib/statistics.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double bench_quantile(double *v, int n, double q)
{
    double at = q * (n - 1);
    int below = (int)at;

    qsort(v, (size_t)n, sizeof *v, by_value);
    return below + 1 < n ? v[below] + (at - below) * (v[below + 1] - v[below]) : v[below];
}

/* The number of values below the median is binomial, n times 1/2.  The interval from value k to
 * value n-1-k misses the median if at most k values lie below it, or at most k above: each may have
 * a probability of 2.5%. */
int bench_median_rank(int n)
{
    double below = 0;
    int k = 0;

    for (; k < n / 2; k++) {
        below += exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) - n * log(2));
        if (below > 0.025)
            break;
    }
    return k > 0 ? k - 1 : 0;
}

void bench_median_interval(double *v, int n, double *low, double *high)
{
    int rank = bench_median_rank(n);

    qsort(v, (size_t)n, sizeof *v, by_value);
    *low = v[rank];
    *high = v[n - 1 - rank];
}

int bench_outliers(double *v, int n)
{
    double quarter = bench_quantile(v, n, 0.25), three = bench_quantile(v, n, 0.75),
           far = 1.5 * (three - quarter);
    int outliers = 0;

    for (int i = 0; i < n; i++)
        outliers += v[i] < quarter - far || v[i] > three + far;
    return outliers;
}
