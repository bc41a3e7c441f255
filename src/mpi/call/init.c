/* From MPI_Init to MPI_Finalize: the first agreement, switching by MPI_Pcontrol, the report at the
 * end. */
#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mpi/call/init.h"
#include "mpi/call/tracing.h"
#include "mpi/call/waiting.h"
#include "base/clock.h"
#include "base/log.h"
#include "mpi/call/stall.h"
#include "mpi/comm/arguments.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/noted.h"
#include "mpi/comm/recorded.h"
#include "mpi/comm/take_over.h"
#include "mpi/comm/topology.h"
#include "mpi/device/gpu.h"
#include "mpi/host/attributes.h"
#include "mpi/host/errhandler.h"
#include "mpi/host/progress.h"
#include "mpi/node/agree.h"
#include "mpi/node/clocks.h"
#include "mpi/node/process.h"
#include "mpi/node/world.h"
#include "mpi/request/async.h"
#include "mpi/request/nonblocking.h"
#include "mpi/request/table.h"
#include "mpi/request/watched.h"
#include "recorder/stall.h"
#include "report/counters.h"
#include "report/makings.h"
#include "report/output.h"
#include "report/report.h"
#include "report/timing.h"
#include "report/traced.h"
#include "settings/settings.h"

/* The process of rank 0, by which the files of a world that was spawned are named; 0: it was not
 * spawned. */
static long spawned;

/* The start of the sums: MPI_Init, or MPI_Pcontrol(2). 0: unknown, without MPI_Init. */
static _Atomic uint64_t since;

/* Called at the beginning, since a program that has disconnected from its parent has none any
 * more. */
static void look_for_parent(void)
{
#ifndef COLLOPT_HOST_SMPI       /* nobody is spawned there */
    MPI_Comm parent = MPI_COMM_NULL;

    PMPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        spawned = getpid();
#endif
}

/* The results of COLLOPT_ADAPT=on go to a file, or nowhere. */
static const char *file_of_rules(void)
{
    return collopt_settings()->adapt ? collopt_settings()->adapt_rules : NULL;
}

/* MPI_Finalize calls collopt_end() by itself. */
static bool listens;

#ifdef COLLOPT_HOST_SMPI        /* SMPI deletes no attributes at the end */
static void listen_for_end(void)
{
}
#else
static int at_end(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    collopt_end();
    return MPI_SUCCESS;
}

/* Attributes of MPI_COMM_SELF are deleted first in MPI_Finalize, while all of MPI still works, in
 * the reverse order of their making (MPI-4, 11.2.4).  This one is made in MPI_Init, so the
 * program's delete callbacks come before it, and may use all that collopt serves.  Also, tools may
 * take MPI_Finalize past us. */
static void listen_for_end(void)
{
    int key = MPI_KEYVAL_INVALID;

    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &key, NULL))
        return;
    listens = PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL) == MPI_SUCCESS;
    PMPI_Comm_free_keyval(&key);        /* lives as long as the attribute */
}
#endif

/* By which the ranks combine their reports where collopt is off and they have no world. */
static MPI_Comm reporters = MPI_COMM_NULL;

/* All ranks know that all have collopt off and a report or a trace to write.  Not a duplicate: see
 * world.c. */
static void meet_reporters(void)
{
    MPI_Errhandler handler;
    int rank = 0;

    if (!collopt_world_alike() || collopt_settings()->on
        || !collopt_settings_time(collopt_settings()))
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    handler = collopt_save_errhandler(MPI_COMM_WORLD);
    if (collopt_host.Comm_split(MPI_COMM_WORLD, 0, rank, &reporters) == MPI_SUCCESS)
        PMPI_Comm_set_errhandler(reporters, MPI_ERRORS_RETURN);
    else
        reporters = MPI_COMM_NULL;
    collopt_restore_errhandler(MPI_COMM_WORLD, handler);
}

static MPI_Comm of_reporters(void)
{
    return collopt_world() ? collopt_world()->hidden : reporters;
}

/* The files of all ranks have one name. */
static void agree_on_name(void)
{
    if (spawned && of_reporters() != MPI_COMM_NULL)
        PMPI_Bcast(&spawned, 1, MPI_LONG, 0, of_reporters());
}

static atomic_bool begun, ended, aborting;

/* Whether several threads may advance operations. */
static bool has_many_threads(void)
{
    int level = MPI_THREAD_MULTIPLE;

    PMPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE || collopt_settings()->async == COLLOPT_ASYNC_THREAD;
}

