/* The calls that make, start and free persistent and nonblocking reductions; see requests.h. */
#include "config.h"

#include "base/log.h"
#include "mpi/check/signature.h"
#include "mpi/request/async.h"
#include "mpi/host/attributes.h"
#include "mpi/request/host_request.h"
#include "mpi/request/messages.h"
#include "mpi/check/comparison.h"
#include "mpi/comm/comm.h"
#include "mpi/call/dispatch.h"
#include "mpi/request/nonblocking.h"
#include "mpi/request/request.h"
#include "mpi/request/persistent.h"
#include "mpi/plan/plan.h"
#include "mpi/request/table.h"
#include "report/counters.h"

typedef struct collopt_operation operation;

/* ---- making ---------------------------------------------------------------------------------- */

/* OP is NULL if the host serves the call; WHY says the reason. */
static void say(const struct collopt_call *call, const struct collopt_comm *c, const operation *op,
                const char *why)
{
    const char *kind = call->trial == COLLOPT_NONBLOCKING ? "nonblocking" : "persistent";

    if (op)
        collopt_say_once(COLLOPT_LOG_DECIDE, "%s %s, %d ranks, %zu bytes, %s of %s: by %s", kind,
                         collopt_collective_names[call->collective], c->ranks, op->bytes,
                         op->facts.op_name, op->facts.type_name,
                         op->plan ? op->plan->algorithm->name : "shared memory");
    else
        collopt_say_once(COLLOPT_LOG_DECIDE, "%s %s, %d ranks: left to the MPI library (%s)", kind,
                         collopt_collective_names[call->collective], c->ranks, why);
}

static operation *make_by_messages(struct collopt_comm *c, struct collopt_call *call,
                                   struct collopt_plan *plan, const char **why, int *err)
{
    operation *op = collopt_operation_take();

    *err = MPI_SUCCESS;
    *why = op ? collopt_by_messages_describe(op, c, call, plan) : NULL;
    if (!*why)
        *err = collopt_by_messages_make(op, c, why);
    if (!*why && !*err)
        return op;
    if (op)
        collopt_requests_release(op);
    return NULL;
}

/* COLLOPT_DECLINED also where the ranks have found that one of them cannot. */
static int make(struct collopt_call *call, MPI_Request *request)
{
    struct collopt_plan *plan;
    struct collopt_comm *c;
    const char *why = NULL;
    operation *op;
    int err = collopt_dispatch_persistent(call, &c, &plan);

    if (err != MPI_SUCCESS)
        return err;
    collopt_requests_release_freed();
    op = plan ? make_by_messages(c, call, plan, &why, &err)
              : collopt_persistent_make(c, call, &why, &err);
    if (op && (err = collopt_requests_enter(op, true)))
        collopt_requests_release(op);
    if (err)
        return collopt_raise(call->comm, err);
    say(call, c, op, why);
    if (!op) {
        collopt_count_passed(call->name, COLLOPT_PASS_UNSUPPORTED, 1);
        return COLLOPT_DECLINED;
    }
    collopt_requests_count(1);
    *request = atomic_load(&op->handle.request);
    return MPI_SUCCESS;
}

/* ---- nonblocking ----------------------------------------------------------------------------- */

static const char *describe(operation *op, struct collopt_comm *c, struct collopt_call *call,
                            struct collopt_plan *plan)
{
    return plan ? collopt_by_messages_describe(op, c, call, plan)
                : collopt_nonblocking_describe(op, c, call);
}

static int start_by_messages(operation *op, struct collopt_comm *c)
{
    int err = collopt_by_messages_number(op, c);

    if (!err)
        collopt_by_messages_start(op);
    return err;
}

static int say_unfit(const struct collopt_call *call, const struct collopt_comm *c, const char *why)
{
    say(call, c, NULL, why);
    collopt_count_passed(call->name, COLLOPT_PASS_UNSUPPORTED, 1);
    return COLLOPT_DECLINED;
}

