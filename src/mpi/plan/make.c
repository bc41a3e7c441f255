/* From a call to a plan; see make.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/plan/make.h"
#include "base/arithmetic.h"
#include "base/log.h"
#include "base/numbers.h"
#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "catalogue/expression.h"
#include "kernels/exact_words.h"
#include "kernels/isa.h"
#include "kernels/kernels.h"
#include "model/machine.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/hints.h"
#include "mpi/comm/links.h"
#include "mpi/host/call.h"
#include "mpi/plan/plan.h"
#include "mpi/plan/schedules.h"
#include "mpi/plan/tuning.h"
#include "mpi/plan/wires.h"
#include "recorder/recorder.h"
#include "report/counters.h"
#include "schedule/bind.h"
#include "schedule/block.h"
#include "schedule/bound.h"
#include "schedule/problem.h"
#include "select/decide.h"
#include "select/fragment_length.h"
#include "select/reproducible.h"
#include "settings/settings.h"

enum { ALIGNMENT = 64 };        /* of scratch, in bytes */

/* Rows lie behind the USED bytes of scratch.  Returns all bytes. */
static size_t lay_out_rows(struct collopt_plan *plan, size_t used)
{
    struct collopt_plan_rows *r = &plan->rows;
    size_t element = r->of.words * sizeof(int64_t);

    r->in = (ptrdiff_t)used;
    r->out = r->in + (ptrdiff_t)rounded_up(r->inputs * element, ALIGNMENT);
    return (size_t)r->out + rounded_up(r->results * element, ALIGNMENT);
}

/* Elements keep their extent in scratch, and an operation may touch the whole of it, so a slot
 * spans all gaps.  Element 0 is aligned, wherever its bytes begin, as the user's own would be:
 * operations may be compiled for that. */
