/* Counts what was run: sums over the calls of this process, thread-safe. */
#ifndef COLLOPT_REPORT_COUNTERS_H
#define COLLOPT_REPORT_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

struct collopt_algorithm;

/* Every thread adds to its own sums without a lock, a few ns per call. */

/* Messages are counted in size classes: class k holds vectors of 2^(k-1) < bytes <= 2^k; class 0 is
 * 0 and 1 byte. */
enum { COLLOPT_SIZE_CLASSES = 64 };

/* Why a call fell back to the host. */
enum collopt_reason {
    COLLOPT_PASS_OFF,           /* switched off (COLLOPT=off, MPI_Pcontrol(0)) */
    /* before COLLOPT_AFTER: the communicator is not taken over, or a plan does not pay yet */
    COLLOPT_PASS_EARLY,
    COLLOPT_PASS_ARGUMENTS,     /* invalid or unknown arguments, left to the host */
    COLLOPT_PASS_INTERCOMM,
    /* this communicator could not be taken over (cap, disagreement, ...) */
    COLLOPT_PASS_REFUSED,
    COLLOPT_PASS_NATIVE,        /* COLLOPT_GPU=native */
    COLLOPT_PASS_CHOSEN,        /* the host was forced or selected */
    COLLOPT_PASS_OFFLOADED,     /* the host has the network reduce between nodes */
    COLLOPT_PASS_NESTED,        /* called from inside collopt */
    /* nonblocking or persistent, on several nodes or without shared memory */
    COLLOPT_PASS_UNSUPPORTED,
    COLLOPT_PASS_TOOL,          /* a profiling tool behind collopt called the host directly */
    COLLOPT_REASONS
};
/* "switched off", ... for the report */
extern const char *const collopt_reason_names[COLLOPT_REASONS];

enum collopt_sent { COLLOPT_SENT_BY_HOST, COLLOPT_SENT_BY_SHM, COLLOPT_SENT };

/* Of the calls whose waiting for other ranks is known (notes.h); nanoseconds. */
struct collopt_waited {
    uint64_t calls, time;
    uint64_t waiting;           /* part of TIME */
    uint64_t made_wait;         /* that other ranks waited for this one, summed over them */
    uint64_t last;              /* of these calls this rank has entered last */
    /* short calls that followed another at once, and the time of these without waiting */
    uint64_t following, following_time;
    /* requests that were waited for as soon as they were started, and the time of these waits */
    uint64_t at_once, at_once_time;
};

void collopt_waited_add(struct collopt_waited *sum, const struct collopt_waited *w);

struct collopt_counter {        /* of one collective, algorithm and size class */
    uint64_t calls;
    uint64_t bytes;             /* of data in the input vectors */
    /* nanoseconds in total, of the shortest and of the longest call; only if COLLOPT_REPORT is
     * set */
    uint64_t time, least, most;
    uint64_t sent[COLLOPT_SENT];        /* bytes of its sends; only if COLLOPT_REPORT is set */
    /* ranks of the communicators; of calls that fell back and were timed, else 0 */
    uint64_t group_least, group_most;
    struct collopt_waited waited;
};

struct collopt_timed_call {
    uint64_t bytes;             /* of its input vector */
    uint64_t time;              /* nanoseconds */
    uint64_t sent[COLLOPT_SENT];
};

/* Adds a call to the sums of an algorithm. */
void collopt_count_timed(const struct collopt_algorithm *a, int size_class,
                         const struct collopt_timed_call *call);
/* The same for one that was not timed. */
void collopt_count_call(const struct collopt_algorithm *a, int size_class, uint64_t bytes);
/* The name under which calls run by A are counted: its collective, or "reduce_local" for the
 * algorithm without one. */
const char *collopt_counted_as(const struct collopt_algorithm *a);
/* NAME is the MPI name without MPI_ ("Allreduce", "Iallreduce", "Allreduce_c") and must live for
 * ever. */
void collopt_count_passed(const char *name, enum collopt_reason why, uint64_t calls);
/* The same for one call that took TIME nanoseconds, of an input vector of BYTES bytes on a
 * communicator of RANKS ranks; 0 ranks: neither is known. */
void collopt_count_passed_call(const char *name, enum collopt_reason why, uint64_t time, int ranks,
                               uint64_t bytes);

/* The key of a sum: an algorithm with a size class, or an MPI name with a reason and a size class
 * (-1: not known). */
struct collopt_counted {
    const void *what;
    int which;
    bool passed;
};
static inline struct collopt_counted collopt_counted_run(const struct collopt_algorithm *a,
                                                         int size_class)
{
    return (struct collopt_counted){ .what = a, .which = size_class };
}
struct collopt_counted collopt_counted_passed(const char *name, enum collopt_reason why,
                                              int size_class);
/* -1: not known */
int collopt_counted_size_class(const struct collopt_counted *as);
/* Adds the known waiting of such calls, which are counted already. */
void collopt_count_waited(const struct collopt_counted *as, const struct collopt_waited *w);

/* Calls VISIT for each sum of all threads that is not zero, once per algorithm and size class or
 * name, reason and size class; for calls that fell back ALGORITHM is NULL, and NAME and REASON are
 * set. */
struct collopt_sum {
    const struct collopt_algorithm *algorithm;
    int size_class;             /* of calls that fell back: -1 if it is not known */
    const char *name;
    enum collopt_reason reason;
    struct collopt_counter counter;
};
/* VISIT must not count or visit. */
void collopt_visit_sums(void (*visit)(const struct collopt_sum *sum, void *data), void *data);
void collopt_reset_sums(void);

static inline int collopt_size_class(uint64_t bytes)
{
    return bytes <= 1 ? 0 : 64 - __builtin_clzll(bytes - 1);
}

#endif
