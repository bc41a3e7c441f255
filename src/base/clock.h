/* Time, for figures and reports. */
#ifndef COLLOPT_BASE_CLOCK_H
#define COLLOPT_BASE_CLOCK_H

#include <time.h>

/* Seconds of a clock that is never set. */
static inline double collopt_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
