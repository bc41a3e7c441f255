/* The entry points of the backend: one short function per MPI name.
 *
 * A blocking collective is described and dispatched.  Calls that collopt only observes go on to the
 * host, or to a tool before it. */
#include "config.h"

#include "mpi/call/entry.h"
#include "base/clock.h"
#include "mpi/call/dispatch.h"
#include "mpi/call/init.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/hints.h"
#include "mpi/host/call.h"
#include "mpi/host/handles.h"
#include "mpi/node/process.h"
#include "mpi/request/table.h"
#include "report/makings.h"

/* ---- the collectives that collopt runs ------------------------------------------------------- */

#define BLOCKING(id, ID, SHAPE, C) \
    int collopt_entry_##id(SHAPE(C)) \
    { \
        struct collopt_call call = { COLLOPT_CALL(id, ID, SHAPE, C) }; \
        \
        return collopt_dispatch(&call); \
    }
#define ENTRIES(N, name, nonblocking, ID, SHAPE) \
    BLOCKING(name, ID, SHAPE, int) \
    BLOCKING(name##_c, ID, SHAPE, host_count)
COLLOPT_COLLECTIVE_NAMES(ENTRIES, )

/* ---- the names we listen to ------------------------------------------------------------------ */

/* Each goes on with collopt_next: a profiling tool behind us is to see the call. */
int collopt_entry_Init(int *argc, char ***argv)
{
    int err = collopt_next.Init(argc, argv);

    if (err == MPI_SUCCESS)
        collopt_begin();
    return err;
}

int collopt_entry_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int err = collopt_next.Init_thread(argc, argv, required, provided);

    if (err == MPI_SUCCESS)
        collopt_begin();
    return err;
}

int collopt_entry_Session_init(host_info info, host_errhandler handler, host_session *session)
{
    int err;

    collopt_session_begins();
    err = collopt_next.Session_init(info, handler, session);
    if (err != MPI_SUCCESS)
        collopt_session_ended();
    return err;
}

int collopt_entry_Session_finalize(host_session *session)
{
    int err = collopt_next.Session_finalize(session);

    if (err == MPI_SUCCESS) {
        collopt_session_ended();
        collopt_report_is_missed();
    }
    return err;
}

int collopt_entry_Abort(MPI_Comm comm, int code)
{
    int err;

    collopt_abort();
    err = collopt_next.Abort(comm, code);
    collopt_abort_failed();
    return err;
}

int collopt_entry_Finalize(void)
{
    int err;

    collopt_finalize_begins();
    err = collopt_next.Finalize();
    collopt_world_ended();
    return err;
}

void collopt_entry_Pcontrol(int level)
{
    collopt_control(level);
}

/* The attributes of handles are valid until one is freed. */
int collopt_entry_Op_free(host_op *op)
{
    int err;

    if (op && collopt_requests_keep_op(op))
        return MPI_SUCCESS;
    collopt_free_begins();
    err = collopt_next.Op_free(op);
    collopt_free_ends();
    return err;
}

int collopt_entry_Type_free(host_type *type)
{
    int err;

    if (type && collopt_requests_keep_type(type))
        return MPI_SUCCESS;
    collopt_free_begins();
    err = collopt_next.Type_free(type);
    collopt_free_ends();
    return err;
}

/* Communicators that are made and freed are timed for the report. */
static uint64_t time_if_wanted(void)
{
    return atomic_load_explicit(&collopt_reporting, memory_order_relaxed) ? collopt_now() : 0;
}

int collopt_entry_Comm_free(host_comm *comm)
{
    struct collopt_leaving leaving;
    uint64_t start = time_if_wanted();
    int err;

    collopt_comm_leaves(comm ? *comm : MPI_COMM_NULL, &leaving);
    err = collopt_next.Comm_free(comm);
    collopt_comm_left(&leaving, err);
    if (start > 0 && err == MPI_SUCCESS)
        collopt_makings_freed(collopt_now() - start);
    return err;
}

int collopt_entry_Comm_disconnect(host_comm *comm)
{
    struct collopt_leaving leaving;
    int err;

    collopt_comm_leaves(comm ? *comm : MPI_COMM_NULL, &leaving);
    err = collopt_next.Comm_disconnect(comm);
    collopt_comm_left(&leaving, err);
    return err;
}

/* Intercepted, since this is where collopt's info keys can be read: hosts keep only keys that they
 * know. */
int collopt_entry_Comm_set_info(host_comm comm, host_info info)
{
    int err = collopt_next.Comm_set_info(comm, info);

    if (err == MPI_SUCCESS)
        collopt_hints_take(comm, info);
    return err;
}

/* START: before it was made. */
static int made_since(uint64_t start, int err)
{
    if (start > 0 && err == MPI_SUCCESS)
        collopt_makings_made(collopt_now() - start);
    return err;
}

int collopt_entry_Comm_dup(host_comm comm, host_comm *made)
{
    uint64_t start = time_if_wanted();

    return made_since(start, collopt_next.Comm_dup(comm, made));
}

int collopt_entry_Comm_split(host_comm comm, int color, int key, host_comm *made)
{
    uint64_t start = time_if_wanted();

    return made_since(start, collopt_next.Comm_split(comm, color, key, made));
}

int collopt_entry_Comm_split_type(host_comm comm, int type, int key, host_info info,
                                  host_comm *made)
{
    uint64_t start = time_if_wanted();

    return made_since(start, collopt_next.Comm_split_type(comm, type, key, info, made));
}

int collopt_entry_Comm_dup_with_info(host_comm comm, host_info info, host_comm *made)
{
    uint64_t start = time_if_wanted();
    int err = made_since(start, collopt_next.Comm_dup_with_info(comm, info, made));

    if (err == MPI_SUCCESS)
        collopt_hints_take(*made, info);
    return err;
}

int collopt_entry_Comm_idup_with_info(host_comm comm, host_info info, host_comm *made,
                                      host_request *request)
{
    int err = collopt_next.Comm_idup_with_info(comm, info, made, request);

    if (err == MPI_SUCCESS)
        collopt_hints_later(made, info);
    return err;
}
