/* The states of communicators, from the first call to the end; see comm.h.
 *
 * States hang on the user's communicators as an attribute whose delete callback cleans up, and that
 * copies to no duplicate.  In front of the attribute stands a small table from handle to state, for
 * the repeated call.  It needs no lock: states come from a pool and are never unmapped, so a stale
 * entry leads to a state that says itself whose it is. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm/comm.h"
#include "base/hash.h"
#include "mpi/node/context.h"
#include "mpi/node/process.h"
#include "mpi/node/world.h"
#include "report/makings.h"
#include "settings/settings.h"

enum {
    RECENT = 64,
    /* hidden communicators at most; hosts have few (MPICH 2046 in all) */
    OWN = 256
};

static _Atomic(struct collopt_comm *) recent[RECENT];
/* of what is below; never held across an MPI call */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct collopt_comm *unused, *every;
static int keyval = MPI_KEYVAL_INVALID;
static int taken_over, own_communicators;
static atomic_bool shut_down, sessions;
static atomic_int open_sessions;
/* SimGrid: each rank has a copy of the program, and there is little room for their thread-local
 * storage */
#ifdef COLLOPT_ONE_THREAD
# define PER_THREAD
#else
# define PER_THREAD _Thread_local
#endif
/* what this thread is freeing, the last one first */
static PER_THREAD const struct collopt_leaving *leaving;

static size_t slot_of(MPI_Comm comm)
{
    uintptr_t x = (uintptr_t)comm;

    return (x ^ x >> 8 ^ x >> 14) % RECENT;
}

/* ---- the pool of states ---------------------------------------------------------------------- */

static struct collopt_comm *make_state(void)
{
    struct collopt_comm *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    pthread_mutex_lock(&lock);
    c->pool.other = every;
    every = c;
    pthread_mutex_unlock(&lock);
    return c;
}

static struct collopt_comm *first_unused(void)
{
    struct collopt_comm *c;

    pthread_mutex_lock(&lock);
    c = unused;
    if (c)
        unused = c->pool.next;
    pthread_mutex_unlock(&lock);
    return c;
}

static void give_back(struct collopt_comm *c)
{
    atomic_store_explicit(&c->comm, MPI_COMM_NULL, memory_order_relaxed);
    pthread_mutex_lock(&lock);
    c->pool.next = unused;
    unused = c;
    pthread_mutex_unlock(&lock);
}

/* One state more than is used, for when there is no memory: a rank without a state would count the
 * calls on its communicator otherwise than the others. */
static void keep_spare(void)
{
    struct collopt_comm *spare = first_unused();

    if (spare || (spare = make_state()))
        give_back(spare);
}

static struct collopt_comm *take_state(void)
{
    struct collopt_comm *c = first_unused(), *other;

    if (!c && !(c = make_state()) && !(c = make_state()))
        return NULL;
    keep_spare();
    other = c->pool.other;
    memset((char *)c + sizeof c->comm, 0, sizeof *c - sizeof c->comm);
    c->pool.other = other;
    c->hidden = MPI_COMM_NULL;
    c->context = COLLOPT_NO_CONTEXT;
    return c;
}

/* ---- what hangs on a state ------------------------------------------------------------------- */

#define CALL_PARTS(c, function) \
    for (int i_ = 0; i_ < COLLOPT_PARTS; i_++) \
        if ((c)->part[i_].data && (c)->part[i_].ops->function) \
            (c)->part[i_].ops->function(c)

uint64_t collopt_comm_id(const struct collopt_comm *c)
{
    struct collopt_peer first;

    if (c->own || c->hidden == MPI_COMM_NULL || collopt_comm_of(c) == MPI_COMM_WORLD)
        return 0;
    first = collopt_peer(c, 0);
    return (((uint64_t)(unsigned)first.rank << 32 | (unsigned)first.tags) + 1) * COLLOPT_HASH_PRIME;
}

void collopt_comm_hints_changed(struct collopt_comm *c)
{
    CALL_PARTS(c, hints_changed);
}

static void free_parts(struct collopt_comm *c)
{
    CALL_PARTS(c, end);
}

static bool context_is_kept(struct collopt_comm *c)
{
    bool kept = false;

    for (int i = 0; i < COLLOPT_PARTS; i++)
        if (c->part[i].data && c->part[i].ops->keeps_context)
            kept |= c->part[i].ops->keeps_context(c);
    return kept;
}

/* Messages of the call that was left carry its number, and are in no later one's way. */
bool collopt_comm_nested(struct collopt_comm *c)
{
    const struct collopt_part_ops *ops = c->part[COLLOPT_PART_EXECUTION].ops;

    if (!c->busy || !ops || !ops->recover(c))
        return c->busy;
    c->spoilt = true;
    c->busy = false;
    return false;
}

bool collopt_comm_reserve(struct collopt_comm *c, bool own)
{
    bool may;

    pthread_mutex_lock(&lock);
    may = taken_over < collopt_settings()->communicators && (!own || own_communicators < OWN);
    taken_over += may;
    own_communicators += may && own;
    pthread_mutex_unlock(&lock);
    c->own = own;
    return c->pool.counted = may;
}

