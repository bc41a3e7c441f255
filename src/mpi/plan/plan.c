/* Plans: a schedule bound to a count, a datatype and an operation, kept per communicator for the
 * next call like it.
 *
 * Three things are remembered: the schedule (whatever the count), the plan (the schedule bound to a
 * count, with the host's datatypes for messages in several pieces), and, for calls that go to the
 * host, that they do.  A plan for handles of the user's own is used again only if all that was
 * learnt of them is the same. */
#include "config.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/plan/plan.h"
#include "base/arithmetic.h"
#include "base/log.h"
#include "base/memo.h"
#include "base/numbers.h"
#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "catalogue/expression.h"
#include "kernels/kernels.h"
#include "model/machine.h"
#include "mpi/plan/tuning.h"
#include "mpi/host/attributes.h"
#include "mpi/comm/comm.h"
#include "mpi/call/dispatch.h"
#include "mpi/host/host.h"
#include "mpi/comm/hints.h"
#include "mpi/comm/links.h"
#include "report/counters.h"
#include "schedule/passes.h"
#include "schedule/schedule.h"
#include "select/decide.h"
#include "select/fragment_length.h"
#include "select/prediction_cache.h"
#include "select/reproducible.h"
#include "settings/settings.h"

/* Limits on the plans that a communicator keeps.  A plan weighs its steps, of some 100 bytes each,
 * and a fixed part. */
enum {
    SCHEDULES = 64,
    ALIGNMENT = 64,
    PLANS = 256,
    PLANS_PER_RANK = 4,
    WEIGHT = 1 << 18,
    PLAN_WEIGHT = 8
};

struct kept {                   /* a schedule and what it was built for */
    const struct collopt_algorithm *algorithm;
    size_t value[COLLOPT_PARAMETERS];
    int segments, root;
    unsigned how;
    bool counted, commutative;
    struct collopt_schedule *schedule;
};

