/* Arithmetic of small numbers that schedules and predictions share. */
#ifndef COLLOPT_BASE_NUMBERS_H
#define COLLOPT_BASE_NUMBERS_H

#include <stddef.h>

/* The largest power of two not above N, and its exponent; ceil(log2(n)). */
static inline int log2_floor(int n)
{
    int e = 0;

    while (n >> (e + 1))
        e++;
    return e;
}

static inline int log2_ceil(int n)
{
    return n <= 1 ? 0 : log2_floor(n - 1) + 1;
}

/* A mod N in 0 .. N-1, also for negative A. */
static inline int modulo(int a, int n)
{
    return (a % n + n) % n;
}

/* The least multiple of STEP that is not below N. */
static inline size_t rounded_up(size_t n, size_t step)
{
    return (n + step - 1) / step * step;
}

static inline int least(int a, int b)
{
    return a < b ? a : b;
}

static inline int most(int a, int b)
{
    return a > b ? a : b;
}

static inline size_t least_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

#endif
