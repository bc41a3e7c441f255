/* Finds and keeps plans; see store.h. */
#include "config.h"

#include <stdlib.h>

#include "mpi/plan/store.h"
#include "base/hash.h"
#include "base/memo.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/failure.h"
#include "mpi/host/call.h"
#include "mpi/plan/make.h"
#include "mpi/plan/plan.h"
#include "mpi/plan/schedules.h"
#include "mpi/plan/wires.h"

/* Limits on the plans that a communicator keeps.  A plan weighs its steps, of some 100 bytes each,
 * and a fixed part. */
enum {
    PLANS = 256,
    PLANS_PER_RANK = 4,
    WEIGHT = 1 << 18,
    PLAN_WEIGHT = 8
};

struct store {                  /* of a communicator */
    struct collopt_memo plans;
    /* the last plan used: the next call is often the same */
    struct collopt_plan *last[COLLOPT_COLLECTIVES];
};

static inline struct store *store_of(const struct collopt_comm *c)
{
    return collopt_part(c, COLLOPT_PART_PLANS);
}

static COLLOPT_OUT_OF_LINE bool same_counts(const struct collopt_plan *plan,
                                            const struct collopt_call *call, int ranks)
{
    for (int i = 0; i < ranks; i++)
        if (plan->counts[i] != collopt_call_count(call, i))
            return false;
    return true;
}

static size_t hash_of(const struct collopt_call *call, size_t count)
{
    size_t h = count * 8 + (size_t)call->collective + ((size_t)(uintptr_t)call->type >> 3) * 31
        + ((size_t)(uintptr_t)call->op >> 3) * 17 + (size_t)call->root * 64
        + (call->in == MPI_IN_PLACE) * 7 + (size_t)call->candidate * 1031
        + (size_t)call->mode * 4099;

    return collopt_mix(h);
}

static bool same_facts(const struct collopt_facts *a, const struct collopt_facts *b)
{
    return a->size == b->size && a->extent == b->extent && a->low == b->low && a->high == b->high
        && a->dense == b->dense && a->commutative == b->commutative && a->kernel == b->kernel
        && a->exact == b->exact && a->predefined == b->predefined;
}

static inline bool serves(const struct collopt_plan *plan, const struct collopt_call *call,
                          size_t count, int ranks)
{
    return plan && plan->count == count && plan->facts.type == call->type
        && plan->facts.op == call->op && plan->collective == call->collective
        && plan->root == call->root && plan->in_place == (call->in == MPI_IN_PLACE)
        && plan->mode == call->mode && plan->candidate == call->candidate
        && (!plan->counts || same_counts(plan, call, ranks));
}

static struct collopt_plan *plan_of(struct collopt_memoized *one)
{
    return one
        ? (struct collopt_plan *)(void *)((char *)one - offsetof(struct collopt_plan, memoized))
        : NULL;
}

static struct collopt_plan *find(const struct collopt_comm *c, const struct collopt_call *call,
                                 size_t count)
{
    const struct store *s = store_of(c);
    struct collopt_memoized *one = s ? collopt_memo_first(&s->plans, hash_of(call, count)) : NULL;

    while (one && !serves(plan_of(one), call, count, c->ranks))
        one = collopt_memo_next(one);
    return plan_of(one);
}

static COLLOPT_OUT_OF_LINE struct collopt_plan *search(struct collopt_comm *c,
                                                       const struct collopt_call *call,
                                                       size_t count)
{
    struct collopt_plan *plan = find(c, call, count);

    if (plan)
        store_of(c)->last[call->collective] = plan;
    return plan;
}

struct collopt_plan *collopt_plan_known(struct collopt_comm *c, const struct collopt_call *call,
                                        size_t count)
{
    const struct store *s = store_of(c);
    struct collopt_plan *last = s ? s->last[call->collective] : NULL;

    return serves(last, call, count, c->ranks) ? last : search(c, call, count);
}

static void forget(struct store *s, struct collopt_plan *plan)
{
    if (s->last[plan->collective] == plan)
        s->last[plan->collective] = NULL;
    collopt_plan_forget(plan);
}

static void forget_beyond(struct store *s, size_t most, size_t weight)
{
    struct collopt_memoized *one;

    while ((one = collopt_memo_excess(&s->plans, most, weight)) != NULL)
        forget(s, plan_of(one));
}

static void free_plans(struct collopt_comm *c)
{
    struct store *s = store_of(c);

    if (!s)
        return;
    forget_beyond(s, 0, 0);
    collopt_memo_end(&s->plans);
    free(s);
    collopt_part_attach(c, COLLOPT_PART_PLANS, NULL, NULL);
}

static struct store *make_store(struct collopt_comm *c)
{
    static const struct collopt_part_ops ops = { .end = free_plans, .shut_down = free_plans,
                                                 .hints_changed = free_plans };
    struct store *s = store_of(c);

    if (!s && (s = calloc(1, sizeof *s)))
        collopt_part_attach(c, COLLOPT_PART_PLANS, s, &ops);
    return s;
}

/* A program may let every rank be the root in turn, in a few sorts of calls, so there is room for a
 * plan for each. */
static bool keep(struct collopt_comm *c, struct collopt_plan *plan, const struct collopt_call *call)
{
    size_t most = PLANS + PLANS_PER_RANK * (size_t)c->ranks,
           weight = PLAN_WEIGHT + (plan->bound ? plan->bound->steps : 0);
    struct collopt_plan *before = find(c, call, plan->count);
    struct store *s = make_store(c);

    if (!s)
        return false;
    if (before) {               /* the handles mean something else by now */
        collopt_memo_remove(&s->plans, &before->memoized);
        forget(s, before);
    }
    forget_beyond(s, most - 1, weight < WEIGHT ? WEIGHT - weight : 0);
    return collopt_memo_add(&s->plans, &plan->memoized, hash_of(call, plan->count), weight);
}

bool collopt_plan_renew(struct collopt_comm *c, struct collopt_plan *plan,
                        const struct collopt_facts *f)
{
    if (!same_facts(&plan->facts, f) || (plan->data.ordered && !collopt_lies_in_order(c, f)))
        return false;
    plan->unchecked = plan->data.derived;
    if (!plan->data.types_made)
        return true;
    if (collopt_plan_is_held(plan))
        return false;
    collopt_plan_free_types(plan);
    return collopt_wires_set(c, plan);
}

static struct collopt_plan *make(struct collopt_comm *c, const struct collopt_call *call,
                                 const struct collopt_facts *f)
{
    struct collopt_plan *plan = collopt_plan_make(c, call, f);

    if (plan && !keep(c, plan, call)) {
        collopt_plan_free(plan);
        return NULL;
    }
    return plan;
}

struct collopt_plan *collopt_plan_new(struct collopt_comm *c, const struct collopt_call *call,
                                      const struct collopt_facts *f)
{
    struct collopt_plan *plan;

    c->busy = true;
    plan = make(c, call, f);
    if (!plan) {
        free_plans(c);
        collopt_schedules_free(c);
        plan = make(c, call, f);
    }
    if (!plan && call->mode == COLLOPT_BLOCKING)
        collopt_give_up(c, c->call);
    c->busy = false;
    return plan;
}
