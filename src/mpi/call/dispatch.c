/* From a call to its execution, by us or, if it is declined, by the host. */
#include "config.h"

#include <string.h>

#include "mpi/call/dispatch.h"
#include "base/hash.h"
#include "base/log.h"
#include "mpi/plan/tuning.h"
#include "mpi/host/attributes.h"
#include "mpi/request/messages.h"
#include "mpi/check/check.h"
#include "mpi/comm/comm.h"
#include "mpi/run/execute.h"
#include "mpi/device/gpu.h"
#include "mpi/host/handles.h"
#include "mpi/host/host.h"
#include "mpi/comm/hints.h"
#include "mpi/host/fall_back.h"
#include "mpi/plan/plan.h"
#include "mpi/host/quirks.h"
#include "mpi/comm/links.h"
#include "mpi/device/staging.h"
#include "mpi/node/world.h"
#include "report/counters.h"
#include "report/timing.h"
#include "schedule/schedule.h"
#include "select/decide.h"
#include "select/rental.h"
#include "settings/settings.h"

atomic_bool collopt_switched_on = true, collopt_reporting;

/* ---- arguments that are the host's to judge -------------------------------------------------- */

static bool scatters(const struct collopt_call *call)
{
    return call->collective == COLLOPT_REDUCE_SCATTER;
}

static size_t count_for(const struct collopt_call *call, int rank)
{
    if (!scatters(call))
        return call->count;
    return call->counts ? (size_t)call->counts[rank] : (size_t)call->counts64[rank];
}

static bool negative(const struct collopt_call *call, int ranks)
{
    if (!scatters(call))
        return call->count > SIZE_MAX / 2;      /* a negative one, converted */
    if (!call->counts && !call->counts64)
        return true;
    for (int i = 0; i < ranks; i++)
        if (count_for(call, i) > SIZE_MAX / 2)
            return true;
    return false;
}

static size_t elements(const struct collopt_call *call, int ranks)
{
    size_t n = call->collective == COLLOPT_REDUCE_SCATTER_BLOCK ? call->count * (size_t)ranks
                                                                : call->count;

    for (int i = 0; scatters(call) && i < ranks; i++)
        n += count_for(call, i);
    return n;
}

/* ---- calls that are declined ----------------------------------------------------------------- */

/* Arguments that nobody has judged may be wrong, and an intercommunicator has two groups: such
 * calls are counted without a size. */
static bool has_size(const struct collopt_call *call, const struct collopt_comm *c,
                     enum collopt_reason why)
{
    return c && why != COLLOPT_PASS_ARGUMENTS && why != COLLOPT_PASS_INTERCOMM
        && why != COLLOPT_PASS_NESTED && !negative(call, c->ranks);
}

static void count_declined(const struct collopt_call *call, const struct collopt_comm *c,
                           enum collopt_reason why, uint64_t time)
{
    struct collopt_facts f;

    if (has_size(call, c, why) && collopt_facts(call->op, call->type, &f))
        collopt_count_passed_call(call->name, why, time, c->ranks,
                                  elements(call, c->ranks) * f.size);
    else
        collopt_count_passed_call(call->name, why, time, 0, 0);
}

static COLLOPT_OUT_OF_LINE int decline_timed(const struct collopt_call *call,
                                             const struct collopt_comm *c, enum collopt_reason why)
{
    uint64_t start = collopt_timing_begin();
    int err = collopt_hand_over(call);

    count_declined(call, err == MPI_SUCCESS ? c : NULL, why, collopt_timing_end(start));
    return err;
}

/* C: the call's communicator; NULL: not known to be valid. */
static int decline(const struct collopt_call *call, const struct collopt_comm *c,
                   enum collopt_reason why)
{
    if (atomic_load_explicit(&collopt_reporting, memory_order_relaxed))
        return decline_timed(call, c, why);
    collopt_count_passed(call->name, why, 1);
    return collopt_hand_over(call);
}

/* ---- buffers --------------------------------------------------------------------------------- */

