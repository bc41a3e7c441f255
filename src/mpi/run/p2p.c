/* The messages of schedules: by shared memory (src/shm), or by the host.
 *
 * A tag is the receiver's context id, the number of the call and the strand, from its highest
 * digits to its lowest.  The number of the call keeps messages that an error has left behind from
 * those of a later call.  The last number is reserved for messages that set up channels. */
#include "config.h"

#include "mpi/comm/comm.h"
#include "mpi/node/context.h"
#include "mpi/run/execute.h"
#include "mpi/host/host.h"
#include "mpi/plan/plan.h"
#include "mpi/host/progress.h"
#include "mpi/comm/links.h"
#include "schedule/schedule.h"

static int start(const struct collopt_execution *e, const struct collopt_wire *w, void *at,
                 int count, MPI_Datatype type, MPI_Request *request)
{
    if (w->message->send)
        return PMPI_Isend(at, count, type, w->peer, e->tags + w->tag, e->comm->hidden, request);
    return PMPI_Irecv(at, count, type, w->peer, e->tags + w->tag, e->comm->hidden, request);
}

/* The datatype of a message in several places holds addresses, so it is made for this call only. */
int collopt_start(struct collopt_execution *e, int message)
{
    const struct collopt_wire *w = &e->plan->wire[message];
    MPI_Datatype made;
    int err;

    if (!w->absolute)
        return start(e, w, e->place[w->place] + w->at, w->count, w->type, &e->request[message]);
    if ((err = collopt_wire_type(e->plan, w, e->place, 0, &made)))
        return err;
    err = start(e, w, MPI_BOTTOM, 1, made, &e->request[message]);
    collopt_host.Type_free(&made);
    return err;
}

int collopt_post(struct collopt_execution *e, int message)
{
    const struct collopt_wire *w = &e->plan->wire[message];

    if (!w->link)
        return collopt_start(e, message);
    if (w->message->send)
        return collopt_shm_send(e, message);
    collopt_shm_post(e, message);
    return MPI_SUCCESS;
}

int collopt_test_message(struct collopt_execution *e, int message, bool *done)
{
    const struct collopt_wire *w = &e->plan->wire[message];
    int err = e->lates > 0 ? collopt_shm_send_late(e) : MPI_SUCCESS;

    *done = false;
    if (err)
        return err;
    if (w->link && !w->message->send)
        return collopt_shm_receive(e, message, done);
    if (e->next[message] != 0)          /* waits for room */
        return MPI_SUCCESS;
    *done = e->request[message] == MPI_REQUEST_NULL;
    if (*done)
        return MPI_SUCCESS;
    return e->apart ? collopt_progress_test(&e->request[message], done)
                    : collopt_test(&e->request[message], done);
}

/* Nothing but this message is waited for, and its channel is there: then so many looks at it alone
 * see it soonest. */
static inline void look_closely(const struct collopt_execution *e, int message, unsigned *polls)
{
    /* a power of two that divides the number of looks after which the host makes progress */
    enum { CLOSELY = 64 };
    const struct collopt_link *l = e->plan->wire[message].link;

    if (e->comm->yields || !l || l->outgoing || !l->open || l->closed || e->lates + e->posteds > 0
        || e->request[message] != MPI_REQUEST_NULL)
        return;
    if (!collopt_channel_await(&l->channel, CLOSELY))
        *polls |= CLOSELY - 1;          /* the next one is counted to a multiple */
}

static int poll(struct collopt_execution *e, int message)
{
    enum { SOON = 64 };         /* looks before others are looked for */
    unsigned polls = 0;
    bool done;
    int err;

    e->watched = message + 1;
    for (;;) {
        look_closely(e, message, &polls);
        err = collopt_test_message(e, message, &done);

        if (!err && !done && e->posteds > 0 && polls % SOON == SOON - 1)
            err = collopt_shm_drain(e);
        if (err || done || (err = collopt_idle(e->comm, &polls)))
            break;
    }
    e->watched = 0;
    return err;
}

/* The host may wait only for what is its own, and while no message of ours waits for room or is to
 * be stored. */
int collopt_wait_message(struct collopt_execution *e, int message)
{
    const struct collopt_wire *w = &e->plan->wire[message];

    if (e->lates > 0 || e->posteds > 0 || (w->link && !w->message->send))
        return poll(e, message);
    return collopt_wait(e->comm, &e->request[message]);
}

/* Post and wait in one, where the host's own way of waiting will do. */
static bool host_may_wait(const struct collopt_execution *e, const struct collopt_wire *w)
{
    return !w->link && !e->comm->polite && !w->absolute && e->lates + e->posteds == 0;
}

int collopt_receive_now(struct collopt_execution *e, int message)
{
    const struct collopt_wire *w = &e->plan->wire[message];
    int err;

    if (w->link)
        return poll(e, message);
    if (host_may_wait(e, w))
        return PMPI_Recv(e->place[w->place] + w->at, w->count, w->type, w->peer, e->tags + w->tag,
                         e->comm->hidden, MPI_STATUS_IGNORE);
    if ((err = collopt_post(e, message)))
        return err;
    return collopt_wait_message(e, message);
}

int collopt_send_now(struct collopt_execution *e, int message)
{
    const struct collopt_wire *w = &e->plan->wire[message];
    int err;

    if (host_may_wait(e, w))
        return PMPI_Send(e->place[w->place] + w->at, w->count, w->type, w->peer, e->tags + w->tag,
                         e->comm->hidden);
    if ((err = collopt_post(e, message)))
        return err;
    return collopt_wait_message(e, message);
}

/* A receive from a channel needs no posting where nothing else is posted, and a strand is alone
 * here. */
int collopt_try_now(struct collopt_execution *e, int message, bool *done)
{
    const struct collopt_wire *w = &e->plan->wire[message];
    int err = MPI_SUCCESS;

    if (!e->begun && !(w->link && !w->message->send))
        err = collopt_post(e, message);
    e->begun = true;
    if (!err)
        err = collopt_test_message(e, message, done);
    e->begun = !*done;
    return err;
}

/* Receives are cancelled, sends left to themselves: the communicator is in the state that the
 * host's error left it in.  True if anything was under way. */
bool collopt_abandon(struct collopt_execution *e)
{
    bool any = false;

    collopt_shm_abandon(e);
    for (int i = 0; i < e->plan->bound->messages; i++) {
        if (e->request[i] == MPI_REQUEST_NULL)
            continue;
        any = true;
        if (!e->plan->bound->message[i].send)
            collopt_host.Cancel(&e->request[i]);
        collopt_host.Request_free(&e->request[i]);
        e->request[i] = MPI_REQUEST_NULL;
    }
    return any;
}
