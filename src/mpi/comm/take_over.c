/* Takes communicators over, when that pays; see take_over.h. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpi/comm/take_over.h"
#include "base/log.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/hints.h"
#include "mpi/comm/noted.h"
#include "mpi/comm/peers.h"
#include "mpi/comm/recorded.h"
#include "mpi/comm/topology.h"
#include "mpi/device/gpu.h"
#include "mpi/host/errhandler.h"
#include "mpi/node/agree.h"
#include "mpi/node/context.h"
#include "mpi/node/locality.h"
#include "mpi/node/process.h"
#include "mpi/node/world.h"
#include "select/break_even.h"
#include "settings/settings.h"

enum { NOT_READY = -2 };        /* instead of a context id */

enum refusal { BY_SETTING, BY_LIMIT, BY_HOST, BEYOND_WORLD, REFUSALS };

/* Warns that C is not taken over. Rank 0 of the communicator warns, since that of MPI_COMM_WORLD
 * may not be in it, and once for each reason, unless a promise is broken (COLLOPT_REPRODUCIBLE,
 * COLLOPT_CHECK): each sort of communicator is named then. */
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

static bool map_inside(struct collopt_comm *c, MPI_Comm comm, const struct collopt_world *world)
{
    struct collopt_locality *seen = malloc((size_t)c->ranks * sizeof *seen);
    bool mapped;

    mapped = seen && collopt_peers_make(c, comm);
    for (int r = 0; mapped && r < c->ranks; r++)
        seen[r] = world->locality[c->peer[r].rank];
    mapped = mapped && collopt_map_fill(c, comm, seen);
    free(seen);
    return mapped;
}

/* ---- with a hidden communicator of its own ---- */

static bool map_apart(struct collopt_comm *c, MPI_Comm comm, struct collopt_locality *seen)
{
    const struct collopt_world *world = c->inside ? collopt_world() : NULL;
    bool mapped;

    if (!world)
        return collopt_localities_gather(c->hidden, c->rank, c->ranks, NULL, seen) == MPI_SUCCESS
            && collopt_map_fill(c, comm, seen);
    mapped = map_inside(c, comm, world);
    collopt_peers_free(c);      /* a rank of HIDDEN is one of C */
    return mapped;
}

/* Hosts have few communicators, and that there is none left must not end the job.  The ranks have
 * just agreed, so that nobody waits here for long. */
static bool split(struct collopt_comm *c, MPI_Comm comm)
{
    MPI_Errhandler handler = collopt_save_errhandler(comm);
    int err = collopt_host.Comm_split(comm, 0, c->rank, &c->hidden);

    collopt_restore_errhandler(comm, handler);
    if (err)
        c->hidden = MPI_COMM_NULL;
    return err == MPI_SUCCESS;
}

