/* Where persistent and nonblocking reductions enter the backend, and the calls that start, complete
 * and free requests.
 *
 * The handle of an operation is a request of the host's: a persistent receive of an empty message
 * from this rank itself. While the operation is under way it stays inactive, and calls that look at
 * all of their requests (MPI_Wait, MPI_Waitall) wait for the operation first; the host then finds
 * an inactive request and fills in its status. Calls that pick some of their requests (MPI_Waitany)
 * must find it among the complete ones, so it is started and gets its message when the operation is
 * done (COLLOPT_TOLD). So indices, statuses and counts are the host's in every call, from C and
 * from Fortran.  Handles of nonblocking reductions become null when they have ended, and serve the
 * next ones.
 *
 * Programs that have no such operation come by one load and one branch. */
#include "config.h"

#include <pthread.h>
#include <stdint.h>

#include "mpi/requests.h"
#include "base/clock.h"
#include "base/log.h"
#include "mpi/comm.h"
#include "mpi/dispatch.h"
#include "mpi/execute.h"
#include "mpi/handles.h"
#include "mpi/nonblocking.h"
#include "mpi/operation.h"
#include "mpi/persistent.h"
#include "mpi/world.h"
#include "report/counters.h"

typedef struct collopt_operation operation;

static enum collopt_stage stage(const operation *op)
{
    return atomic_load_explicit(&op->stage, memory_order_acquire);
}

static void set_stage(operation *op, enum collopt_stage to)
{
    atomic_store_explicit(&op->stage, to, memory_order_relaxed);
}

/* ---- from handle to operation ---------------------------------------------------------------- */

enum { CHAINS = 1024 };

static atomic_int operations;   /* persistent ones, and nonblocking ones that are under way */
/* of the table and what follows; never held across an MPI call */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(operation *) table[CHAINS];
static atomic_uint changes;     /* of the table; odd: one is being made */
static operation *freed;        /* by the program, while they were active */
static atomic_bool any_freed;
static operation *idle;         /* handles for nonblocking reductions, in the table */

static inline bool none(void)
{
    return __builtin_expect(atomic_load_explicit(&operations, memory_order_relaxed) == 0, 1);
}

static _Atomic(operation *) *chain_of(MPI_Request request)
{
    uint64_t h = (uint64_t)(uintptr_t)request * UINT64_C(0x9e3779b97f4a7c15);

    return &table[h >> 54];
}

static operation *walk(MPI_Request request)
{
    operation *op = atomic_load_explicit(chain_of(request), memory_order_acquire);

    while (op && atomic_load_explicit(&op->request, memory_order_acquire) != request)
        op = atomic_load_explicit(&op->chain, memory_order_acquire);
    return op;
}

/* Another thread may take one out of the chain meanwhile, and put it into another: what was
 * found is right, but not that there is none. */
static operation *find(MPI_Request request)
{
    unsigned before = atomic_load_explicit(&changes, memory_order_acquire);
    operation *op = walk(request);

    if (op)
        return op;
    if (before % 2 == 0 && atomic_load_explicit(&changes, memory_order_acquire) == before)
        return NULL;
    pthread_mutex_lock(&lock);
    op = walk(request);
    pthread_mutex_unlock(&lock);
    return op;
}

static void change(operation *op, bool enter)
{
    _Atomic(operation *) *at = chain_of(atomic_load(&op->request));

    pthread_mutex_lock(&lock);
    atomic_fetch_add(&changes, 1);
    if (enter) {
        atomic_store(&op->chain, atomic_load(at));
        atomic_store(at, op);
    } else {
        while (atomic_load(at) != op)
            at = &atomic_load(at)->chain;
        atomic_store(at, atomic_load(&op->chain));
    }
    atomic_fetch_add(&changes, 1);
    pthread_mutex_unlock(&lock);
}

/* HOW_MANY more are there. */
static void count(int how_many)
{
    atomic_fetch_add_explicit(&operations, how_many, memory_order_relaxed);
}

/* ---- handles that the program frees while operations need them ------------------------------- */

