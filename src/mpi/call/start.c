/* The calls that make, start and free persistent and nonblocking reductions; see table.h. */
#include "config.h"

#include "base/clock.h"
#include "base/log.h"
#include "mpi/call/dispatch_request.h"
#include "mpi/call/entry.h"
#include "mpi/check/comparison.h"
#include "mpi/check/signature.h"
#include "mpi/comm/arguments.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/noted.h"
#include "mpi/comm/recorded.h"
#include "mpi/comm/traced.h"
#include "mpi/host/attributes.h"
#include "mpi/host/errhandler.h"
#include "mpi/plan/plan.h"
#include "mpi/request/async.h"
#include "mpi/request/host_request.h"
#include "mpi/request/p2p_request.h"
#include "mpi/request/nonblocking.h"
#include "mpi/request/persistent.h"
#include "mpi/request/request.h"
#include "mpi/request/table.h"
#include "mpi/request/watched.h"
#include "report/counters.h"

/* ---- making ---------------------------------------------------------------------------------- */

/* R is NULL if the host serves the call; WHY says the reason. */
static void say(const struct collopt_call *call, const struct collopt_comm *c,
                const struct collopt_request *r, const char *why)
{
    const char *kind = call->mode == COLLOPT_NONBLOCKING ? "nonblocking" : "persistent";

    if (r)
        collopt_explain_once("%s %s, %d ranks, %zu bytes, %s of %s: by %s", kind,
                             collopt_collective_names[call->collective], c->ranks, r->bytes,
                             r->facts.op_name, r->facts.type_name, r->transport);
    else
        collopt_explain_once("%s %s, %d ranks: left to the MPI library (%s)", kind,
                             collopt_collective_names[call->collective], c->ranks, why);
}

static bool is_root(const struct collopt_comm *c, const struct collopt_call *call)
{
    return call->collective == COLLOPT_REDUCE && call->root == c->rank;
}

static struct collopt_request *make_by_p2p(struct collopt_comm *c, struct collopt_call *call,
                                           struct collopt_plan *plan, const char **why, int *err)
{
    struct collopt_request *r = collopt_request_take();

    *err = MPI_SUCCESS;
    *why = r ? collopt_p2p_request_describe(r, c, call, plan) : NULL;
    if (!*why)
        *err = collopt_p2p_request_make(r, c, why);
    if (!*why && !*err)
        return r;
    if (r)
        collopt_requests_release(r);
    return NULL;
}

/* The host makes the request of CALL. */
static enum collopt_outcome leave_made(const struct collopt_call *call, struct collopt_comm *c,
                                       struct collopt_watched **watched)
{
    collopt_count_passed(call->name, call->why, 1);
    *watched = c ? collopt_watch_made(c, call, collopt_noted_made(c)) : NULL;
    return COLLOPT_FALL_BACK;
}

/* COLLOPT_FALL_BACK also where the ranks have found that one of them cannot; the host's request is
 * WATCHED then, unless NULL. */
static enum collopt_outcome make(struct collopt_call *call, MPI_Request *request,
                                 struct collopt_watched **watched, int *err)
{
    struct collopt_plan *plan;
    struct collopt_comm *c;
    const char *why = NULL;
    struct collopt_request *r;
    enum collopt_outcome outcome = collopt_dispatch_persistent(call, &c, &plan, err);

    if (outcome == COLLOPT_FALL_BACK)
        return leave_made(call, c, watched);
    if (outcome != COLLOPT_RUN)
        return outcome;
    collopt_requests_release_freed();
    r = plan ? make_by_p2p(c, call, plan, &why, err)
              : collopt_persistent_make(c, call, &why, err);
    collopt_record_leave(c);
    if (r && (*err = collopt_requests_enter(r, true)))
        collopt_requests_release(r);
    if (*err) {
        collopt_raise(call->comm, *err);
        return COLLOPT_FAILED;
    }
    say(call, c, r, why);
    if (!r) {
        call->why = COLLOPT_PASS_UNSUPPORTED;
        return leave_made(call, c, watched);
    }
    r->measured.noted = collopt_noted_made(c);
    r->measured.root = is_root(c, call);
    collopt_requests_count(1);
    *request = atomic_load(&r->handle.request);
    return COLLOPT_RUN;
}

