/* What is kept per communicator: when it is engaged, the hidden communicator, its topology, its schedules.
 *
 * States hang on the user's communicators as an attribute whose delete callback cleans up, and that copies to no
 * duplicate.  In front of the attribute stands a small table from handle to state, for the repeated call.  It needs no
 * lock: states come from a pool and are never unmapped, so a stale entry leads to a state that says itself whose it is. */
#include "config.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"

enum { RECENT = 64 };

static _Atomic(struct collopt_comm *) recent[RECENT];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;        /* of what is below; never held across an MPI call */
static struct collopt_comm *unused, *every;
static int keyval = MPI_KEYVAL_INVALID;
static int hidden_communicators;
static atomic_bool shut_down;

static size_t slot_of(MPI_Comm comm)
{
    uintptr_t x = (uintptr_t)comm;

    return (x ^ x >> 8 ^ x >> 14) % RECENT;
}

/* ---- the pool of states ------------------------------------------------------------------------------------- */

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

static struct collopt_comm *take_state(void)
{
    struct collopt_comm *c, *other;

    pthread_mutex_lock(&lock);
    c = unused;
    if (c)
        unused = c->next;
    pthread_mutex_unlock(&lock);
    if (!c && !(c = make_state()))
        return NULL;
    other = c->other;
    memset((char *)c + sizeof c->comm, 0, sizeof *c - sizeof c->comm);
    c->other = other;
    c->hidden = MPI_COMM_NULL;
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

static void clean(struct collopt_comm *c)
{
    collopt_plans_free(c);
    collopt_adapt_tell(c);
    collopt_adapted_free(c);
    free(c->scratch);
    free(c->node);
    for (int by = 0; by < COLLOPT_GROUPINGS; by++) {
        free((int *)c->level[by].node);
        c->level[by].node = NULL;
        c->groups[by] = NULL;
    }
    free(c->waiting);
    c->waiting = NULL;
    c->scratch = NULL;
    c->node = NULL;
}

static void free_hidden(struct collopt_comm *c)
{
    if (c->hidden == MPI_COMM_NULL)
        return;
    PMPI_Comm_free(&c->hidden);
    pthread_mutex_lock(&lock);
    hidden_communicators--;
    pthread_mutex_unlock(&lock);
}

/* What is freed when MPI_Finalize has ended is a session's, whose MPI goes on (MPI-4, 11.3). */
static bool too_late(void)
{
    int finalized = 0;

    return atomic_load_explicit(&shut_down, memory_order_relaxed) && (PMPI_Finalized(&finalized) || !finalized);
}

static int deleted(MPI_Comm comm, int key, void *value, void *extra)
{
    struct collopt_comm *c = value;

    (void)comm, (void)key, (void)extra;
    if (!too_late()) {
        clean(c);               /* frees datatypes of the host, so not in MPI_Finalize */
        free_hidden(c);
    }
    give_back(c);
    return MPI_SUCCESS;
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

/* Communicators that are never freed have no delete callback: their datatypes are given back here (MPICH warns of what is
 * left).  Whoever makes a call during MPI_Finalize gets his plans anew. */
void collopt_comm_shut_down(void)
{
    struct collopt_comm *c;

    pthread_mutex_lock(&lock);
    c = every;
    pthread_mutex_unlock(&lock);
    for (; c; c = c->other)
        if (!c->busy)           /* by a thread whose communicator is a session's, and goes on */
            collopt_plans_free(c);
    atomic_store_explicit(&shut_down, true, memory_order_relaxed);
}

/* ---- from handle to state ------------------------------------------------------------------------------------ */

static bool make_keyval(void)
{
    int made = MPI_KEYVAL_INVALID, spare = MPI_KEYVAL_INVALID;

    pthread_mutex_lock(&lock);
    bool have = keyval != MPI_KEYVAL_INVALID;
    pthread_mutex_unlock(&lock);
    if (have)
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
}

static struct collopt_comm *new_state(MPI_Comm comm)
{
    struct collopt_comm *c = take_state();

    if (!c)
        return NULL;
    collopt_prepare();
    c->timed = collopt_settings()->report != NULL;
    c->traced = collopt_settings()->log >= COLLOPT_LOG_TRACE;
    c->scratch_kept = collopt_settings()->scratch;
    describe(c, comm);
    c->checked = collopt_settings()->check && c->ranks > 1;
    atomic_store_explicit(&c->comm, comm, memory_order_relaxed);
    if (PMPI_Comm_set_attr(comm, keyval, c)) {
        give_back(c);
        return NULL;
    }
    return c;
}

static COLLOPT_OUT_OF_LINE struct collopt_comm *look_up(MPI_Comm comm)
{
    struct collopt_comm *c = NULL;
    int found = 0;

    if (!collopt_plausible_comm(comm) || !make_keyval() || PMPI_Comm_get_attr(comm, keyval, &c, &found))
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

    /* Of a state that is free the communicator is null as well. */
    if (c && comm != MPI_COMM_NULL && atomic_load_explicit(&c->comm, memory_order_relaxed) == comm)
        return c;
    return look_up(comm);
}

/* ---- engaging ------------------------------------------------------------------------------------------------ */

/* False when the process has as many hidden communicators as it may; hosts have few (MPICH 2046 in all). */
static bool reserve_hidden(void)
{
    bool free;

    pthread_mutex_lock(&lock);
    free = hidden_communicators < collopt_settings()->communicators;
    hidden_communicators += free;
    pthread_mutex_unlock(&lock);
    return free;
}

static void release_hidden(void)
{
    pthread_mutex_lock(&lock);
    hidden_communicators--;
    pthread_mutex_unlock(&lock);
}

/* Not a duplicate: MPI_Comm_dup would run the user's attribute callbacks.  Errors must come back here, not to handlers. */
static bool make_hidden(struct collopt_comm *c, MPI_Comm comm, struct collopt_sight *seen)
{
    if (PMPI_Comm_split(comm, 0, c->rank, &c->hidden)) {
        c->hidden = MPI_COMM_NULL;
        return false;
    }
    return PMPI_Comm_set_errhandler(c->hidden, MPI_ERRORS_RETURN) == MPI_SUCCESS && collopt_survey(c, comm, seen) == MPI_SUCCESS;
}

enum refusal { BY_SETTING, BY_LIMIT, BY_HOST, REFUSALS };

/* Loaded and doing nothing is never silent.  Rank 0 of the communicator speaks, since that of MPI_COMM_WORLD may not be in
 * it, and once for each reason, unless a promise is broken (COLLOPT_REPRODUCIBLE, COLLOPT_CHECK): each sort of
 * communicator is named then. */
__attribute__((format(printf, 3, 4)))
static void tell_refusal(const struct collopt_comm *c, enum refusal why, const char *format, ...)
{
    static atomic_bool said[REFUSALS];
    bool promised = collopt_settings()->reproducible != COLLOPT_NOT_REPRODUCIBLE || collopt_settings()->check;
    char text[512];
    va_list ap;

    if (c->rank != 0 || (atomic_exchange(&said[why], true) && !promised))
        return;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    collopt_warn_once("%s", text);
}

/* Why the setting, or a limit, or what another rank says, keeps this communicator with the host. */
static void say_why_not(const struct collopt_comm *c, MPI_Comm comm, bool alike, bool gpu)
{
    char difference[768];

    if (!alike) {
        collopt_difference(comm, difference, sizeof difference);
        if (c->rank == 0)
            collopt_warn_here("the %d ranks of a communicator %s; it keeps the MPI library's own collectives", c->ranks,
                              difference);
    } else if (!gpu) {
        tell_refusal(c, BY_SETTING, "COLLOPT_GPU=native: a communicator of %d ranks keeps the MPI library's own "
                     "collectives, as will all others", c->ranks);
    } else {
        tell_refusal(c, BY_LIMIT, "a communicator of %d ranks keeps the MPI library's own collectives: off on some rank, "
                     "or COLLOPT_COMMUNICATORS=%d reached there", c->ranks, collopt_settings()->communicators);
    }
}

static bool engage_together(struct collopt_comm *c, MPI_Comm comm)
{
    bool on = collopt_settings()->on && (collopt_world_agreed() || !collopt_world_asked());
    bool reserved = reserve_hidden(), gpu = collopt_gpu_allows(), made = false, alike, keys_alike;
    struct collopt_sight *seen = malloc((size_t)c->ranks * sizeof *seen);

    c->node = malloc((size_t)c->ranks * sizeof *c->node);
    if (collopt_agree_also(comm, on && reserved && gpu && seen && c->node, collopt_info_waiting(c), &alike, &keys_alike)) {
        collopt_info_compared(c, keys_alike);
        made = make_hidden(c, comm, seen);
        if (!collopt_agree(comm, made, &alike)) {
            if (c->hidden != MPI_COMM_NULL)
                PMPI_Comm_free(&c->hidden);
            made = false;
            tell_refusal(c, BY_HOST, "no hidden communicator could be made: a communicator of %d ranks keeps the MPI "
                         "library's own collectives", c->ranks);
        }
    } else {
        say_why_not(c, comm, alike, gpu);
    }
    if (!made && reserved)
        release_hidden();
    free(seen);
    return made;
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
    if (handler == MPI_ERRHANDLER_NULL)
        return;
    PMPI_Comm_set_errhandler(comm, handler);
    PMPI_Errhandler_free(&handler);
}

static bool engage_quietly(struct collopt_comm *c)
{
    MPI_Comm comm = atomic_load_explicit(&c->comm, memory_order_relaxed);
    MPI_Errhandler handler = collopt_quiet(comm);
    bool engaged = engage_together(c, comm);

    collopt_as_before(comm, handler);
    return engaged;
}

/* Are all ranks of GROUP in WORLD?  Without memory of our own: all ranks have to come to the same answer. */
static bool is_within(MPI_Group group, int ranks, MPI_Group world)
{
    enum { AT_ONCE = 256 };
    int rank[AT_ONCE], in_world[AT_ONCE];
    bool within = true;

    for (int from = 0; from < ranks && within; from += AT_ONCE) {
        int n = ranks - from < AT_ONCE ? ranks - from : AT_ONCE;

        for (int i = 0; i < n; i++)
            rank[i] = from + i;
        PMPI_Group_translate_ranks(group, n, rank, world, in_world);
        for (int i = 0; i < n; i++)
            within = within && in_world[i] != MPI_UNDEFINED;
    }
    return within;
}

/* Do all its ranks belong to MPI_COMM_WORLD, and were they asked in MPI_Init?  All ranks of a communicator answer alike: one
 * that reaches beyond a world does so for everybody in it. */
static bool inside_world(const struct collopt_comm *c)
{
    MPI_Comm comm = atomic_load_explicit(&c->comm, memory_order_relaxed);
    MPI_Group group, world;
    bool inside;

    if (comm == MPI_COMM_WORLD || !collopt_world_asked())
        return collopt_world_asked();
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    inside = is_within(group, c->ranks, world);
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return inside;
}

bool collopt_comm_inside(const struct collopt_comm *c)
{
    return c->ranks == 1 || inside_world(c);
}

/* A world that was asked knows whether it is on, and its COLLOPT_AFTER is everybody's.  Elsewhere (sessions, merged worlds)
 * nothing is known of the others, so all that have the library ask each other at a call whose number no setting changes.  Calls
 * are to be checked from the first one on. */
void collopt_comm_engage(struct collopt_comm *c)
{
    enum { ELSEWHERE = 3 };
    int after = collopt_settings()->check ? 1 : collopt_settings()->after;
    bool engaged;

    if (!c->placed)             /* while switched off, calls are not counted */
        c->inside = collopt_comm_inside(c);
    c->placed = collopt_world_asked();  /* not yet, where a tool reduces inside MPI_Init */
    if (c->inside && !atomic_load_explicit(&collopt_switched_on, memory_order_relaxed))
        return;
    if (++c->calls < (c->inside ? after : ELSEWHERE))
        return;
    c->busy = true;
    if (c->ranks == 1)
        collopt_info_compared(c, true);
    engaged = c->ranks == 1 ? collopt_gpu_allows() : engage_quietly(c);
    c->busy = false;
    c->status = engaged ? COLLOPT_ENGAGED : COLLOPT_REFUSED;
}
