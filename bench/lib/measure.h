/* The one way in which times are compared here: in pairs.
 *
 * Two sides, say the host's Allreduce and collopt's, take turns in one process, so that whatever
 * disturbs the machine meets both alike.  One run of each is a pair; which side goes first
 * alternates.  In a run all ranks start together and make the same number of calls; its time is
 * that of the slowest rank, divided by the calls.  What is reported is the median of the pairs'
 * ratios with its 95% confidence interval, which assumes nothing about how times are distributed
 * (statistics.h).  Nothing is left out; outliers are counted.  Measuring ends when the interval is
 * narrow enough, or when the time is up.
 *
 * Every rank writes its input before each call, and the time of a run is that of its calls alone.
 * Programs reduce what they have just computed; a vector that is never written stays in the caches
 * of those who have read it, and on a node the next call finds its peers' vectors there.  Two ranks
 * of Open MPI on two cores, Allreduce of 256 KiB by recursive doubling: 21 us with the same input
 * again and again, 42 us when it is fresh; the host's own takes 47 us either way.
 *
 * The method is that of careful benchmarking of MPI: S. Hunold, A. Carpen-Amarie, Reproducible MPI
 * Benchmarking is Still Not as Easy as You Think, IEEE TPDS 27, 2016, and their ReproMPI. */
#ifndef COLLOPT_BENCH_LIB_MEASURE_H
#define COLLOPT_BENCH_LIB_MEASURE_H


#include "lib/bench_mpi.h"

enum bench_who { BENCH_HOST, BENCH_COLLOPT };

/* Shorter inputs are not written: reading the clock around every call would be seen beside so short
 * a one, and there are few cache lines that could be found. */
enum { BENCH_FRESH = 2048 };    /* bytes */

/* One side of a comparison.  CALL makes one call by the functions F, which are WHO's. */
struct bench_side {
    enum bench_who who;
    void (*call)(const struct bench_functions *f, const void *what);
    const void *what;
    /* writes the input, before each call and not in its time; NULL: it stays */
    void (*refresh)(const void *what);
};

struct bench_effort {
    /* for the pairs of one comparison, about; up to four times as much for 20 pairs, and never
     * fewer than six */
    double seconds;
    /* enough when the interval reaches no farther than this part of the median to either side */
    double precise;
    /* in a run; 0: as many as take a millisecond, or less where there is little time */
    long calls;
    int pairs;                  /* 0: as many as it takes; else exactly so many */
    /* enough also when the whole interval is below this; 0: no ratio is */
    double hopeless;
};

struct bench_figures {
    double first_us, second_us;         /* medians of the time of one call */
    /* first / second: above 1 the second side is faster; 95% interval */
    double ratio, low, high;
    int pairs, outliers;                /* outliers among the ratios */
    long calls;                         /* in a run */
};

/* Compares FIRST with SECOND; collective over MPI_COMM_WORLD, and all ranks get the same
 * figures. */
void bench_compare(const struct bench_side *first, const struct bench_side *second,
                   const struct bench_effort *effort, struct bench_figures *figures);

/* The functions of WHO, whose turn it is now.  The host's own are called by their addresses, so
 * that nothing of collopt is in their time; where COLLOPT_PCONTROL=on, collopt is switched by
 * MPI_Pcontrol instead. */
const struct bench_functions *bench_turn(enum bench_who who);
/* How that is done, in words. */
const char *bench_turn_text(void);

#endif
