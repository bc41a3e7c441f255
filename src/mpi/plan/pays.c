/* Decides when a plan pays; see break_even.h. */
#include "config.h"

#include "mpi/plan/pays.h"
#include "base/hash.h"
#include "model/machine.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/hints.h"
#include "mpi/host/attributes.h"
#include "mpi/host/call.h"
#include "select/break_even.h"
#include "select/prediction_cache.h"
#include "settings/settings.h"

static enum collopt_surroundings surroundings(const struct collopt_comm *c)
{
    return c->map.topology.oversubscribed ? COLLOPT_CROWDED
        : c->map.topology.nodes > 1       ? COLLOPT_ON_NETWORK
                                          : COLLOPT_ON_NODE;
}

/* Has a plan for calls like this one paid for itself?  All ranks have to answer alike.  So this
 * depends on what they all know, and not on whether this rank has a plan, which also depends on the
 * values of its handles.  Ranks that have one do not ask: their answer was yes, and stays yes. */
bool collopt_plan_pays(struct collopt_comm *c, const struct collopt_call *call,
                       const struct collopt_facts *f)
{
    const struct collopt_settings *s = collopt_settings();
    struct collopt_problem p = { .collective = call->collective,
                                 .ranks = c->ranks,
                                 .count = collopt_call_elements(call, c->ranks) };
    uint64_t problem[] = { call->collective, (uint64_t)call->root, f->size, f->commutative,
                           f->exact,         collopt_rounded(&p) };
    enum collopt_surroundings where = surroundings(c);
    bool host;
    uint64_t message = c->map.topology.nodes > 1
        ? collopt_message_time(&c->map.machine.way[COLLOPT_OVER_NET]) : 0;

    if (s->after > 0 || s->check || s->adapt || s->force[call->collective]
        || collopt_hints_force(c, call->collective, &host))
        return true;
    return collopt_break_even_reached(&c->break_even,
                          collopt_hash_bytes(COLLOPT_HASH_START, problem, sizeof problem),
                          collopt_saving(where, message, c->ranks, p.count * f->size),
                          collopt_price_of_plan(where, c->ranks));
}
