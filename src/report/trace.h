/* Writes what traced.h has kept as a timeline: Chrome's trace format as a JSON object, which
 * Perfetto (ui.perfetto.dev) opens.  doc/manual/timeline.md describes it.  No MPI here. */
#ifndef COLLOPT_REPORT_TRACE_H
#define COLLOPT_REPORT_TRACE_H

#include <stdbool.h>
#include <stdint.h>

struct collopt_trace_by {       /* whose it is */
    const char *mpi;            /* the answer of MPI_Get_library_version */
    const char *host;
    int rank, ranks;            /* of MPI_COMM_WORLD */
    uint64_t started;           /* microseconds of CLOCK_REALTIME: the same on all ranks of a job */
    /* A time of this process's clock on the timeline, in nanoseconds. */
    int64_t (*time)(uint64_t time);
    bool common;                /* it is that of all ranks, within CLOCK_ERROR nanoseconds */
    uint64_t clock_error;
    uint64_t since;             /* calls before this time do not count */
};

/* To WHERE.<rank>; false: errno says why. */
bool collopt_trace_write(const char *where, const struct collopt_trace_by *by);

#endif