struct collopt_schedules {
    struct kept list[SCHEDULES];
    int n, oldest;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;        /* of who holds plans */

/* ---- schedules ------------------------------------------------------------------------------- */

static bool fits(const struct kept *k, const struct collopt_algorithm *a,
                 const struct collopt_problem *p, unsigned how)
{
    return k->algorithm == a && k->segments == p->segments && k->root == p->root && k->how == how
        && k->counted == (p->counts != NULL) && k->commutative == p->commutative
        && memcmp(k->value, p->value, sizeof k->value) == 0;
}

static const struct collopt_schedule *schedule_for(struct collopt_comm *c,
                                                   const struct collopt_algorithm *a,
                                                   const struct collopt_problem *p, unsigned how)
{
    struct collopt_schedules *s = c->schedules;

    if (!s && !(s = c->schedules = calloc(1, sizeof *s)))
        return NULL;
    for (int i = 0; i < s->n; i++)
        if (fits(&s->list[i], a, p, how))
            return s->list[i].schedule;

    struct collopt_schedule *fresh = collopt_schedule_new(a, p, c->rank, how);

    if (!fresh)
        return NULL;

    struct kept *k = &s->list[s->n < SCHEDULES ? s->n++ : s->oldest++ % SCHEDULES];

    collopt_schedule_free(k->schedule);
    *k = (struct kept){ .algorithm = a, .segments = p->segments, .root = p->root, .how = how,
                        .counted = p->counts != NULL, .commutative = p->commutative,
                        .schedule = fresh };
    memcpy(k->value, p->value, sizeof k->value);
    return fresh;
}

/* ---- the messages as the host is told them --------------------------------------------------- */

/* Where a run of the user's memory may be the last in it, its last gap may not be there. */
static bool ends_memory(const struct collopt_plan *plan, const struct collopt_run *r)
{
    return r->place < COLLOPT_FIRST_SLOT && r->at + r->n == plan->end[r->place];
}

static MPI_Aint displacement_of(const struct collopt_wire *w, char *const *place, int which,
                                MPI_Aint origin)
{
    MPI_Aint address = 0;

    if (!place)
        return -w->at;
    PMPI_Get_address(place[which], &address);
    return address - origin;
}

/* The bytes of a message with gaps go as they lie, up to the end of the last element's data.  An
 * earlier run that ends the user's memory sends its own first bytes in the place of its last gap:
 * what is received as a gap means nothing. */
static int pieces_of(const struct collopt_plan *plan, const struct collopt_wire *w,
                     char *const *place, MPI_Aint origin, int *length, MPI_Aint *at)
{
    const struct collopt_message *m = w->message;
    int n = 0;

    for (int i = 0; i < m->runs; i++) {
        const struct collopt_run *r = &m->run[i];
        bool last = i == m->runs - 1,
             fill = w->units > 1 && m->send && !last && ends_memory(plan, r);
        int gap = w->units > 1 && (last || fill) ? plan->tail : 0;

        at[n] = displacement_of(w, place, r->place, origin)
            + (MPI_Aint)r->at * plan->facts.extent;
        length[n++] = (int)r->n * w->units - gap;
        if (fill && gap > 0) {
            at[n] = at[n - 1];
            length[n++] = gap;
        }
    }
    return n;
}

int collopt_wire_type(const struct collopt_plan *plan, const struct collopt_wire *w,
                      char *const *place, MPI_Aint origin, MPI_Datatype *made)
{
    size_t room = 2 * (size_t)w->message->runs;
    int err = MPI_ERR_NO_MEM, *length = malloc(room * sizeof *length);
    MPI_Aint *at = malloc(room * sizeof *at);

    if (length && at
        && !(err = PMPI_Type_create_hindexed(pieces_of(plan, w, place, origin, length, at), length,
                                             at, w->unit, made)))
        err = PMPI_Type_commit(made);
    free(length);
    free(at);
    return err;
}

static bool one_place(const struct collopt_message *m)
{
    for (int i = 1; i < m->runs; i++)
        if (m->run[i].place != m->run[0].place)
            return false;
    return true;
}

/* Both ends know the length, and decide alike. */
static bool carries_gaps(const struct collopt_plan *plan, const struct collopt_message *m,
                         bool near)
{
    bool eager_without = m->n * plan->facts.size <= plan->eager
        && m->n * (size_t)plan->facts.extent > plan->eager;

    return plan->gaps && (near || !eager_without);
}

static bool is_derived(const struct collopt_facts *f)
{
    return !f->lasting && !f->but_op;
}

/* Do the data of the user's datatype lie in the order in which they are sent?  An element whose
 * bytes say where they lie, which takes two bytes each, is packed twice.  No for a datatype that
 * cannot be packed, as it is not committed. */
static bool lies_in_order(const struct collopt_comm *c, const struct collopt_facts *f)
{
    /* bytes; of longer elements packing is a small part of what they take */
    enum { MOST = 4096 };
    unsigned char lying[MOST], packed[MOST];

    if (!f->dense || f->size > MOST)
        return false;
    for (int part = 0; part < 2; part++) {
        int position = 0;

        for (size_t i = 0; i < f->size; i++)
            lying[i] = (unsigned char)(i >> 8 * part);
        if (PMPI_Pack(lying, 1, f->type, packed, MOST, &position, c->hidden)
            || (size_t)position != f->size || memcmp(lying, packed, f->size) != 0)
            return false;
    }
    return true;
}

/* Are its bytes in memory those of a message?  A datatype of the user's may have its data in
 * another order, and another rank's for the same data in yet another. */
static bool is_plain(const struct collopt_plan *plan)
{
    return plan->ordered || (plan->facts.dense && !is_derived(&plan->facts));
}

/* A message carries a tag of its receiver's. */
static bool set_wire(struct collopt_comm *c, struct collopt_plan *plan, const bool *near, int i)
{
    const struct collopt_message *m = &plan->bound->message[i];
    struct collopt_wire *w = &plan->wire[i];
    bool gaps = carries_gaps(plan, m, near && near[m->peer]);
    MPI_Datatype unit = gaps ? MPI_BYTE : plan->facts.type;
    int units = gaps ? (int)plan->facts.extent : 1;
    struct collopt_peer peer = collopt_peer(c, m->peer),
                        receiver = collopt_peer(c, m->send ? m->peer : c->rank);

    *w = (struct collopt_wire){ .peer = peer.rank,
                                .tag = receiver.tags + collopt_tag_of(m),
                                .count = (int)m->n * units - (gaps ? plan->tail : 0),
                                .place = m->run[0].place,
                                .at = (ptrdiff_t)m->run[0].at * plan->facts.extent,
                                .type = unit,
                                .unit = unit,
                                .units = units,
                                .message = m };
    w->bytes = gaps ? (size_t)w->count : m->n * plan->facts.size;
    w->repeats = m->repeats;
    w->flat = is_plain(plan) || (gaps && m->runs == 1);
    if (near && near[m->peer]
        && !(w->link = collopt_shm_link(c, m, w->bytes)))
        return false;
    plan->derived |= w->link && is_derived(&plan->facts);
    if (m->send)
        plan->sent[w->link ? COLLOPT_SENT_BY_SHM : COLLOPT_SENT_BY_HOST] += w->bytes;
    if (m->runs == 1)
        return true;
    w->count = 1;
    if (!one_place(m)) {
        w->absolute = plan->absolute = true;
        return true;
    }
    w->made = collopt_wire_type(plan, w, NULL, 0, &w->type) == MPI_SUCCESS;
    return w->made;
}

static void find_ends(struct collopt_plan *plan)
{
    for (int i = 0; i < plan->bound->messages; i++)
        for (int k = 0; k < plan->bound->message[i].runs; k++) {
            const struct collopt_run *r = &plan->bound->message[i].run[k];

            if (r->place < COLLOPT_FIRST_SLOT && plan->end[r->place] < r->at + r->n)
                plan->end[r->place] = r->at + r->n;
        }
}

/* Marks the wires to ranks that also send to this one.  SENDS is room for a flag for each rank. */
static void find_exchanges(const struct collopt_comm *c, struct collopt_plan *plan, bool *sends)
{
    memset(sends, 0, (size_t)c->ranks * sizeof *sends);
    for (int i = 0; i < plan->bound->messages; i++)
        if (!plan->bound->message[i].send)
            sends[plan->bound->message[i].peer] = true;
    for (int i = 0; i < plan->bound->messages; i++)
        plan->wire[i].exchanged = sends[plan->bound->message[i].peer];
}

static bool set_wires(struct collopt_comm *c, struct collopt_plan *plan)
{
    bool *of_rank = malloc((size_t)c->ranks * sizeof *of_rank), set = of_rank != NULL;
    bool any = set && plan->shm && collopt_shm_near(c, of_rank);

    find_ends(plan);
    memset(plan->sent, 0, sizeof plan->sent);
    for (int i = 0; set && i < plan->bound->messages; i++) {
        set = set_wire(c, plan, any ? of_rank : NULL, i);
        plan->types_made |= plan->wire[i].made;
    }
    if (set && any)
        find_exchanges(c, plan, of_rank);
    free(of_rank);
    return collopt_shm_settle(c) == MPI_SUCCESS && set;
}

static void free_wires(struct collopt_plan *plan)
{
    for (int i = 0; plan->bound && plan->wire && i < plan->bound->messages; i++)
        if (plan->wire[i].made) {
            collopt_host.Type_free(&plan->wire[i].type);
            plan->wire[i].made = false;
        }
}

/* ---- scratch --------------------------------------------------------------------------------- */

/* Elements keep their extent in scratch, and an operation may touch the whole of it, so a slot
 * spans all gaps.  Element 0 is aligned, wherever its bytes begin, as the user's own would be:
 * operations may be compiled for that. */
static void lay_out(struct collopt_plan *plan)
{
    const struct collopt_facts *f = &plan->facts;
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
        plan->slot[slots + i] = plan->slot[plan->bound->view[i].slot - COLLOPT_FIRST_SLOT]
            + (ptrdiff_t)plan->bound->view[i].at * f->extent;
    plan->scratch = used;
}

/* ---- plans ----------------------------------------------------------------------------------- */

static size_t mix(size_t x)
{
    x ^= x >> 29;
    x *= (size_t)0x9e3779b97f4a7c15u;
    return x ^ x >> 32;
}

/* The counts of a Reduce_scatter, for the look-up; equality is decided by comparing them one by
 * one. */
size_t collopt_counts_hash(const struct collopt_call *call, int ranks)
{
    size_t h = 0;

    for (int i = 0; i < ranks; i++)
        h = mix(h + (call->counts ? (size_t)call->counts[i] : (size_t)call->counts64[i]) + 1);
    return h;
}

static COLLOPT_OUT_OF_LINE bool same_counts(const struct collopt_plan *plan,
                                            const struct collopt_call *call, int ranks)
{
    for (int i = 0; i < ranks; i++)
        if (plan->counts[i] != (call->counts ? (size_t)call->counts[i] : (size_t)call->counts64[i]))
            return false;
    return true;
}

static size_t hash_of(const struct collopt_call *call, size_t count)
{
    size_t h = count * 8 + (size_t)call->collective + ((size_t)(uintptr_t)call->type >> 3) * 31
        + ((size_t)(uintptr_t)call->op >> 3) * 17 + (size_t)call->root * 64
        + (call->in == MPI_IN_PLACE) * 7 + (size_t)call->trial * 1031;

    return mix(h);
}

static bool same_facts(const struct collopt_facts *a, const struct collopt_facts *b)
{
    return a->size == b->size && a->extent == b->extent && a->low == b->low && a->high == b->high
        && a->dense == b->dense && a->commutative == b->commutative && a->kernel == b->kernel
        && a->exact == b->exact && a->lasting == b->lasting;
}

static inline bool serves(const struct collopt_plan *plan, const struct collopt_call *call,
                          size_t count, int ranks)
{
    return plan && plan->count == count && plan->facts.type == call->type
        && plan->facts.op == call->op && plan->collective == call->collective
        && plan->root == call->root && plan->in_place == (call->in == MPI_IN_PLACE)
        && plan->trial == call->trial && (!plan->counts || same_counts(plan, call, ranks));
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
    struct collopt_memoized *one = collopt_memo_first(&c->plans, hash_of(call, count));

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
        c->last[call->collective] = plan;
    return plan;
}

struct collopt_plan *collopt_plan_known(struct collopt_comm *c, const struct collopt_call *call,
                                        size_t count)
{
    struct collopt_plan *last = c->last[call->collective];

    return serves(last, call, count, c->ranks) ? last : search(c, call, count);
}

static void free_plan(struct collopt_plan *plan)
{
    free_wires(plan);
    collopt_bound_free((struct collopt_bound *)plan->bound);
    free(plan->wire);
    free(plan->slot);
    free(plan->counts);
    free(plan->chosen);
    free(plan);
}

static void forget(struct collopt_comm *c, struct collopt_plan *plan)
{
    bool held;

    if (c->last[plan->collective] == plan)
        c->last[plan->collective] = NULL;
    pthread_mutex_lock(&lock);
    held = plan->held > 0;
    plan->forgotten = true;
    pthread_mutex_unlock(&lock);
    if (!held)
        free_plan(plan);
}

void collopt_plan_hold(struct collopt_plan *plan)
{
    pthread_mutex_lock(&lock);
    plan->held++;
    pthread_mutex_unlock(&lock);
}

void collopt_plan_let_go(struct collopt_plan *plan)
{
    bool last;

    pthread_mutex_lock(&lock);
    last = --plan->held == 0 && plan->forgotten;
    pthread_mutex_unlock(&lock);
    if (last)
        free_plan(plan);
}

static bool is_held(const struct collopt_plan *plan)
{
    bool held;

    pthread_mutex_lock(&lock);
    held = plan->held > 0;
    pthread_mutex_unlock(&lock);
    return held;
}

static void forget_beyond(struct collopt_comm *c, size_t most, size_t weight)
{
    struct collopt_memoized *one;

    while ((one = collopt_memo_excess(&c->plans, most, weight)) != NULL)
        forget(c, plan_of(one));
}

/* A program may well let every rank be the root in turn, in a few sorts of calls: one plan for
 * each. */
static bool keep(struct collopt_comm *c, struct collopt_plan *plan, const struct collopt_call *call)
{
    size_t most = PLANS + PLANS_PER_RANK * (size_t)c->ranks,
           weight = PLAN_WEIGHT + (plan->bound ? plan->bound->steps : 0);
    struct collopt_plan *before = find(c, call, plan->count);

    if (before) {               /* the handles mean something else by now */
        collopt_memo_remove(&c->plans, &before->memoized);
        forget(c, before);
    }
    forget_beyond(c, most - 1, weight < WEIGHT ? WEIGHT - weight : 0);
    return collopt_memo_add(&c->plans, &plan->memoized, hash_of(call, plan->count), weight);
}

bool collopt_plan_renew(struct collopt_comm *c, struct collopt_plan *plan,
                        const struct collopt_facts *f)
{
    if (!same_facts(&plan->facts, f) || (plan->ordered && !lies_in_order(c, f)))
        return false;
    plan->unchecked = plan->derived;
    if (!plan->types_made)
        return true;
    if (is_held(plan))
        return false;
    free_wires(plan);
    return set_wires(c, plan);
}

static size_t input_elements(const struct collopt_comm *c, const struct collopt_call *call,
                             const size_t *counts)
{
    size_t n = 0;

    if (call->collective == COLLOPT_REDUCE_SCATTER_BLOCK)
        return call->count * (size_t)c->ranks;
    if (call->collective != COLLOPT_REDUCE_SCATTER)
        return call->count;
    for (int i = 0; i < c->ranks; i++)
        n += counts[i];
    return n;
}

static bool copy_counts(struct collopt_plan *plan, const struct collopt_call *call, int ranks)
{
    if (call->collective != COLLOPT_REDUCE_SCATTER)
        return true;
    plan->counts = malloc((size_t)ranks * sizeof *plan->counts);
    for (int i = 0; plan->counts && i < ranks; i++)
        plan->counts[i] = call->counts ? (size_t)call->counts[i] : (size_t)call->counts64[i];
    return plan->counts != NULL;
}

/* Pairs with gaps, MPI_DOUBLE_INT and its like, are sent on a node as bytes, gaps and all: hosts
 * pack them element by element, which takes as long as the message (Open MPI) or ten times as long
 * (MPICH).  The operation is a predefined one here, so all ranks have this type; with one of the
 * user's, others may have a type of their own with the same data.  The gap behind the last element
 * of a message stays behind.
 *
 * An Exscan on two ranks does nothing but receive, so what comes as bytes is copied.  Once the
 * caches do not hold it, Open MPI's unpacking is cheaper: 8 MiB at 0.9 of its speed, 16 MiB at
 * 0.76. */
static bool sends_gaps(const struct collopt_comm *c, const struct collopt_facts *f,
                       const struct collopt_problem *p)
{
    const size_t cached = (size_t)4 << 20;
    bool copied = p->collective == COLLOPT_EXSCAN && p->ranks == 2 && p->count * p->size > cached
        && c->machine.mpi == COLLOPT_OPENMPI && !p->machine->shm;

    return f->kernel && !f->dense && collopt_kernel(COLLOPT_REPLACE, f->type_id)
        && c->one_node && !copied;
}

/* In elements.  No message is longer than COLLOPT_CUT. */
static void cut_elements(const struct collopt_plan *plan, const struct collopt_problem *p,
                         struct collopt_cut cut[COLLOPT_CUTS + 1])
{
    size_t size = plan->gaps ? (size_t)plan->facts.extent : plan->facts.size,
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

/* Ranks of this node whose messages need a channel.  Only plain bytes can be read where they
 * are. */
static struct collopt_bound *bind_schedule(const struct collopt_comm *c,
                                           const struct collopt_plan *plan,
                                           const struct collopt_schedule *s,
                                           const struct collopt_problem *p)
{
    size_t size = plan->gaps ? (size_t)plan->facts.extent : plan->facts.size;
    struct collopt_cut cut[COLLOPT_CUTS + 1],
        pair[] = { cut_by_shm(collopt_shm_piece(c, false), size), { 0 } },
        multicast[] = { cut_by_shm(collopt_shm_piece(c, true), size), { 0 } };
    bool *near = malloc((size_t)c->ranks * sizeof *near);
    struct collopt_nearby nearby = { .rank = near, .cuts = pair, .multicast = multicast,
                                     .views = is_plain(plan) || plan->gaps };
    struct collopt_bound *bound = NULL;

    cut_elements(plan, p, cut);
    if (near)
        bound = collopt_bind_near(s, p, cut,
                                  plan->shm && collopt_shm_near(c, near) ? &nearby : NULL);
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
    bool gaps = sends_gaps(c, &plan->facts, p);
    unsigned how = (plan->in_place ? COLLOPT_IN_PLACE : 0)
        | (plan->facts.kernel ? 0 : COLLOPT_TWO_OPERANDS) | (gaps ? COLLOPT_VIA_SCRATCH : 0);
    const struct collopt_schedule *s = schedule_for(c, plan->algorithm, p, how);
    struct collopt_bound *bound;

    plan->gaps = gaps;
    plan->tail = gaps ? (int)(plan->facts.extent - (ptrdiff_t)collopt_type_end(plan->facts.type_id))
                      : 0;
    plan->eager = c->machine.mpi == COLLOPT_OPENMPI
        ? collopt_eager(&c->by_messages.way[COLLOPT_IN_NODE]) : 0;
    plan->ordered = plan->shm && is_derived(&plan->facts) && c->ranks > 1
        && lies_in_order(c, &plan->facts);
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

static bool wire_up(struct collopt_comm *c, struct collopt_plan *plan)
{
    bool wired = !plan->bound || set_wires(c, plan);

    plan->unchecked = plan->derived;
    return wired;
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
    collopt_say_once(COLLOPT_LOG_DECIDE, "%s, %d ranks, %llu bytes, %s of %s%s%s: %s (%s)",
                     collopt_collective_names[plan->collective], c->ranks,
                     (unsigned long long)plan->bytes, plan->facts.op_name, plan->facts.type_name,
                     plan->in_place ? ", in place" : "",
                     plan->shm && plan->algorithm ? ", by shared memory" : "", chosen, d->why);
}

/* A candidate that was chosen for another problem of the same kind may be unable to serve this
 * one. */
static void choose(struct collopt_comm *c, const struct collopt_call *call,
                   const struct collopt_problem *p, struct collopt_decision *d)
{
    /* they are there */
    struct collopt_adapted *adapted = call->trial > 0 ? collopt_adapted_for(c, p) : NULL;
    const struct collopt_choice *candidate = adapted
        ? collopt_adapt_choice(adapted, call->trial - 1)
        : NULL;

    if (candidate && (!candidate->algorithm || collopt_choice_usable(candidate, p, NULL))) {
        *d = (struct collopt_decision){ .choice = *candidate, .why = "a candidate, COLLOPT_ADAPT" };
        return;
    }
    if (!collopt_info_select(c, p, d)) {
        if (!c->remembered)
            c->remembered = collopt_remembered_new();
        collopt_select_again(p, c->remembered, d);
    }
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
        .once = plan->facts.once,
        .segments = 1,
        .topology = &c->topology,
    };
    const unsigned misses = collopt_choice_misses();
    struct collopt_decision d;

    p.count = input_elements(c, call, plan->counts);
    plan->bytes = (uint64_t)p.count * p.size;
    plan->shm = !collopt_is_later(call) && collopt_shm_carries(c);
    p.machine = plan->shm ? &c->machine : &c->by_messages;
    collopt_put_nowhere(&p);
    plan->size_class = collopt_size_class(plan->bytes);
    choose(c, call, &p, &d);
    if (d.open && collopt_settings()->adapt && call->trial == 0 && c->ranks > 1) {
        plan->adapted = collopt_adapted_for(c, &p);
        return plan->adapted != NULL && collopt_choice_misses() == misses;
    }
    plan->algorithm = d.choice.algorithm;
    if (plan->algorithm)
        collopt_set_parameters(&p, &d.choice);
    if (collopt_choice_misses() != misses) {    /* other ranks may have chosen something else */
        collopt_remembered_free(c->remembered);
        c->remembered = NULL;
        return false;
    }
    say_decision(c, plan, &d, &p);
    return !plan->algorithm || bind_plan(c, plan, &p);
}

struct collopt_plan *collopt_plan_for(struct collopt_comm *c, const struct collopt_call *call,
                                      const struct collopt_facts *f, size_t count)
{
    struct collopt_plan *plan = calloc(1, sizeof *plan);
    uint64_t arithmetic;
    bool made;

    if (!plan)
        return NULL;
    *plan = (struct collopt_plan){ .collective = call->collective,
                                   .in_place = call->in == MPI_IN_PLACE,
                                   .root = call->root, .count = count, .facts = *f,
                                   .trial = call->trial };
    arithmetic = collopt_usual_arithmetic();
    made = copy_counts(plan, call, c->ranks) && decide(c, plan, call);
    collopt_arithmetic_of(arithmetic);
    made = made && wire_up(c, plan) && keep(c, plan, call);
    if (!made) {
        free_plan(plan);
        return NULL;
    }
    return plan;
}

void collopt_plans_free(struct collopt_comm *c)
{
    forget_beyond(c, 0, 0);
    collopt_memo_end(&c->plans);
    for (int i = 0; c->schedules && i < c->schedules->n; i++)
        collopt_schedule_free(c->schedules->list[i].schedule);
    free(c->schedules);
    c->schedules = NULL;
    collopt_remembered_free(c->remembered);
    c->remembered = NULL;
}
