/* From a call to its execution, by collopt, or by the host where it falls back. */
#include "config.h"

#include <string.h>

#include "mpi/call/dispatch.h"
#include "base/log.h"
#include "mpi/check/check.h"
#include "mpi/comm/arguments.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/failure.h"
#include "mpi/comm/hints.h"
#include "mpi/comm/noted.h"
#include "mpi/comm/recorded.h"
#include "mpi/comm/take_over.h"
#include "mpi/comm/traced.h"
#include "mpi/device/gpu.h"
#include "mpi/host/attributes.h"
#include "mpi/host/call.h"
#include "mpi/host/errhandler.h"
#include "mpi/host/fall_back.h"
#include "mpi/node/process.h"
#include "mpi/plan/plan.h"
#include "mpi/plan/find.h"
#include "mpi/plan/make.h"
#include "mpi/plan/store.h"
#include "mpi/plan/tuning.h"
#include "mpi/run/execute.h"
#include "mpi/run/staged.h"
#include "report/counters.h"
#include "report/timing.h"
#include "settings/settings.h"

/* ---- calls that fall back -------------------------------------------------------------------- */

/* BYTES: COLLOPT_NOT_TRACED if they are not known. */
static void note(const struct collopt_call *call, struct collopt_comm *c, enum collopt_reason why,
                 uint64_t start, uint64_t time, uint64_t bytes)
{
    bool nested = why == COLLOPT_PASS_NESTED;   /* then the latest note is that of the outer call */
    int size_class = bytes == COLLOPT_NOT_TRACED ? -1 : collopt_size_class(bytes);

    if (!c)
        return;
    c->reductions++;
    if (!nested)
        collopt_noted_leave(c, call, collopt_counted_passed(call->name, why, size_class), start,
                            time);
    if (collopt_traces(c))
        collopt_trace_call(c, call, (struct collopt_traced){
            .why = collopt_reason_names[why], .entered = start, .took = time, .bytes = bytes,
            .waiting = nested ? NULL : collopt_noted_waiting(c) });
}

/* C: NULL also if the call has failed. */
static void count_fallen_back(const struct collopt_call *call, struct collopt_comm *c,
                              enum collopt_reason why, uint64_t start, uint64_t time)
{
    uint64_t bytes;

    if (collopt_arguments_size(c, call, why, &bytes)) {
        collopt_count_passed_call(call->name, why, time, c->ranks, bytes);
        note(call, c, why, start, time, bytes);
    } else {
        collopt_count_passed_call(call->name, why, time, 0, 0);
        note(call, c, why, start, time, COLLOPT_NOT_TRACED);
    }
}

/* What comes before a call in which the ranks may wait for each other: it is part of its time. */
static uint64_t prepare(const struct collopt_comm *c)
{
    return c->timed ? collopt_timing_begin() : 0;
}

static void prepared(struct collopt_comm *c, uint64_t begun)
{
    if (c->timed)
        c->prepared += collopt_timing_end(begun);
}

/* C, unless NULL: how long this call was prepared. */
static uint64_t preparation(struct collopt_comm *c)
{
    uint64_t time = c ? c->prepared : 0;

    if (time > 0)
        c->prepared = 0;
    return time;
}

static COLLOPT_OUT_OF_LINE int fall_back_timed(const struct collopt_call *call,
                                               struct collopt_comm *c, enum collopt_reason why)
{
    uint64_t before = why == COLLOPT_PASS_NESTED ? 0 : preparation(c);
    uint64_t start = collopt_timing_begin();
    int err = collopt_fall_back(call);

    count_fallen_back(call, err == MPI_SUCCESS ? c : NULL, why, start - before,
                      collopt_timing_end(start) + before);
    return err;
}

/* C: the call's communicator; NULL: not known to be valid. */
static int fall_back(const struct collopt_call *call, struct collopt_comm *c,
                     enum collopt_reason why)
{
    if (atomic_load_explicit(&collopt_reporting, memory_order_relaxed))
        return fall_back_timed(call, c, why);
    collopt_count_passed(call->name, why, 1);
    return collopt_fall_back(call);
}

/* ---- the call -------------------------------------------------------------------------------- */

/* The buffers of a call are mostly where no device memory can be.  A datatype with a layout of its
 * own may reach anywhere from its address; a rank that gets no result may give any address for
 * it. */
static inline bool on_host(const struct collopt_comm *c, const struct collopt_plan *plan,
                           const void *in, const void *out)
{
    if (!plan->facts.dense && !plan->facts.predefined)
        return false;
    return (plan->in_place || collopt_plainly_host(in))
        && (collopt_plainly_host(out)
            || (plan->collective == COLLOPT_REDUCE && c->rank != plan->root));
}

/* ENTERED, unless NULL: as of collopt_execute(). */
static inline int execute(struct collopt_comm *c, struct collopt_plan *plan,
                          const struct collopt_call *call, uint64_t *entered)
{
    if (__builtin_expect(on_host(c, plan, call->in, call->out), 1))
        return collopt_execute(c, plan, call->in, call->out, entered);
    if (entered)
        *entered = collopt_timing_begin();
    return collopt_execute_anywhere(c, plan, call->in, call->out);
}