static void drop(operation *op)
{
    collopt_requests_count(-1);
    collopt_requests_make_idle(op);
}

/* Gives the request to the program, or frees OP if it could not be started (ERR). */
static int hand_out(operation *op, const struct collopt_call *call, MPI_Request *request, int err)
{
    if (err) {
        drop(op);
        return collopt_raise(call->comm, err);
    }
    collopt_async_wake();
    collopt_handle_hand_out(op);
    *request = atomic_load(&op->handle.request);
    return MPI_SUCCESS;
}

/* Starts the comparison of CALL.  OUTCOME is as in dispatch.c.  WHY says why shared memory or
 * messages do not serve the call, or is NULL.  *RAISED: the host has raised the error. */
static int compare(operation *op, struct collopt_comm *c, struct collopt_call *call, int outcome,
                   const struct collopt_plan *plan, const char *why, bool *raised)
{
    bool ours = outcome == MPI_SUCCESS;
    const char *chosen = plan ? plan->chosen : ours ? "shared memory" : "host";
    struct collopt_asked asked;
    struct collopt_facts facts;

    if (outcome == COLLOPT_DECLINED && !why && collopt_arguments_fit(c, call, &facts))
        outcome = MPI_SUCCESS;
    collopt_ask(&asked, c, call, outcome, plan, chosen);
    return collopt_comparison_begin(c, &asked, &op->comparison, raised);
}

static int start_compared(operation *op, struct collopt_comm *c, struct collopt_call *call,
                          int outcome)
{
    if (outcome != MPI_SUCCESS)
        collopt_by_host_begin(op, c, call, outcome);
    else if (c->traced)
        say(call, c, op, NULL);
    if (op->plan)
        return start_by_messages(op, c);
    if (collopt_publishes(c, call))
        return collopt_nonblocking_start(op, c);
    collopt_set_stage(op, COLLOPT_STARTED);
    return MPI_SUCCESS;
}

/* Every call that is compared becomes an operation, also if the host serves it.  On a node each one
 * takes a number and a record, so the numbers of later calls agree on all ranks even if the ranks
 * differ in what serves this call. */
static int begin_compared(struct collopt_comm *c, struct collopt_call *call, int outcome,
                          struct collopt_plan *plan, MPI_Request *request)
{
    operation *op = collopt_requests_take_idle();
    const char *why = NULL;
    bool raised;
    int err;

    if (!op)
        return collopt_raise(call->comm, MPI_ERR_NO_MEM);
    if (outcome == MPI_SUCCESS && (why = describe(op, c, call, plan))) {
        outcome = say_unfit(call, c, why);
        collopt_operation_clear(op);
    }
    collopt_requests_count(1);
    err = compare(op, c, call, outcome, plan, why, &raised);
    if (err && raised) {
        drop(op);
        return err;
    }
    if (!err)
        err = start_compared(op, c, call, outcome);
    if (err)                    /* the other ranks still need the comparison */
        op->comparison = NULL;
    return hand_out(op, call, request, err);
}