/* ---- nonblocking ----------------------------------------------------------------------------- */

static const char *describe(struct collopt_request *r, struct collopt_comm *c,
                            struct collopt_call *call, struct collopt_plan *plan)
{
    return plan ? collopt_p2p_request_describe(r, c, call, plan)
                : collopt_nonblocking_describe(r, c, call);
}

/* The latest call on C is R's. */
static void record_ours(struct collopt_request *r, const struct collopt_comm *c)
{
    collopt_record_run(c, r->bytes, COLLOPT_RECORDED_BY_COLLOPT);
    r->measured.recorded = collopt_record_latest(c);
}

/* R, which runs CALL on C, begins. */
static void trace(struct collopt_request *r, struct collopt_comm *c,
                  const struct collopt_call *call)
{
    if (collopt_traces(c))
        r->measured.traced = collopt_trace_call(c, call, (struct collopt_traced){
            .form = COLLOPT_TRACED_NONBLOCKING, .by = r->by_host ? NULL : r->transport,
            .entered = collopt_now(), .took = COLLOPT_NOT_ENDED,
            .bytes = r->by_host ? COLLOPT_NOT_TRACED : r->bytes });
}

static int start_by_p2p(struct collopt_request *r, struct collopt_comm *c)
{
    int err = collopt_p2p_request_number(r, c);

    if (!err)
        collopt_p2p_request_start(r);
    return err;
}

static enum collopt_outcome say_unfit(struct collopt_call *call, const struct collopt_comm *c,
                                      const char *why)
{
    say(call, c, NULL, why);
    call->why = COLLOPT_PASS_UNSUPPORTED;
    return COLLOPT_FALL_BACK;
}

static void drop(struct collopt_request *r)
{
    collopt_requests_count(-1);
    collopt_requests_make_idle(r);
}

static enum collopt_outcome fail(const struct collopt_call *call, int err)
{
    collopt_raise(call->comm, err);
    return COLLOPT_FAILED;
}

/* Gives the request to the program, or frees R if it could not be started (ERR). */
static enum collopt_outcome hand_out(struct collopt_request *r, const struct collopt_call *call,
                                     MPI_Request *request, int err)
{
    if (err) {
        drop(r);
        return fail(call, err);
    }
    collopt_async_wake();
    collopt_handle_hand_out(r);
    *request = atomic_load(&r->handle.request);
    return COLLOPT_RUN;
}

/* Starts the comparison of CALL.  WHY says why shared memory or messages do not serve the call, or
 * is NULL.  *RAISED: the host has raised the error. */
static int compare(struct collopt_request *r, struct collopt_comm *c, struct collopt_call *call,
                   enum collopt_outcome outcome, const struct collopt_plan *plan, const char *why,
                   bool *raised)
{
    bool ours = outcome == COLLOPT_RUN;
    const char *chosen = plan ? plan->chosen : ours ? "shared memory" : "host";
    struct collopt_signature signature;
    struct collopt_facts facts;

    if (outcome == COLLOPT_FALL_BACK && !why && collopt_arguments_fit(c, call, &facts))
        outcome = COLLOPT_RUN;
    collopt_signature_take(&signature, c, call, outcome, plan, chosen);
    return collopt_comparison_begin(c, &signature, &r->comparison, raised);
}

/* ERR: this rank's, which has FAILED. */
static int start_by_host(struct collopt_request *r, struct collopt_comm *c,
                         struct collopt_call *call, int err)
{
    if (collopt_publishes(c, call)) {
        err = collopt_nonblocking_start_by_host(r, c, call, err);
    } else {
        collopt_host_request_start(r, c, call, err);
        err = MPI_SUCCESS;
    }
    trace(r, c, call);
    return err;
}

