/* Makes the handles of requests and shows the host their state; see handle.h. */
#include "config.h"

#include <dlfcn.h>
#include <string.h>

#include "mpi/request/handle.h"
#include "mpi/host/poll.h"
#include "mpi/host/progress.h"
#include "mpi/node/world.h"
#include "mpi/request/request.h"

static enum collopt_shown shown(const struct collopt_handle *h)
{
    return atomic_load_explicit(&h->shown, memory_order_relaxed);
}

static void show(struct collopt_handle *h, enum collopt_shown what)
{
    atomic_store_explicit(&h->shown, what, memory_order_relaxed);
}

static MPI_Request request_of(const struct collopt_handle *h)
{
    return atomic_load_explicit(&h->request, memory_order_relaxed);
}

/* ---- generalized requests -------------------------------------------------------------------- */

/* The status of a request that is null. */
static int query(void *request, MPI_Status *status)
{
    const struct collopt_request *r = request;

    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    return r->err;
}

/* The host frees the request.  If collopt does that itself, the handle is inactive already.  One
 * that is handed out complete may still be under way. */
static int freed(void *request)
{
    struct collopt_request *r = request;
    unsigned polls = 0;

    if (shown(&r->handle) != COLLOPT_SHOWN_COMPLETE)
        return MPI_SUCCESS;
    while (collopt_state_of(r) == COLLOPT_STARTED && !collopt_request_advance(r))
        collopt_idle_at(&r->poke, r->yields, &polls);
    r->handle.gone(r);
    return MPI_SUCCESS;
}

static int cancel(void *request, int complete)
{
    (void)request, (void)complete;
    return MPI_SUCCESS;
}

static void complete(struct collopt_request *r)
{
    show(&r->handle, COLLOPT_SHOWN_COMPLETE);
    PMPI_Grequest_complete(request_of(&r->handle));
}

/* MPICH: code that does not pass collopt waits for the request or tests it. */
static int poll(void *request, MPI_Status *status)
{
    struct collopt_request *r = request;

    (void)status;
    if (!collopt_request_advance(r) || !collopt_request_claim(r))
        return MPI_SUCCESS;
    if (shown(&r->handle) == COLLOPT_SHOWN_ACTIVE)
        complete(r);
    collopt_request_unclaim(r);
    return MPI_SUCCESS;
}

static int wait(int n, void **requests, double timeout, MPI_Status *status)
{
    unsigned polls = 0;

    (void)timeout;
    for (int i = 0; i < n; i++) {
        struct collopt_request *r = requests[i];

        for (;;) {
            poll(r, status);
            if (shown(&r->handle) != COLLOPT_SHOWN_ACTIVE)
                break;
            collopt_idle_at(&r->poke, r->yields, &polls);
        }
    }
    return MPI_SUCCESS;
}

typedef int extended_start(MPI_Grequest_query_function *, MPI_Grequest_free_function *,
                           MPI_Grequest_cancel_function *, int (*)(void *, MPI_Status *),
                           int (*)(int, void **, double, MPI_Status *), void *, MPI_Request *);

/* By MPIX_Grequest_start, which only MPICH has, so it is looked up by name. */
static int start_extended(struct collopt_request *r, MPI_Request *request)
{
    void *symbol = dlsym(RTLD_DEFAULT, "PMPIX_Grequest_start");
    extended_start *start;

    if (!symbol || sizeof(MPI_Comm) != sizeof(int))
        return MPI_ERR_OTHER;
    memcpy(&start, &symbol, sizeof start);
    return start(query, freed, cancel, poll, wait, r, request);
}

void collopt_handle_hand_out(struct collopt_request *r)
{
    if (r->collective != COLLOPT_REDUCE_SCATTER || !collopt_quirk(COLLOPT_WRITES_BEHIND_REQUEST))
        return;
    collopt_request_claim_surely(r);
    if (shown(&r->handle) == COLLOPT_SHOWN_ACTIVE)
        complete(r);
    collopt_request_unclaim(r);
}

