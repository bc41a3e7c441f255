/* The table of requests, the handles they hold, and those that serve again; see table.h. */
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

/* ---- from handle to request ------------------------------------------------------------------ */

enum { CHAINS = 1024 };

static int go_on(void);
static void gone(struct collopt_request *r);

atomic_int collopt_requests_in_use;
/* of the table and what follows; never held across an MPI call */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct collopt_request *) table[CHAINS];
static atomic_uint changes;     /* of the table; odd: one is being made */
static struct collopt_request *freed;        /* by the program, while they were active */
static atomic_bool any_freed;
static struct collopt_request *idle;         /* handles for nonblocking reductions, in the table */

static _Atomic(struct collopt_request *) *chain_of(MPI_Request request)
{
    uint64_t h = (uint64_t)(uintptr_t)request * UINT64_C(0x9e3779b97f4a7c15);

    return &table[h >> 54];
}

static struct collopt_request *walk(MPI_Request request)
{
    struct collopt_request *r = atomic_load_explicit(chain_of(request), memory_order_acquire);

    while (r && atomic_load_explicit(&r->handle.request, memory_order_acquire) != request)
        r = atomic_load_explicit(&r->chain, memory_order_acquire);
    return r;
}

/* Another thread may take one out of the chain meanwhile, and put it into another: what was
 * found is right, but not that there is none.  Who has walked along something new sees that there
 * was a change, as the walk acquires. */
struct collopt_request *collopt_requests_find(MPI_Request request)
{
    unsigned before = atomic_load_explicit(&changes, memory_order_acquire);
    struct collopt_request *r = walk(request);

    if (r)
        return r;
    if (before % 2 == 0 && atomic_load_explicit(&changes, memory_order_relaxed) == before)
        return NULL;
    pthread_mutex_lock(&lock);
    r = walk(request);
    pthread_mutex_unlock(&lock);
    return r;
}

/* Under the lock. */
static void change_table(struct collopt_request *r, bool enter)
{
    _Atomic(struct collopt_request *) *at = chain_of(atomic_load(&r->handle.request));

    atomic_fetch_add(&changes, 1);
    if (enter) {
        atomic_store(&r->chain, atomic_load(at));
        atomic_store(at, r);
    } else {
        while (atomic_load(at) != r)
            at = &atomic_load(at)->chain;
        atomic_store(at, atomic_load(&r->chain));
    }
    atomic_fetch_add(&changes, 1);
}

static void change(struct collopt_request *r, bool enter)
{
    pthread_mutex_lock(&lock);
    change_table(r, enter);
    pthread_mutex_unlock(&lock);
}

