/* The table of requests, the handles they hold, and those that serve again; see requests.h. */
#include "config.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

#include "mpi/request/table.h"
#include "mpi/check/comparison.h"
#include "mpi/comm/comm.h"
#include "mpi/host/errhandler.h"
#include "mpi/host/handles.h"
#include "mpi/host/progress.h"
#include "mpi/request/p2p_request.h"

typedef struct collopt_request operation;

/* ---- from handle to operation ---------------------------------------------------------------- */

enum { CHAINS = 1024 };

static int go_on(void);
static void gone(operation *op);

atomic_int collopt_requests_in_use;
/* of the table and what follows; never held across an MPI call */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(operation *) table[CHAINS];
static atomic_uint changes;     /* of the table; odd: one is being made */
static operation *freed;        /* by the program, while they were active */
static atomic_bool any_freed;
static operation *idle;         /* handles for nonblocking reductions, in the table */

static _Atomic(operation *) *chain_of(MPI_Request request)
{
    uint64_t h = (uint64_t)(uintptr_t)request * UINT64_C(0x9e3779b97f4a7c15);

    return &table[h >> 54];
}

static operation *walk(MPI_Request request)
{
    operation *op = atomic_load_explicit(chain_of(request), memory_order_acquire);

    while (op && atomic_load_explicit(&op->handle.request, memory_order_acquire) != request)
        op = atomic_load_explicit(&op->chain, memory_order_acquire);
    return op;
}

/* Another thread may take one out of the chain meanwhile, and put it into another: what was
 * found is right, but not that there is none. */
operation *collopt_requests_find(MPI_Request request)
{
    unsigned before = atomic_load_explicit(&changes, memory_order_acquire);
    operation *op = walk(request);

    if (op)
        return op;
    if (before % 2 == 0 && atomic_load_explicit(&changes, memory_order_acquire) == before)
        return NULL;
    pthread_mutex_lock(&lock);
    op = walk(request);
    pthread_mutex_unlock(&lock);
    return op;
}

/* Under the lock. */
static void change_table(operation *op, bool enter)
{
    _Atomic(operation *) *at = chain_of(atomic_load(&op->handle.request));

    atomic_fetch_add(&changes, 1);
    if (enter) {
        atomic_store(&op->chain, atomic_load(at));
        atomic_store(at, op);
    } else {
        while (atomic_load(at) != op)
            at = &atomic_load(at)->chain;
        atomic_store(at, atomic_load(&op->chain));
    }
    atomic_fetch_add(&changes, 1);
}

static void change(operation *op, bool enter)
{
    pthread_mutex_lock(&lock);
    change_table(op, enter);
    pthread_mutex_unlock(&lock);
}

int collopt_requests_enter(operation *op, bool persistent)
{
    const struct collopt_request_ops *ops = collopt_request_ops_of(op);
    int err = collopt_handle_make(op, persistent, gone);

    if (err)
        return err;
    collopt_progress_begin(go_on);
    atomic_store(&op->helped, ops && ops->help);
    change(op, true);
    return MPI_SUCCESS;
}

bool collopt_requests_any(int n, const MPI_Request *requests)
{
    if (collopt_requests_none() || !requests)
        return false;
    for (int i = 0; i < n; i++)
        if (collopt_requests_find(requests[i]))
            return true;
    return false;
}

int collopt_requests_complain(const struct collopt_comm *owner, MPI_Comm comm, int err)
{
    return collopt_raise(collopt_comm_of(owner) == comm ? comm : MPI_COMM_WORLD, err);
}

/* ---- handles that the program frees while operations need them ------------------------------- */

/* An operation that needs one of the two handles, other than BUT; under the lock. */
static operation *holder(MPI_Op op, MPI_Datatype type, const operation *but)
{
    operation *o;

    for (int i = 0; i < CHAINS; i++)
        for (o = atomic_load(&table[i]); o; o = atomic_load(&o->chain))
            if (o != but && !o->facts.lasting
                && (o->facts.op == op || (!o->facts.but_op && o->facts.type == type)))
                return o;
    for (o = freed; o; o = o->next)
        if (o != but && !o->facts.lasting
            && (o->facts.op == op || (!o->facts.but_op && o->facts.type == type)))
            return o;
    return NULL;
}

bool collopt_requests_keep_op(MPI_Op *op)
{
    operation *o;

    if (collopt_requests_none() && !atomic_load(&any_freed))
        return false;
    pthread_mutex_lock(&lock);
    if ((o = holder(*op, MPI_DATATYPE_NULL, NULL)))
        o->frees_op = true;
    pthread_mutex_unlock(&lock);
    if (o)
        *op = MPI_OP_NULL;
    return o != NULL;
}