/* Rank 0 gets nothing from an Exscan, but in place its input lies in the receive buffer. */
static bool gets_nothing(const struct collopt_call *call, const struct collopt_comm *c)
{
    return call->collective == COLLOPT_EXSCAN && c->rank == 0 && call->in != MPI_IN_PLACE;
}

/* Is the receive buffer of any use? */
static bool has_out(const struct collopt_call *call, const struct collopt_comm *c)
{
    if (gets_nothing(call, c) && !collopt_quirk(COLLOPT_LOOKS_AT_UNUSED_OUT))
        return false;
    return call->collective != COLLOPT_REDUCE || c->rank == call->root;
}

/* Only a derived datatype can describe data at address 0, MPI_BOTTOM in C; and where there is no
 * data, any address will do.  MPICH refuses a null one of rank 0 in an Exscan, if it was built to
 * check arguments.  Rank 0 alone cannot ask it to: the others would wait, and MPI allows it. */
static bool odd_buffers(const struct collopt_call *call, const struct collopt_comm *c, bool lasting,
                        uint64_t bytes)
{
    bool may_be_null = !lasting || bytes == 0;

    if (!has_out(call, c))
        return call->in == MPI_IN_PLACE || (call->in == NULL && !may_be_null);
    if (call->out == MPI_IN_PLACE || (call->in == NULL && !may_be_null))
        return true;
    if (call->in == call->out && call->in != NULL && bytes > 0)
        return true;
    return call->out == NULL && !may_be_null && !gets_nothing(call, c)
        && count_for(call, c->rank) > 0;
}

/* Builds of MPICH may leave out the checks of arguments, and Open MPI can be told to
 * (mpi_param_check).  Without MPI_Init (sessions) there is no communicator to try it on. */
static bool host_looks = true;

/* In MPI_Init no other thread calls MPI, and nobody has set an error handler yet.  Open MPI raises
 * some errors on MPI_COMM_WORLD. */
void collopt_see_whether_host_looks(void)
{
    MPI_Errhandler of_self = collopt_quiet(MPI_COMM_SELF), of_world = collopt_quiet(MPI_COMM_WORLD);
    int x[2] = { 0 };

    host_looks = collopt_host.Allreduce(x, x, 2, MPI_INT, MPI_SUM, MPI_COMM_SELF) != MPI_SUCCESS;
    collopt_as_before(MPI_COMM_WORLD, of_world);
    collopt_as_before(MPI_COMM_SELF, of_self);
}

/* MPI forbids send buffer == receive buffer, and the host's checks refuse it: some everywhere, the
 * others in Reduce, and in Allreduce of more than one element. */
static COLLOPT_OUT_OF_LINE bool refused_by_checks(const struct collopt_call *call)
{
    if (!collopt_quirk(COLLOPT_REFUSES_EVERY_ALIAS) && call->collective != COLLOPT_REDUCE
        && (call->collective != COLLOPT_ALLREDUCE || call->count <= 1))
        return false;
    return host_looks;
}

/* Elsewhere the host takes it for "in place", and as it may be so on one rank only, so must we. */
static void take_in_place(struct collopt_call *call, const struct collopt_comm *c)
{
    if (call->in == call->out && call->in != NULL && has_out(call, c) && !refused_by_checks(call)) {
        call->in = MPI_IN_PLACE;
        call->taken = true;
    }
}

/* ---- the call -------------------------------------------------------------------------------- */

/* The buffers of a call are mostly where no device memory can be.  A datatype with a layout of its
 * own may reach anywhere from its address; a rank that gets no result may give any address for
 * it. */
static inline bool on_host(const struct collopt_comm *c, const struct collopt_plan *plan,
                           const void *in, const void *out)
{
    if (!plan->facts.dense && !plan->facts.lasting)
        return false;
    return (plan->in_place || collopt_plainly_host(in))
        && (collopt_plainly_host(out)
            || (plan->collective == COLLOPT_REDUCE && c->rank != plan->root));
}

static inline int execute(struct collopt_comm *c, struct collopt_plan *plan,
                          const struct collopt_call *call)
{
    if (__builtin_expect(on_host(c, plan, call->in, call->out), 1))
        return collopt_execute(c, plan, call->in, call->out);
    return collopt_execute_anywhere(c, plan, call->in, call->out);
}