/* An operation that needs one of the two handles, other than BUT; under the lock. */
static operation *holder(MPI_Op op, MPI_Datatype type, const operation *but)
{
    operation *o;

    for (int i = 0; i < CHAINS; i++)
        for (o = atomic_load(&table[i]); o; o = atomic_load(&o->chain))
            if (o != but && !o->facts.lasting
                && (o->facts.op == op || (!o->facts.but_op && o->facts.type == type)))
                return o;
    for (o = freed; o; o = o->next)
        if (o != but && !o->facts.lasting
            && (o->facts.op == op || (!o->facts.but_op && o->facts.type == type)))
            return o;
    return NULL;
}

bool collopt_requests_keep_op(MPI_Op *op)
{
    operation *o;

    if (none() && !atomic_load(&any_freed))
        return false;
    pthread_mutex_lock(&lock);
    if ((o = holder(*op, MPI_DATATYPE_NULL, NULL)))
        o->frees_op = true;
    pthread_mutex_unlock(&lock);
    if (o)
        *op = MPI_OP_NULL;
    return o != NULL;
}

bool collopt_requests_keep_type(MPI_Datatype *type)
{
    operation *o;

    if (none() && !atomic_load(&any_freed))
        return false;
    pthread_mutex_lock(&lock);
    if ((o = holder(MPI_OP_NULL, *type, NULL)))
        o->frees_type = true;
    pthread_mutex_unlock(&lock);
    if (o)
        *type = MPI_DATATYPE_NULL;
    return o != NULL;
}

/* The next one that needs them frees them; if there is none, it is now. */
static void free_handles(operation *op)
{
    operation *other;

    if (!op->frees_op && !op->frees_type)
        return;
    pthread_mutex_lock(&lock);
    if (op->frees_op && (other = holder(op->facts.op, MPI_DATATYPE_NULL, op))) {
        other->frees_op = true;
        op->frees_op = false;
    }
    if (op->frees_type && (other = holder(MPI_OP_NULL, op->facts.type, op))) {
        other->frees_type = true;
        op->frees_type = false;
    }
    pthread_mutex_unlock(&lock);
    collopt_free_begins();
    if (op->frees_op)
        collopt_next.Op_free(&op->facts.op);
    if (op->frees_type)
        collopt_next.Type_free(&op->facts.type);
    collopt_free_ends();
}

static void release(operation *op)
{
    if (stage(op) == COLLOPT_DONE)
        collopt_operation_count(op);
    free_handles(op);
    collopt_persistent_free(op);
}

/* Those that were freed while they were active end when all ranks have started them. */
static void release_freed(void)
{
    operation *op, *waiting = NULL, **end = &waiting;

    if (!atomic_load_explicit(&any_freed, memory_order_relaxed))
        return;
    pthread_mutex_lock(&lock);
    op = freed;
    freed = NULL;
    pthread_mutex_unlock(&lock);
    while (op) {
        operation *next = op->next;

        if (collopt_persistent_advance(op)) {
            release(op);
        } else {
            *end = op;
            end = &op->next;
        }
        op = next;
    }
    pthread_mutex_lock(&lock);
    *end = freed;
    freed = waiting;
    atomic_store(&any_freed, freed != NULL);
    pthread_mutex_unlock(&lock);
}

static void end_handles(void)
{
    operation *op;

    while ((op = idle)) {
        MPI_Request request = atomic_load(&op->request);

        idle = op->next;
        change(op, false);
        collopt_operation_give_back(op);
        collopt_host.Request_free(&request);
    }
}

void collopt_requests_end(void)
{
    operation *op;

    end_handles();
    pthread_mutex_lock(&lock);
    for (int i = 0; i < CHAINS; i++)
        for (op = atomic_load(&table[i]); op; op = atomic_load(&op->chain))
            collopt_nudge_end(&op->nudge);
    pthread_mutex_unlock(&lock);
}

/* ---- making ---------------------------------------------------------------------------------- */

static void say(const struct collopt_call *call, const struct collopt_comm *c, bool nonblocking,
                const operation *op, const char *why)
{
    const char *kind = nonblocking ? "nonblocking" : "persistent";

    if (op)
        collopt_say_once(COLLOPT_LOG_DECIDE,
                         "%s %s, %d ranks, %zu bytes, %s of %s: by shared memory", kind,
                         collopt_collective_names[call->collective], c->ranks, op->bytes,
                         op->facts.op_name, op->facts.type_name);
    else
        collopt_say_once(COLLOPT_LOG_DECIDE, "%s %s, %d ranks: left to the MPI library (%s)", kind,
                         collopt_collective_names[call->collective], c->ranks, why);
}

