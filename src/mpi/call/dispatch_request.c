/* Dispatches persistent and nonblocking calls; see dispatch_request.h. */
#include "config.h"

#include <string.h>

#include "mpi/call/dispatch_request.h"
#include "base/log.h"
#include "mpi/check/check.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/hints.h"
#include "mpi/comm/noted.h"
#include "mpi/comm/recorded.h"
#include "mpi/comm/take_over.h"
#include "mpi/device/gpu.h"
#include "mpi/host/errhandler.h"
#include "mpi/node/process.h"
#include "mpi/node/segments.h"
#include "mpi/node/world.h"
#include "mpi/plan/find.h"
#include "mpi/plan/plan.h"
#include "mpi/request/p2p_request.h"
#include "settings/settings.h"

/* Can shared memory serve the call? */
static bool can_publish(const struct collopt_comm *c, const struct collopt_call *call)
{
    if (!collopt_world())
        return false;
    if (c->ranks == 1)
        return !collopt_sessions_begun();       /* it may outlive MPI_Finalize */
    return c->map.one_node && collopt_comm_shares_memory(c)
        && (call->mode == COLLOPT_PERSISTENT || collopt_segments_room() > 0);
}

bool collopt_publishes(const struct collopt_comm *c, const struct collopt_call *call)
{
    return c->status == COLLOPT_TAKEN_OVER && can_publish(c, call);
}

static bool host_is_chosen(const struct collopt_comm *c, enum collopt_collective collective)
{
    const char *forced = collopt_settings()->force[collective];
    bool host;

    if (collopt_hints_force(c, collective, &host))
        return host;
    return forced && strcmp(forced, "host") == 0;
}

static enum collopt_outcome fall_back(struct collopt_call *call, enum collopt_reason why)
{
    call->why = (unsigned char)why;
    return COLLOPT_FALL_BACK;
}

static enum collopt_outcome failed(int *err, int code)
{
    *err = code;
    return COLLOPT_FAILED;
}

/* There is no state of the communicator, or this call is a nested one. */
static enum collopt_outcome fall_back_at_once(struct collopt_call *call,
                                              const struct collopt_comm *c, int *err)
{
    if (!c && collopt_comm_lacks_memory())
        return failed(err, MPI_ERR_NO_MEM);
    return fall_back(call, c ? COLLOPT_PASS_NESTED : COLLOPT_PASS_ARGUMENTS);
}

static const char *why_neither(const struct collopt_comm *c)
{
    return !c->map.one_node
        ? "several nodes, and this MPI library does not call collopt while a rank waits"
        : "no shared memory";
}

/* This rank alone may have no plan.  It takes part in the agreement on a persistent reduction, so
 * that all ranks leave it to the host. */
static enum collopt_outcome fall_back_together(struct collopt_comm *c,
                                               struct collopt_call *call,
                                               enum collopt_reason reason, int *err)
{
    const char *why;

    if (call->mode == COLLOPT_PERSISTENT && (*err = collopt_p2p_request_make(NULL, c, &why)))
        return COLLOPT_FAILED;
    return fall_back(call, reason);
}

static enum collopt_outcome lacks_memory(struct collopt_comm *c, struct collopt_call *call,
                                         int *err)
{
    if (call->mode == COLLOPT_PERSISTENT)
        return fall_back_together(c, call, COLLOPT_PASS_UNSUPPORTED, err);
    collopt_p2p_request_miss(c);
    return failed(err, MPI_ERR_NO_MEM);
}

/* COLLOPT_RUN: by shared memory where *PLAN is NULL, else by messages. */
static enum collopt_outcome find_transport(struct collopt_comm *c, struct collopt_call *call,
                                           struct collopt_plan **plan, int *err)
{
    *plan = NULL;
    if (host_is_chosen(c, call->collective))
        return fall_back(call, COLLOPT_PASS_CHOSEN);
    if (can_publish(c, call))
        return COLLOPT_RUN;
    if (!collopt_p2p_request_possible(c)) {
        collopt_explain_once("%s %s, %d ranks: left to the MPI library (%s)",
                             call->mode == COLLOPT_PERSISTENT ? "persistent" : "nonblocking",
                             collopt_collective_names[call->collective], c->ranks, why_neither(c));
        return fall_back(call, COLLOPT_PASS_UNSUPPORTED);
    }
    switch (collopt_plan_find(c, call, plan)) {
    case COLLOPT_RUN:
        break;
    case COLLOPT_FALL_BACK:
        return fall_back_together(c, call, COLLOPT_PASS_ARGUMENTS, err);
    case COLLOPT_TOO_EARLY:
        return fall_back(call, COLLOPT_PASS_EARLY);
    case COLLOPT_FAILED:
        return lacks_memory(c, call, err);
    }
    return (*plan)->algorithm ? COLLOPT_RUN : fall_back(call, (*plan)->passed);
}

enum collopt_outcome collopt_dispatch_persistent(struct collopt_call *call,
                                                 struct collopt_comm **state,
                                                 struct collopt_plan **plan, int *err)
{
    struct collopt_comm *c = *state = collopt_comm_find(call->comm);
    enum collopt_outcome outcome;
    enum collopt_reason why;

    *err = MPI_SUCCESS;
    if (!c || collopt_comm_nested(c)) {
        outcome = fall_back_at_once(call, c, err);
        collopt_raise(call->comm, *err);
        return outcome;
    }
    collopt_record_enter(c, call, COLLOPT_RECORDED_INIT);
    if (c->noted)
        collopt_noted_make(c);
    if (c->status == COLLOPT_NEW && (*err = collopt_comm_take_over(c, SIZE_MAX)))
        return COLLOPT_FAILED;          /* it is raised */
    if ((why = collopt_comm_obstacle(c)) != COLLOPT_REASONS)
        return fall_back(call, why);
    c->call++;                  /* another rank may make a blocking call here */
    if (c->checked && (*err = collopt_check(c, call, NULL, COLLOPT_FALL_BACK)))
        return failed(err, collopt_raise(call->comm, *err));
    if (collopt_is_off())
        return fall_back(call, COLLOPT_PASS_OFF);
    outcome = find_transport(c, call, plan, err);
    if (outcome == COLLOPT_FAILED)
        collopt_raise(call->comm, *err);
    return outcome;
}

enum collopt_outcome collopt_dispatch_nonblocking(struct collopt_call *call,
                                                  struct collopt_comm **state,
                                                  struct collopt_plan **plan, int *err)
{
    struct collopt_comm *c = *state = collopt_comm_find(call->comm);
    enum collopt_reason why;

    *err = MPI_SUCCESS;
    if (!c || collopt_comm_nested(c))
        return fall_back_at_once(call, c, err);
    collopt_record_enter(c, call, COLLOPT_RECORDED_NONBLOCKING);
    if (c->noted)
        collopt_noted_begin_call(c);
    c->nonblocking++;
    if (c->status == COLLOPT_NEW)
        collopt_comm_note(c, collopt_bytes_to_count(c, call));
    if (collopt_is_off())
        return fall_back(call, COLLOPT_PASS_OFF);
    if ((why = collopt_comm_obstacle(c)) != COLLOPT_REASONS)
        return fall_back(call, why);
    return find_transport(c, call, plan, err);
}
