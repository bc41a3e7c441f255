/* The state of each communicator: when it is taken over, how its messages travel, its topology, its
 * schedules.
 *
 * States hang on the user's communicators as an attribute whose delete callback cleans up, and that
 * copies to no duplicate.  In front of the attribute stands a small table from handle to state, for
 * the repeated call.  It needs no lock: states come from a pool and are never unmapped, so a stale
 * entry leads to a state that says itself whose it is. */
#include "config.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/comm/comm.h"
#include "base/log.h"
#include "mpi/plan/tuning.h"
#include "mpi/node/agree.h"
#include "mpi/check/comparison.h"
#include "mpi/node/context.h"
#include "mpi/comm/topology.h"
#include "mpi/call/dispatch.h"
#include "mpi/run/execute.h"
#include "mpi/host/host.h"
#include "mpi/comm/hints.h"
#include "mpi/call/init.h"
#include "mpi/request/nonblocking.h"
#include "mpi/plan/plan.h"
#include "mpi/node/locality.h"
#include "mpi/comm/links.h"
#include "mpi/device/staging.h"
#include "mpi/node/world.h"
#include "select/rental.h"
#include "settings/settings.h"
#include "topology/topology.h"

enum {
    RECENT = 64,
    /* hidden communicators at most; hosts have few (MPICH 2046 in all) */
    OWN = 256,
    NO_CONTEXT = -1, NOT_READY = -2
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
    c->other = every;
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
        unused = c->next;
    pthread_mutex_unlock(&lock);
    return c;
}

static void give_back(struct collopt_comm *c)
{
    atomic_store_explicit(&c->comm, MPI_COMM_NULL, memory_order_relaxed);
    pthread_mutex_lock(&lock);
    c->next = unused;
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
    other = c->other;
    memset((char *)c + sizeof c->comm, 0, sizeof *c - sizeof c->comm);
    c->other = other;
    c->hidden = MPI_COMM_NULL;
    c->context = NO_CONTEXT;
    return c;
}

static void forget_survey(struct collopt_comm *c)
{
    for (int by = 0; by < COLLOPT_GROUPINGS; by++) {
        free((int *)c->level[by].node);
        c->level[by].node = NULL;
        c->groups[by] = NULL;
    }
    free(c->node);
    c->node = NULL;
    free(c->peer);
    c->peer = NULL;
    collopt_rental_end(&c->rental);
    c->topology = (struct collopt_topology){ .nodes = 1 };
    c->one_node = c->ranks == 1;
}

/* Messages of the call that was left carry its number, and are in no later one's way. */
bool collopt_comm_nested(struct collopt_comm *c)
{
    if (!c->busy || !collopt_execution_left(&c->execution))
        return c->busy;
    c->spoilt = true;
    collopt_execution_clear(&c->execution, MPI_ERR_OTHER);
    c->busy = false;
    return false;
}

static void clean(struct collopt_comm *c)
{
    collopt_comm_nested(c);
    collopt_plans_free(c);
    collopt_shm_unlink(c);
    collopt_nudge_end(&c->nudge);
    collopt_adapt_tell(c);
    collopt_adapted_free(c);
    forget_survey(c);
    collopt_execution_free(&c->execution);
    free(c->rows);
    c->rows = NULL;
    free(c->waiting);
    c->waiting = NULL;
    c->keys_due = false;
}

static void release(struct collopt_comm *c)
{
    if (!c->counted)
        return;
    c->counted = false;
    pthread_mutex_lock(&lock);
    taken_over--;
    own_communicators -= c->own;
    pthread_mutex_unlock(&lock);
}

/* Local: what travelled on C is complete, or C is spoilt and its context never used again. */
static void free_context(struct collopt_comm *c)
{
    if (!collopt_nonblocking_leave(c) && c->context != NO_CONTEXT && !c->spoilt)
        collopt_context_give_back(c->context);
    c->context = NO_CONTEXT;
    release(c);
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
    clean(c);
    free_context(c);
    give_back(c);
}

