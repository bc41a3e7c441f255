/* Time, for figures and reports.  It is counted in integers: calls are timed in the program's
 * threads, which may trap every operation that rounds. */
#ifndef COLLOPT_BASE_CLOCK_H
#define COLLOPT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds of a monotonic clock. */
static inline uint64_t collopt_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

#endif