void collopt_comm_unreserve(struct collopt_comm *c)
{
    if (!c->pool.counted)
        return;
    c->pool.counted = false;
    pthread_mutex_lock(&lock);
    taken_over--;
    own_communicators -= c->own;
    pthread_mutex_unlock(&lock);
}

/* ---- the end of a communicator --------------------------------------------------------------- */

/* Local: what travelled on C is complete, or C is spoilt and its context never used again. */
static void free_context(struct collopt_comm *c)
{
    if (!context_is_kept(c) && c->context != COLLOPT_NO_CONTEXT && !c->spoilt)
        collopt_context_give_back(c->context);
    c->context = COLLOPT_NO_CONTEXT;
    collopt_comm_unreserve(c);
    if (c->own && c->hidden != MPI_COMM_NULL)
        collopt_host.Comm_free(&c->hidden);
}

/* From here on no delete callback may call MPI but those of sessions, whose MPI goes on when
 * MPI_Finalize has ended (MPI-4, 11.3).  Hosts run the callbacks of MPI_COMM_WORLD and of what is
 * left at their end. */
static bool too_late(const struct collopt_comm *c, MPI_Comm comm)
{
    int finalized = 0;

    if (!atomic_load_explicit(&shut_down, memory_order_relaxed))
        return false;
    return comm == MPI_COMM_WORLD || !c->own || PMPI_Finalized(&finalized) || !finalized;
}

static void end_state(struct collopt_comm *c)
{
    collopt_comm_nested(c);
    CALL_PARTS(c, report);
    free_parts(c);
    collopt_poke_end(&c->poke);
    free(c->peer);
    c->peer = NULL;
    collopt_break_even_end(&c->break_even);
    free_context(c);
    give_back(c);
}

/* If requests use C, its state is freed with the last of them. */
static bool is_held(struct collopt_comm *c)
{
    bool held;

    pthread_mutex_lock(&lock);
    held = c->pool.held > 0;
    c->pool.deleted = held;
    pthread_mutex_unlock(&lock);
    if (held)
        atomic_store_explicit(&c->comm, MPI_COMM_NULL, memory_order_relaxed);
    return held;
}

static int deleted(MPI_Comm comm, int key, void *value, void *extra)
{
    struct collopt_comm *c = value;

    (void)key, (void)extra;
    if (too_late(c, comm))
        give_back(c);
    else if (!is_held(c))
        end_state(c);
    return MPI_SUCCESS;
}

void collopt_comm_retain(struct collopt_comm *c)
{
    pthread_mutex_lock(&lock);
    c->pool.held++;
    pthread_mutex_unlock(&lock);
}

void collopt_comm_release(struct collopt_comm *c)
{
    bool last;

    pthread_mutex_lock(&lock);
    last = --c->pool.held == 0 && c->pool.deleted;
    pthread_mutex_unlock(&lock);
    if (last)
        end_state(c);
}

void collopt_comm_report(void)
{
    struct collopt_comm *c;

    pthread_mutex_lock(&lock);
    c = every;
    pthread_mutex_unlock(&lock);
    for (; c; c = c->pool.other)
        CALL_PARTS(c, report);
}

/* Communicators that are never freed have no delete callback: their datatypes are given back here
 * (MPICH warns of what is left).  Without the world's hidden communicator, reductions during
 * MPI_Finalize go to the host. */
void collopt_comm_shut_down(void)
{
    struct collopt_comm *c;

    pthread_mutex_lock(&lock);
    c = every;
    pthread_mutex_unlock(&lock);
    for (; c; c = c->pool.other) {
        /* else by a thread whose communicator is a session's, and goes on */
        if (!collopt_comm_nested(c)) {
            CALL_PARTS(c, shut_down);
            collopt_poke_end(&c->poke);
        }
        if (!c->own && c->status == COLLOPT_TAKEN_OVER)
            c->status = COLLOPT_REFUSED;
    }
    atomic_store_explicit(&shut_down, true, memory_order_relaxed);
}

/* ---- from handle to state -------------------------------------------------------------------- */

static bool has_keyval(void)
{
    bool has;

    pthread_mutex_lock(&lock);
    has = keyval != MPI_KEYVAL_INVALID;
    pthread_mutex_unlock(&lock);
    return has;
}

static bool make_keyval(void)
{
    int made = MPI_KEYVAL_INVALID, spare = MPI_KEYVAL_INVALID;

    if (has_keyval())
        return true;
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &made, NULL))
        return false;
    pthread_mutex_lock(&lock);
    if (keyval == MPI_KEYVAL_INVALID)
        keyval = made;
    else
        spare = made;
    pthread_mutex_unlock(&lock);
    if (spare != MPI_KEYVAL_INVALID)
        PMPI_Comm_free_keyval(&spare);
    return true;
}

static void describe(struct collopt_comm *c, MPI_Comm comm)
{
    int inter = 0;

    if (PMPI_Comm_test_inter(comm, &inter) || inter) {
        c->status = COLLOPT_INTERCOMM;
        return;
    }
    if (PMPI_Comm_rank(comm, &c->rank) || PMPI_Comm_size(comm, &c->ranks)) {
        c->status = COLLOPT_REFUSED;
        return;
    }
    c->map.topology.nodes = 1;
    c->map.one_node = c->ranks == 1;
}