/* If operations hold C, its state ends with the last of them. */
static bool is_held(struct collopt_comm *c)
{
    bool held;

    pthread_mutex_lock(&lock);
    held = c->held > 0;
    c->deleted = held;
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

void collopt_comm_hold(struct collopt_comm *c)
{
    pthread_mutex_lock(&lock);
    c->held++;
    pthread_mutex_unlock(&lock);
}

void collopt_comm_let_go(struct collopt_comm *c)
{
    bool last;

    pthread_mutex_lock(&lock);
    last = --c->held == 0 && c->deleted;
    pthread_mutex_unlock(&lock);
    if (last)
        end_state(c);
}

void collopt_comm_tell(void)
{
    struct collopt_comm *c;

    pthread_mutex_lock(&lock);
    c = every;
    pthread_mutex_unlock(&lock);
    for (; c; c = c->other)
        collopt_adapt_tell(c);
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
    for (; c; c = c->other) {
        /* else by a thread whose communicator is a session's, and goes on */
        if (!collopt_comm_nested(c)) {
            collopt_plans_free(c);
            collopt_shm_unlink(c);
            collopt_nonblocking_drop(c);
            collopt_nudge_end(&c->nudge);
        }
        if (!c->own && c->status == COLLOPT_TAKEN_OVER)
            c->status = COLLOPT_REFUSED;
    }
    collopt_nonblocking_end();
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
    c->topology.nodes = 1;
    c->one_node = c->ranks == 1;
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
    c->timed = collopt_settings()->report != NULL;
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

    if (c && c->checked)
        collopt_comparisons_settle(c);
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

/* ---- taking over ----------------------------------------------------------------------------- */

/* False when the process has taken over as many communicators as it may. */
static bool reserve(struct collopt_comm *c, bool own)
{
    bool may;

    pthread_mutex_lock(&lock);
    may = taken_over < collopt_settings()->communicators && (!own || own_communicators < OWN);
    taken_over += may;
    own_communicators += may && own;
    pthread_mutex_unlock(&lock);
    c->own = own;
    return c->counted = may;
}

enum refusal { BY_SETTING, BY_LIMIT, BY_HOST, BEYOND_WORLD, REFUSALS };

/* Loaded and doing nothing is never silent.  Rank 0 of the communicator speaks, since that of
 * MPI_COMM_WORLD may not be in it, and once for each reason, unless a promise is broken
 * (COLLOPT_REPRODUCIBLE, COLLOPT_CHECK): each sort of communicator is named then. */
__attribute__((format(printf, 3, 4)))
static void tell_refusal(const struct collopt_comm *c, enum refusal why, const char *format, ...)
{
    static atomic_bool said[REFUSALS];
    bool promised = collopt_settings()->reproducible != COLLOPT_NOT_REPRODUCIBLE
        || collopt_settings()->check;
    char text[512];
    va_list ap;

    if (c->rank != 0 || (atomic_exchange(&said[why], true) && !promised))
        return;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    collopt_warn_once("%s", text);
}

/* Why what this or another rank says keeps the communicator with the host. */
static void say_why_not(const struct collopt_comm *c, bool gpu)
{
    if (!gpu)
        tell_refusal(c, BY_SETTING,
                     "COLLOPT_GPU=native: a communicator of %d ranks keeps the MPI library's own "
                     "collectives, as will all others",
                     c->ranks);
    else
        tell_refusal(
            c, BY_LIMIT,
            "a communicator of %d ranks keeps the MPI library's own collectives: off on some rank, "
            "or COLLOPT_COMMUNICATORS=%d reached there",
            c->ranks, collopt_settings()->communicators);
}

/* ---- where its ranks are ---- */

/* Sets PEER's ranks, unless it is NULL, to those in MPI_COMM_WORLD; false: some are not there.
 * Without memory of its own: all ranks have to come to the same answer. */
static bool translate(MPI_Comm comm, int ranks, struct collopt_peer *peer)
{
    const MPI_Group world = collopt_world_group();
    enum { AT_ONCE = 256 };
    int rank[AT_ONCE], in_world[AT_ONCE];
    MPI_Group group;
    bool within = true;

    if (world == MPI_GROUP_NULL)
        return false;
    PMPI_Comm_group(comm, &group);
    for (int from = 0; from < ranks && within; from += AT_ONCE) {
        int n = ranks - from < AT_ONCE ? ranks - from : AT_ONCE;

        for (int i = 0; i < n; i++)
            rank[i] = from + i;
        PMPI_Group_translate_ranks(group, n, rank, world, in_world);
        for (int i = 0; i < n; i++) {
            within = within && in_world[i] != MPI_UNDEFINED;
            if (peer)
                peer[from + i] = (struct collopt_peer){ .rank = in_world[i] };
        }
    }
    PMPI_Group_free(&group);
    return within;
}

static bool survey_inside(struct collopt_comm *c, MPI_Comm comm, const struct collopt_world *world)
{
    struct collopt_sight *seen = malloc((size_t)c->ranks * sizeof *seen);
    bool surveyed;

    c->peer = malloc((size_t)c->ranks * sizeof *c->peer);
    surveyed = seen && c->peer && translate(comm, c->ranks, c->peer);
    for (int r = 0; surveyed && r < c->ranks; r++)
        seen[r] = world->sight[c->peer[r].rank];
    surveyed = surveyed && collopt_survey(c, comm, seen);
    free(seen);
    return surveyed;
}

/* ---- with a hidden communicator of its own ---- */

static bool survey_apart(struct collopt_comm *c, MPI_Comm comm, struct collopt_sight *seen)
{
    const struct collopt_world *world = c->inside ? collopt_world() : NULL;
    bool surveyed;

    if (!world)
        return collopt_gather_sights(c->hidden, c->rank, c->ranks, NULL, seen) == MPI_SUCCESS
            && collopt_survey(c, comm, seen);
    surveyed = survey_inside(c, comm, world);
    free(c->peer);              /* a rank of HIDDEN is one of C */
    c->peer = NULL;
    return surveyed;
}

/* Hosts have few communicators, and that there is none left must not end the job.  The ranks have
 * just agreed, so that nobody waits here for long. */
static bool split(struct collopt_comm *c, MPI_Comm comm)
{
    MPI_Errhandler handler = collopt_quiet(comm);
    int err = PMPI_Comm_split(comm, 0, c->rank, &c->hidden);

    collopt_as_before(comm, handler);
    if (err)
        c->hidden = MPI_COMM_NULL;
    return err == MPI_SUCCESS;
}

static bool make_hidden(struct collopt_comm *c, MPI_Comm comm, struct collopt_sight *seen)
{
    if (!split(c, comm))
        return false;
    return PMPI_Comm_set_errhandler(c->hidden, MPI_ERRORS_RETURN) == MPI_SUCCESS
        && survey_apart(c, comm, seen);
}

static void say_difference(const struct collopt_comm *c, MPI_Comm comm)
{
    char difference[768];

    collopt_difference(comm, difference, sizeof difference);
    if (c->rank == 0)
        collopt_warn_here(
            "the %d ranks of a communicator %s; it keeps the MPI library's own collectives",
            c->ranks, difference);
}

/* Nothing is known of processes of other worlds, so everything is compared; and where context ids
 * have run out. */
static bool take_over_apart(struct collopt_comm *c, MPI_Comm comm)
{
    bool on = collopt_settings()->on && (collopt_world_agreed() || !collopt_world_asked());
    bool reserved = reserve(c, true), gpu = collopt_gpu_allows(), made = false, alike, keys_alike;
    struct collopt_sight *seen = malloc((size_t)c->ranks * sizeof *seen);

    if (collopt_agree_also(comm, on && reserved && gpu && seen, collopt_info_waiting(c), &alike,
                           &keys_alike)) {
        collopt_info_compared(c, keys_alike);
        made = make_hidden(c, comm, seen);
        if (!collopt_agree(comm, made, &alike)) {
            if (c->hidden != MPI_COMM_NULL)
                collopt_host.Comm_free(&c->hidden);
            made = false;
            tell_refusal(
                c, BY_HOST,
                "no hidden communicator could be made: a communicator of %d ranks keeps the MPI "
                "library's own collectives",
                c->ranks);
        }
    } else if (alike) {
        say_why_not(c, gpu);
    } else {
        say_difference(c, comm);
    }
    if (!made)
        release(c);
    free(seen);
    return made;
}

/* ---- on the hidden communicator of the world ---- */

struct told {                   /* by each rank to all others */
    /* the id with which it receives; NO_CONTEXT: none is left; NOT_READY */
    int context;
    unsigned keys;              /* a hash of info keys that wait to be compared */
};

/* Most communicators are all of the world in its order, with one id for all: then nothing is
 * kept. */
static void simplify_peers(struct collopt_comm *c)
{
    bool plain = true;

    for (int r = 0; r < c->ranks; r++)
        plain = plain && c->peer[r].rank == r && c->peer[r].tags == c->peer[0].tags;
    if (!plain)
        return;
    c->tags = c->peer[0].tags;
    free(c->peer);
    c->peer = NULL;
}

static bool all_ready(const struct told *all, int ranks, bool *have_contexts, bool *keys_alike)
{
    bool ready = true;

    *have_contexts = *keys_alike = true;
    for (int r = 0; r < ranks; r++) {
        ready = ready && all[r].context != NOT_READY;
        *have_contexts = *have_contexts && all[r].context != NO_CONTEXT;
        *keys_alike = *keys_alike && all[r].keys == all[0].keys;
    }
    return ready;
}

/* MPI has ended: communicators that the program has not freed cannot be freed any more. */
static void forget_all(void)
{
    pthread_mutex_lock(&lock);
    keyval = MPI_KEYVAL_INVALID;
    for (struct collopt_comm *c = every; c; c = c->other)
        if (collopt_comm_of(c) != MPI_COMM_NULL) {
            atomic_store_explicit(&c->comm, MPI_COMM_NULL, memory_order_relaxed);
            if (c->held > 0)
                continue;
            c->next = unused;
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

/* May COMM be used after MPI_Finalize? */
static bool may_outlive(MPI_Comm comm)
{
    return comm != MPI_COMM_WORLD && atomic_load_explicit(&sessions, memory_order_relaxed);
}

/* C is as if it were not taken over.  An error may leave its context id to other ranks, so that it
 * must not be used again. */
static void undo(struct collopt_comm *c, int err)
{
    if (c->context != NO_CONTEXT && !err)
        collopt_context_give_back(c->context);
    c->context = NO_CONTEXT;
    release(c);
    forget_survey(c);
}

/* Everything that can fail on this rank alone is done before it tells the others of its context.
 * If the host's collective fails, the error is the user's, whose handler may leave by longjmp: C is
 * SPOILT until it has not. */
static int take_over_inside(struct collopt_comm *c, MPI_Comm comm, bool *done)
{
    enum { FEW = 256 };         /* ranks: these need no memory, and so cannot fail here */
    const struct collopt_world *world = collopt_world();
    bool reserved = reserve(c, false), gpu = collopt_gpu_allows(), ready;
    bool have_contexts = false, keys_alike = false;
    uint64_t keys = collopt_info_waiting(c);
    struct told mine = { .context = NOT_READY, .keys = (unsigned)(keys ^ keys >> 32) };
    struct told few[FEW], *all = c->ranks <= FEW ? few : malloc((size_t)c->ranks * sizeof *all);
    int err;

    if (!all) {
        undo(c, MPI_SUCCESS);
        return collopt_raise(comm, MPI_ERR_NO_MEM);
    }
    if (reserved && gpu && (!world || may_outlive(comm)))
        mine.context = NO_CONTEXT;
    else if (reserved && gpu && survey_inside(c, comm, world))
        mine.context = c->context = collopt_context_take();
    c->spoilt = true;
    err = PMPI_Allgather(&mine, 2, MPI_INT, all, 2, MPI_INT, comm);
    c->spoilt = false;
    ready = !err && all_ready(all, c->ranks, &have_contexts, &keys_alike);
    *done = ready && have_contexts;
    for (int r = 0; *done && r < c->ranks; r++)
        c->peer[r].tags = all[r].context * COLLOPT_CONTEXT_TAGS;
    if (all != few)
        free(all);
    if (*done) {
        c->hidden = world->hidden;
        collopt_info_compared(c, keys_alike);
        simplify_peers(c);
        return MPI_SUCCESS;
    }
    undo(c, err);
    if (ready)
        *done = take_over_apart(c, comm);
    else if (!err)
        say_why_not(c, gpu);
    return err;
}

MPI_Errhandler collopt_quiet(MPI_Comm comm)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;       /* SMPI has none as long as none was set */

    PMPI_Comm_get_errhandler(comm, &handler);
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return handler;
}

void collopt_as_before(MPI_Comm comm, MPI_Errhandler handler)
{
    MPI_Errhandler now = MPI_ERRHANDLER_NULL;

    if (handler == MPI_ERRHANDLER_NULL)
        return;
    PMPI_Comm_get_errhandler(comm, &now);
    if (now == MPI_ERRORS_RETURN)       /* else another thread has set one */
        PMPI_Comm_set_errhandler(comm, handler);
    if (now != MPI_ERRHANDLER_NULL)
        PMPI_Errhandler_free(&now);
    PMPI_Errhandler_free(&handler);
}

/* By the host's own collectives, on the user's communicator and with the user's error handler, as
 * there is nothing else yet.  Should the handler not come back, C is one that was refused.
 * Meanwhile nested calls go to the host. */
static int take_over(struct collopt_comm *c)
{
    bool done = false;
    int err = MPI_SUCCESS;

    c->status = COLLOPT_REFUSED;
    if (c->ranks == 1) {
        collopt_info_compared(c, true);
        done = collopt_gpu_allows() && collopt_rental_begin(&c->rental, 1);
    } else if (c->inside) {
        err = take_over_inside(c, collopt_comm_of(c), &done);
    } else {
        done = take_over_apart(c, collopt_comm_of(c));
    }
    if (done)
        c->status = COLLOPT_TAKEN_OVER;
    return err;
}

/* ---- when ---- */

/* Do all its ranks belong to MPI_COMM_WORLD, and were they asked in MPI_Init?  All ranks of a
 * communicator answer alike: one that reaches beyond a world does so for everybody in it. */
bool collopt_comm_inside(struct collopt_comm *c)
{
    MPI_Comm comm = collopt_comm_of(c);

    if (!c->placed)
        c->inside = c->ranks == 1
            || (collopt_world_asked()
                && (comm == MPI_COMM_WORLD || translate(comm, c->ranks, NULL)));
    c->placed = collopt_world_asked();  /* not yet, where a tool reduces inside MPI_Init */
    return c->inside;
}

/* The N-th call, or the one by which taking over pays. */
static bool is_due(struct collopt_comm *c, size_t bytes)
{
    enum { ELSEWHERE = 3 };
    int after = collopt_settings()->check ? 1 : collopt_settings()->after;

    if (!c->inside || after > 0)
        return ++c->calls >= (c->inside ? after : ELSEWHERE);
    c->earned += collopt_saving(collopt_world_surroundings(), 0, c->ranks, bytes);
    return c->ranks == 1 || c->earned >= collopt_price_of_communicator(c->ranks);
}

/* A process of another world may lack collopt: it would take a question of ours for the program's
 * next collective call.  Only the user knows.  Processes of a session that have not called MPI_Init
 * are those of one job, which have the library all or none, as those of a world. */
static bool may_ask(const struct collopt_comm *c)
{
    return c->inside || collopt_settings()->beyond_world || !collopt_world_asked();
}

static void keep_apart(struct collopt_comm *c)
{
    c->status = COLLOPT_REFUSED;
    if (collopt_world_agreed())
        tell_refusal(c, BEYOND_WORLD,
                     "a communicator of %d ranks with processes of another MPI_COMM_WORLD keeps "
                     "the MPI library's own collectives: COLLOPT_BEYOND_WORLD=on changes this, if "
                     "all those processes run collopt",
                     c->ranks);
}

/* A world that was asked knows whether it is on, and its COLLOPT_AFTER is everybody's.  Elsewhere
 * (sessions, merged worlds) nothing is known of the others, so all that have the library ask each
 * other at a call whose number no setting changes.  Calls are to be checked from the first one
 * on. */
int collopt_comm_take_over(struct collopt_comm *c, size_t bytes)
{
    /* while switched off, calls are not counted */
    if (collopt_comm_inside(c) && !atomic_load_explicit(&collopt_switched_on, memory_order_relaxed))
        return MPI_SUCCESS;
    if (!may_ask(c)) {
        keep_apart(c);
        return MPI_SUCCESS;
    }
    return is_due(c, bytes) ? take_over(c) : MPI_SUCCESS;
}

void collopt_comm_note(struct collopt_comm *c, size_t bytes)
{
    if (collopt_comm_inside(c) && !atomic_load_explicit(&collopt_switched_on, memory_order_relaxed))
        return;
    if (is_due(c, bytes) && c->ranks == 1)
        take_over(c);
}

void collopt_comm_take_over_world(void)
{
    struct collopt_comm *c = collopt_comm_find(MPI_COMM_WORLD);

    if (c && c->status == COLLOPT_NEW && collopt_settings()->after == 0
        && !collopt_settings()->check && collopt_comm_inside(c))
        take_over(c);
}
