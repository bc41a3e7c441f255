/* From a call to its plan; see find.h. */
#include "config.h"

#include "mpi/plan/find.h"
#include "mpi/comm/arguments.h"
#include "mpi/comm/comm.h"
#include "mpi/host/attributes.h"
#include "mpi/host/handles.h"
#include "mpi/node/world.h"
#include "mpi/plan/pays.h"
#include "mpi/plan/plan.h"
#include "mpi/plan/store.h"
#include "settings/settings.h"

/* Where messages are sent the host refuses datatypes that are not committed.  A rank alone sends
 * none, and a request later than the call, so the host is asked. */
static bool is_committed(const struct collopt_comm *c, const struct collopt_call *call,
                         const struct collopt_facts *f)
{
    bool sends = c->ranks > 1 && call->mode == COLLOPT_BLOCKING;
    char nothing;

    return sends || f->predefined || f->predefined_type || !collopt_world()
        || PMPI_Send(&nothing, 1, f->type, MPI_PROC_NULL, 0, collopt_world_comm()) == MPI_SUCCESS;
}

/* A call like no other before it, or one whose handles may mean something else by now: then a plan
 * that was found says nothing of this call.  COLLOPT_FALL_BACK: not ours to judge, here as on
 * every rank. */
static COLLOPT_OUT_OF_LINE enum collopt_outcome learn(struct collopt_comm *c,
                                                      const struct collopt_call *call,
                                                      struct collopt_plan **plan)
{
    uint64_t stamp = collopt_handles_stamp();
    struct collopt_facts f;

    if (call->root < 0 || call->root >= c->ranks || !collopt_facts(call->op, call->type, &f)
        || f.size == 0 || !is_committed(c, call, &f))
        return COLLOPT_FALL_BACK;
    if (call->mode != COLLOPT_PERSISTENT && !collopt_plan_pays(c, call, &f))
        return COLLOPT_TOO_EARLY;
    if (!*plan || !collopt_plan_renew(c, *plan, &f))
        *plan = collopt_plan_new(c, call, &f);
    if (!*plan)
        return COLLOPT_FAILED;
    (*plan)->stamp = stamp;
    return COLLOPT_RUN;
}

/* Whatever depends on the layout of a datatype of the user's is made again: another layout may have
 * the same size and extent. */
static COLLOPT_OUT_OF_LINE bool found_the_same(struct collopt_plan *plan, uint64_t stamp)
{
    const struct collopt_facts *f = &plan->facts;

    if (!collopt_facts_last(f)
        || (!f->predefined_type && (plan->data.types_made || plan->data.ordered)))
        return false;
    plan->unchecked = plan->data.derived;
    plan->stamp = stamp;
    return true;
}

/* Do the handles still mean what PLAN was made for? */
static bool still_right(struct collopt_plan *plan)
{
    uint64_t stamp;

    if (plan->facts.predefined)
        return true;
    stamp = collopt_handles_stamp();
    return (stamp != COLLOPT_UNSTAMPED && stamp == plan->stamp) || found_the_same(plan, stamp);
}

enum collopt_outcome collopt_plan_find(struct collopt_comm *c, struct collopt_call *call,
                                       struct collopt_plan **plan)
{
    enum collopt_outcome outcome = COLLOPT_RUN;
    bool plain = collopt_arguments_plain(call);

    if (collopt_call_negative(call, c->ranks))
        return COLLOPT_FALL_BACK;
    if (!plain)
        collopt_arguments_take_in_place(c, call);
    *plan = collopt_plan_known(c, call, collopt_call_key(call, c->ranks));
    if (!*plan || !still_right(*plan))
        outcome = learn(c, call, plan);
    return outcome == COLLOPT_RUN && !plain
            && collopt_arguments_odd(c, call, (*plan)->facts.predefined, (*plan)->bytes)
        ? COLLOPT_FALL_BACK : outcome;
}

size_t collopt_bytes_to_count(const struct collopt_comm *c, const struct collopt_call *call)
{
    struct collopt_facts f;

    if (collopt_settings()->force[call->collective] || collopt_settings()->adapt)
        return SIZE_MAX;
    if (collopt_settings()->after > 0 || collopt_call_negative(call, c->ranks)
        || !collopt_facts(call->op, call->type, &f))
        return 0;
    return collopt_call_elements(call, c->ranks) * f.size;
}
