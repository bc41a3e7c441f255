/* Times of the MPI library's own collectives, as measured: lines of a machine file.
 *
 *     host openmpi allreduce 8 1 8 64K commutative = 92.5 us
 *
 * The columns between are those of rules, each with one value: collective, ranks, nodes, ppn, bytes, op. */
#ifndef COLLOPT_HOST_TIMES_H
#define COLLOPT_HOST_TIMES_H

#include <stdio.h>

#include "schedule.h"
#include "select/machine.h"

/* The MPI that calls itself VERSION (MPI_Get_library_version, or only its name and number), whatever its number and its ABI.
 * Libraries that come of one of them are other: they send messages in ways of their own. */
enum collopt_mpi collopt_mpi_of(const char *version);

struct collopt_host_time {
    enum collopt_mpi mpi;
    enum collopt_collective collective;
    bool exact;                 /* an operation that gives the same bits in any order; else one that only commutes */
    size_t ranks, nodes, ppn, bytes;
    double seconds;
};

struct collopt_host_times {
    int n, room;
    struct collopt_host_time *time;
};

/* Takes a line whose words after "host" are WORDS and whose time is SECONDS; WORDS is changed.  False, after a complaint. */
bool collopt_host_times_take(struct collopt_host_times *all, struct collopt_lines *in, char *words, double seconds);
/* One such line; COMMENT may be NULL. */
void collopt_host_time_write(FILE *to, const struct collopt_host_time *t, const char *comment);
/* Seconds of P by MPI; between two sizes that were measured along the straight line, and beside them up to a factor of 4.  0:
 * nothing was measured there.  Of operations that do not commute nothing is: whoever made them, their own time counts. */
double collopt_host_measured(const struct collopt_host_times *all, enum collopt_mpi mpi, const struct collopt_problem *p);

/* The host is chosen where it was measured to take less than this share of the time that our best algorithm is predicted to
 * take: a repeated call of ours finds all prepared, and predictions are not exact. */
extern const double collopt_host_share;

#endif