static bool make_hidden(struct collopt_comm *c, MPI_Comm comm, struct collopt_locality *seen)
{
    if (!split(c, comm))
        return false;
    return PMPI_Comm_set_errhandler(c->hidden, MPI_ERRORS_RETURN) == MPI_SUCCESS
        && map_apart(c, comm, seen);
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
    bool reserved = collopt_comm_reserve(c, true), gpu = collopt_gpu_allows(), made = false, alike,
         keys_alike;
    struct collopt_locality *seen = malloc((size_t)c->ranks * sizeof *seen);

    if (collopt_agree_also(comm, on && reserved && gpu && seen, collopt_hints_waiting(c), &alike,
                           &keys_alike)) {
        collopt_hints_compared(c, keys_alike);
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
        collopt_comm_unreserve(c);
    free(seen);
    return made;
}

/* ---- on the hidden communicator of the world ---- */

struct told {                   /* what each rank sends to all others */
    /* the id with which it receives; COLLOPT_NO_CONTEXT: none is left; NOT_READY */
    int context;
    unsigned keys;              /* a hash of info keys that wait to be compared */
};

static bool all_ready(const struct told *all, int ranks, bool *have_contexts, bool *keys_alike)
{
    bool ready = true;

    *have_contexts = *keys_alike = true;
    for (int r = 0; r < ranks; r++) {
        ready = ready && all[r].context != NOT_READY;
        *have_contexts = *have_contexts && all[r].context != COLLOPT_NO_CONTEXT;
        *keys_alike = *keys_alike && all[r].keys == all[0].keys;
    }
    return ready;
}

/* May COMM be used after MPI_Finalize? */
static bool may_outlive(MPI_Comm comm)
{
    return comm != MPI_COMM_WORLD && collopt_sessions_begun();
}

/* C is as if it were not taken over.  An error may leave its context id to other ranks, so that it
 * must not be used again. */
static void undo(struct collopt_comm *c, int err)
{
    if (c->context != COLLOPT_NO_CONTEXT && !err)
        collopt_context_give_back(c->context);
    c->context = COLLOPT_NO_CONTEXT;
    collopt_comm_unreserve(c);
    collopt_peers_free(c);
    collopt_map_free(c);
}

/* Everything that can fail on this rank alone is done before it tells the others of its context.
 * If the host's collective fails, the error is the user's, whose handler may leave by longjmp: C is
 * SPOILT until it has not. */
static int take_over_inside(struct collopt_comm *c, MPI_Comm comm, bool *done)
{
    enum { FEW = 256 };         /* ranks: these need no memory, and so cannot fail here */
    const struct collopt_world *world = collopt_world();
    bool reserved = collopt_comm_reserve(c, false), gpu = collopt_gpu_allows(), ready;
    bool have_contexts = false, keys_alike = false;
    uint64_t keys = collopt_hints_waiting(c);
    struct told mine = { .context = NOT_READY, .keys = (unsigned)(keys ^ keys >> 32) };
    struct told few[FEW], *all = c->ranks <= FEW ? few : malloc((size_t)c->ranks * sizeof *all);
    int err;

    if (!all) {
        undo(c, MPI_SUCCESS);
        return collopt_raise(comm, MPI_ERR_NO_MEM);
    }
    if (reserved && gpu && (!world || may_outlive(comm)))
        mine.context = COLLOPT_NO_CONTEXT;
    else if (reserved && gpu && map_inside(c, comm, world))
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
        collopt_hints_compared(c, keys_alike);
        collopt_peers_simplify(c);
        return MPI_SUCCESS;
    }
    undo(c, err);
    if (ready)
        *done = take_over_apart(c, comm);
    else if (!err)
        say_why_not(c, gpu);
    return err;
}

/* Takes C over by the host's own collectives, on the user's communicator and with the user's error
 * handler, since C has no others yet.  If the handler does not return, C has not been taken over.
 * Meanwhile nested calls go to the host. */
static int take_over(struct collopt_comm *c)
{
    bool done = false;
    int err = MPI_SUCCESS;

    c->status = COLLOPT_REFUSED;
    if (c->ranks == 1) {
        collopt_hints_compared(c, true);
        done = collopt_gpu_allows() && collopt_break_even_begin(&c->break_even, 1);
    } else if (c->inside) {
        err = take_over_inside(c, collopt_comm_of(c), &done);
    } else {
        done = take_over_apart(c, collopt_comm_of(c));
    }
    if (done) {
        c->status = COLLOPT_TAKEN_OVER;
        collopt_record_agreed(c);
        collopt_noted_agreed(c);
    }
    return err;
}

/* ---- when ---- */

/* The N-th call, or the one by which taking over pays. */
static bool is_due(struct collopt_comm *c, size_t bytes)
{
    enum { ELSEWHERE = 3 };
    int after = collopt_settings()->check ? 1 : collopt_settings()->after;

    if (!c->inside || after > 0)
        return ++c->calls >= (c->inside ? after : ELSEWHERE);
    c->saved += collopt_saving(collopt_world_surroundings(), 0, c->ranks, bytes);
    return c->ranks == 1 || c->saved >= collopt_price_of_communicator(c->ranks);
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

/* A world that agreed in MPI_Init knows whether it is on, and its COLLOPT_AFTER is everybody's.
 * Elsewhere (sessions, merged worlds) nothing is known of the others, so all that have the library
 * ask each other at a call whose number no setting changes.  Calls are to be checked from the first
 * one on. */
int collopt_comm_take_over(struct collopt_comm *c, size_t bytes)
{
    /* while switched off, calls are not counted */
    if (collopt_comm_inside(c) && collopt_is_off())
        return MPI_SUCCESS;
    if (!may_ask(c)) {
        keep_apart(c);
        return MPI_SUCCESS;
    }
    return is_due(c, bytes) ? take_over(c) : MPI_SUCCESS;
}

void collopt_comm_note(struct collopt_comm *c, size_t bytes)
{
    if (collopt_comm_inside(c) && collopt_is_off())
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
