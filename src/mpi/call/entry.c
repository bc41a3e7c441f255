/* The entry points of the backend: one short function per MPI name.
 *
 * A call of the family is described and dispatched; if it is declined, dispatch.c gives it to
 * the host as it came. Those we only listen to are handed on. Nonblocking and persistent calls,
 * and requests, are in start.c and complete.c. */
#include "config.h"

#include "mpi/call/entry.h"
#include "mpi/call/dispatch.h"
#include "mpi/call/init.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/hints.h"
#include "mpi/host/call.h"
#include "mpi/host/handles.h"
#include "mpi/request/table.h"

/* ---- the collectives that collopt runs ------------------------------------------------------- */

#define CALL(ID, text, ...) \
    { \
        .collective = COLLOPT_##ID, .name = text, .in = in, .out = out, .type = type, .op = op, \
        .comm = comm, __VA_ARGS__ \
    }

int collopt_entry_Reduce(const void *in, void *out, int count, host_type type, host_op op, int root,
                         host_comm comm)
{
    struct collopt_call call = CALL(REDUCE, "Reduce", .count = (size_t)count, .root = root);

    return collopt_dispatch(&call);
}

int collopt_entry_Reduce_c(const void *in, void *out, host_count count, host_type type, host_op op,
                           int root, host_comm comm)
{
    struct collopt_call call = CALL(REDUCE, "Reduce_c", .large = true, .count = (size_t)count,
                                    .root = root);

    return collopt_dispatch(&call);
}

int collopt_entry_Allreduce(const void *in, void *out, int count, host_type type, host_op op,
                            host_comm comm)
{
    struct collopt_call call = CALL(ALLREDUCE, "Allreduce", .count = (size_t)count);

    return collopt_dispatch(&call);
}

int collopt_entry_Allreduce_c(const void *in, void *out, host_count count, host_type type,
                              host_op op, host_comm comm)
{
    struct collopt_call call = CALL(ALLREDUCE, "Allreduce_c", .large = true,
                                    .count = (size_t)count);

    return collopt_dispatch(&call);
}

int collopt_entry_Reduce_scatter(const void *in, void *out, const int *counts, host_type type,
                                 host_op op, host_comm comm)
{
    struct collopt_call call = CALL(REDUCE_SCATTER, "Reduce_scatter", .counts = counts);

    return collopt_dispatch(&call);
}

int collopt_entry_Reduce_scatter_c(const void *in, void *out, const host_count *counts,
                                   host_type type, host_op op, host_comm comm)
{
    struct collopt_call call = CALL(REDUCE_SCATTER, "Reduce_scatter_c", .large = true,
                                    .counts = counts);

    return collopt_dispatch(&call);
}

int collopt_entry_Reduce_scatter_block(const void *in, void *out, int count, host_type type,
                                       host_op op, host_comm comm)
{
    struct collopt_call call = CALL(REDUCE_SCATTER_BLOCK, "Reduce_scatter_block",
                                    .count = (size_t)count);

    return collopt_dispatch(&call);
}

int collopt_entry_Reduce_scatter_block_c(const void *in, void *out, host_count count,
                                         host_type type, host_op op, host_comm comm)
{
    struct collopt_call call = CALL(REDUCE_SCATTER_BLOCK, "Reduce_scatter_block_c", .large = true,
                                    .count = (size_t)count);

    return collopt_dispatch(&call);
}

int collopt_entry_Scan(const void *in, void *out, int count, host_type type, host_op op,
                       host_comm comm)
{
    struct collopt_call call = CALL(SCAN, "Scan", .count = (size_t)count);

    return collopt_dispatch(&call);
}

int collopt_entry_Scan_c(const void *in, void *out, host_count count, host_type type, host_op op,
                         host_comm comm)
{
    struct collopt_call call = CALL(SCAN, "Scan_c", .large = true, .count = (size_t)count);

    return collopt_dispatch(&call);
}

int collopt_entry_Exscan(const void *in, void *out, int count, host_type type, host_op op,
                         host_comm comm)
{
    struct collopt_call call = CALL(EXSCAN, "Exscan", .count = (size_t)count);

    return collopt_dispatch(&call);
}

int collopt_entry_Exscan_c(const void *in, void *out, host_count count, host_type type, host_op op,
                           host_comm comm)
{
    struct collopt_call call = CALL(EXSCAN, "Exscan_c", .large = true, .count = (size_t)count);

    return collopt_dispatch(&call);
}

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

    if (err == MPI_SUCCESS)
        collopt_session_ended();
    return err;
}

int collopt_entry_Abort(MPI_Comm comm, int code)
{
    collopt_abort();
    return collopt_next.Abort(comm, code);
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

    if (collopt_requests_keep_op(op))
        return MPI_SUCCESS;
    collopt_free_begins();
    err = collopt_next.Op_free(op);
    collopt_free_ends();
    return err;
}

int collopt_entry_Type_free(host_type *type)
{
    int err;

    if (collopt_requests_keep_type(type))
        return MPI_SUCCESS;
    collopt_free_begins();
    err = collopt_next.Type_free(type);
    collopt_free_ends();
    return err;
}

int collopt_entry_Comm_free(host_comm *comm)
{
    struct collopt_leaving leaving;
    int err;

    collopt_comm_leaves(*comm, &leaving);
    err = collopt_next.Comm_free(comm);
    collopt_comm_left(&leaving, err);
    return err;
}

int collopt_entry_Comm_disconnect(host_comm *comm)
{
    struct collopt_leaving leaving;
    int err;

    collopt_comm_leaves(*comm, &leaving);
    err = collopt_next.Comm_disconnect(comm);
    collopt_comm_left(&leaving, err);
    return err;
}

/* Carried so that info keys of ours can be read here: the hosts keep only those that they know
 * themselves. */
int collopt_entry_Comm_set_info(host_comm comm, host_info info)
{
    int err = collopt_next.Comm_set_info(comm, info);

    if (err == MPI_SUCCESS)
        collopt_hints_take(comm, info);
    return err;
}

int collopt_entry_Comm_dup_with_info(host_comm comm, host_info info, host_comm *made)
{
    int err = collopt_next.Comm_dup_with_info(comm, info, made);

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