static void lay_out(struct collopt_plan *plan)
{
    const struct collopt_facts *f = &plan->element;
    size_t used = 0;

    int slots = plan->bound->slots - plan->bound->views;

    for (int i = 0; i < slots; i++) {
        ptrdiff_t last = ((ptrdiff_t)plan->bound->slot[i] - 1) * f->extent;
        ptrdiff_t from = f->low + (last < 0 ? last : 0), to = f->high + (last > 0 ? last : 0),
                  before;

        if (plan->bound->slot[i] == 0)
            continue;
        before = from < 0 ? (-from + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT
                          : -(from / ALIGNMENT * ALIGNMENT);
        plan->slot[i] = (ptrdiff_t)used + before;
        used += (size_t)(before + to + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    for (int i = 0; i < plan->bound->views; i++)
        plan->slot[slots + i] = (ptrdiff_t)plan->bound->view[i].at * f->extent;
    plan->scratch = lay_out_rows(plan, used);
}

static bool copy_counts(struct collopt_plan *plan, const struct collopt_call *call, int ranks)
{
    if (call->collective != COLLOPT_REDUCE_SCATTER)
        return true;
    plan->counts = malloc((size_t)ranks * sizeof *plan->counts);
    for (int i = 0; plan->counts && i < ranks; i++)
        plan->counts[i] = collopt_call_count(call, i);
    return plan->counts != NULL;
}

/* Pairs with gaps, MPI_DOUBLE_INT and its like, are sent on a node as bytes, gaps and all: hosts
 * pack them element by element, which takes as long as the message (Open MPI) or ten times as long
 * (MPICH); 192 KiB take 91 us on Open MPI and 480 on MPICH, as bytes 34 and 39.  They are received
 * into scratch, since OUT's gaps are the user's, and folded or copied from there.  The operation is
 * a predefined one here, so all ranks have this type; with one of the user's, others may have a
 * type of their own with the same data.  The gap behind the last element of a message stays behind.
 *
 * An Exscan on two ranks does nothing but receive, so what comes as bytes is copied.  Once the
 * caches do not hold it, Open MPI's unpacking is cheaper: 8 MiB at 0.9 of its speed, 16 MiB at
 * 0.76. */
static bool sends_gaps(const struct collopt_comm *c, const struct collopt_facts *f,
                       const struct collopt_problem *p)
{
    const size_t cached = (size_t)4 << 20;
    bool copied = p->collective == COLLOPT_EXSCAN && p->ranks == 2 && p->count * p->size > cached
        && c->map.machine.mpi == COLLOPT_OPENMPI && !p->machine->shm;

    return f->kernel && !f->dense && collopt_kernel(COLLOPT_REPLACE, f->type_id)
        && c->map.one_node && !copied;
}

/* All lengths are in elements.  No message is longer than COLLOPT_CUT. */
static void cut_elements(const struct collopt_plan *plan, const struct collopt_problem *p,
                         struct collopt_cut cut[COLLOPT_CUTS + 1])
{
    size_t size = plan->data.gaps ? (size_t)plan->element.extent : plan->element.size,
           most = collopt_settings()->cut / size;
    int n = 0;

    if (most == 0)
        most = 1;
    collopt_cuts(p, cut);
    for (; cut[n].piece > 0 && cut[n].above / size < most; n++) {
        cut[n].above /= size;
        cut[n].piece /= size;
        if (cut[n].piece == 0)
            cut[n].piece = 1;
        if (cut[n].piece > most)
            cut[n].piece = most;
    }
    cut[n] = (struct collopt_cut){ .above = most, .piece = most };
    cut[n + 1] = (struct collopt_cut){ 0 };
}

static struct collopt_cut cut_by_shm(size_t bytes, size_t size)
{
    size_t piece = bytes / size;

    if (piece == 0)
        piece = 1;
    return (struct collopt_cut){ .above = piece, .piece = piece, .in_turn = true };
}

/* Ranks of this node whose messages need a channel.  Only plain bytes can be read where they are.
 * A view takes some 70 instructions more than a receive, as many as the copy of 1 KiB. */
static struct collopt_bound *bind_schedule(const struct collopt_comm *c,
                                           const struct collopt_plan *plan,
                                           const struct collopt_schedule *s,
                                           const struct collopt_problem *p)
{
    size_t size = plan->data.gaps ? (size_t)plan->element.extent : plan->element.size;
    struct collopt_cut cut[COLLOPT_CUTS + 1],
        pair[] = { cut_by_shm(collopt_links_piece(c, false), size), { 0 } },
        multicast[] = { cut_by_shm(collopt_links_piece(c, true), size), { 0 } };
    bool *near = malloc((size_t)c->ranks * sizeof *near);
    struct collopt_nearby nearby = { .rank = near, .cuts = pair, .multicast = multicast,
                                     .views = collopt_is_plain(plan) || plan->data.gaps,
                                     .copied = 1024 / size };
    struct collopt_bound *bound = NULL;

    cut_elements(plan, p, cut);
    if (near)
        bound = collopt_bind_near(s, p, cut,
                                  plan->shm && collopt_links_near(c, near) ? &nearby : NULL);
    free(near);
    return bound;
}

static size_t room_for(const struct collopt_bound *b)
{
    int room = most(most(b->slots + COLLOPT_FIRST_SLOT, b->messages), b->strands);

    for (int t = 0; t < b->strands; t++)
        for (const struct collopt_step *s = b->strand[t]; s->kind != COLLOPT_END; s++)
            room = most(room, s->runs);
    return (size_t)room;
}

static bool bind_plan(struct collopt_comm *c, struct collopt_plan *plan,
                      const struct collopt_problem *p)
{
    bool gaps = sends_gaps(c, &plan->element, p);
    bool in_place = plan->in_place && plan->rows.of.words == 0;
    unsigned how = (in_place ? COLLOPT_IN_PLACE : 0)
        | (plan->element.kernel ? 0 : COLLOPT_TWO_OPERANDS) | (gaps ? COLLOPT_VIA_SCRATCH : 0);
    const struct collopt_schedule *s = collopt_schedule_for(c, plan->algorithm, p, how);
    struct collopt_bound *bound;

    plan->data.gaps = gaps;
    plan->data.tail = gaps
        ? (int)(plan->element.extent - (ptrdiff_t)collopt_type_end(plan->element.type_id)) : 0;
    plan->data.eager = c->map.machine.mpi == COLLOPT_OPENMPI
        ? collopt_eager(&c->map.machine_p2p.way[COLLOPT_IN_NODE]) : 0;
    plan->data.ordered = plan->shm && collopt_is_derived(&plan->element) && c->ranks > 1
        && collopt_lies_in_order(c, &plan->element);
    plan->bound = bound = s ? bind_schedule(c, plan, s, p) : NULL;
    if (!bound)
        return false;
    plan->wire = calloc((size_t)bound->messages + 1, sizeof *plan->wire);
    plan->slot = calloc((size_t)bound->slots + 1, sizeof *plan->slot);
    if (!plan->wire || !plan->slot)
        return false;
    plan->room = room_for(bound);
    lay_out(plan);
    return true;
}

bool collopt_plan_wire(struct collopt_comm *c, struct collopt_plan *plan)
{
    plan->wired = !plan->bound || collopt_wires_set(c, plan);
    plan->unchecked = plan->data.derived;
    if (!plan->wired)
        collopt_plan_free_types(plan);
    return plan->wired;
}

/* Links tell the peers something, who may have called something else: that comes out first. */
static bool is_wired_later(const struct collopt_comm *c, const struct collopt_call *call)
{
    return c->checked && call->mode == COLLOPT_BLOCKING && call->candidate == 0;
}

/* P has the choice's parameters, also those that were not given. */
static void say_decision(const struct collopt_comm *c, struct collopt_plan *plan,
                         const struct collopt_decision *d, const struct collopt_problem *p)
{
    struct collopt_choice choice = { .algorithm = plan->algorithm };
    char chosen[512];

    if (collopt_settings()->log < COLLOPT_LOG_DECIDE && !c->checked)
        return;
    memcpy(choice.value, p->value, sizeof choice.value);
    collopt_choice_text(&choice, chosen, sizeof chosen);
    if (c->checked)
        plan->chosen = strdup(chosen);
    collopt_explain_once("%s, %d ranks, %llu bytes, %s of %s%s%s: %s (%s)",
                         collopt_collective_names[plan->collective], c->ranks,
                         (unsigned long long)plan->bytes, plan->facts.op_name,
                         plan->facts.type_name, plan->in_place ? ", in place" : "",
                         plan->shm && plan->algorithm ? ", by shared memory" : "", chosen, d->why);
}

/* A candidate that was chosen for another problem of the same kind may be unable to serve this
 * one. */
static void choose(struct collopt_comm *c, const struct collopt_call *call,
                   const struct collopt_problem *p, struct collopt_decision *d)
{
    /* they are there */
    struct collopt_adapted *adapted = call->candidate > 0 ? collopt_adapted_for(c, p) : NULL;
    const struct collopt_choice *candidate = adapted
        ? collopt_adapt_choice(adapted, call->candidate - 1)
        : NULL;

    if (candidate && (!candidate->algorithm || collopt_choice_usable(candidate, p, NULL))) {
        *d = (struct collopt_decision){ .choice = *candidate, .why = "a candidate, COLLOPT_ADAPT" };
        return;
    }
    if (!collopt_hints_select(c, p, d))
        collopt_select_again(p, collopt_schedules_predictions(c), d);
}

/* P, whose elements are rows, becomes one of their words, which are integers of the host's.
 * *COUNTS: those of P, to be freed. */
static bool count_words(struct collopt_plan *plan, const struct collopt_call *call,
                        const struct collopt_comm *c, struct collopt_problem *p, size_t **counts)
{
    struct collopt_plan_rows *r = &plan->rows;

    if (!collopt_facts(MPI_SUM, MPI_INT64_T, &plan->element)
        || !collopt_exact_words_of(plan->facts.type_id, c->ranks, &r->of))
        return false;
    r->inputs = p->count;
    r->results = collopt_call_results(call, c->rank);
    r->operands = call->collective == COLLOPT_SCAN ? c->rank + 1
        : call->collective == COLLOPT_EXSCAN       ? c->rank
                                                   : c->ranks;
    p->count *= r->of.words;
    p->size = sizeof(int64_t);
    if (!plan->counts)
        return true;
    p->counts = *counts = malloc((size_t)c->ranks * sizeof **counts);
    for (int i = 0; *counts && i < c->ranks; i++)
        (*counts)[i] = plan->counts[i] * r->of.words;
    return *counts != NULL;
}

/* D's algorithm is one of ours. */
static bool bind_choice(struct collopt_comm *c, struct collopt_plan *plan,
                        const struct collopt_call *call, const struct collopt_decision *d,
                        struct collopt_problem *p)
{
    size_t *counts = NULL;
    bool bound = (!d->rows || count_words(plan, call, c, p, &counts)) && bind_plan(c, plan, p);

    free(counts);
    return bound;
}

static bool decide(struct collopt_comm *c, struct collopt_plan *plan,
                   const struct collopt_call *call)
{
    struct collopt_problem p = {
        .collective = call->collective,
        .ranks = c->ranks,
        .root = call->root,
        .size = plan->facts.size,
        .counts = plan->counts,
        .commutative = plan->facts.commutative,
        .exact = plan->facts.exact,
        .users = !collopt_op_predefined(call->op),
        .once = plan->facts.once,
        .row = plan->facts.once ? collopt_exact_row(plan->facts.type_id, c->ranks) : 0,
        .segments = 1,
        .topology = &c->map.topology,
    };
    const unsigned misses = collopt_choice_misses();
    struct collopt_decision d;

    p.count = collopt_call_elements(call, c->ranks);
    plan->bytes = (uint64_t)p.count * p.size;
    plan->shm = call->mode == COLLOPT_BLOCKING && collopt_comm_shares_memory(c);
    p.machine = plan->shm ? &c->map.machine : &c->map.machine_p2p;
    collopt_hide_placement(&p);
    plan->size_class = collopt_size_class(plan->bytes);
    choose(c, call, &p, &d);
    if (d.open && collopt_settings()->adapt && call->mode == COLLOPT_BLOCKING
        && call->candidate == 0 && c->ranks > 1) {
        plan->adapted = collopt_adapted_for(c, &p);
        return plan->adapted != NULL && collopt_choice_misses() == misses;
    }
    plan->algorithm = d.choice.algorithm;
    plan->passed = d.offloaded ? COLLOPT_PASS_OFFLOADED : COLLOPT_PASS_CHOSEN;
    if (plan->algorithm) {
        if (d.rows)
            collopt_problem_in_rows(&p, &p);
        collopt_set_parameters(&p, &d.choice);
        plan->recorded = collopt_recorder_name(plan->algorithm->name);
    }
    if (collopt_choice_misses() != misses) {    /* other ranks may have chosen something else */
        collopt_schedules_forget_predictions(c);
        return false;
    }
    say_decision(c, plan, &d, &p);
    return !plan->algorithm || bind_choice(c, plan, call, &d, &p);
}

struct collopt_plan *collopt_plan_make(struct collopt_comm *c, const struct collopt_call *call,
                                       const struct collopt_facts *f)
{
    struct collopt_plan *plan = calloc(1, sizeof *plan);
    uint64_t arithmetic;
    bool made;

    if (!plan)
        return NULL;
    *plan = (struct collopt_plan){ .collective = call->collective,
                                   .in_place = call->in == MPI_IN_PLACE,
                                   .root = call->root,
                                   .count = collopt_call_key(call, c->ranks),
                                   .facts = *f, .element = *f,
                                   .mode = call->mode, .candidate = call->candidate };
    arithmetic = collopt_default_fpenv();
    made = copy_counts(plan, call, c->ranks) && decide(c, plan, call);
    collopt_arithmetic_of(arithmetic);
    made = made && (is_wired_later(c, call) || collopt_plan_wire(c, plan));
    if (!made) {
        collopt_plan_free(plan);
        return NULL;
    }
    return plan;
}