/* MPI_Init may come by twice, where a profiling tool stands in between. */
void collopt_begin(void)
{
    if (atomic_exchange(&begun, true))
        return;
    collopt_prepare();
    collopt_many_threads = has_many_threads();
    collopt_timing_overlaps = collopt_many_threads;
    /* its first look takes 0.5 ms, which the first reduction is not to pay */
    collopt_gpu_possible();
    collopt_attributes_begin();
    listen_for_end();
    look_for_parent();
    collopt_arguments_begin();
    collopt_agree_on_world(collopt_world_reserve());
    collopt_record_begin(collopt_many_threads);
    collopt_stall_watch(collopt_abort);
    collopt_report_look_ahead(collopt_settings()->report, collopt_settings()->trace,
                              file_of_rules());
    collopt_world_open(collopt_world_agreed());
    meet_reporters();
    agree_on_name();
    if (collopt_settings_time(collopt_settings()) && of_reporters() != MPI_COMM_NULL)
        collopt_waiting_begin(of_reporters());
    if (collopt_settings()->trace)
        collopt_tracing_begin(of_reporters());
    if (collopt_world_agreed()) {
        collopt_map_check_world();
        collopt_comm_take_over_world();
    }
    since = collopt_now();
}

/* Programs make this call for other tools, so it means something to us only where the user says so,
 * alike on all ranks. */
void collopt_control(int level)
{
    if (!collopt_settings()->pcontrol || level < 0 || level > 2
        || (level > 0 && !collopt_settings()->on))
        return;
    if (level > 0 && collopt_world_asked() && !collopt_world_agreed())
        return;
    if (level == 2) {
        collopt_reset_sums();
        collopt_makings_reset();
        collopt_timing_reset();
        since = collopt_now();
    }
    atomic_store_explicit(&collopt_switched_on, level > 0, memory_order_relaxed);
}

/* ---- the report ------------------------------------------------------------------------------ */

/* If a child could not gather or pack its sums, an empty message arrives and its numbers are
 * missing; rank 0 cannot know. */
static void merge_child(struct collopt_report *r, int child, MPI_Comm comm)
{
    MPI_Status status;
    int bytes = 0;
    char *packed;

    if (PMPI_Probe(child, COLLOPT_TAG_REPORT, comm, &status)
        || PMPI_Get_count(&status, MPI_BYTE, &bytes))
        return;
    packed = malloc((size_t)bytes + 1);
    if (!PMPI_Recv(packed, packed ? bytes : 0, MPI_BYTE, child, COLLOPT_TAG_REPORT, comm,
                   MPI_STATUS_IGNORE)
        && packed && r && bytes > 0)
        collopt_report_merge(r, packed, (size_t)bytes);
    free(packed);
}

static void send_up(const struct collopt_report *r, int parent, MPI_Comm comm)
{
    size_t size = r ? collopt_report_pack(r, NULL, 0) : 0;
    char *packed = size > 0 && size <= INT_MAX ? malloc(size) : NULL;

    if (packed)
        collopt_report_pack(r, packed, size);
    PMPI_Send(packed, packed ? (int)size : 0, MPI_BYTE, parent, COLLOPT_TAG_REPORT, comm);
    free(packed);
}

/* Up a binomial tree.  Every rank takes part, whatever it has. */
static void combine_reports(struct collopt_report *r, int rank, int ranks, MPI_Comm comm)
{
    for (int step = 1; step < ranks; step *= 2) {
        if (rank & step) {
            send_up(r, rank - step, comm);
            return;
        }
        if (rank + step < ranks)
            merge_child(r, rank + step, comm);
    }
}

/* Programs that were spawned write files of their own. */
static void name_file(char *name, size_t size, const char *where)
{
    if (!spawned || !collopt_output_is_file(where))
        snprintf(name, size, "%s", where);
    else
        snprintf(name, size, "%s.spawned-%ld", where, spawned);
}

/* How long the run has taken so far; 0: not known. */
static uint64_t run_time(void)
{
    return since > 0 ? collopt_now() - since : 0;
}

/* The report of this rank after so much TIME; NULL: no memory. */
static struct collopt_report *own_report(int rank, int ranks, uint64_t time)
{
    struct collopt_report *r = collopt_report_gather(time);
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int length;

    PMPI_Get_processor_name(host, &length);
    if (r) {
        collopt_report_of_rank(r, rank, ranks, host);
        collopt_report_clock(r, collopt_clocks_error());
    }
    return r;
}

