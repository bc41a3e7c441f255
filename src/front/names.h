/* Every MPI name that collopt intercepts, once.
 *
 * The enumeration, the front's MPI_X and PMPI_X, the look-up of the host's functions, the
 * backend's tables and the test of the exported symbols are all made from COLLOPT_NAMES.
 *
 * A row is   N(function, id, ID, needs, parameters, arguments)
 *
 *     function    MPI_Allreduce; paste a P in front for the profiling name
 *     id          Allreduce: collopt_host.Allreduce, collopt_entry_Allreduce
 *     ID          ALLREDUCE: COLLOPT_NAME_ALLREDUCE
 *     needs       what the host must have for it: BASE, LARGE (counts of MPI-4), PERSISTENT,
 *                 PERSISTENT_LARGE, PERSISTENT_X (Open MPI's extension), IDUP_WITH_INFO, SESSION,
 *                 GET_STATUSES (MPI-4.1), IS_COMPLETE (MPICH's extension)
 *     parameters  with their types, in parentheses
 *     arguments   the names alone, in parentheses
 *
 * The types that differ between hosts are called host_type, host_op, host_comm, host_info,
 * host_request, host_requests, host_status, host_errhandler, host_session and host_count. Define
 * them before this file is used: the front takes words that nobody looks at, host.h the types of
 * mpi.h.
 *
 * MPI_Pcontrol is variadic and has no row: COLLOPT_NAME_PCONTROL is written out where it is
 * needed. */

#ifndef COLLOPT_FRONT_NAMES_H
#define COLLOPT_FRONT_NAMES_H

/* The parameters of each shape of call; C is the type of its counts. */

#define COLLOPT_ROOTED(C) \
    const void *in, void *out, C count, host_type type, host_op op, int root, host_comm comm
#define COLLOPT_ROOTED_ARGS     in, out, count, type, op, root, comm

#define COLLOPT_VECTOR(C) \
    const void *in, void *out, C count, host_type type, host_op op, host_comm comm
#define COLLOPT_VECTOR_ARGS     in, out, count, type, op, comm

#define COLLOPT_SCATTERED(C) \
    const void *in, void *out, const C *counts, host_type type, host_op op, host_comm comm
#define COLLOPT_SCATTERED_ARGS  in, out, counts, type, op, comm

#define COLLOPT_LOCAL(C) \
    const void *in, void *out, C count, host_type type, host_op op
#define COLLOPT_LOCAL_ARGS      in, out, count, type, op

/* The variants of one collective: blocking, nonblocking and persistent; nonblocking is its name
 * after the I. */
