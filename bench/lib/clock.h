/* The clock. In a file of its own: a test of what measures brings another. */
#ifndef COLLOPT_BENCH_LIB_CLOCK_H
#define COLLOPT_BENCH_LIB_CLOCK_H

double bench_now(void);         /* seconds */

#endif