/* TIME: where it is wanted, else NULL. */
static COLLOPT_OUT_OF_LINE int timed(struct collopt_comm *c, struct collopt_plan *plan,
                                     const struct collopt_call *call, uint64_t *time)
{
    uint64_t nobody_asks, start = collopt_timing_begin();
    uint64_t diverted;
    int err;

    err = execute(c, plan, call);
    time = time ? time : &nobody_asks;
    *time = collopt_timing_end(start);
    diverted = c->execution.diverted;
    if (!c->timed)
        collopt_count_call(plan->algorithm, plan->size_class, plan->bytes);
    else
        collopt_count(
            plan->algorithm, plan->size_class,
            &(struct collopt_counter){ .calls = 1,
                                       .bytes = plan->bytes,
                                       .time = *time,
                                       .least = *time,
                                       .most = *time,
                                       .sent = { plan->sent[COLLOPT_SENT_BY_HOST] + diverted,
                                                 plan->sent[COLLOPT_SENT_BY_SHM] - diverted } });
    return err;
}

static int untimed(struct collopt_comm *c, struct collopt_plan *plan,
                   const struct collopt_call *call)
{
    collopt_count_call(plan->algorithm, plan->size_class, plan->bytes);
    return execute(c, plan, call);
}

int collopt_raise(MPI_Comm comm, int err)
{
    if (err != MPI_SUCCESS)
        PMPI_Comm_call_errhandler(comm, err);
    return err;
}

static int raise(const struct collopt_call *call, int err)
{
    return collopt_raise(call->comm, err);
}

static COLLOPT_OUT_OF_LINE void trace(const struct collopt_comm *c, const struct collopt_plan *plan,
                                      const struct collopt_call *call)
{
    collopt_say(COLLOPT_LOG_TRACE, "MPI_%s, %d ranks, %llu bytes: %s", call->name, c->ranks,
                (unsigned long long)plan->bytes, plan->algorithm->name);
}

/* An error handler of the user's may leave by longjmp.  So nobody hears of an error before all is
 * done that belongs to the call: not while the communicator is busy, where a call that follows
 * would take itself for a nested one on this rank alone, and not before trials have counted it.
 * TIME: where it is wanted, else NULL. */
static inline int run(struct collopt_comm *c, struct collopt_plan *plan,
                      const struct collopt_call *call, uint64_t *time)
{
    int err;

    if (c->traced)
        trace(c, plan, call);
    c->busy = true;
    err = c->timed || time ? timed(c, plan, call, time) : untimed(c, plan, call);
    c->busy = false;
    return err;
}

/* A trial of the host, which raises its errors itself. */
static int try_host(struct collopt_comm *c, struct collopt_adapted *adapted,
                    const struct collopt_call *call)
{
    uint64_t start = collopt_timing_begin(), time;
    int err = collopt_hand_over(call);

    time = collopt_timing_end(start);
    collopt_adapt_ends(adapted, call->trial - 1, (int64_t)time);
    if (c->timed)
        count_declined(call, err == MPI_SUCCESS ? c : NULL, COLLOPT_PASS_CHOSEN, time);
    else
        collopt_count_passed(call->name, COLLOPT_PASS_CHOSEN, 1);
    return err;
}

/* Where memory is short, what was kept for other calls is given up for it.  If that does not help
 * it is an error: this rank alone cannot leave the call to the host. */
static struct collopt_plan *new_plan(struct collopt_comm *c, const struct collopt_call *call,
                                     const struct collopt_facts *f, size_t count)
{
    struct collopt_plan *plan;

    c->busy = true;
    plan = collopt_plan_for(c, call, f, count);
    if (!plan) {
        collopt_plans_free(c);
        plan = collopt_plan_for(c, call, f, count);
    }
    if (!plan && !collopt_is_later(call))
        collopt_give_up(c, c->call);
    c->busy = false;
    return plan;
}

static enum collopt_surroundings surroundings(const struct collopt_comm *c)
{
    return c->topology.oversubscribed ? COLLOPT_CROWDED
        : c->topology.nodes > 1       ? COLLOPT_ON_NETWORK
                                      : COLLOPT_ON_NODE;
}