#define COLLOPT_BLOCKING_OF(N, name, nonblocking, NAME, SHAPE) \
    N(MPI_##name, name, NAME, BASE, (SHAPE(int)), (SHAPE##_ARGS)) \
    N(MPI_##name##_c, name##_c, NAME##_C, LARGE, (SHAPE(host_count)), (SHAPE##_ARGS))
#define COLLOPT_NONBLOCKING_OF(N, name, nonblocking, NAME, SHAPE) \
    N(MPI_I##nonblocking, I##nonblocking, I##NAME, BASE, \
      (SHAPE(int), host_request *request), (SHAPE##_ARGS, request)) \
    N(MPI_I##nonblocking##_c, I##nonblocking##_c, I##NAME##_C, LARGE, \
      (SHAPE(host_count), host_request *request), (SHAPE##_ARGS, request))
#define COLLOPT_PERSISTENT_OF(N, name, nonblocking, NAME, SHAPE) \
    N(MPI_##name##_init, name##_init, NAME##_INIT, PERSISTENT, \
      (SHAPE(int), host_info info, host_request *request), (SHAPE##_ARGS, info, request)) \
    N(MPI_##name##_init_c, name##_init_c, NAME##_INIT_C, PERSISTENT_LARGE, \
      (SHAPE(host_count), host_info info, host_request *request), (SHAPE##_ARGS, info, request)) \
    N(MPIX_##name##_init, X_##name##_init, X_##NAME##_INIT, PERSISTENT_X, \
      (SHAPE(int), host_info info, host_request *request), (SHAPE##_ARGS, info, request))

#define COLLOPT_COLLECTIVE_NAMES(OF, N) \
    OF(N, Reduce, reduce, REDUCE, COLLOPT_ROOTED) \
    OF(N, Allreduce, allreduce, ALLREDUCE, COLLOPT_VECTOR) \
    OF(N, Reduce_scatter, reduce_scatter, REDUCE_SCATTER, COLLOPT_SCATTERED) \
    OF(N, Reduce_scatter_block, reduce_scatter_block, REDUCE_SCATTER_BLOCK, COLLOPT_VECTOR) \
    OF(N, Scan, scan, SCAN, COLLOPT_VECTOR) \
    OF(N, Exscan, exscan, EXSCAN, COLLOPT_VECTOR)

#define COLLOPT_BLOCKING(N)     COLLOPT_COLLECTIVE_NAMES(COLLOPT_BLOCKING_OF, N)
#define COLLOPT_NONBLOCKING(N)  COLLOPT_COLLECTIVE_NAMES(COLLOPT_NONBLOCKING_OF, N)
#define COLLOPT_PERSISTENT(N)   COLLOPT_COLLECTIVE_NAMES(COLLOPT_PERSISTENT_OF, N)
#define COLLOPT_LOCALS(N) \
    N(MPI_Reduce_local, Reduce_local, REDUCE_LOCAL, BASE, (COLLOPT_LOCAL(int)), \
      (COLLOPT_LOCAL_ARGS)) \
    N(MPI_Reduce_local_c, Reduce_local_c, REDUCE_LOCAL_C, LARGE, (COLLOPT_LOCAL(host_count)), \
      (COLLOPT_LOCAL_ARGS))

/* The family: the collectives that collopt can run itself. */
#define COLLOPT_FAMILY(N) \
    COLLOPT_BLOCKING(N) COLLOPT_NONBLOCKING(N) COLLOPT_PERSISTENT(N) COLLOPT_LOCALS(N)

/* Calls that take requests; some may be persistent or nonblocking reductions of ours. */
#define COLLOPT_REQUESTS(N) \
    N(MPI_Start, Start, START, BASE, (host_request *request), (request)) \
    N(MPI_Startall, Startall, STARTALL, BASE, (int n, host_request *requests), (n, requests)) \
    N(MPI_Request_free, Request_free, REQUEST_FREE, BASE, (host_request *request), (request)) \
    N(MPI_Cancel, Cancel, CANCEL, BASE, (host_request *request), (request)) \
    N(MPI_Wait, Wait, WAIT, BASE, (host_request *request, host_status *status), (request, status)) \
    N(MPI_Test, Test, TEST, BASE, (host_request *request, int *flag, host_status *status), \
      (request, flag, status)) \
    N(MPI_Request_get_status, Request_get_status, REQUEST_GET_STATUS, BASE, \
      (host_request request, int *flag, host_status *status), (request, flag, status)) \
    N(MPI_Request_get_status_any, Request_get_status_any, REQUEST_GET_STATUS_ANY, GET_STATUSES, \
      (int n, host_requests requests, int *index, int *flag, host_status *status), \
      (n, requests, index, flag, status)) \
    N(MPI_Request_get_status_all, Request_get_status_all, REQUEST_GET_STATUS_ALL, GET_STATUSES, \
      (int n, host_requests requests, int *flag, host_status *statuses), \
      (n, requests, flag, statuses)) \
    N(MPI_Request_get_status_some, Request_get_status_some, REQUEST_GET_STATUS_SOME, GET_STATUSES, \
      (int n, host_requests requests, int *some, int *indices, host_status *statuses), \
      (n, requests, some, indices, statuses)) \
    N(MPIX_Request_is_complete, X_Request_is_complete, X_REQUEST_IS_COMPLETE, IS_COMPLETE, \
      (host_request request), (request)) \
    N(MPI_Waitany, Waitany, WAITANY, BASE, \
      (int n, host_request *requests, int *index, host_status *status), \
      (n, requests, index, status)) \
    N(MPI_Testany, Testany, TESTANY, BASE, \
      (int n, host_request *requests, int *index, int *flag, host_status *status), \
      (n, requests, index, flag, status)) \
    N(MPI_Waitall, Waitall, WAITALL, BASE, \
      (int n, host_request *requests, host_status *statuses), (n, requests, statuses)) \
    N(MPI_Testall, Testall, TESTALL, BASE, \
      (int n, host_request *requests, int *flag, host_status *statuses), \
      (n, requests, flag, statuses)) \
    N(MPI_Waitsome, Waitsome, WAITSOME, BASE, \
      (int n, host_request *requests, int *some, int *indices, host_status *statuses), \
      (n, requests, some, indices, statuses)) \
    N(MPI_Testsome, Testsome, TESTSOME, BASE, \
      (int n, host_request *requests, int *some, int *indices, host_status *statuses), \
      (n, requests, some, indices, statuses))

/* Calls that collopt only listens to. */
#define COLLOPT_SERVICES(N) \
    N(MPI_Init, Init, INIT, BASE, (int *argc, char ***argv), (argc, argv)) \
    N(MPI_Init_thread, Init_thread, INIT_THREAD, BASE, \
      (int *argc, char ***argv, int required, int *provided), (argc, argv, required, provided)) \
    N(MPI_Finalize, Finalize, FINALIZE, BASE, (void), ()) \
    N(MPI_Abort, Abort, ABORT, BASE, (host_comm comm, int code), (comm, code)) \
    N(MPI_Session_init, Session_init, SESSION_INIT, SESSION, \
      (host_info info, host_errhandler handler, host_session * session), (info, handler, session)) \
    N(MPI_Session_finalize, Session_finalize, SESSION_FINALIZE, SESSION, (host_session * session), \
      (session)) \
    N(MPI_Op_free, Op_free, OP_FREE, BASE, (host_op * op), (op)) \
    N(MPI_Type_free, Type_free, TYPE_FREE, BASE, (host_type * type), (type)) \
    COLLOPT_REQUESTS(N) \
    N(MPI_Comm_free, Comm_free, COMM_FREE, BASE, (host_comm * comm), (comm)) \
    N(MPI_Comm_disconnect, Comm_disconnect, COMM_DISCONNECT, BASE, (host_comm * comm), (comm)) \
    N(MPI_Comm_dup, Comm_dup, COMM_DUP, BASE, (host_comm comm, host_comm * made), (comm, made)) \
    N(MPI_Comm_split, Comm_split, COMM_SPLIT, BASE, \
      (host_comm comm, int color, int key, host_comm * made), (comm, color, key, made)) \
    N(MPI_Comm_split_type, Comm_split_type, COMM_SPLIT_TYPE, BASE, \
      (host_comm comm, int type, int key, host_info info, host_comm * made), \
      (comm, type, key, info, made)) \
    N(MPI_Comm_set_info, Comm_set_info, COMM_SET_INFO, BASE, (host_comm comm, host_info info), \
      (comm, info)) \
    N(MPI_Comm_dup_with_info, Comm_dup_with_info, COMM_DUP_WITH_INFO, BASE, \
      (host_comm comm, host_info info, host_comm * made), (comm, info, made)) \
    N(MPI_Comm_idup_with_info, Comm_idup_with_info, COMM_IDUP_WITH_INFO, IDUP_WITH_INFO, \
      (host_comm comm, host_info info, host_comm * made, host_request * request), \
      (comm, info, made, request))

#define COLLOPT_NAMES(N)        COLLOPT_FAMILY(N) COLLOPT_SERVICES(N)

#define COLLOPT_ENUMERATOR(function, id, ID, needs, parameters, arguments) COLLOPT_NAME_##ID,
enum collopt_name {
    COLLOPT_NAMES(COLLOPT_ENUMERATOR)
    COLLOPT_NAME_PCONTROL,
    COLLOPT_NAME_COUNT
};
#undef COLLOPT_ENUMERATOR

#endif