static int make_handle(operation *op)
{
    const struct collopt_world *world = collopt_world();
    MPI_Request handle;
    int err = PMPI_Recv_init(NULL, 0, MPI_BYTE, world->rank, COLLOPT_TAG_DONE, world->hidden,
                             &handle);

    if (err)
        return err;
    atomic_store(&op->request, handle);
    change(op, true);
    return MPI_SUCCESS;
}

/* COLLOPT_DECLINED also where the ranks have found that one of them cannot. */
static int make(struct collopt_call *call, MPI_Request *request)
{
    struct collopt_comm *c;
    const char *why;
    operation *op;
    int err = collopt_dispatch_persistent(call, &c);

    if (err != MPI_SUCCESS)
        return err;
    release_freed();
    op = collopt_persistent_make(c, call, &why, &err);
    if (op && (err = make_handle(op)))
        collopt_persistent_free(op);
    if (err)
        return collopt_raise(call->comm, err);
    say(call, c, false, op, why);
    if (!op) {
        collopt_count_passed(call->name, COLLOPT_PASS_UNSUPPORTED, 1);
        return COLLOPT_DECLINED;
    }
    count(1);
    *request = atomic_load(&op->request);
    return MPI_SUCCESS;
}

/* ---- nonblocking ----------------------------------------------------------------------------- */

static operation *take_idle(void)
{
    operation *op;

    pthread_mutex_lock(&lock);
    op = idle;
    if (op)
        idle = op->next;
    pthread_mutex_unlock(&lock);
    if (op || !(op = collopt_operation_take()))
        return op;
    if (make_handle(op) == MPI_SUCCESS)
        return op;
    collopt_operation_give_back(op);
    return NULL;
}

static void make_idle(operation *op)
{
    free_handles(op);
    collopt_operation_clear(op);
    op->facts.lasting = true;   /* it holds no handles */
    pthread_mutex_lock(&lock);
    op->next = idle;
    idle = op;
    pthread_mutex_unlock(&lock);
}

/* The call's ranks all come here, or all go to the host. */
static int begin(struct collopt_call *call, MPI_Request *request)
{
    struct collopt_comm *c;
    const char *why;
    operation *op;
    int err = collopt_dispatch_nonblocking(call, &c);

    if (err != MPI_SUCCESS)
        return err;
    if (!(op = take_idle()))
        return collopt_raise(call->comm, MPI_ERR_NO_MEM);
    why = collopt_nonblocking_describe(op, c, call);
    if (!why) {
        count(1);
        if (c->traced)
            say(call, c, true, op, NULL);
        if (!(err = collopt_nonblocking_start(op, c))) {
            *request = atomic_load(&op->request);
            return MPI_SUCCESS;
        }
        count(-1);
        make_idle(op);
        return collopt_raise(call->comm, err);
    }
    say(call, c, true, NULL, why);
    make_idle(op);
    collopt_count_passed(call->name, COLLOPT_PASS_UNSUPPORTED, 1);
    return COLLOPT_DECLINED;
}

/* ---- the entries ----------------------------------------------------------------------------- */

/* How a call of each shape fills in its description, with counts of either kind. */
#define COUNTED                         .count = (size_t)count
#define ROOTED_int                      COUNTED, .root = root
#define ROOTED_host_count               COUNTED, .root = root
#define VECTOR_int                      COUNTED
#define VECTOR_host_count               COUNTED
#define SCATTERED_int                   .counts = counts
#define SCATTERED_host_count            .counts64 = counts
#define FILL_COLLOPT_ROOTED(C)          ROOTED_##C
#define FILL_COLLOPT_VECTOR(C)          VECTOR_##C
#define FILL_COLLOPT_SCATTERED(C)       SCATTERED_##C

