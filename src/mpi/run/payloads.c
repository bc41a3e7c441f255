/* Writes and reads payloads; see payloads.h. */
#include "config.h"

#include <string.h>

#include "mpi/run/payloads.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/links.h"
#include "mpi/host/attributes.h"
#include "mpi/plan/plan.h"
#include "mpi/plan/wires.h"
#include "mpi/run/execution.h"
#include "schedule/block.h"
#include "schedule/bound.h"
#include "shm/channel.h"

static char *address(const struct collopt_execution *e, int place, size_t at)
{
    return e->place[place] + (ptrdiff_t)at * e->plan->element.extent;
}

static void gather(const struct collopt_execution *e, const struct collopt_wire *w, char *payload)
{
    const struct collopt_message *m = w->message;
    struct collopt_channel *ch = &w->link->channel;

    if (m->runs == 1) {
        collopt_channel_write(ch, payload, e->place[w->place] + w->at, w->bytes);
        return;
    }
    for (int i = 0; i < m->runs; i++) {
        size_t bytes = m->run[i].n * e->plan->element.size;

        collopt_write(&ch->writer, payload, address(e, m->run[i].place, m->run[i].at), bytes);
        payload += bytes;
    }
}

static void scatter(const struct collopt_execution *e, const struct collopt_wire *w,
                    const char *payload)
{
    const struct collopt_message *m = w->message;

    if (m->runs == 1) {
        memcpy(e->place[w->place] + w->at, payload, w->bytes);
        return;
    }
    for (int i = 0; i < m->runs; i++) {
        memcpy(address(e, m->run[i].place, m->run[i].at), payload,
               m->run[i].n * e->plan->element.size);
        payload += m->run[i].n * e->plan->element.size;
    }
}

/* The datatype of a message's runs, with displacements from ANCHOR. */
static int anchored_type(const struct collopt_execution *e, const struct collopt_wire *w,
                         const char *anchor, MPI_Datatype *made)
{
    MPI_Aint from;
    int err = PMPI_Get_address(anchor, &from);

    return err ? err : collopt_wire_type(e->plan, w, e->place, from, made);
}

/* Packs a layout that is not plain, or unpacks it: hosts put bare data in the order of the type.
 * Address 0 is MPI_BOTTOM, which MPICH's MPI_Unpack takes for a mistake, so there, and for several
 * places, displacements count from elsewhere. */
static int convert(const struct collopt_execution *e, const struct collopt_wire *w, char *payload)
{
    static char anchor;
    char *at = e->place[w->place] + w->at;
    MPI_Datatype type = w->type;
    bool anchored = w->absolute || !at;
    int count = anchored ? 1 : w->count, position = 0, err;

    if (anchored && (err = anchored_type(e, w, at = &anchor, &type)))
        return err;
    if (w->message->send)
        err = PMPI_Pack(at, count, type, payload, (int)w->bytes, &position, e->comm->hidden);
    else
        err = PMPI_Unpack(payload, (int)w->bytes, &position, at, count, type, e->comm->hidden);
    if (anchored)
        collopt_host.Type_free(&type);
    return err;
}

/* The first send with these data has told all receivers how they get them, so it is this way, even
 * if room has been found or lost since. */
static void repeat(struct collopt_execution *e, const struct collopt_wire *w, bool *by_host)
{
    *by_host = e->diverts[w->repeats - 1];
    if (*by_host)
        e->diverted += w->bytes;
}

/* Of a multicast only the first message is written to the channel; without room it tells the
 * receivers that all its messages go by the host. */
int collopt_payload_send(struct collopt_execution *e, int message, bool *by_host)
{
    const struct collopt_wire *w = &e->plan->wire[message];
    struct collopt_channel *ch = &w->link->channel;
    char *payload;
    int err;

    if (w->repeats) {
        repeat(e, w, by_host);
        return MPI_SUCCESS;
    }
    payload = w->link->closed ? NULL : collopt_channel_payload(ch, w->bytes);
    *by_host = e->diverts[message] = !payload;
    if (!payload) {
        if (!w->link->closed)
            collopt_channel_send(ch, e->call, NULL, 0);
        e->diverted += w->bytes;
        return MPI_SUCCESS;
    }
    if (__builtin_expect(w->flat, 1))
        gather(e, w, payload);
    else if ((err = convert(e, w, payload)))
        return err;
    collopt_channel_send(ch, e->call, payload, w->bytes);
    if (!w->exchanged)
        collopt_channel_fetch_ahead(ch, w->bytes);
    return MPI_SUCCESS;
}