static int start_by_collopt(struct collopt_request *r, struct collopt_comm *c,
                            const struct collopt_call *call, const struct collopt_plan *plan,
                            const struct collopt_noting *noting)
{
    int err;

    if (c->traced)
        say(call, c, r, NULL);
    record_ours(r, c);
    if (c->timed) {
        r->nonblocking = true;
        r->measured.noted = c->noted ? collopt_noted(c) : NULL;
        collopt_request_starts(r, noting, is_root(c, call));
    }
    trace(r, c, call);
    err = plan ? start_by_p2p(r, c) : collopt_nonblocking_start(r, c);
    if (c->timed)
        collopt_request_has_started(r);
    return err;
}

/* Every call that is compared becomes a request, also if the host serves it.  On a node each one
 * takes a number and a record, so the numbers of later calls agree on all ranks even if the ranks
 * differ in what serves this call. */
static enum collopt_outcome begin_compared(struct collopt_comm *c, struct collopt_call *call,
                                           enum collopt_outcome outcome, struct collopt_plan *plan,
                                           const struct collopt_noting *noting,
                                           MPI_Request *request, int *err)
{
    struct collopt_request *r = collopt_requests_take_idle();
    const char *why = NULL;
    int own = *err;
    bool raised;

    if (!r)
        return fail(call, *err = MPI_ERR_NO_MEM);
    if (outcome == COLLOPT_RUN && (why = describe(r, c, call, plan))) {
        outcome = say_unfit(call, c, why);
        collopt_request_clear(r);
    }
    if (outcome == COLLOPT_FALL_BACK)
        collopt_count_passed(call->name, call->why, 1);
    collopt_requests_count(1);
    *err = compare(r, c, call, outcome, plan, why, &raised);
    if (*err && raised) {
        drop(r);
        return COLLOPT_FAILED;
    }
    if (!*err)
        *err = outcome == COLLOPT_RUN ? start_by_collopt(r, c, call, plan, noting)
                                      : start_by_host(r, c, call, own);
    if (*err)                   /* the other ranks still need the comparison */
        r->comparison = NULL;
    return hand_out(r, call, request, *err);
}

/* The host starts CALL.  Its request is WATCHED where the time that it takes is wanted, and counted
 * with that later. */
static enum collopt_outcome leave(const struct collopt_call *call, struct collopt_comm *c,
                                  const struct collopt_noting *noting,
                                  struct collopt_watched **watched)
{
    *watched = c ? collopt_watch_started(c, call, noting) : NULL;
    if (!*watched)
        collopt_count_passed(call->name, call->why, 1);
    return COLLOPT_FALL_BACK;
}

/* The call's ranks all come here, or all go to the host. */
static enum collopt_outcome begin(struct collopt_call *call, MPI_Request *request,
                                  struct collopt_watched **watched, int *err)
{
    struct collopt_plan *plan = NULL;
    struct collopt_comm *c;
    const char *why;
    struct collopt_request *r;
    enum collopt_outcome outcome = collopt_dispatch_nonblocking(call, &c, &plan, err);
    struct collopt_noting noting = { .note = NULL };

    if (c && c->noted)
        noting = collopt_noted_begun(c);
    if (c && __builtin_expect(c->checked, 0) && collopt_checks_later(c))
        return begin_compared(c, call, outcome, plan, &noting, request, err);
    if (outcome == COLLOPT_FAILED)
        return fail(call, *err);
    if (outcome != COLLOPT_RUN)
        return leave(call, c, &noting, watched);
    if (!(r = collopt_requests_take_idle())) {
        if (plan)
            collopt_p2p_request_miss(c);
        else
            collopt_nonblocking_miss(c);
        return fail(call, *err = MPI_ERR_NO_MEM);
    }
    if ((why = describe(r, c, call, plan))) {
        collopt_requests_make_idle(r);
        say_unfit(call, c, why);
        return leave(call, c, &noting, watched);
    }
    collopt_requests_count(1);
    *err = start_by_collopt(r, c, call, plan, &noting);
    return hand_out(r, call, request, *err);
}

/* ---- the entries ----------------------------------------------------------------------------- */