int collopt_requests_enter(struct collopt_request *r, bool persistent)
{
    const struct collopt_request_ops *ops = collopt_ops_of(r);
    int err = collopt_handle_make(r, persistent, gone);

    if (err)
        return err;
    collopt_progress_begin(go_on);
    atomic_store(&r->helped, ops && ops->help);
    change(r, true);
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

/* ---- handles that the program frees while requests need them --------------------------------- */

/* A request other than BUT that uses OP or TYPE; under the lock. */
static struct collopt_request *holder(MPI_Op op, MPI_Datatype type,
                                      const struct collopt_request *but)
{
    struct collopt_request *o;

    for (int i = 0; i < CHAINS; i++)
        for (o = atomic_load(&table[i]); o; o = atomic_load(&o->chain))
            if (o != but && !o->facts.predefined
                && (o->facts.op == op || (!o->facts.predefined_type && o->facts.type == type)))
                return o;
    for (o = freed; o; o = o->next)
        if (o != but && !o->facts.predefined
            && (o->facts.op == op || (!o->facts.predefined_type && o->facts.type == type)))
            return o;
    return NULL;
}

bool collopt_requests_keep_op(MPI_Op *op)
{
    struct collopt_request *o;

    if (collopt_requests_none() && !atomic_load(&any_freed))
        return false;
    pthread_mutex_lock(&lock);
    if ((o = holder(*op, MPI_DATATYPE_NULL, NULL)))
        o->frees.op = true;
    pthread_mutex_unlock(&lock);
    if (o)
        *op = MPI_OP_NULL;
    return o != NULL;
}

bool collopt_requests_keep_type(MPI_Datatype *type)
{
    struct collopt_request *o;

    if (collopt_requests_none() && !atomic_load(&any_freed))
        return false;
    pthread_mutex_lock(&lock);
    if ((o = holder(MPI_OP_NULL, *type, NULL)))
        o->frees.type = true;
    pthread_mutex_unlock(&lock);
    if (o)
        *type = MPI_DATATYPE_NULL;
    return o != NULL;
}

/* The next one that needs them frees them; if there is none, it is now. */
static void free_handles(struct collopt_request *r)
{
    struct collopt_request *other;

    if (!r->frees.op && !r->frees.type)
        return;
    pthread_mutex_lock(&lock);
    if (r->frees.op && (other = holder(r->facts.op, MPI_DATATYPE_NULL, r))) {
        other->frees.op = true;
        r->frees.op = false;
    }
    if (r->frees.type && (other = holder(MPI_OP_NULL, r->facts.type, r))) {
        other->frees.type = true;
        r->frees.type = false;
    }
    pthread_mutex_unlock(&lock);
    collopt_free_begins();
    if (r->frees.op)
        collopt_next.Op_free(&r->facts.op);
    if (r->frees.type)
        collopt_next.Type_free(&r->facts.type);
    collopt_free_ends();
}

/* Frees what R holds besides its handle. */
static void release(struct collopt_request *r)
{
    const struct collopt_request_ops *ops = collopt_ops_of(r);

    free_handles(r);
    if (ops && ops->release)
        ops->release(r);
    if (r->comparison)
        collopt_comparison_free(r->comparison);
}

/* ---- in the progress of the host ------------------------------------------------------------- */

/* Starts of persistent requests that did not pass collopt are found here.  Those that pass it
 * claim their request. */
static void look_at(struct collopt_request *r)
{
    if (collopt_state_of(r) == COLLOPT_STARTED && !r->by_host && !r->comparison)
        collopt_request_advance(r);
    if (!collopt_request_claim(r))
        return;
    if (collopt_state_of(r) != COLLOPT_STARTED && collopt_handle_was_started(&r->handle))
        collopt_requests_adopt(r);
    else
        collopt_handle_look(r);
    collopt_request_unclaim(r);
}

/* Requests may be entered and removed during the walk, so it may miss some. */
static void look_at_all(void)
{
    for (int i = 0; i < CHAINS; i++)
        for (struct collopt_request *r = atomic_load_explicit(&table[i], memory_order_acquire); r;
             r = atomic_load_explicit(&r->chain, memory_order_acquire))
            look_at(r);
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

void collopt_requests_adopt(struct collopt_request *r)
{
    if (collopt_state_of(r) == COLLOPT_DONE)   /* it was completed past collopt, too */
        collopt_request_count(r);
    r->handle.noticed = false;
    r->handle.adopted = true;
    collopt_noted_lose(r->measured.noted);
    r->measured.noting = (struct collopt_noting){ .note = NULL };
    atomic_store_explicit(&r->handle.shown, COLLOPT_SHOWN_ACTIVE, memory_order_relaxed);
    collopt_ops_of(r)->start(r);
}

static bool may_be_helped(struct collopt_request *r)
{
    return atomic_load_explicit(&r->helped, memory_order_acquire)
        && collopt_state_of(r) == COLLOPT_STARTED;
}

/* By the thread of COLLOPT_ASYNC, which calls no MPI.  Does nothing if R is claimed.  R may have
 * been freed. */
static void help(struct collopt_request *r)
{
    const struct collopt_request_ops *ops;

    if (!collopt_request_claim(r))
        return;
    ops = collopt_ops_of(r);
    if (may_be_helped(r) && ops && ops->help)
        ops->help(r);
    collopt_request_unclaim(r);
}

/* Other threads enter and remove requests during the walk, so it may miss some.  The memory of
 * requests is never unmapped (request.c).  Only the thread that has claimed a started request
 * changes it. */
bool collopt_requests_help(void)
{
    bool any = false;

    if (collopt_requests_none())
        return false;
    for (int i = 0; i < CHAINS; i++)
        for (struct collopt_request *r = atomic_load_explicit(&table[i], memory_order_acquire); r;
             r = atomic_load_explicit(&r->chain, memory_order_acquire))
            if (may_be_helped(r)) {
                any = true;
                help(r);
            }
    return any;
}

void collopt_requests_release(struct collopt_request *r)
{
    if (collopt_state_of(r) == COLLOPT_DONE)
        collopt_request_count(r);
    release(r);
    collopt_request_give_back(r);
}

/* One thread at a time releases; only that thread removes requests from the list. */
static atomic_bool releasing;

static void take_out_freed(struct collopt_request *r)
{
    struct collopt_request **at = &freed;

    pthread_mutex_lock(&lock);
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    atomic_store(&any_freed, freed != NULL);
    pthread_mutex_unlock(&lock);
}

static struct collopt_request *first_freed(void)
{
    struct collopt_request *r;

    pthread_mutex_lock(&lock);
    r = freed;
    pthread_mutex_unlock(&lock);
    return r;
}

/* Those that were freed while they were active are freed when they are complete. */
void collopt_requests_release_freed(void)
{
    if (!atomic_load_explicit(&any_freed, memory_order_relaxed)
        || atomic_exchange(&releasing, true))
        return;
    for (struct collopt_request *r = first_freed(), *next; r; r = next) {
        next = r->next;
        if (collopt_request_advance(r)) {
            take_out_freed(r);
            collopt_requests_release(r);
        }
    }
    atomic_store(&releasing, false);
}

bool collopt_requests_remove(struct collopt_request *r)
{
    bool active;

    atomic_store(&r->helped, false);
    collopt_requests_count(-1);
    pthread_mutex_lock(&lock);
    change_table(r, false);
    active = collopt_state_of(r) == COLLOPT_STARTED;
    if (active) {
        r->next = freed;
        freed = r;
        atomic_store(&any_freed, true);
    }
    pthread_mutex_unlock(&lock);
    return !active;
}

/* ---- handles for nonblocking reductions ------------------------------------------------------ */

static struct collopt_request *take_idle(void)
{
    struct collopt_request *r;

    pthread_mutex_lock(&lock);
    r = idle;
    if (r)
        idle = r->next;
    pthread_mutex_unlock(&lock);
    return r;
}

static struct collopt_request *make_handle(void)
{
    struct collopt_request *r = collopt_request_take();

    if (r && collopt_requests_enter(r, false)) {
        collopt_request_give_back(r);
        r = NULL;
    }
    return r;
}

/* Tries twice, since the second try may succeed. */
struct collopt_request *collopt_requests_take_idle(void)
{
    struct collopt_request *r = take_idle();

    if (!r)
        r = make_handle();
    return r ? r : make_handle();
}

/* All that a nonblocking request holds but its handle. */
static void empty(struct collopt_request *r)
{
    release(r);
    collopt_request_clear(r);
}

void collopt_requests_make_idle(struct collopt_request *r)
{
    empty(r);
    r->handle.noticed = false;
    r->facts.predefined = true;   /* it holds no handles */
    pthread_mutex_lock(&lock);
    r->next = idle;
    idle = r;
    pthread_mutex_unlock(&lock);
}

/* A nonblocking request was completed past collopt, and its handle freed. */
static void gone(struct collopt_request *r)
{
    collopt_request_count(r);
    collopt_requests_count(-1);
    change(r, false);
    empty(r);
    collopt_request_give_back(r);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void end_handles(void)
{
    struct collopt_request *r;

    while ((r = idle)) {
        MPI_Request request = atomic_load(&r->handle.request);

        idle = r->next;
        change(r, false);
        collopt_handle_free(&r->handle, &request);
        collopt_request_give_back(r);
    }
}

/* Is a request by messages freed and still active?  The other ranks need its messages. */
static bool freed_by_p2p(void)
{
    struct collopt_request *r;

    collopt_requests_release_freed();
    pthread_mutex_lock(&lock);
    for (r = freed; r && !collopt_ops_of(r)->in_progress; r = r->next)
        ;
    pthread_mutex_unlock(&lock);
    return r != NULL;
}

void collopt_requests_finish(void)
{
    struct collopt_poke poke = { .begun = false };

    while (freed_by_p2p()) {
        collopt_poke_progress(&poke);
        sched_yield();
    }
    collopt_poke_end(&poke);
}

void collopt_requests_end(void)
{
    struct collopt_request *r;

    end_handles();
    for (int i = 0; i < CHAINS; i++)
        for (r = atomic_load(&table[i]); r; r = atomic_load(&r->chain)) {
            collopt_poke_end(&r->poke);
            collopt_handle_park(&r->handle);
        }
}
