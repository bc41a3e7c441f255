/* Statistics of repeated measurements that assume nothing about how times are distributed.  No
 * MPI. */
#ifndef COLLOPT_BENCH_LIB_STATISTICS_H
#define COLLOPT_BENCH_LIB_STATISTICS_H

/* All of these sort V. */

/* The value below which the part Q of N values lies; between two of them by their distance. */
double bench_quantile(double *v, int n, double q);

/* Which of N sorted values, counted from 0, enclose the true median with a probability of at least
 * 95%: LOW and N - 1 - LOW. By the binomial distribution of how many values lie below the median
 * (W. J. Conover, Practical Nonparametric Statistics, 3.2; for MPI: S. Hunold, A. Carpen-Amarie,
 * Reproducible MPI Benchmarking is Still Not as Easy as You Think, IEEE TPDS 27, 2016). Fewer than
 * six values have no such interval: all that can be said is then the least and the greatest. */
int bench_median_rank(int n);
void bench_median_interval(double *v, int n, double *low, double *high);

/* How many values lie more than 1.5 times the distance between the quartiles outside of them (J. W.
 * Tukey, Exploratory Data Analysis, 1977). */
int bench_outliers(double *v, int n);

#endif