static void note_run(struct collopt_comm *c, const struct collopt_plan *plan,
                     const struct collopt_call *call, uint64_t start, uint64_t time)
{
    c->reductions++;
    collopt_noted_leave(c, call, collopt_counted_run(plan->algorithm, plan->size_class), start,
                        time);
    if (collopt_traces(c))
        collopt_trace_call(c, call, (struct collopt_traced){
            .by = plan->algorithm->name, .entered = start, .took = time, .bytes = plan->bytes,
            .waiting = collopt_noted_waiting(c) });
}

/* TIME: where it is wanted, else NULL. */
static COLLOPT_OUT_OF_LINE int timed(struct collopt_comm *c, struct collopt_plan *plan,
                                     const struct collopt_call *call, uint64_t *time)
{
    uint64_t before = preparation(c), start, diverted, whole;
    int err;

    if (time) {                 /* a trial: all of the call counts */
        start = collopt_timing_begin();
        err = execute(c, plan, call, NULL);
    } else {
        err = execute(c, plan, call, &start);
    }
    whole = collopt_timing_end(start);
    if (time)
        *time = whole;
    start -= before;
    whole += before;
    if (c->timed && err == MPI_SUCCESS)
        note_run(c, plan, call, start, whole);
    diverted = collopt_execution_diverted(c);
    if (!c->timed)
        collopt_count_call(plan->algorithm, plan->size_class, plan->bytes);
    else
        collopt_count_timed(
            plan->algorithm, plan->size_class,
            &(struct collopt_timed_call){ .bytes = plan->bytes,
                                          .time = whole,
                                          .sent = { plan->sent[COLLOPT_SENT_BY_HOST] + diverted,
                                                    plan->sent[COLLOPT_SENT_BY_SHM] - diverted } });
    return err;
}

static int untimed(struct collopt_comm *c, struct collopt_plan *plan,
                   const struct collopt_call *call)
{
    collopt_count_call(plan->algorithm, plan->size_class, plan->bytes);
    return execute(c, plan, call, NULL);
}

static int raise(const struct collopt_call *call, int err)
{
    if (err != MPI_SUCCESS) {
        struct collopt_comm *c = collopt_comm_find(call->comm);

        collopt_record_leave(c);
        preparation(c);
    }
    return collopt_raise(call->comm, err);
}

static COLLOPT_OUT_OF_LINE void trace(const struct collopt_comm *c, const struct collopt_plan *plan,
                                      const struct collopt_call *call)
{
    collopt_say(COLLOPT_LOG_TRACE, "MPI_%s, %d ranks, %llu bytes: %s", call->name, c->ranks,
                (unsigned long long)plan->bytes, plan->algorithm->name);
}

/* A user's error handler may leave by longjmp.  So an error is raised only when the rest of the
 * call is done.  The communicator must not be busy any more: the next call would take itself for a
 * nested one, on this rank alone.  And the trials must have counted the call. TIME may be NULL. */
static inline int run(struct collopt_comm *c, struct collopt_plan *plan,
                      const struct collopt_call *call, uint64_t *time)
{
    int err;

    if (c->traced)
        trace(c, plan, call);
    collopt_record_run(c, plan->bytes, plan->recorded);
    c->busy = true;
    err = c->timed || time ? timed(c, plan, call, time) : untimed(c, plan, call);
    c->busy = false;
    return err;
}

/* A trial of the host, which raises its errors itself. */
static int try_host(struct collopt_comm *c, struct collopt_adapted *adapted,
                    const struct collopt_call *call)
{
    uint64_t before = preparation(c), start = collopt_timing_begin(), time;
    int err = collopt_fall_back(call);

    time = collopt_timing_end(start);
    collopt_adapt_ends(adapted, call->candidate - 1, (int64_t)time);
    if (c->timed)
        count_fallen_back(call, err == MPI_SUCCESS ? c : NULL, COLLOPT_PASS_CHOSEN, start - before,
                          time + before);
    else
        collopt_count_passed(call->name, COLLOPT_PASS_CHOSEN, 1);
    return err;
}

/* The plan by which a candidate runs a call that is known by HEAD. */
static struct collopt_plan *plan_of_candidate(struct collopt_comm *c,
                                              const struct collopt_call *call,
                                              const struct collopt_plan *head)
{
    struct collopt_facts facts = head->facts;           /* HEAD may have to go for a new plan */
    size_t count = head->count;
    struct collopt_plan *plan = collopt_plan_known(c, call, count);

    if (!plan || (!facts.predefined && !collopt_plan_renew(c, plan, &facts)))
        plan = collopt_plan_new(c, call, &facts);
    return plan;
}