bool collopt_requests_keep_type(MPI_Datatype *type)
{
    operation *o;

    if (collopt_requests_none() && !atomic_load(&any_freed))
        return false;
    pthread_mutex_lock(&lock);
    if ((o = holder(MPI_OP_NULL, *type, NULL)))
        o->frees_type = true;
    pthread_mutex_unlock(&lock);
    if (o)
        *type = MPI_DATATYPE_NULL;
    return o != NULL;
}

/* The next one that needs them frees them; if there is none, it is now. */
static void free_handles(operation *op)
{
    operation *other;

    if (!op->frees_op && !op->frees_type)
        return;
    pthread_mutex_lock(&lock);
    if (op->frees_op && (other = holder(op->facts.op, MPI_DATATYPE_NULL, op))) {
        other->frees_op = true;
        op->frees_op = false;
    }
    if (op->frees_type && (other = holder(MPI_OP_NULL, op->facts.type, op))) {
        other->frees_type = true;
        op->frees_type = false;
    }
    pthread_mutex_unlock(&lock);
    collopt_free_begins();
    if (op->frees_op)
        collopt_next.Op_free(&op->facts.op);
    if (op->frees_type)
        collopt_next.Type_free(&op->facts.type);
    collopt_free_ends();
}

/* Frees what OP holds besides its handle. */
static void release(operation *op)
{
    const struct collopt_request_ops *ops = collopt_request_ops_of(op);

    free_handles(op);
    if (ops && ops->release)
        ops->release(op);
}

/* ---- in the progress of the host ------------------------------------------------------------- */

/* Starts of persistent operations that did not pass collopt are found here.  Those that pass it
 * claim their operation. */
static void look_at(operation *op)
{
    if (collopt_stage_of(op) == COLLOPT_STARTED && !op->by_host && !op->comparison)
        collopt_request_advance(op);
    if (!collopt_request_claim(op))
        return;
    if (collopt_stage_of(op) != COLLOPT_STARTED && collopt_handle_was_started(&op->handle))
        collopt_requests_adopt(op);
    else
        collopt_handle_look(op);
    collopt_request_unclaim(op);
}

/* Operations may be entered and removed during the walk, so it may miss some. */
static void look_at_all(void)
{
    for (int i = 0; i < CHAINS; i++)
        for (operation *op = atomic_load_explicit(&table[i], memory_order_acquire); op;
             op = atomic_load_explicit(&op->chain, memory_order_acquire))
            look_at(op);
}

/* Called by the host. */
static int go_on(void)
{
    enum { INTERVAL = 1024 };   /* calls: some 50 us of a host that waits */
    static atomic_uint calls;
    static atomic_bool looking;
    int completed = collopt_p2p_request_go_on();
    unsigned call = atomic_load_explicit(&calls, memory_order_relaxed) + 1;

    atomic_store_explicit(&calls, call, memory_order_relaxed);
    if (call % INTERVAL == 0 && !collopt_requests_none() && !atomic_exchange(&looking, true)) {
        look_at_all();
        atomic_store(&looking, false);
    }
    return completed;
}

void collopt_requests_adopt(operation *op)
{
    if (collopt_stage_of(op) == COLLOPT_DONE)   /* it was completed past collopt, too */
        collopt_request_count(op);
    op->handle.noticed = false;
    op->handle.adopted = true;
    atomic_store_explicit(&op->handle.shown, COLLOPT_SHOWN_ACTIVE, memory_order_relaxed);
    collopt_request_ops_of(op)->start(op);
}

static bool may_be_helped(operation *op)
{
    return atomic_load_explicit(&op->helped, memory_order_acquire)
        && collopt_stage_of(op) == COLLOPT_STARTED;
}

/* By the thread of COLLOPT_ASYNC, which calls no MPI.  Does nothing if OP is claimed.  OP may have
 * been freed. */
static void help(operation *op)
{
    const struct collopt_request_ops *ops;

    if (!collopt_request_claim(op))
        return;
    ops = collopt_request_ops_of(op);
    if (may_be_helped(op) && ops && ops->help && collopt_request_is_plain(op))
        ops->help(op);
    collopt_request_unclaim(op);
}

/* Other threads enter and remove operations during the walk, so it may miss some.  The memory of
 * operations is never unmapped (operation.c).  Only the thread that has claimed a started operation
 * changes it. */
