/* Watches requests of the host's; see watched.h.
 *
 * A handle leads to what is known of its request.  Several may have the same handle: hosts use one
 * for all that are complete from the start.  Which of these is taken does not matter then. */
#include "config.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "mpi/request/watched.h"
#include "base/clock.h"
#include "mpi/comm/arguments.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/traced.h"
#include "mpi/host/poll.h"
#include "mpi/node/world.h"
#include "report/counters.h"
#include "report/timing.h"
#include "schedule/problem.h"

struct collopt_watched {
    struct collopt_watched *next;       /* in its chain */
    struct collopt_watched *after;      /* of the same completion call */
    int position;               /* there */
    MPI_Request request;
    const char *name;           /* as counted */
    enum collopt_reason why;
    enum collopt_collective collective;
    int ranks;                  /* 0: neither this nor BYTES is known */
    uint64_t bytes;
    bool root, yields, persistent;
    bool active, taken;         /* TAKEN: by a completion call */
    struct collopt_noted *noted;        /* of the communicator, or of this persistent request */
    struct collopt_noting noting;
    struct collopt_traced what, *traced;        /* WHAT without a communicator: not wanted */
};

enum { CHAINS = 256 };

atomic_int collopt_watched_in_use;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;        /* of the chains and of TAKEN */
static struct collopt_watched *table[CHAINS];

static struct collopt_watched **chain_of(MPI_Request request)
{
    uint64_t h = (uint64_t)(uintptr_t)request * UINT64_C(0x9e3779b97f4a7c15);

    return &table[h >> 56];
}

static void enter(struct collopt_watched *w)
{
    struct collopt_watched **at = chain_of(w->request);

    pthread_mutex_lock(&lock);
    w->next = *at;
    *at = w;
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&collopt_watched_in_use, 1);
}

/* Under the lock: the latest one that no completion call has. */
static struct collopt_watched *find(MPI_Request request)
{
    struct collopt_watched *w = *chain_of(request);

    while (w && (w->request != request || w->taken))
        w = w->next;
    return w;
}

static void drop(struct collopt_watched *w)
{
    struct collopt_watched **at = chain_of(w->request);

    pthread_mutex_lock(&lock);
    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    pthread_mutex_unlock(&lock);
    atomic_fetch_sub(&collopt_watched_in_use, 1);
    free(w);
}

/* ---- starting -------------------------------------------------------------------------------- */

static struct collopt_watched *make(struct collopt_comm *c, const struct collopt_call *call)
{
    enum collopt_reason why = (enum collopt_reason)call->why;
    bool wanted = c->timed && why != COLLOPT_PASS_NESTED;
    struct collopt_watched *w = wanted ? calloc(1, sizeof *w) : NULL;

    if (!w)
        return NULL;
    w->name = call->name;
    w->why = why;
    w->collective = call->collective;
    w->ranks = collopt_arguments_size(c, call, why, &w->bytes) ? c->ranks : 0;
    w->root = call->collective == COLLOPT_REDUCE && call->root == c->rank;
    w->yields = c->yields || collopt_world_surroundings() == COLLOPT_CROWDED;
    w->persistent = call->mode == COLLOPT_PERSISTENT;
    if (collopt_traces(c))
        w->what = collopt_trace_describe(c, call, (struct collopt_traced){
            .form = w->persistent ? COLLOPT_TRACED_STARTED : COLLOPT_TRACED_NONBLOCKING,
            .why = collopt_reason_names[why], .took = COLLOPT_NOT_ENDED,
            .bytes = w->ranks > 0 ? w->bytes : COLLOPT_NOT_TRACED });
    return w;
}

static int size_class(const struct collopt_watched *w)
{
    return w->ranks > 0 ? collopt_size_class(w->bytes) : -1;
}

static void begin(struct collopt_watched *w, const struct collopt_noting *noting)
{
    w->noting = *noting;
    collopt_noting_describe(&w->noting, w->noted, w->collective,
                            collopt_counted_passed(w->name, w->why, size_class(w)), w->root);
    w->noting.entered = collopt_timing_begin();
    w->what.entered = w->noting.entered;
    w->traced = w->what.comm ? collopt_traced_add(&w->what) : NULL;
}

struct collopt_watched *collopt_watch_started(struct collopt_comm *c,
                                              const struct collopt_call *call,
                                              const struct collopt_noting *noting)
{
    struct collopt_watched *w = make(c, call);

    if (!w)
        return NULL;
    w->noted = c->noted ? collopt_noted(c) : NULL;
    begin(w, noting);
    return w;
}

struct collopt_watched *collopt_watch_made(struct collopt_comm *c, const struct collopt_call *call,
                                           struct collopt_noted *starts)
{
    struct collopt_watched *w = make(c, call);

    if (!w)
        return NULL;
    w->noted = starts;
    return w;
}