static void write_report(struct collopt_report *r, const char *where,
                         struct collopt_report_by by)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "", name[PATH_MAX];
    int length;

    PMPI_Get_library_version(version, &length);
    by.mpi = version;
    name_file(name, sizeof name, where);
    collopt_report_write(r, name, &by);
}

/* ALL: who else does, or MPI_COMM_NULL. */
static void trace(const char *where, MPI_Comm all, bool clocks)
{
    char name[PATH_MAX];

    name_file(name, sizeof name, where);
    collopt_tracing_end(all, name, since, clocks);
}

/* Waiting told from reducing, as far as it can be; false: the ranks' clocks are not related. */
static bool end_waiting(void)
{
    return of_reporters() != MPI_COMM_NULL && collopt_waiting_end(of_reporters(), since);
}

/* WHERE and RULES are files, or NULL.  Without the others, rules would be one rank's. */
static void report(const char *where, const char *rules, uint64_t time)
{
    struct collopt_report *r;
    MPI_Comm all = of_reporters();
    char name[PATH_MAX];
    int rank = 0, ranks = 1;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    r = own_report(rank, ranks, time);
    if (all != MPI_COMM_NULL)
        combine_reports(r, rank, ranks, all);
    if (r && where && (rank == 0 || all == MPI_COMM_NULL))
        write_report(r, where, (struct collopt_report_by){
            .ranks = ranks, .rank = all != MPI_COMM_NULL ? COLLOPT_ALL_RANKS : rank });
    if (r && rules && rank == 0 && all != MPI_COMM_NULL) {
        name_file(name, sizeof name, rules);
        collopt_report_rules(r, name);
    }
    collopt_report_free(r);
}

/* Called by MPI_Abort.  The others may be anywhere, so that this rank writes what it has. */
void collopt_abort(void)
{
    const struct collopt_settings *s = collopt_settings();
    struct collopt_report_by by = { .ranks = 1, .aborted = true };
    struct collopt_report *r;

    if (!collopt_settings_time(s) || !begun || atomic_exchange(&ended, true))
        return;
    aborting = true;
    if (s->trace)
        trace(s->trace, MPI_COMM_NULL, false);
    if (!s->report)
        return;
    collopt_watched_end();
    PMPI_Comm_rank(MPI_COMM_WORLD, &by.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &by.ranks);
    if ((r = own_report(by.rank, by.ranks, run_time())))
        write_report(r, s->report, by);
    collopt_report_free(r);
}

void collopt_abort_failed(void)
{
    if (atomic_exchange(&aborting, false))
        ended = false;
}

void collopt_report_is_missed(void)
{
    const struct collopt_settings *s = collopt_settings();
    int initialized = 0;

    if (!collopt_settings_time(s) || !collopt_speaks() || collopt_sessions_open()
        || PMPI_Initialized(&initialized) || initialized)
        return;
    collopt_warn_once("%s: the last session has ended, and MPI_Init was not called: unless it "
                      "still is, nothing is written",
                      s->report ? "COLLOPT_REPORT" : "COLLOPT_TRACE");
}

/* MPICH deletes the attributes of MPI_COMM_SELF when the last session ends, where that comes
 * later. */
void collopt_finalize_begins(void)
{
    if (!listens || collopt_sessions_open())
        collopt_end();
}

/* Once. */
void collopt_end(void)
{
    const struct collopt_settings *s = collopt_settings();
    const char *rules = file_of_rules();
    int finalized = 0;

    if (PMPI_Finalized(&finalized) || finalized || atomic_exchange(&ended, true))
        return;
    collopt_recorder_finalizes();
    collopt_stall_end();
    collopt_watched_end();
    if (collopt_settings_time(s) || rules) {
        uint64_t time = run_time();
        bool clocks = collopt_settings_time(s) && end_waiting();

        collopt_comm_report();
        if (s->report || rules)
            report(s->report, rules, time);
        if (s->trace)
            trace(s->trace, of_reporters(), clocks);
    }
    if (reporters != MPI_COMM_NULL)
        collopt_host.Comm_free(&reporters);
    collopt_requests_finish();
    collopt_async_end();
    collopt_progress_end();
    collopt_requests_end();
    collopt_comm_shut_down();
    collopt_noted_free();
    collopt_traced_free();
    collopt_nonblocking_end();
    collopt_world_close();
}