#define PERSISTENT(id, ID, SHAPE, C) \
    int collopt_entry_##id(SHAPE(C), host_info info, host_request *request) \
    { \
        struct collopt_call call = { COLLOPT_CALL(id, ID, SHAPE, C), .mode = COLLOPT_PERSISTENT }; \
        struct collopt_watched *watched = NULL; \
        int err; \
        \
        if (request && make(&call, request, &watched, &err) != COLLOPT_FALL_BACK) \
            return err; \
        return collopt_watch(watched, request, collopt_host.id(SHAPE##_ARGS, info, request)); \
    }
#define NONBLOCKING(id, ID, SHAPE, C) \
    int collopt_entry_##id(SHAPE(C), host_request *request) \
    { \
        struct collopt_call call = { COLLOPT_CALL(id, ID, SHAPE, C), \
                                     .mode = COLLOPT_NONBLOCKING }; \
        struct collopt_watched *watched = NULL; \
        int err; \
        \
        if (request && begin(&call, request, &watched, &err) != COLLOPT_FALL_BACK) \
            return err; \
        return collopt_watch(watched, request, collopt_host.id(SHAPE##_ARGS, request)); \
    }
#define ENTRIES(N, name, nonblocking, ID, SHAPE) \
    NONBLOCKING(I##nonblocking, ID, SHAPE, int) \
    NONBLOCKING(I##nonblocking##_c, ID, SHAPE, host_count) \
    PERSISTENT(name##_init, ID, SHAPE, int) \
    PERSISTENT(name##_init_c, ID, SHAPE, host_count) \
    PERSISTENT(X_##name##_init, ID, SHAPE, int)
COLLOPT_COLLECTIVE_NAMES(ENTRIES, )

/* ---- starting and freeing -------------------------------------------------------------------- */

/* A mistake with a request of ours is the host's to answer, by its code and by the handler that it
 * calls: here for a null request, which is as wrong. */
static int refuse(int (*function)(MPI_Request *))
{
    MPI_Request null = MPI_REQUEST_NULL;
    int err = function(&null);

    return err ? err : collopt_raise(MPI_COMM_WORLD, MPI_ERR_REQUEST);
}

/* MPI forbids to free and to cancel a nonblocking reduction.  The host answers as it does for one
 * of its own.  That one has completed, as it is of one rank: Open MPI allows there what it refuses
 * for those that are under way. */
static int answer_as_for_its_own(const struct collopt_request *r, int (*function)(MPI_Request *))
{
    bool alone = collopt_comm_of(r->owner) == r->comm && r->owner->ranks == 1;
    MPI_Request request;
    int in = 0, out, err = collopt_host.Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF,
                                                   &request);

    if (err)
        return err;
    err = function(&request);
    if (request != MPI_REQUEST_NULL)
        collopt_host.Wait(&request, MPI_STATUS_IGNORE);
    return err || alone || collopt_quirk(COLLOPT_FREES_UNDER_WAY) ? err : refuse(function);
}

/* Its owner's state may be another communicator's by now. */
static void record_start(struct collopt_request *r)
{
    if (collopt_comm_of(r->owner) != r->comm || !collopt_recorded(r->owner))
        return;
    collopt_recorder_enter(collopt_recorded(r->owner), (struct collopt_recorded_what){
        .collective = (uint8_t)r->collective, .mode = COLLOPT_RECORDED_START, .root = -1,
        .count = UINT64_MAX });
    record_ours(r, r->owner);
}

/* The name of what made it, for people. */
#define NAME_OF(N, name, nonblocking, ID, SHAPE) [COLLOPT_##ID] = #name "_init",
static const char *const init_names[COLLOPT_COLLECTIVES] = {
    COLLOPT_COLLECTIVE_NAMES(NAME_OF, )
};

static void trace_start(struct collopt_request *r)
{
    bool wanted = collopt_comm_of(r->owner) == r->comm && collopt_traces(r->owner);

    r->measured.traced = wanted
        ? collopt_trace(r->owner, (struct collopt_traced){
              .form = COLLOPT_TRACED_STARTED, .name = init_names[r->collective],
              .collective = r->collective, .by = r->transport, .entered = collopt_now(),
              .took = COLLOPT_NOT_ENDED, .count = COLLOPT_NOT_TRACED, .bytes = r->bytes })
        : NULL;
}

/* R is claimed.  Is it inactive? */
static bool may_start(struct collopt_request *r)
{
    if (collopt_state_of(r) == COLLOPT_DONE
        && atomic_load(&r->handle.shown) == COLLOPT_SHOWN_COMPLETE) {
        collopt_request_count(r);            /* it was completed past collopt */
        collopt_handle_settle(&r->handle);
        collopt_set_state(r, COLLOPT_INACTIVE);
    }
    return collopt_state_of(r) == COLLOPT_INACTIVE;
}

/* Only starts R, which is claimed. */
static int start_claimed(struct collopt_request *r)
{
    struct collopt_noting noting;
    int err = collopt_handle_activate(&r->handle);

    if (err)
        return err;
    record_start(r);
    trace_start(r);
    if (!r->measured.timed) {
        collopt_ops_of(r)->start(r);
        return MPI_SUCCESS;
    }
    noting = collopt_noting_of(r->measured.noted);
    collopt_request_starts(r, &noting, r->measured.root);
    collopt_ops_of(r)->start(r);
    collopt_request_has_started(r);
    return MPI_SUCCESS;
}

static int start_by_next(MPI_Request *request)
{
    struct collopt_watched *w = collopt_watch_starts(request);

    return collopt_watch_has_started(w, collopt_next.Start(request));
}

static int start(MPI_Request *request, struct collopt_request *r)
{
    bool inactive;
    int err = MPI_SUCCESS;

    if (!r)
        return start_by_next(request);
    if (r->nonblocking)
        return collopt_next.Start(request);     /* which refuses ours: it is not persistent */
    collopt_request_claim_surely(r);
    inactive = may_start(r);
    if (inactive)
        err = start_claimed(r);
    collopt_request_unclaim(r);
    if (!inactive)
        return refuse(collopt_next.Start);
    if (err)
        return collopt_requests_complain(r->owner, r->comm, err);
    collopt_async_wake();
    return MPI_SUCCESS;
}

int collopt_entry_Start(host_request *request)
{
    return start(request, collopt_requests_find_at(request));
}

/* Hosts look at all requests before they start the first. */
static bool refused_by_host(int n, const MPI_Request *requests)
{
    for (int i = 0; i < n; i++) {
        const struct collopt_request *r = collopt_requests_find(requests[i]);

        if (requests[i] == MPI_REQUEST_NULL || (r && r->nonblocking))
            return true;
    }
    return false;
}

static bool any_active(int n, const MPI_Request *requests)
{
    bool active = false;

    for (int i = 0; i < n && !active; i++) {
        struct collopt_request *r = collopt_requests_find(requests[i]);

        if (!r)
            continue;
        collopt_request_claim_surely(r);
        active = !may_start(r);
        collopt_request_unclaim(r);
    }
    return active;
}

int collopt_entry_Startall(int n, host_request *requests)
{
    if ((!collopt_requests_any(n, requests) && !collopt_watched_any(n, requests))
        || refused_by_host(n, requests))
        return collopt_next.Startall(n, requests);
    if (any_active(n, requests))
        return refuse(collopt_next.Start);
    for (int i = 0; i < n; i++) {
        int err = start(&requests[i], collopt_requests_find(requests[i]));

        if (err)
            return err;
    }
    return MPI_SUCCESS;
}

int collopt_entry_Request_free(host_request *request)
{
    struct collopt_request *r = collopt_requests_find_at(request);
    bool ours = false;
    int err;

    if (!r) {
        collopt_watch_frees(request);
        return collopt_next.Request_free(request);
    }
    if (r->nonblocking && (err = answer_as_for_its_own(r, collopt_next.Request_free)))
        return err;
    collopt_request_claim_surely(r);
    ours = collopt_requests_remove(r);
    err = collopt_handle_free(&r->handle, request);
    collopt_request_unclaim(r);
    if (ours)
        collopt_requests_release(r);
    collopt_requests_release_freed();
    return err;
}

int collopt_entry_Cancel(host_request *request)
{
    const struct collopt_request *r = collopt_requests_find_at(request);

    if (!r)
        return collopt_next.Cancel(request);
    return r->nonblocking ? answer_as_for_its_own(r, collopt_next.Cancel)
                          : refuse(collopt_next.Cancel);
}