/* One call of the trials that HEAD belongs to. */
static COLLOPT_OUT_OF_LINE int run_trial(struct collopt_comm *c, const struct collopt_plan *head,
                                         struct collopt_call *call)
{
    struct collopt_adapted *adapted = head->adapted;
    uint64_t begun = prepare(c), time = 0;
    int err = collopt_adapt_agree(c, adapted);
    struct collopt_plan *plan;
    bool wanted;

    prepared(c, begun);
    if (err != MPI_SUCCESS)
        return raise(call, err);
    call->candidate = 1 + collopt_adapt_next(adapted, &wanted);
    plan = plan_of_candidate(c, call, head);
    /* The call may not come back: error handlers and operations of the user's may leave it. */
    collopt_adapt_begins(adapted);
    if (plan && !plan->algorithm)
        return wanted ? try_host(c, adapted, call) : fall_back(call, c, COLLOPT_PASS_CHOSEN);
    err = plan ? run(c, plan, call, wanted ? &time : NULL) : MPI_ERR_NO_MEM;
    if (wanted)
        collopt_adapt_ends(adapted, call->candidate - 1, (int64_t)time);
    return raise(call, err);
}

static COLLOPT_OUT_OF_LINE int check(struct collopt_comm *c, const struct collopt_call *call,
                                     const struct collopt_plan *plan, enum collopt_outcome outcome)
{
    uint64_t begun = prepare(c);
    int err = collopt_check(c, call, plan, outcome);

    prepared(c, begun);
    return err;
}

/* PLAN was made before the ranks knew that they call the same. */
static int wire(struct collopt_comm *c, struct collopt_plan *plan, enum collopt_outcome outcome)
{
    if (outcome != COLLOPT_RUN || plan->wired || collopt_plan_wire(c, plan))
        return MPI_SUCCESS;
    collopt_give_up(c, c->call);
    return MPI_ERR_NO_MEM;
}

static inline int serve(struct collopt_comm *c, struct collopt_call *call)
{
    struct collopt_plan *plan = NULL;
    enum collopt_outcome outcome;
    int err;

    /* before anything that only this rank may know: it is the same on all */
    c->call++;
    outcome = collopt_plan_find(c, call, &plan);
    if (c->checked
        && ((err = check(c, call, plan, outcome)) || (err = wire(c, plan, outcome))))
        return raise(call, err);
    if (__builtin_expect(outcome != COLLOPT_RUN, 0))
        return outcome == COLLOPT_FAILED
            ? raise(call, MPI_ERR_NO_MEM)
            : fall_back(call, c, outcome == COLLOPT_TOO_EARLY ? COLLOPT_PASS_EARLY
                                                              : COLLOPT_PASS_ARGUMENTS);
    if (c->checked && collopt_is_off())
        return fall_back(call, c, COLLOPT_PASS_OFF);
    if (plan->adapted)
        return run_trial(c, plan, call);
    return plan->algorithm ? raise(call, run(c, plan, call, NULL))
                           : fall_back(call, c, plan->passed);
}

/* After MPI_Comm_set_info, which all ranks have called. */
static int compare_hints_and_serve(struct collopt_comm *c, struct collopt_call *call)
{
    uint64_t begun = prepare(c);
    int err;

    c->call++;                  /* so that a failure in the last call does not count for this one */
    err = collopt_hints_compare(c);
    prepared(c, begun);
    return err == MPI_SUCCESS ? serve(c, call) : raise(call, err);
}

static int take_over(struct collopt_comm *c, const struct collopt_call *call)
{
    uint64_t begun = prepare(c);
    int err = collopt_comm_take_over(c, collopt_bytes_to_count(c, call));

    prepared(c, begun);
    return err;
}

static COLLOPT_OUT_OF_LINE int fall_back_or_take_over(struct collopt_comm *c,
                                                      struct collopt_call *call)
{
    enum collopt_reason why;
    int err;

    if (!c)
        return collopt_comm_lacks_memory() ? raise(call, MPI_ERR_NO_MEM)
                                           : fall_back(call, NULL, COLLOPT_PASS_ARGUMENTS);
    if (collopt_comm_nested(c))
        return fall_back(call, c, COLLOPT_PASS_NESTED);
    collopt_noted_enter(c);
    if (c->status == COLLOPT_NEW && (err = take_over(c, call)) != MPI_SUCCESS)
        return err;
    if ((why = collopt_comm_obstacle(c)) != COLLOPT_REASONS)
        return fall_back(call, c, why);
    return c->hints_due ? compare_hints_and_serve(c, call) : serve(c, call);
}

int collopt_dispatch(struct collopt_call *call)
{
    struct collopt_comm *c = collopt_comm_find(call->comm);
    int err;

    collopt_record_enter(c, call, COLLOPT_RECORDED_BLOCKING);
    if (c && c->status == COLLOPT_TAKEN_OVER && !c->busy && !c->hints_due && !collopt_is_off()) {
        collopt_noted_enter(c);
        err = serve(c, call);
    } else {
        err = fall_back_or_take_over(c, call);
    }
    collopt_record_leave(c);
    return err;
}