/* The last look of this thread found a communicator without a state. */
static PER_THREAD bool lacks_memory;

bool collopt_comm_lacks_memory(void)
{
    return lacks_memory;
}

static struct collopt_comm *new_state(MPI_Comm comm)
{
    struct collopt_comm *c = take_state();

    lacks_memory = !c;
    if (!c)
        return NULL;
    collopt_prepare();
    c->timed = collopt_settings_time(collopt_settings());
    c->noted = c->timed;
    c->traced = collopt_settings()->log >= COLLOPT_LOG_TRACE;
    describe(c, comm);
    c->checked = collopt_settings()->check && c->ranks > 1;
    atomic_store_explicit(&c->comm, comm, memory_order_relaxed);
    if (PMPI_Comm_set_attr(comm, keyval, c)) {
        lacks_memory = true;
        give_back(c);
        return NULL;
    }
    return c;
}

static bool is_leaving(MPI_Comm comm)
{
    for (const struct collopt_leaving *l = leaving; l; l = l->outer)
        if (l->comm == comm)
            return true;
    return false;
}

static COLLOPT_OUT_OF_LINE struct collopt_comm *look_up(MPI_Comm comm)
{
    struct collopt_comm *c = NULL;
    int found = 0;

    lacks_memory = false;
    if (!collopt_plausible_comm(comm) || is_leaving(comm) || !make_keyval()
        || PMPI_Comm_get_attr(comm, keyval, &c, &found))
        return NULL;
    if (!found)
        c = new_state(comm);
    if (c)
        atomic_store_explicit(&recent[slot_of(comm)], c, memory_order_release);
    return c;
}

struct collopt_comm *collopt_comm_find(MPI_Comm comm)
{
    struct collopt_comm *c = atomic_load_explicit(&recent[slot_of(comm)], memory_order_acquire);

    /* A free state has a null communicator as well. */
    if (c && comm != MPI_COMM_NULL && collopt_comm_of(c) == comm)
        return c;
    return look_up(comm);
}

/* ---- freed by the program -------------------------------------------------------------------- */

static struct collopt_comm *known(MPI_Comm comm)
{
    struct collopt_comm *c = NULL;
    int found = 0;

    if (!collopt_plausible_comm(comm) || !has_keyval()
        || PMPI_Comm_get_attr(comm, keyval, &c, &found) || !found)
        return NULL;
    return c;
}

/* Delete callbacks of the program's may reduce on the communicator while, or after, ours takes its
 * state away, and may free others.  A state made then would be found again under the same handle,
 * which the host reuses. */
void collopt_comm_leaves(MPI_Comm comm, struct collopt_leaving *l)
{
    struct collopt_comm *c = known(comm);

    if (c && c->timed)
        collopt_makings_used(c->reductions + c->nonblocking);
    if (c)
        CALL_PARTS(c, settle);
    *l = (struct collopt_leaving){ .comm = comm, .outer = leaving };
    leaving = l;
    if (c && (c->status == COLLOPT_TAKEN_OVER || c->status == COLLOPT_NEW)) {
        l->status = c->status;
        c->status = COLLOPT_LEAVING;
    }
}

void collopt_comm_left(const struct collopt_leaving *l, int err)
{
    struct collopt_comm *c = err ? known(l->comm) : NULL;

    leaving = l->outer;
    if (c && c->status == COLLOPT_LEAVING)
        c->status = l->status;
}

/* ---- sessions, and the end of MPI ------------------------------------------------------------ */

/* MPI has ended: communicators that the program has not freed cannot be freed any more. */
static void forget_all(void)
{
    pthread_mutex_lock(&lock);
    keyval = MPI_KEYVAL_INVALID;
    for (struct collopt_comm *c = every; c; c = c->pool.other)
        if (collopt_comm_of(c) != MPI_COMM_NULL) {
            atomic_store_explicit(&c->comm, MPI_COMM_NULL, memory_order_relaxed);
            if (c->pool.held > 0)
                continue;
            c->pool.next = unused;
            unused = c;
        }
    pthread_mutex_unlock(&lock);
    collopt_world_forget_group();
}

void collopt_world_ended(void)
{
    if (atomic_load(&open_sessions) == 0)
        forget_all();
}

void collopt_session_ended(void)
{
    int begun = 0, ended = 0;

    if (atomic_fetch_sub(&open_sessions, 1) == 1 && !PMPI_Initialized(&begun)
        && !PMPI_Finalized(&ended) && (!begun || ended))
        forget_all();
}

void collopt_session_begins(void)
{
    atomic_fetch_add(&open_sessions, 1);
    atomic_store_explicit(&sessions, true, memory_order_relaxed);
}

bool collopt_sessions_begun(void)
{
    return atomic_load_explicit(&sessions, memory_order_relaxed);
}

bool collopt_sessions_open(void)
{
    return atomic_load(&open_sessions) > 0;
}