/* ---- both kinds ------------------------------------------------------------------------------ */

int collopt_handle_make(struct collopt_request *r, bool persistent,
                        void (*gone)(struct collopt_request *r))
{
    const struct collopt_world *world = collopt_world();
    struct collopt_handle *h = &r->handle;
    MPI_Request request;
    int err;

    if (persistent)
        err = PMPI_Recv_init(NULL, 0, MPI_BYTE, world->rank, COLLOPT_TAG_NEVER, world->hidden,
                             &request);
    else if ((err = start_extended(r, &request)))
        err = PMPI_Grequest_start(query, freed, cancel, r, &request);
    if (err)
        return err;
    h->gone = gone;
    h->persistent = persistent;
    h->adopted = h->noticed = false;
    show(h, persistent ? COLLOPT_SHOWN_INACTIVE : COLLOPT_SHOWN_ACTIVE);
    atomic_store(&h->request, request);
    return MPI_SUCCESS;
}

/* Completes a persistent receive, which nobody sends to. */
static void complete_receive(struct collopt_handle *h)
{
    MPI_Request request = request_of(h);

    show(h, COLLOPT_SHOWN_COMPLETE);
    collopt_host.Cancel(&request);
}

static void make_inactive(struct collopt_handle *h)
{
    MPI_Request request = request_of(h);

    if (shown(h) == COLLOPT_SHOWN_ACTIVE)
        complete_receive(h);
    collopt_host.Wait(&request, MPI_STATUS_IGNORE);
    show(h, COLLOPT_SHOWN_INACTIVE);
}

int collopt_handle_activate(struct collopt_handle *h)
{
    MPI_Request request = request_of(h);
    int err;

    h->noticed = false;
    if (__builtin_expect(shown(h) == COLLOPT_SHOWN_ACTIVE, 1))
        return MPI_SUCCESS;
    if (shown(h) == COLLOPT_SHOWN_COMPLETE)
        make_inactive(h);
    if (!(err = collopt_host.Start(&request)))
        show(h, COLLOPT_SHOWN_ACTIVE);
    return err;
}

bool collopt_handle_settle(struct collopt_handle *h)
{
    MPI_Request request = request_of(h);

    if (__builtin_expect(shown(h) == COLLOPT_SHOWN_ACTIVE && !h->adopted, 1))
        return true;
    if (h->persistent) {
        make_inactive(h);
        return true;
    }
    collopt_host.Wait(&request, MPI_STATUS_IGNORE);     /* calls freed() */
    return false;
}

void collopt_handle_park(struct collopt_handle *h)
{
    if (h->persistent && shown(h) == COLLOPT_SHOWN_ACTIVE)
        make_inactive(h);
}

bool collopt_handle_was_started(const struct collopt_handle *h)
{
    return h->persistent && collopt_handle_is_idle(h) && !collopt_progress_peek(request_of(h));
}

void collopt_handle_look(struct collopt_request *r)
{
    struct collopt_handle *h = &r->handle;
    enum collopt_state stage = collopt_state_of(r);

    if (shown(h) != COLLOPT_SHOWN_ACTIVE || stage == COLLOPT_STARTED
        || (!h->persistent && stage != COLLOPT_DONE))
        return;
    if (!h->noticed)
        h->noticed = true;
    else if (h->persistent)
        complete_receive(h);
    else
        complete(r);
}

int collopt_handle_free(struct collopt_handle *h, MPI_Request *request)
{
    enum collopt_shown was = shown(h);
    bool persistent = h->persistent;

    show(h, COLLOPT_SHOWN_INACTIVE);
    h->persistent = false;
    atomic_store(&h->request, MPI_REQUEST_NULL);
    if (persistent) {
        if (was == COLLOPT_SHOWN_ACTIVE)
            collopt_host.Cancel(request);
        return collopt_next.Request_free(request);
    }
    if (was == COLLOPT_SHOWN_ACTIVE)
        PMPI_Grequest_complete(*request);
    return collopt_host.Wait(request, MPI_STATUS_IGNORE);
}