/* Has a plan for calls like this one paid for itself?  All ranks have to answer alike.  So this
 * depends on what they all know, and not on whether this rank has a plan, which also depends on the
 * values of its handles.  Ranks that have one do not ask: their answer was yes, and stays yes. */
static bool pays(struct collopt_comm *c, const struct collopt_call *call,
                 const struct collopt_facts *f)
{
    const struct collopt_settings *s = collopt_settings();
    struct collopt_problem p = { .collective = call->collective,
                                 .ranks = c->ranks,
                                 .count = elements(call, c->ranks) };
    uint64_t problem[] = { call->collective, (uint64_t)call->root, f->size, f->commutative,
                           f->exact,         collopt_rounded(&p) };
    uint64_t message = c->topology.nodes > 1
        ? collopt_message_time(&c->machine.way[COLLOPT_OVER_NET]) : 0;

    if (s->after > 0 || s->check || s->adapt || s->force[call->collective]
        || c->wish[call->collective].given)
        return true;
    return collopt_earned(&c->rental,
                          collopt_hash_bytes(COLLOPT_HASH_START, problem, sizeof problem),
                          collopt_saving(surroundings(c), message, c->ranks, p.count * f->size),
                          collopt_price_of_plan(c->ranks));
}

/* A call like no other before it, or one whose handles may mean something else by now: then a plan
 * that was found says nothing of this call.  COLLOPT_DECLINED: not ours to judge, here as on every
 * rank. */
static COLLOPT_OUT_OF_LINE int learn(struct collopt_comm *c, const struct collopt_call *call,
                                     size_t count, struct collopt_plan **plan)
{
    uint64_t stamp = collopt_handles_stamp();
    struct collopt_facts f;

    if (call->root < 0 || call->root >= c->ranks || !collopt_facts(call->op, call->type, &f)
        || f.size == 0)
        return COLLOPT_DECLINED;
    if (call->trial != COLLOPT_PERSISTENT && !pays(c, call, &f))
        return COLLOPT_NOT_YET;
    if (!*plan || !collopt_plan_renew(c, *plan, &f))
        *plan = new_plan(c, call, &f, count);
    if (!*plan)
        return MPI_ERR_NO_MEM;
    (*plan)->stamp = stamp;
    return MPI_SUCCESS;
}

static size_t count_of(const struct collopt_call *call, int ranks)
{
    return scatters(call) ? collopt_counts_hash(call, ranks) : call->count;
}

/* What is made of a datatype of the user's is made anew in any case: a layout with the same
 * measures may be another. */
static COLLOPT_OUT_OF_LINE bool found_the_same(struct collopt_plan *plan, uint64_t stamp)
{
    const struct collopt_facts *f = &plan->facts;

    if (!collopt_facts_last(f) || (!f->but_op && (plan->types_made || plan->ordered)))
        return false;
    plan->unchecked = plan->derived;
    plan->stamp = stamp;
    return true;
}

/* Do the handles still mean what PLAN was made for? */
static bool still_right(struct collopt_plan *plan)
{
    uint64_t stamp;

    if (plan->facts.lasting)
        return true;
    stamp = collopt_handles_stamp();
    return (stamp != COLLOPT_UNSTAMPED && stamp == plan->stamp) || found_the_same(plan, stamp);
}

/* Nothing is sent here.  COLLOPT_DECLINED: arguments that are the host's to judge. */
static inline int prepare(struct collopt_comm *c, struct collopt_call *call,
                          struct collopt_plan **plan)
{
    size_t count;
    int err = MPI_SUCCESS;

    if (negative(call, c->ranks))
        return COLLOPT_DECLINED;
    count = count_of(call, c->ranks);
    take_in_place(call, c);
    *plan = collopt_plan_known(c, call, count);
    if (!*plan || !still_right(*plan))
        err = learn(c, call, count, plan);
    return err == MPI_SUCCESS && odd_buffers(call, c, (*plan)->facts.lasting, (*plan)->bytes)
        ? COLLOPT_DECLINED : err;
}

