/* Each rank writes a file of its own, so no rank waits for another's.  All of them count time from
 * when rank 0 began, and by its clock where that is known. */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "mpi/call/tracing.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "mpi/host/host.h"
#include "mpi/node/clocks.h"
#include "report/notes.h"
#include "report/trace.h"
#include "report/traced.h"
#include "settings/settings.h"

/* When the timeline begins. */
static struct origin {
    uint64_t real;              /* microseconds of CLOCK_REALTIME */
    uint64_t common;            /* by rank 0's clock */
} origin;
static uint64_t own_origin;     /* by this process's */

static uint64_t microseconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

void collopt_tracing_begin(MPI_Comm all)
{
    own_origin = collopt_now();
    origin = (struct origin){ microseconds(), own_origin };
    if (all != MPI_COMM_NULL)
        PMPI_Bcast(&origin, sizeof origin, MPI_BYTE, 0, all);
    collopt_notes_waiting = true;
    collopt_traced_begin(collopt_settings()->trace_size);
}

static int64_t by_own_clock(uint64_t time)
{
    return (int64_t)(time - own_origin);
}

static int64_t by_common_clock(uint64_t time)
{
    return collopt_clocks_common(time) - (int64_t)origin.common;
}

/* ---- what is missing ------------------------------------------------------------------------- */

/* On one rank, or on all. */
struct missing {
    uint64_t calls, ranks;      /* that had no room, on so many ranks */
    uint64_t failed;            /* ranks whose file could not be written */
    uint64_t first;             /* of these, the rank, and its errno in the lower half */
};

/* Becomes that of all ranks. */
static void add_up(struct missing *m, MPI_Comm all)
{
    uint64_t own[3] = { m->calls, m->ranks, m->failed }, sum[3], first;

    if (collopt_host.Allreduce(own, sum, 3, MPI_UINT64_T, MPI_SUM, all)
        || collopt_host.Allreduce(&m->first, &first, 1, MPI_UINT64_T, MPI_MIN, all))
        return;
    *m = (struct missing){ sum[0], sum[1], sum[2], first };
}

static void tell(const struct missing *m, const char *where)
{
    unsigned rank = (unsigned)(m->first >> 32);
    char size[24];

    if (m->failed > 0)
        collopt_warn_here("COLLOPT_TRACE: %llu of the ranks could not write the trace, the first "
                          "one to %s.%u: %s",
                          (unsigned long long)m->failed, where, rank,
                          strerror((int)(uint32_t)m->first));
    if (m->calls == 0)
        return;
    collopt_size_text(collopt_settings()->trace_size, size, sizeof size);
    collopt_warn_here("COLLOPT_TRACE: the last calls of %llu of the ranks, %llu in all, are not in "
                      "the trace: COLLOPT_TRACE_SIZE=%s has no room for them",
                      (unsigned long long)m->ranks, (unsigned long long)m->calls, size);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* 0, or why it could not be written. */
static int write_trace(const char *where, uint64_t since, bool common, int *rank)
{
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING] = "", host[MPI_MAX_PROCESSOR_NAME] = "";
    struct collopt_trace_by by = { .mpi = mpi, .host = host, .ranks = 1, .started = origin.real,
                                   .time = common ? by_common_clock : by_own_clock,
                                   .common = common, .since = since,
                                   .clock_error = common ? collopt_clocks_error() : 0 };
    int length;

    PMPI_Get_library_version(mpi, &length);
    mpi[strcspn(mpi, ",\n")] = '\0';
    PMPI_Get_processor_name(host, &length);
    PMPI_Comm_rank(MPI_COMM_WORLD, &by.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &by.ranks);
    *rank = by.rank;
    return collopt_trace_write(where, &by) ? 0 : errno;
}

void collopt_tracing_end(MPI_Comm all, const char *where, uint64_t since, bool clocks)
{
    int rank, why = write_trace(where, since, clocks, &rank);
    struct missing m = { .calls = collopt_traced_dropped(), .failed = why != 0 };

    m.ranks = m.calls > 0;
    m.first = why ? (uint64_t)rank << 32 | (uint32_t)why : UINT64_MAX;
    if (all != MPI_COMM_NULL)
        add_up(&m, all);
    if (rank == 0 || all == MPI_COMM_NULL)
        tell(&m, where);
}