int collopt_watch(struct collopt_watched *w, const MPI_Request *request, int err)
{
    if (!w)
        return err;
    if (!w->persistent)
        collopt_watch_has_started(w, err);
    if (err) {
        free(w);
        return err;
    }
    w->request = *request;
    enter(w);
    return err;
}

/* NULL: it is not watched, or is no request. */
static struct collopt_watched *find_at(const MPI_Request *request)
{
    struct collopt_watched *w;

    if (collopt_watched_none() || !request)
        return NULL;
    pthread_mutex_lock(&lock);
    w = find(*request);
    pthread_mutex_unlock(&lock);
    return w;
}

struct collopt_watched *collopt_watch_starts(const MPI_Request *request)
{
    struct collopt_watched *w = find_at(request);
    struct collopt_noting noting;

    if (!w || !w->persistent)
        return NULL;
    noting = collopt_noting_of(w->noted);
    begin(w, &noting);
    return w;
}

int collopt_watch_has_started(struct collopt_watched *w, int err)
{
    if (w) {
        w->noting.starting = collopt_timing_end(w->noting.entered);
        w->active = !err;
    }
    return err;
}

void collopt_watch_frees(const MPI_Request *request)
{
    struct collopt_watched *w = find_at(request);

    if (w)
        drop(w);
}

bool collopt_watched_any(int n, const MPI_Request *requests)
{
    bool any = false;

    if (collopt_watched_none() || !requests)
        return false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < n && !any; i++)
        any = find(requests[i]) != NULL;
    pthread_mutex_unlock(&lock);
    return any;
}

/* ---- completing ------------------------------------------------------------------------------ */

void collopt_watching_find(struct collopt_watching *w, int n, const MPI_Request *requests,
                           bool waits)
{
    struct collopt_watched **end = &w->first;

    if (!requests)
        return;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < n; i++) {
        struct collopt_watched *one = find(requests[i]);

        if (!one || !one->active)
            continue;
        one->taken = true;
        one->position = i;
        *end = one;
        end = &one->after;
    }
    *end = NULL;
    pthread_mutex_unlock(&lock);
    w->begun = waits ? collopt_now() : 0;
}

static void await(struct collopt_watched *w, MPI_Request request)
{
    uint64_t begun = collopt_timing_begin();
    struct collopt_poke poke = { .begun = false };
    unsigned polls = 0;
    int flag = 0;

    while (!collopt_host.Request_get_status(request, &flag, MPI_STATUS_IGNORE) && !flag)
        collopt_idle_at(&poke, w->yields, &polls);
    collopt_poke_end(&poke);
    w->noting.awaited = begun;
    w->noting.waiting = collopt_timing_end(begun);
}

void collopt_watching_each(struct collopt_watching *w, int n, MPI_Request *requests)
{
#ifdef COLLOPT_ONE_THREAD       /* a look takes simulated time */
    n = 1;
#endif
    if (n == 1 || !w->first)    /* the host's own wait tells it */
        return;
    for (struct collopt_watched *one = w->first; one; one = one->after)
        await(one, requests[one->position]);
    w->begun = 0;
}

static bool has_ended(const struct collopt_watched *w, MPI_Request request)
{
    int flag = 0;

    if (!w->persistent)
        return request != w->request;
    return collopt_host.Request_get_status(request, &flag, MPI_STATUS_IGNORE) || flag;
}

static void release(struct collopt_watched *w, bool active)
{
    pthread_mutex_lock(&lock);
    w->taken = false;
    w->active = active;
    pthread_mutex_unlock(&lock);
}

static void end(struct collopt_watched *w, int err)
{
    collopt_count_passed_call(w->name, w->why, collopt_noting_time(&w->noting), w->ranks, w->bytes);
    collopt_traced_end(w->traced);
    if (!err)
        collopt_noting_end(&w->noting);
    if (w->persistent)
        release(w, false);
    else
        drop(w);
}

void collopt_watching_finish(struct collopt_watching *w, const MPI_Request *requests, int err)
{
    for (struct collopt_watched *one = w->first, *after; one; one = after) {
        after = one->after;
        if (!has_ended(one, requests[one->position])) {
            release(one, true);
            continue;
        }
        if (w->begun > 0) {     /* the first one that has ended is what the program waited for */
            one->noting.awaited = w->begun;
            one->noting.waiting = collopt_now() - w->begun;
            collopt_timing_cover(one->noting.waiting);
            w->begun = 0;
        }
        end(one, err);
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Notes and traces end here; a session's persistent request may go on without. */
static void forget_notes(struct collopt_watched *w)
{
    w->active = false;
    w->noted = NULL;
    w->noting = (struct collopt_noting){ .note = NULL };
    w->what.comm = NULL;
    w->traced = NULL;
}

/* Other threads may be anywhere, so nothing is freed. */
void collopt_watched_end(void)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < CHAINS; i++)
        for (struct collopt_watched *w = table[i]; w; w = w->next) {
            if (w->active)
                collopt_count_passed(w->name, w->why, 1);
            forget_notes(w);
        }
    pthread_mutex_unlock(&lock);
}