/* The plan by which a candidate runs a call that is known by HEAD. */
static struct collopt_plan *plan_of_candidate(struct collopt_comm *c,
                                              const struct collopt_call *call,
                                              const struct collopt_plan *head)
{
    struct collopt_facts facts = head->facts;           /* HEAD may have to go for a new plan */
    size_t count = head->count;
    struct collopt_plan *plan = collopt_plan_known(c, call, count);

    if (!plan || (!facts.lasting && !collopt_plan_renew(c, plan, &facts)))
        plan = new_plan(c, call, &facts, count);
    return plan;
}

/* One call of the trials that HEAD belongs to. */
static COLLOPT_OUT_OF_LINE int run_trial(struct collopt_comm *c, const struct collopt_plan *head,
                                         struct collopt_call *call)
{
    struct collopt_adapted *adapted = head->adapted;
    int err = collopt_adapt_agree(c, adapted);
    struct collopt_plan *plan;
    uint64_t time = 0;
    bool wanted;

    if (err != MPI_SUCCESS)
        return raise(call, err);
    call->trial = 1 + collopt_adapt_next(adapted, &wanted);
    plan = plan_of_candidate(c, call, head);
    /* The call may not come back: error handlers and operations of the user's may leave it. */
    collopt_adapt_begins(adapted);
    if (plan && !plan->algorithm)
        return wanted ? try_host(c, adapted, call) : decline(call, c, COLLOPT_PASS_CHOSEN);
    err = plan ? run(c, plan, call, wanted ? &time : NULL) : MPI_ERR_NO_MEM;
    if (wanted)
        collopt_adapt_ends(adapted, call->trial - 1, (int64_t)time);
    return raise(call, err);
}

static bool switched_off(void)
{
    return !atomic_load_explicit(&collopt_switched_on, memory_order_relaxed);
}

static inline int serve(struct collopt_comm *c, struct collopt_call *call)
{
    struct collopt_plan *plan = NULL;
    int outcome, err;

    /* before anything that only this rank may know: it is the same on all */
    c->call++;
    outcome = prepare(c, call, &plan);
    if (c->checked && (err = collopt_check(c, call, plan, outcome)) != MPI_SUCCESS)
        return raise(call, err);
    if (outcome == COLLOPT_DECLINED || outcome == COLLOPT_NOT_YET)
        return decline(call, c,
                       outcome == COLLOPT_NOT_YET ? COLLOPT_PASS_EARLY : COLLOPT_PASS_ARGUMENTS);
    if (outcome != MPI_SUCCESS)
        return raise(call, outcome);
    if (c->checked && switched_off())
        return decline(call, c, COLLOPT_PASS_OFF);
    if (plan->adapted)
        return run_trial(c, plan, call);
    return plan->algorithm ? raise(call, run(c, plan, call, NULL))
                           : decline(call, c, COLLOPT_PASS_CHOSEN);
}

/* Of a call on a communicator that is not taken over; 0 where its arguments are the host's to
 * judge.  Who forces an algorithm wants it at once. */
static size_t bytes_of(const struct collopt_comm *c, const struct collopt_call *call)
{
    struct collopt_facts f;

    if (collopt_settings()->force[call->collective] || collopt_settings()->adapt)
        return SIZE_MAX;
    if (collopt_settings()->after > 0 || negative(call, c->ranks)
        || !collopt_facts(call->op, call->type, &f))
        return 0;
    return elements(call, c->ranks) * f.size;
}

/* After MPI_Comm_set_info, which all ranks have called. */
static int compare_keys_and_serve(struct collopt_comm *c, struct collopt_call *call)
{
    int err;

    c->call++;                  /* a failure in the last call is not one of this */
    err = collopt_info_compare(c);
    return err == MPI_SUCCESS ? serve(c, call) : raise(call, err);
}

static COLLOPT_OUT_OF_LINE int decline_or_take_over(struct collopt_comm *c,
                                                    struct collopt_call *call)
{
    int err;