bool collopt_requests_help(void)
{
    bool any = false;

    if (collopt_requests_none())
        return false;
    for (int i = 0; i < CHAINS; i++)
        for (operation *op = atomic_load_explicit(&table[i], memory_order_acquire); op;
             op = atomic_load_explicit(&op->chain, memory_order_acquire))
            if (may_be_helped(op)) {
                any = true;
                help(op);
            }
    return any;
}

void collopt_requests_release(operation *op)
{
    if (collopt_stage_of(op) == COLLOPT_DONE)
        collopt_request_count(op);
    release(op);
    collopt_request_give_back(op);
}

/* One thread at a time releases; only that thread removes operations from the list. */
static atomic_bool releasing;

static void take_out_freed(operation *op)
{
    operation **at = &freed;

    pthread_mutex_lock(&lock);
    while (*at != op)
        at = &(*at)->next;
    *at = op->next;
    atomic_store(&any_freed, freed != NULL);
    pthread_mutex_unlock(&lock);
}

static operation *first_freed(void)
{
    operation *op;

    pthread_mutex_lock(&lock);
    op = freed;
    pthread_mutex_unlock(&lock);
    return op;
}

/* Those that were freed while they were active are freed when they are complete. */
void collopt_requests_release_freed(void)
{
    if (!atomic_load_explicit(&any_freed, memory_order_relaxed)
        || atomic_exchange(&releasing, true))
        return;
    for (operation *op = first_freed(), *next; op; op = next) {
        next = op->next;
        if (collopt_request_advance(op)) {
            take_out_freed(op);
            collopt_requests_release(op);
        }
    }
    atomic_store(&releasing, false);
}

bool collopt_requests_remove(operation *op)
{
    bool active;

    atomic_store(&op->helped, false);
    collopt_requests_count(-1);
    pthread_mutex_lock(&lock);
    change_table(op, false);
    active = collopt_stage_of(op) == COLLOPT_STARTED;
    if (active) {
        op->next = freed;
        freed = op;
        atomic_store(&any_freed, true);
    }
    pthread_mutex_unlock(&lock);
    return !active;
}

/* ---- handles for nonblocking reductions ------------------------------------------------------ */

static operation *take_idle(void)
{
    operation *op;

    pthread_mutex_lock(&lock);
    op = idle;
    if (op)
        idle = op->next;
    pthread_mutex_unlock(&lock);
    return op;
}

static operation *make_handle(void)
{
    operation *op = collopt_request_take();

    if (op && collopt_requests_enter(op, false)) {
        collopt_request_give_back(op);
        op = NULL;
    }
    return op;
}

/* What fails may succeed at a second try. */
operation *collopt_requests_take_idle(void)
{
    operation *op = take_idle();

    if (!op)
        op = make_handle();
    return op ? op : make_handle();
}

/* All that a nonblocking operation holds but its handle. */
static void empty(operation *op)
{
    release(op);
    if (op->comparison)
        collopt_comparison_free(op->comparison);
    collopt_request_clear(op);
}

void collopt_requests_make_idle(operation *op)
{
    empty(op);
    op->handle.noticed = false;
    op->facts.lasting = true;   /* it holds no handles */
    pthread_mutex_lock(&lock);
    op->next = idle;
    idle = op;
    pthread_mutex_unlock(&lock);
}

/* A nonblocking operation was completed past collopt, and its handle freed. */
static void gone(operation *op)
{
    collopt_request_count(op);
    collopt_requests_count(-1);
    change(op, false);
    empty(op);
    collopt_request_give_back(op);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void end_handles(void)
{
    operation *op;

    while ((op = idle)) {
        MPI_Request request = atomic_load(&op->handle.request);

        idle = op->next;
        change(op, false);
        collopt_handle_free(&op->handle, &request);
        collopt_request_give_back(op);
    }
}

/* Is an operation by messages freed and still active?  The other ranks need its messages. */
static bool freed_by_messages(void)
{
    operation *op;

    collopt_requests_release_freed();
    pthread_mutex_lock(&lock);
    for (op = freed; op && !collopt_request_ops_of(op)->in_progress; op = op->next)
        ;
    pthread_mutex_unlock(&lock);
    return op != NULL;
}

void collopt_requests_finish(void)
{
    struct collopt_poke poke = { .begun = false };

    while (freed_by_messages()) {
        collopt_poke_progress(&poke);
        sched_yield();
    }
    collopt_poke_end(&poke);
}

void collopt_requests_end(void)
{
    operation *op;

    end_handles();
    for (int i = 0; i < CHAINS; i++)
        for (op = atomic_load(&table[i]); op; op = atomic_load(&op->chain)) {
            collopt_poke_end(&op->poke);
            collopt_handle_park(&op->handle);
        }
}