static int first_view(const struct collopt_bound *b)
{
    return COLLOPT_FIRST_SLOT + b->slots - b->views;
}

static bool is_view(const struct collopt_execution *e, int place)
{
    return place >= first_view(e->plan->bound);
}

/* Copies the message that is read in place to the memory that its place stands for, so that its
 * cell can be acknowledged. */
static void move_held(struct collopt_execution *e, struct collopt_link *l)
{
    const struct collopt_wire *w = &e->plan->wire[l->held - 1];
    const struct collopt_bound *b = e->plan->bound;
    char *memory = e->place[b->view[w->place - first_view(b)].place]
        + e->plan->slot[w->place - COLLOPT_FIRST_SLOT];

    memcpy(memory, e->place[w->place], w->bytes);
    e->place[w->place] = memory;
    l->held = 0;
    collopt_channel_take(&l->channel);
}

/* A datatype of the user's may want to lie at multiples of 32 or 64 bytes, as it does in a block
 * but not in a cell. */
static bool may_lie_here(const struct collopt_plan *plan, size_t bytes)
{
    return !plan->data.ordered || bytes > COLLOPT_INLINE;
}

/* The next message of its channel.  VIEW: it may be read where it is. */
int collopt_payload_receive(struct collopt_execution *e, int message, bool view, bool *done,
                            bool *by_host)
{
    const struct collopt_wire *w = &e->plan->wire[message];
    struct collopt_link *l = w->link;
    const char *payload;
    size_t bytes;
    int err = MPI_SUCCESS;

    *done = *by_host = false;
    if (__builtin_expect(!l->open, 0) && ((err = collopt_link_open(e->comm, l)) || !l->open))
        return err;
    if (__builtin_expect(l->closed || e->request[message] != MPI_REQUEST_NULL, 0)) {
        *by_host = true;
        return MPI_SUCCESS;
    }
    if (__builtin_expect(l->held > 0, 0))
        move_held(e, l);
    switch (collopt_channel_look(&l->channel, e->call, &payload, &bytes)) {
    case COLLOPT_NOT_THERE:
        return MPI_SUCCESS;
    case COLLOPT_COMES_BY_HOST:
        collopt_channel_take(&l->channel);
        *by_host = true;
        return MPI_SUCCESS;
    case COLLOPT_THERE:
        break;
    }
    *done = true;
    /* ranks have called with different counts */
    if (__builtin_expect(bytes != w->bytes, 0)) {
        collopt_channel_take(&l->channel);
        return MPI_ERR_TRUNCATE;
    }
    if (view && is_view(e, w->place) && may_lie_here(e->plan, bytes)) {
        e->place[w->place] = (char *)payload;
        l->held = message + 1;
        return MPI_SUCCESS;
    }
    if (w->flat)
        scatter(e, w, payload);
    else
        err = convert(e, w, (char *)payload);
    collopt_channel_take(&l->channel);
    return err;
}

void collopt_payload_take(const struct collopt_execution *e, const struct collopt_step *s)
{
    const struct collopt_bound *b = e->plan->bound;
    int first = first_view(b);

    for (int r = 1; r < s->runs; r++)
        if (s->run[r].last) {
            int message = b->view[s->run[r].place - first].message;
            struct collopt_link *l = e->plan->wire[message].link;

            if (l->held != message + 1)         /* it was moved, or came by the host */
                continue;
            l->held = 0;
            collopt_channel_take(&l->channel);
        }
}

void collopt_payloads_abandon(struct collopt_execution *e)
{
    for (int i = 0; i < e->plan->bound->messages; i++) {
        struct collopt_link *l = e->plan->wire[i].link;

        if (!l || l->outgoing || !l->open || l->closed)
            continue;
        l->held = 0;
        collopt_channel_take_all(&l->channel);
    }
}