    if (!c)
        return collopt_comm_lacks_memory() ? raise(call, MPI_ERR_NO_MEM)
                                           : decline(call, NULL, COLLOPT_PASS_ARGUMENTS);
    if (collopt_comm_nested(c))
        return decline(call, c, COLLOPT_PASS_NESTED);
    if (c->status == COLLOPT_NEW
        && (err = collopt_comm_take_over(c, bytes_of(c, call))) != MPI_SUCCESS)
        return err;
    if (switched_off() && !(c->checked && c->status == COLLOPT_TAKEN_OVER))
        return decline(call, c, COLLOPT_PASS_OFF);
    switch (c->status) {
    case COLLOPT_TAKEN_OVER:
        return c->keys_due ? compare_keys_and_serve(c, call) : serve(c, call);
    case COLLOPT_NEW:
        return decline(call, c, COLLOPT_PASS_EARLY);
    case COLLOPT_INTERCOMM:
        return decline(call, c, COLLOPT_PASS_INTERCOMM);
    default:
        return decline(call, c, collopt_gpu_allows() ? COLLOPT_PASS_REFUSED : COLLOPT_PASS_NATIVE);
    }
}

int collopt_dispatch(struct collopt_call *call)
{
    struct collopt_comm *c = collopt_comm_find(call->comm);

    if (c && c->status == COLLOPT_TAKEN_OVER && !c->busy && !c->keys_due && !switched_off())
        return serve(c, call);
    return decline_or_take_over(c, call);
}

/* ---- persistent and nonblocking calls -------------------------------------------------------- */

bool collopt_arguments_fit(const struct collopt_comm *c, struct collopt_call *call,
                           struct collopt_facts *f)
{
    if (negative(call, c->ranks) || call->root < 0 || call->root >= c->ranks
        || !collopt_facts(call->op, call->type, f)
        || f->size == 0)
        return false;
    take_in_place(call, c);
    return !odd_buffers(call, c, f->lasting, elements(call, c->ranks) * f->size);
}

bool collopt_arguments_wrong(const struct collopt_comm *c, struct collopt_call *call)
{
    struct collopt_facts f;

    if (negative(call, c->ranks) || call->root < 0 || call->root >= c->ranks)
        return true;
    return collopt_facts(call->op, call->type, &f) && f.size > 0
        && !collopt_arguments_fit(c, call, &f);
}

/* What keeps C from serving such calls, as all its ranks know; COLLOPT_REASONS: nothing. */
static enum collopt_reason obstacle(const struct collopt_comm *c)
{
    if (switched_off() && !(c->checked && c->status == COLLOPT_TAKEN_OVER))
        return COLLOPT_PASS_OFF;
    if (c->status == COLLOPT_NEW)
        return COLLOPT_PASS_EARLY;
    if (c->status != COLLOPT_TAKEN_OVER)
        return c->status == COLLOPT_INTERCOMM ? COLLOPT_PASS_INTERCOMM
            : collopt_gpu_allows() ? COLLOPT_PASS_REFUSED : COLLOPT_PASS_NATIVE;
    return COLLOPT_REASONS;
}

/* Can shared memory serve the call? */
static bool can_publish(const struct collopt_comm *c, const struct collopt_call *call)
{
    if (!collopt_world())
        return false;
    if (c->ranks == 1)
        return !collopt_sessions_begun();       /* it may outlive MPI_Finalize */
    return c->one_node && collopt_shm_carries(c)
        && (call->trial == COLLOPT_PERSISTENT || collopt_shm_room() > 0);
}

bool collopt_publishes(const struct collopt_comm *c, const struct collopt_call *call)
{
    return c->status == COLLOPT_TAKEN_OVER && can_publish(c, call);
}

static bool host_is_chosen(const struct collopt_comm *c, enum collopt_collective collective)
{
    const struct collopt_wish *wish = &c->wish[collective];
    const char *forced = collopt_settings()->force[collective];

    return wish->given ? !wish->choice.algorithm : forced && strcmp(forced, "host") == 0;
}

static int pass(const struct collopt_call *call, enum collopt_reason why)
{
    collopt_count_passed(call->name, why, 1);
    return COLLOPT_DECLINED;
}