/* The call's ranks all come here, or all go to the host. */
static int begin(struct collopt_call *call, MPI_Request *request)
{
    struct collopt_plan *plan = NULL;
    struct collopt_comm *c;
    const char *why;
    operation *op;
    int err = collopt_dispatch_nonblocking(call, &c, &plan);

    if (c && __builtin_expect(c->checked, 0) && collopt_checks_later(c))
        return begin_compared(c, call, err, plan, request);
    if (err != MPI_SUCCESS)
        return err == COLLOPT_DECLINED ? err : collopt_raise(call->comm, err);
    if (!(op = collopt_requests_take_idle())) {
        if (plan)
            collopt_by_messages_miss(c);
        else
            collopt_nonblocking_miss(c);
        return collopt_raise(call->comm, MPI_ERR_NO_MEM);
    }
    if ((why = describe(op, c, call, plan))) {
        collopt_requests_make_idle(op);
        return say_unfit(call, c, why);
    }
    collopt_requests_count(1);
    if (c->traced)
        say(call, c, op, NULL);
    return hand_out(op, call, request,
                    plan ? start_by_messages(op, c) : collopt_nonblocking_start(op, c));
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
#define LARGE_int                       false
#define LARGE_host_count                true

#define PERSISTENT(id, ID, SHAPE, C) \
    int collopt_entry_##id(SHAPE(C), host_info info, host_request *request) \
    { \
        struct collopt_call call = { .collective = COLLOPT_##ID, .name = #id, .in = in, \
                                     .out = out, .type = type, .op = op, .comm = comm, \
                                     .trial = COLLOPT_PERSISTENT, FILL_##SHAPE(C) }; \
        int err = make(&call, request); \
        \
        return err == COLLOPT_DECLINED ? collopt_host.id(SHAPE##_ARGS, info, request) : err; \
    }
#define NONBLOCKING(id, ID, SHAPE, C) \
    int collopt_entry_##id(SHAPE(C), host_request *request) \
    { \
        struct collopt_call call = { .collective = COLLOPT_##ID, .name = #id, .in = in, \
                                     .out = out, .type = type, .op = op, .comm = comm, \
                                     .trial = COLLOPT_NONBLOCKING, .large = LARGE_##C, \
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

static int refuse(const operation *op)
{
    return collopt_requests_complain(op->owner, op->comm, MPI_ERR_REQUEST);
}

/* Does nothing more than was asked: OP is claimed. */
static int start_claimed(operation *op)
{
    int err;

    if (op->nonblocking)
        return MPI_ERR_REQUEST;
    if (collopt_stage_of(op) == COLLOPT_DONE
        && atomic_load(&op->handle.shown) == COLLOPT_SHOWN_COMPLETE) {
        collopt_operation_count(op);            /* it was completed past collopt */
        collopt_handle_settle(&op->handle);
        collopt_set_stage(op, COLLOPT_INACTIVE);
    }
    if (collopt_stage_of(op) != COLLOPT_INACTIVE)
        return MPI_ERR_REQUEST;
    if ((err = collopt_handle_activate(&op->handle)))
        return err;
    if (op->plan)
        collopt_by_messages_start(op);
    else
        collopt_persistent_start(op);
    return MPI_SUCCESS;
}

static int start(MPI_Request *request, operation *op)
{
    int err;

    if (!op)
        return collopt_next.Start(request);
    collopt_operation_claim_surely(op);
    err = start_claimed(op);
    collopt_operation_unclaim(op);
    if (err)
        return collopt_requests_complain(op->owner, op->comm, err);
    collopt_async_wake();
    return MPI_SUCCESS;
}

int collopt_entry_Start(host_request *request)
{
    return start(request, collopt_requests_find_at(request));
}

int collopt_entry_Startall(int n, host_request *requests)
{
    if (!collopt_requests_any(n, requests))
        return collopt_next.Startall(n, requests);
    for (int i = 0; i < n; i++) {
        int err = start(&requests[i], collopt_requests_find(requests[i]));

        if (err)
            return err;
    }
    return MPI_SUCCESS;
}

int collopt_entry_Request_free(host_request *request)
{
    operation *op = collopt_requests_find_at(request);
    bool ours = false;
    int err;

    if (op && op->nonblocking)  /* as MPI says, and hosts do */
        return refuse(op);
    if (!op)
        return collopt_next.Request_free(request);
    collopt_operation_claim_surely(op);
    ours = collopt_requests_remove(op);
    err = collopt_handle_free(&op->handle, request);
    collopt_operation_unclaim(op);
    if (ours)
        collopt_requests_release(op);
    collopt_requests_release_freed();
    return err;
}

int collopt_entry_Cancel(host_request *request)
{
    const operation *op = collopt_requests_find_at(request);

    return op ? refuse(op) : collopt_next.Cancel(request);
}
