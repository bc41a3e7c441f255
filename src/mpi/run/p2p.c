/* The messages of schedules: by shared memory (src/shm), or by the host.
 *
 * A tag is the receiver's context id, the number of the call and the strand, from its highest
 * digits to its lowest.  The number of the call keeps messages that an error has left behind from
 * those of a later call.  The last number is reserved for messages that set up channels. */
#include "config.h"

#include "mpi/run/p2p.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/links.h"
#include "mpi/comm/recorded.h"
#include "mpi/comm/wait.h"
#include "mpi/host/poll.h"
#include "mpi/host/progress.h"
#include "mpi/plan/plan.h"
#include "mpi/plan/wires.h"
#include "mpi/run/execution.h"
#include "mpi/run/payloads.h"

/* ---- by the host ----------------------------------------------------------------------------- */

static int start(const struct collopt_execution *e, const struct collopt_wire *w, void *at,
                 int count, MPI_Datatype type, MPI_Request *request)
{
    if (w->message->send)
        return PMPI_Isend(at, count, type, w->peer, e->tags + w->tag, e->comm->hidden, request);
    return PMPI_Irecv(at, count, type, w->peer, e->tags + w->tag, e->comm->hidden, request);
}

/* The datatype of a message in several places holds addresses, so it is made for this call only. */
static int start_by_host(struct collopt_execution *e, int message)
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

/* A message that goes by the host: its receive begins when that is known. */
static int receive_by_host(struct collopt_execution *e, int message, bool *done)
{
    int err = MPI_SUCCESS;

    if (e->request[message] == MPI_REQUEST_NULL)
        err = start_by_host(e, message);
    return err ? err : collopt_test(&e->request[message], done);
}

/* ---- by links: messages that wait are in a queue of their link ------------------------------- */

enum { LAST = -1 };

static void enqueue(struct collopt_execution *e, struct collopt_link **list, int message)
{
    struct collopt_link *l = e->plan->wire[message].link;

    if (l->queue.head)
        e->next[l->queue.tail - 1] = message + 1;
    else
        l->queue.head = message + 1;
    l->queue.tail = message + 1;
    e->next[message] = LAST;
    if (l->queue.listed)
        return;
    l->queue.listed = true;
    l->queue.next = *list;
    *list = l;
}

static void dequeue(struct collopt_execution *e, struct collopt_link *l)
{
    int first = l->queue.head - 1;

    l->queue.head = e->next[first] == LAST ? 0 : e->next[first];
    e->next[first] = 0;
}

/* Calls SERVE for the links of *LIST; those whose queues are empty leave it. */
static int serve_links(struct collopt_execution *e, struct collopt_link **list,
                       int (*serve)(struct collopt_execution *e, struct collopt_link *l))
{
    int err = MPI_SUCCESS;

    while (*list && !err) {
        struct collopt_link *l = *list;

        err = serve(e, l);
        if (l->queue.head) {
            list = &l->queue.next;
        } else {
            l->queue.listed = false;
            *list = l->queue.next;
        }
    }
    return err;
}

static inline bool may_send(const struct collopt_wire *w)
{
    return w->link->closed || w->repeats || collopt_channel_has_room(&w->link->channel, w->bytes);
}

/* A message whose payload finds no room in the segment goes by the host. */
static int send_now(struct collopt_execution *e, int message)
{
    bool by_host;
    int err = collopt_payload_send(e, message, &by_host);

    return !err && by_host ? start_by_host(e, message) : err;
}

static int send(struct collopt_execution *e, int message)
{
    const struct collopt_wire *w = &e->plan->wire[message];
    struct collopt_link *l = w->link;

    if (__builtin_expect(!l->queue.head && may_send(w), 1))
        return send_now(e, message);
    enqueue(e, &e->sending, message);
    e->lates++;
    return MPI_SUCCESS;
}

static int send_queued(struct collopt_execution *e, struct collopt_link *l)
{
    int err = MPI_SUCCESS;

    while (!err && l->queue.head && may_send(&e->plan->wire[l->queue.head - 1])) {
        int message = l->queue.head - 1;

        dequeue(e, l);
        e->lates--;
        err = send_now(e, message);
    }
    return err;
}

static int send_late(struct collopt_execution *e)
{
    return serve_links(e, &e->sending, send_queued);
}

/* The next message of its link.  VIEW: it may be read where it is. */
static inline int receive_next(struct collopt_execution *e, int message, bool view, bool *done)
{
    bool by_host;
    int err = collopt_payload_receive(e, message, view, done, &by_host);

    return __builtin_expect(!err && by_host, 0) ? receive_by_host(e, message, done) : err;
}

static void post_receive(struct collopt_execution *e, int message)
{
    enqueue(e, &e->receiving, message);
    e->posteds++;
}

/* Stores what has arrived for the posted receives of L that come before MESSAGE. */
static int store_before(struct collopt_execution *e, struct collopt_link *l, int message)
{
    bool done = true;

    while (l->queue.head && l->queue.head - 1 != message) {
        int first = l->queue.head - 1, err = receive_next(e, first, false, &done);

        if (err || !done)
            return err;
        e->arrived[first] = true;
        dequeue(e, l);
        e->posteds--;
    }
    return MPI_SUCCESS;
}

static int store_queued(struct collopt_execution *e, struct collopt_link *l)
{
    return l->queue.head == e->watched ? MPI_SUCCESS : store_before(e, l, -1);
}

int collopt_drain(struct collopt_execution *e)
{
    return serve_links(e, &e->receiving, store_queued);
}