/* There is no state of the communicator, or this call is a nested one. */
static int pass_at_once(const struct collopt_call *call, const struct collopt_comm *c)
{
    if (!c && collopt_comm_lacks_memory())
        return MPI_ERR_NO_MEM;
    return pass(call, c ? COLLOPT_PASS_NESTED : COLLOPT_PASS_ARGUMENTS);
}

static const char *why_neither(const struct collopt_comm *c)
{
    return !c->one_node
        ? "several nodes, and this MPI library does not call collopt while a rank waits"
        : "no shared memory";
}

/* This rank alone cannot serve the call.  It takes part in the agreement on a persistent operation,
 * so that all ranks leave it to the host. */
static int refuse_by_messages(struct collopt_comm *c, const struct collopt_call *call, int err)
{
    const char *why;

    if (call->trial != COLLOPT_PERSISTENT)
        collopt_by_messages_miss(c);
    else if (!(err = collopt_by_messages_make(NULL, c, &why)))
        return pass(call, COLLOPT_PASS_UNSUPPORTED);
    return err;
}

/* *PLAN is NULL if shared memory serves the call, else the plan by messages. */
static int find_way(struct collopt_comm *c, struct collopt_call *call, struct collopt_plan **plan)
{
    int outcome;

    *plan = NULL;
    if (host_is_chosen(c, call->collective))
        return pass(call, COLLOPT_PASS_CHOSEN);
    if (can_publish(c, call))
        return MPI_SUCCESS;
    if (!collopt_by_messages(c)) {
        collopt_say_once(COLLOPT_LOG_DECIDE, "%s %s, %d ranks: left to the MPI library (%s)",
                         call->trial == COLLOPT_PERSISTENT ? "persistent" : "nonblocking",
                         collopt_collective_names[call->collective], c->ranks, why_neither(c));
        return pass(call, COLLOPT_PASS_UNSUPPORTED);
    }
    outcome = prepare(c, call, plan);
    if (outcome == COLLOPT_DECLINED || outcome == COLLOPT_NOT_YET)
        return pass(call, outcome == COLLOPT_NOT_YET ? COLLOPT_PASS_EARLY : COLLOPT_PASS_ARGUMENTS);
    if (outcome != MPI_SUCCESS)
        return refuse_by_messages(c, call, outcome);
    return (*plan)->algorithm ? MPI_SUCCESS : pass(call, COLLOPT_PASS_CHOSEN);
}

int collopt_dispatch_persistent(struct collopt_call *call, struct collopt_comm **state,
                                struct collopt_plan **plan)
{
    struct collopt_comm *c = *state = collopt_comm_find(call->comm);
    enum collopt_reason why;
    int err;

    if (!c || collopt_comm_nested(c))
        return pass_at_once(call, c);
    if (c->status == COLLOPT_NEW && (err = collopt_comm_take_over(c, SIZE_MAX)) != MPI_SUCCESS)
        return err;
    if ((why = obstacle(c)) != COLLOPT_REASONS)
        return pass(call, why);
    c->call++;                  /* another rank may make a blocking call here */
    if (c->checked && (err = collopt_check(c, call, NULL, COLLOPT_DECLINED)) != MPI_SUCCESS)
        return raise(call, err);
    if (switched_off())
        return pass(call, COLLOPT_PASS_OFF);
    err = find_way(c, call, plan);
    return err == COLLOPT_DECLINED ? err : raise(call, err);
}

int collopt_dispatch_nonblocking(struct collopt_call *call, struct collopt_comm **state,
                                 struct collopt_plan **plan)
{
    struct collopt_comm *c = *state = collopt_comm_find(call->comm);
    enum collopt_reason why;

    if (!c || collopt_comm_nested(c))
        return pass_at_once(call, c);
    c->later++;
    if (c->status == COLLOPT_NEW)
        collopt_comm_note(c, bytes_of(c, call));
    if (switched_off())
        return pass(call, COLLOPT_PASS_OFF);
    if ((why = obstacle(c)) != COLLOPT_REASONS)
        return pass(call, why);
    return find_way(c, call, plan);
}
