/* Measured times of the MPI library's own collectives: lines of a machine file.
 *
 *     host openmpi allreduce 8 1 8 64K commutative = 92.5 us
 *
 * After the MPI come the columns of rules, each with one value: collective, ranks, nodes, ppn,
 * bytes, op. The host's time is never predicted: the catalogue contains the algorithms that hosts
 * are published to run. */
#ifndef COLLOPT_MODEL_HOST_TIMES_H
#define COLLOPT_MODEL_HOST_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model/host_mpi.h"
#include "schedule/problem.h"

struct collopt_lines;
struct collopt_problem;

struct collopt_host_time {
    enum collopt_mpi mpi;
    enum collopt_collective collective;
    bool exact;                 /* an operation that gives the same bits in any order; else one that
                                 * only commutes */
    size_t ranks, nodes, ppn, bytes;
    double seconds;
};

struct collopt_host_times {
    int n;
    struct collopt_host_time *time;
};

/* Adds a line with WORDS after "host" and time SECONDS; modifies WORDS. False, after reporting a
 * mistake. */
bool collopt_host_times_take(struct collopt_host_times *all, struct collopt_lines *in, char *words,
                             double seconds);
void collopt_host_times_free(struct collopt_host_times *all);
/* Writes such a line; COMMENT may be NULL. */
void collopt_host_time_write(FILE *to, const struct collopt_host_time *t, const char *comment);
/* Seconds that MPI takes for P: interpolated between two measured sizes, extrapolated by at most
 * a factor of 4. 0: not measured. Noncommutative operations are not: the user's function
 * dominates their time. */
double collopt_host_measured(const struct collopt_host_times *all, enum collopt_mpi mpi,
                             const struct collopt_problem *p);

/* The host is chosen if its measured time is below this share of the best predicted time. Ties
 * go to collopt, because its repeated calls find a cached plan and predictions are not exact. */
extern const double collopt_host_share;

#endif