static int receive_posted(struct collopt_execution *e, int message, bool *done)
{
    struct collopt_link *l = e->plan->wire[message].link;
    int err;

    *done = e->arrived[message];
    e->arrived[message] = false;
    if (*done)
        return MPI_SUCCESS;
    if ((err = store_before(e, l, message)) || (l->queue.head && l->queue.head - 1 != message)
        || (err = receive_next(e, message, true, done)) || !*done)
        return err;
    if (l->queue.head) {
        dequeue(e, l);
        e->posteds--;
    }
    return MPI_SUCCESS;
}

static int receive(struct collopt_execution *e, int message, bool *done)
{
    if (__builtin_expect(e->posteds == 0 && !e->arrived[message], 1))
        return receive_next(e, message, true, done);
    return receive_posted(e, message, done);
}

static void forget(struct collopt_link **list)
{
    for (; *list; *list = (*list)->queue.next) {
        (*list)->queue.head = 0;
        (*list)->queue.listed = false;
    }
}

/* ---- by either ------------------------------------------------------------------------------- */

int collopt_post(struct collopt_execution *e, int message)
{
    const struct collopt_wire *w = &e->plan->wire[message];

    if (!w->link)
        return start_by_host(e, message);
    if (w->message->send)
        return send(e, message);
    post_receive(e, message);
    return MPI_SUCCESS;
}

int collopt_test_message(struct collopt_execution *e, int message, bool *done)
{
    const struct collopt_wire *w = &e->plan->wire[message];
    int err = e->lates > 0 ? send_late(e) : MPI_SUCCESS;

    *done = false;
    if (err)
        return err;
    if (w->link && !w->message->send)
        return receive(e, message, done);
    if (e->next[message] != 0)          /* waits for room */
        return MPI_SUCCESS;
    *done = e->request[message] == MPI_REQUEST_NULL;
    if (*done)
        return MPI_SUCCESS;
    return e->apart ? collopt_progress_test(&e->request[message], done)
                    : collopt_test(&e->request[message], done);
}

/* Polls for this message alone, CLOSELY times if nothing else is waited for, else once. Its channel
 * exists, so this sees it soonest. */
static inline void look_closely(const struct collopt_execution *e, int message, unsigned *polls)
{
    /* a power of two that divides the number of looks after which the host makes progress */
    enum { CLOSELY = 64 };
    const struct collopt_wire *w = &e->plan->wire[message];
    const struct collopt_link *l = w->link;
    /* a rank that only sends is ahead, and would lose lines that it has not filled */
    size_t fetched = w->exchanged ? w->bytes : 0;

    if (e->comm->yields || !l || l->outgoing || !l->open || l->closed
        || e->request[message] != MPI_REQUEST_NULL)
        return;
    if (e->lates + e->posteds > 0)
        (void)collopt_channel_await(&l->channel, fetched, 0);
    else if (!collopt_channel_await(&l->channel, fetched, CLOSELY))
        *polls |= CLOSELY - 1;          /* the next look counts as a multiple of CLOSELY */
}

static void record_wait(const struct collopt_execution *e, int message)
{
    collopt_record_wait(e->comm, e->plan->wire[message].message->peer);
}

static int poll(struct collopt_execution *e, int message)
{
    enum { SOON = 64 };         /* looks at this message before other messages are looked at */
    unsigned polls = 0, looks = 0;
    bool done;
    int err;

    e->watched = message + 1;
    for (;;) {
        if (++looks == SOON)
            record_wait(e, message);
        look_closely(e, message, &polls);
        err = collopt_test_message(e, message, &done);

        if (!err && !done && e->posteds > 0 && polls % SOON == SOON - 1)
            err = collopt_drain(e);
        if (err || done || (err = collopt_idle(e->comm, &polls)))
            break;
    }
    e->watched = 0;
    return err;
}

/* Waits in the host only for a message of the host, and only while no message of a channel waits
 * for room or has to be stored. */
int collopt_wait_message(struct collopt_execution *e, int message)
{
    const struct collopt_wire *w = &e->plan->wire[message];

    if (e->lates > 0 || e->posteds > 0 || (w->link && !w->message->send))
        return poll(e, message);
    record_wait(e, message);
    return collopt_wait(e->comm, &e->request[message]);
}

/* Post and wait in one, where the host's own way of waiting will do. */
static bool host_may_wait(const struct collopt_execution *e, const struct collopt_wire *w)
{
    return !w->link && !e->comm->yields_in_host && !w->absolute && e->lates + e->posteds == 0;
}

int collopt_receive_now(struct collopt_execution *e, int message)
{
    const struct collopt_wire *w = &e->plan->wire[message];
    int err;

    if (w->link)
        return poll(e, message);
    record_wait(e, message);
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

    record_wait(e, message);
    if (host_may_wait(e, w))
        return PMPI_Send(e->place[w->place] + w->at, w->count, w->type, w->peer, e->tags + w->tag,
                         e->comm->hidden);
    if ((err = collopt_post(e, message)))
        return err;
    return collopt_wait_message(e, message);
}

/* A receive from a channel needs no post where nothing else is posted.  Executions that come here
 * have one strand. */
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

    forget(&e->sending);
    forget(&e->receiving);
    e->lates = e->posteds = 0;
    collopt_payloads_abandon(e);
    for (int i = 0; i < e->plan->bound->messages; i++) {
        e->next[i] = 0;
        e->arrived[i] = false;
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