#define PERSISTENT(id, ID, SHAPE, C) \
    int collopt_entry_##id(SHAPE(C), host_info info, host_request *request) \
    { \
        struct collopt_call call = { .collective = COLLOPT_##ID, .name = #id, .in = in, \
            .out = out, .type = type, .op = op, \
                                     .comm = comm, .trial = COLLOPT_PERSISTENT, FILL_##SHAPE(C) }; \
        int err = make(&call, request); \
        \
        return err == COLLOPT_DECLINED ? collopt_host.id(SHAPE##_ARGS, info, request) : err; \
    }
#define NONBLOCKING(id, ID, SHAPE, C) \
    int collopt_entry_##id(SHAPE(C), host_request *request) \
    { \
        struct collopt_call call = { .collective = COLLOPT_##ID, .name = #id, .in = in, \
                                     .out = out, .type = type, .op = op, .comm = comm, \
                                     FILL_##SHAPE(C) }; \
        int err = begin(&call, request); \
        \
        return err == COLLOPT_DECLINED ? collopt_host.id(SHAPE##_ARGS, request) : err; \
    }
#define ENTRIES(N, name, nonblocking, ID, SHAPE) \
    NONBLOCKING(I##nonblocking, ID, SHAPE, int) \
    NONBLOCKING(I##nonblocking##_c, ID, SHAPE, host_count) \
    PERSISTENT(name##_init, ID, SHAPE, int) \
    PERSISTENT(name##_init_c, ID, SHAPE, host_count) \
    PERSISTENT(X_##name##_init, ID, SHAPE, int)
COLLOPT_COLLECTIVE_NAMES(ENTRIES, )

/* ---- starting and freeing -------------------------------------------------------------------- */

/* The communicator may be gone by now. */
static int complain(const struct collopt_comm *owner, MPI_Comm comm, int err)
{
    return collopt_raise(collopt_comm_of(owner) == comm ? comm : MPI_COMM_WORLD, err);
}

static int refuse(const operation *op)
{
    return complain(op->owner, op->comm, MPI_ERR_REQUEST);
}

static int start(MPI_Request *request, operation *op)
{
    if (!op)
        return collopt_next.Start(request);
    if (stage(op) != COLLOPT_INACTIVE || op->nonblocking)
        return refuse(op);
    collopt_persistent_start(op);
    return MPI_SUCCESS;
}

int collopt_entry_Start(host_request *request)
{
    return start(request, none() || !request ? NULL : find(*request));
}

static bool some_are_ours(int n, const MPI_Request *requests)
{
    if (none() || !requests)
        return false;
    for (int i = 0; i < n; i++)
        if (find(requests[i]))
            return true;
    return false;
}

int collopt_entry_Startall(int n, host_request *requests)
{
    if (!some_are_ours(n, requests))
        return collopt_next.Startall(n, requests);
    for (int i = 0; i < n; i++) {
        int err = start(&requests[i], find(requests[i]));

        if (err)
            return err;
    }
    return MPI_SUCCESS;
}

static void leave(operation *op)
{
    pthread_mutex_lock(&lock);
    op->next = freed;
    freed = op;
    atomic_store(&any_freed, true);
    pthread_mutex_unlock(&lock);
}

int collopt_entry_Request_free(host_request *request)
{
    operation *op = none() || !request ? NULL : find(*request);
    int err = MPI_SUCCESS;

    if (op && op->nonblocking)  /* as MPI says, and hosts do */
        return refuse(op);
    if (op) {
        change(op, false);
        count(-1);
    }
    err = collopt_next.Request_free(request);
    if (op && stage(op) == COLLOPT_STARTED)
        leave(op);
    else if (op)
        release(op);
    release_freed();
    return err;
}

int collopt_entry_Cancel(host_request *request)
{
    const operation *op = none() || !request ? NULL : find(*request);

    return op ? refuse(op) : collopt_next.Cancel(request);
}

/* ---- completing all -------------------------------------------------------------------------- */

static inline bool under_way(const operation *op)
{
    return op && stage(op) == COLLOPT_STARTED;
}

/* Goes on without waiting; true: it is done. */
static bool advance(operation *op)
{
    double start = op->timed ? collopt_now() : 0;
    bool done;

    done = op->queue ? collopt_nonblocking_advance(op) : collopt_persistent_advance(op);
    if (op->timed)
        op->seconds += collopt_now() - start;
    return done;
}

static void finish(operation *op)
{
    unsigned polls = 0;

    while (!advance(op))
        collopt_idle_at(&op->nudge, op->yields, &polls);
}

/* The program is told of its end.  The error code, raised. */
static int end(MPI_Request *request)
{
    operation *op = find(*request);
    const struct collopt_comm *owner;
    MPI_Comm comm;
    int err;

    if (!op || stage(op) == COLLOPT_INACTIVE)
        return MPI_SUCCESS;
    collopt_operation_count(op);
    owner = op->owner;
    comm = op->comm;
    err = op->err;
    if (op->nonblocking) {
        *request = MPI_REQUEST_NULL;
        make_idle(op);
        count(-1);
    } else {
        set_stage(op, COLLOPT_INACTIVE);
    }
    return __builtin_expect(err != MPI_SUCCESS, 0) ? complain(owner, comm, err) : MPI_SUCCESS;
}

static int first_of(int ours, int host)
{
    return ours != MPI_SUCCESS ? ours : host;
}

static int wait_for_ours(host_request *request, host_status *status)
{
    operation *op = find(*request);
    int err;

    if (under_way(op))
        finish(op);
    err = collopt_next.Wait(request, status);
    return first_of(end(request), err);
}

int collopt_entry_Wait(host_request *request, host_status *status)
{
    return none() || !request ? collopt_next.Wait(request, status) : wait_for_ours(request, status);
}

/* All that are under way are done; else the host was made to go on. */
static bool all_done(int n, const MPI_Request *requests)
{
    operation *waits = NULL;

    for (int i = 0; i < n; i++) {
        operation *op = find(requests[i]);

        if (under_way(op) && !advance(op))
            waits = op;
    }
    if (waits)
        collopt_nudge(&waits->nudge);
    return !waits;
}

int collopt_entry_Test(host_request *request, int *flag, host_status *status)
{
    operation *op;
    int err;

    if (none() || !request)
        return collopt_next.Test(request, flag, status);
    op = find(*request);
    if (op && !all_done(1, request)) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    err = collopt_next.Test(request, flag, status);
    return *flag ? first_of(end(request), err) : err;
}

int collopt_entry_Request_get_status(host_request request, int *flag, host_status *status)
{
    if (!none() && !all_done(1, &request)) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    return collopt_next.Request_get_status(request, flag, status);
}

int collopt_entry_Request_get_status_all(int n, host_requests requests, int *flag,
                                         host_status *statuses)
{
    if (some_are_ours(n, requests) && !all_done(n, requests)) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    return collopt_next.Request_get_status_all(n, requests, flag, statuses);
}

/* Those of REQUESTS that are ours have ended.  ERR: what the host has said. */
static int end_all(int n, MPI_Request *requests, MPI_Status *statuses, int err)
{
    for (int i = 0; i < n; i++) {
        int ours = end(&requests[i]);

        if (ours == MPI_SUCCESS)
            continue;
        if (statuses != MPI_STATUSES_IGNORE)
            statuses[i].MPI_ERROR = ours;
        err = MPI_ERR_IN_STATUS;
    }
    return err;
}

int collopt_entry_Waitall(int n, host_request *requests, host_status *statuses)
{
    int err;

    if (!some_are_ours(n, requests))
        return collopt_next.Waitall(n, requests, statuses);
    for (int i = 0; i < n; i++) {
        operation *op = find(requests[i]);

        if (under_way(op))
            finish(op);
    }
    err = collopt_next.Waitall(n, requests, statuses);
    return end_all(n, requests, statuses, err);
}

int collopt_entry_Testall(int n, host_request *requests, int *flag, host_status *statuses)
{
    int err;

    if (!some_are_ours(n, requests))
        return collopt_next.Testall(n, requests, flag, statuses);
    *flag = 0;
    if (!all_done(n, requests))
        return MPI_SUCCESS;
    err = collopt_next.Testall(n, requests, flag, statuses);
    return *flag ? end_all(n, requests, statuses, err) : err;
}

/* ---- completing some ------------------------------------------------------------------------- */

static void tell(operation *op)
{
    const struct collopt_world *world = collopt_world();
    MPI_Request request = atomic_load(&op->request);
    int err = collopt_host.Start(&request);

    if (!err)
        err = PMPI_Send(NULL, 0, MPI_BYTE, world->rank, COLLOPT_TAG_DONE, world->hidden);
    op->err = first_of(op->err, err);
    set_stage(op, COLLOPT_TOLD);
}

/* The host is told of all that are done.  One that is still under way, or NULL. */
static operation *tell_host(int n, const MPI_Request *requests)
{
    operation *waits = NULL;

    for (int i = 0; i < n; i++) {
        operation *op = find(requests[i]);

        if (under_way(op) && !advance(op))
            waits = op;
        else if (op && stage(op) == COLLOPT_DONE)
            tell(op);
    }
    return waits;
}

/* While one of ours WAITS, the host's "none is active" is wrong. */
int collopt_entry_Testany(int n, host_request *requests, int *index, int *flag, host_status *status)
{
    const operation *waits;
    int err;

    if (!some_are_ours(n, requests))
        return collopt_next.Testany(n, requests, index, flag, status);
    waits = tell_host(n, requests);
    err = collopt_next.Testany(n, requests, index, flag, status);
    if (*flag && *index == MPI_UNDEFINED && waits)
        *flag = 0;
    return *flag && *index != MPI_UNDEFINED ? first_of(end(&requests[*index]), err) : err;
}

int collopt_entry_Waitany(int n, host_request *requests, int *index, host_status *status)
{
    int err = MPI_SUCCESS, flag = 0;
    unsigned polls = 0;
    operation *waits;

    if (!some_are_ours(n, requests))
        return collopt_next.Waitany(n, requests, index, status);
    while ((waits = tell_host(n, requests))) {
        if ((err = collopt_host.Testany(n, requests, index, &flag, status)))
            return err;
        if (flag && *index != MPI_UNDEFINED)
            break;
        collopt_idle_at(&waits->nudge, waits->yields, &polls);
    }
    if (!waits)
        err = collopt_next.Waitany(n, requests, index, status);
    return *index != MPI_UNDEFINED ? first_of(end(&requests[*index]), err) : err;
}

/* SOME of REQUESTS are complete, those of INDICES. */
static int end_some(MPI_Request *requests, int some, const int *indices, MPI_Status *statuses,
                    int err)
{
    for (int k = 0; k < some; k++) {
        int ours = end(&requests[indices[k]]);

        if (ours == MPI_SUCCESS)
            continue;
        if (statuses != MPI_STATUSES_IGNORE)
            statuses[k].MPI_ERROR = ours;
        err = MPI_ERR_IN_STATUS;
    }
    return err;
}

int collopt_entry_Testsome(int n, host_request *requests, int *some, int *indices,
                           host_status *statuses)
{
    const operation *waits;
    int err;

    if (!some_are_ours(n, requests))
        return collopt_next.Testsome(n, requests, some, indices, statuses);
    waits = tell_host(n, requests);
    err = collopt_next.Testsome(n, requests, some, indices, statuses);
    if (*some == MPI_UNDEFINED && waits)
        *some = 0;
    return *some == MPI_UNDEFINED ? err : end_some(requests, *some, indices, statuses, err);
}

int collopt_entry_Waitsome(int n, host_request *requests, int *some, int *indices,
                           host_status *statuses)
{
    int err = MPI_SUCCESS;
    unsigned polls = 0;
    operation *waits;

    if (!some_are_ours(n, requests))
        return collopt_next.Waitsome(n, requests, some, indices, statuses);
    while ((waits = tell_host(n, requests))) {
        err = collopt_host.Testsome(n, requests, some, indices, statuses);
        if (err || (*some != 0 && *some != MPI_UNDEFINED))
            break;
        collopt_idle_at(&waits->nudge, waits->yields, &polls);
    }
    if (!waits)
        err = collopt_next.Waitsome(n, requests, some, indices, statuses);
    return *some == MPI_UNDEFINED ? err : end_some(requests, *some, indices, statuses, err);
}

/* ---- looking at some ------------------------------------------------------------------------- */

int collopt_entry_Request_get_status_any(int n, host_requests requests, int *index, int *flag,
                                         host_status *status)
{
    const operation *waits = some_are_ours(n, requests) ? tell_host(n, requests) : NULL;
    int err = collopt_next.Request_get_status_any(n, requests, index, flag, status);

    if (*flag && *index == MPI_UNDEFINED && waits)
        *flag = 0;
    return err;
}

int collopt_entry_Request_get_status_some(int n, host_requests requests, int *some,
                                          int *indices, host_status *statuses)
{
    const operation *waits = some_are_ours(n, requests) ? tell_host(n, requests) : NULL;
    int err = collopt_next.Request_get_status_some(n, requests, some, indices, statuses);

    if (*some == MPI_UNDEFINED && waits)
        *some = 0;
    return err;
}
