/* How long calls take, for the report.  Times are nanoseconds.
 *
 * Threads may be in reductions at the same time, so the times of all calls may add up to more than
 * the run.  So the share of a run that its reductions take is that of the intervals in which some
 * thread was in a reduction. */
#ifndef COLLOPT_REPORT_TIMING_H
#define COLLOPT_REPORT_TIMING_H

#include <stdbool.h>
#include <stdint.h>

/* Calls of several threads may overlap.  Set once, before there are any; true at first. */
extern bool collopt_timing_overlaps;

/* This thread enters a reduction; returns the time.  It ends with collopt_timing_end(), which
 * returns how long it took. */
uint64_t collopt_timing_begin(void);
uint64_t collopt_timing_end(uint64_t begun);
/* This thread has been in a reduction for so long, as is known only now. */
void collopt_timing_cover(uint64_t time);
/* The sum of these intervals so far; and begins a new sum.  A call that is left by longjmp does not
 * end: the sum is then too large, and so not above the sum of all calls that is known besides. */
uint64_t collopt_timing_covered(void);
void collopt_timing_reset(void);

#endif
