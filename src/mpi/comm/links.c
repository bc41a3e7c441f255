/* Maps the segments of a node, and carries messages by channels; see shm.h. */
#include "config.h"

#include "mpi/comm/links.h"
#include "base/log.h"
#include "mpi/comm/comm.h"
#include "mpi/node/context.h"
#include "mpi/run/execute.h"
#include "mpi/host/host.h"
#include "mpi/plan/plan.h"
#include "mpi/node/locality.h"
#include "schedule/schedule.h"
#include "settings/settings.h"
#include "shm/channel.h"
#include "shm/segment.h"

#include <stdlib.h>
#include <string.h>

enum { SHORTEST_PIECE = 1024, LONGEST_PIECE = 64 << 10 };

/* [ranks of MPI_COMM_WORLD] as mapped here; NULL: not on this node, or not to be used */
static char **segment;
static int segments, this_rank;
static bool here, everywhere;
static size_t room_behind;      /* bytes behind each segment of this node */

/* ---- segments -------------------------------------------------------------------------------- */

static void say_none(const char *why)
{
    collopt_say_once(COLLOPT_LOG_DECIDE, "no shared memory on this node, messages are used: %s",
                     why);
}

void collopt_shm_offer(struct collopt_segment_key *key)
{
    char why[160];

    *key = (struct collopt_segment_key){ .descriptor = -1 };
#ifndef COLLOPT_HOST_SMPI       /* its ranks are threads of one process, and time is simulated */
    if (collopt_settings()->shm == COLLOPT_SHM_OFF)
        return;
    collopt_segment_make(collopt_settings()->shm_size, SIZE_MAX, key, why, sizeof why);
    if (key->descriptor < 0)
        say_none(why);
#else
    (void)why;
#endif
}

/* Maps the segments of this rank's node; false: one of them cannot be. */
static bool attach(const struct collopt_sight *seen)
{
    char why[160];

    if (!collopt_segment_base())        /* which has been said */
        return false;
    room_behind = SIZE_MAX;
    for (int r = 0; r < segments; r++) {
        if (seen[r].node != seen[this_rank].node)
            continue;
        segment[r] = r == this_rank ? collopt_segment_base()
                                    : collopt_segment_attach(&seen[r].segment, why, sizeof why);
        if (!segment[r]) {
            say_none(why);
            return false;
        }
        if (collopt_segment_room(segment[r]) < room_behind)
            room_behind = collopt_segment_room(segment[r]);
    }
    return true;
}

static void detach(void)
{
    for (int r = 0; r < segments; r++)
        if (segment[r] && r != this_rank)
            collopt_segment_detach(segment[r]);
    free(segment);
    segment = NULL;
    segments = 0;
    here = everywhere = false;
    collopt_segment_drop();
}

/* Nodes are numbered from 0; *SHARED: some has several ranks. */
static int count_nodes(const struct collopt_sight *seen, int ranks, bool *shared)
{
    int nodes = 0;

    *shared = false;
    for (int r = 0; r < ranks; r++)
        if (seen[r].node >= nodes)
            nodes = seen[r].node + 1;
        else
            *shared = true;
    return nodes;
}

/* OK[node], over all ranks of all nodes. */
static bool agree_on_nodes(MPI_Comm hidden, int *ok, int nodes)
{
    int *all = malloc((size_t)nodes * sizeof *all);
    bool agreed = collopt_host.Allreduce(all ? ok : MPI_IN_PLACE, all ? all : ok, nodes, MPI_INT,
                                         MPI_MIN, hidden)
        == MPI_SUCCESS;

    if (all)
        memcpy(ok, all, (size_t)nodes * sizeof *ok);
    free(all);
    return agreed;
}

/* Every rank takes part in the agreement, whatever it lacks.  COLLOPT_SHM is alike on all. */
void collopt_shm_begin(MPI_Comm hidden, int rank, int ranks, const struct collopt_sight *seen,
                       int *ok)
{
    bool shared;
    int nodes = count_nodes(seen, ranks, &shared);

    if (collopt_settings()->shm == COLLOPT_SHM_OFF || !shared) {
        collopt_segment_drop();
        return;
    }
    this_rank = rank;
    segments = ranks;
    segment = calloc((size_t)ranks, sizeof *segment);
    for (int i = 0; i < nodes; i++)
        ok[i] = 1;
    ok[seen[rank].node] = segment && attach(seen);
    everywhere = agree_on_nodes(hidden, ok, nodes);
    collopt_segment_close_own();
    here = everywhere && ok[seen[rank].node];
    for (int i = 0; i < nodes; i++)
        everywhere = everywhere && ok[i];
    if (!here && segment)
        detach();
}

void collopt_shm_end(void)
{
    if (segment)
        detach();
    else
        collopt_segment_drop();
}

bool collopt_shm_everywhere(void)
{
    return everywhere;
}

char *collopt_shm_segment(int rank)
{
    return segment[rank];
}

size_t collopt_shm_room(void)
{
    return room_behind;
}

/* ---- the channels of a communicator ---------------------------------------------------------- */

bool collopt_shm_carries(const struct collopt_comm *c)
{
    return here && !c->own;
}

void collopt_shm_fail(const struct collopt_comm *c, uint32_t call)
{
    if (c->ranks > 1 && c->context > 0 && collopt_shm_carries(c))
        collopt_failures_add(collopt_segment_failures(segment[this_rank]), (uint32_t)c->context,
                             call);
}

bool collopt_shm_has_failed(const struct collopt_comm *c, uint32_t call)
{
    for (int r = 0; r < c->ranks; r++) {
        struct collopt_peer peer = collopt_peer(c, r);
        char *base = segment[peer.rank];
        uint32_t context = (uint32_t)(peer.tags / COLLOPT_CONTEXT_TAGS);

        if (base && collopt_failures_has(collopt_segment_failures(base), context, call))
            return true;
    }
    return false;
}

bool collopt_shm_near(const struct collopt_comm *c, bool *near)
{
    const int *node = c->topology.node;
    bool any = false;

    for (int r = 0; r < c->ranks; r++) {
        near[r] = r != c->rank && (!node || node[r] == node[c->rank])
            && segment[collopt_peer(c, r).rank];
        any = any || near[r];
    }
    return any;
}

/* So many bytes that each rank of the node can have a channel to each other one in half of its
 * segment, and some for multicasts in the other half. */
size_t collopt_shm_piece(const struct collopt_comm *c, bool multicast)
{
    enum { MULTICASTS = 8 };
    size_t peers = (size_t)(c->topology.largest > 0 ? c->topology.largest : c->ranks) - 1;
    size_t channels = multicast && peers > MULTICASTS ? MULTICASTS : peers > 0 ? peers : 1;
    size_t room = collopt_settings()->shm_size / 2 / (COLLOPT_BLOCKS + 1) / channels;
    size_t piece = SHORTEST_PIECE;

    while (piece * 2 <= room && piece * 2 <= LONGEST_PIECE)
        piece *= 2;
    return piece;
}

/* A row of tags that no call uses: one for each strand. */
static int tag_of_link(const struct collopt_comm *c, const struct collopt_link *l, int receiver)
{
    return collopt_peer(c, receiver).tags + COLLOPT_CHANNEL_ROW * COLLOPT_STRAND_TAGS + l->tag;
}

/* Sends the offset to PEER, or receives it. */
static int tell_one(struct collopt_comm *c, struct collopt_link *l, int peer)
{
    MPI_Request *request = &l->told[l->tolds];
    int rank = collopt_peer(c, peer).rank, err;

    if (l->outgoing)
        err = PMPI_Isend(&l->offset, sizeof l->offset, MPI_BYTE, rank, tag_of_link(c, l, peer),
                         c->hidden, request);
    else
        err = PMPI_Irecv(&l->offset, sizeof l->offset, MPI_BYTE, rank, tag_of_link(c, l, c->rank),
                         c->hidden, request);
    l->tolds += err == MPI_SUCCESS;
    return err;
}

static int tell(struct collopt_comm *c, struct collopt_link *l)
{
    int err = MPI_SUCCESS;

    if (!l->outgoing)
        return tell_one(c, l, l->peer);
    l->open = true;
    l->closed = !collopt_channel_make(&l->channel, l->members > 0 ? l->members - 1 : 1);
    l->offset = l->closed ? -1 : (char *)l->channel.ring - l->channel.base;
    c->telling = true;
    if (l->members == 0)
        return tell_one(c, l, l->peer);
    for (int i = 0; i < l->members && !err; i++)
        if (l->member[i] != c->rank)
            err = tell_one(c, l, l->member[i]);
    return err;
}

int collopt_shm_settle(struct collopt_comm *c)
{
    int err = MPI_SUCCESS;

    for (struct collopt_link *l = c->telling ? c->links : NULL; l && !err; l = l->next)
        while (l->outgoing && l->tolds > 0 && !(err = collopt_wait(c, &l->told[l->tolds - 1])))
            l->tolds--;
    c->telling = err != MPI_SUCCESS;
    return err;
}

/* This rank's number among the receivers of L. */
static int receiver_of(const struct collopt_comm *c, const struct collopt_link *l)
{
    int n = 0;

    for (int i = 0; i < l->members && l->member[i] != c->rank; i++)
        n += l->member[i] != l->peer;
    return n;
}

static size_t members_size(const struct collopt_message *m)
{
    return (size_t)m->members * sizeof *m->member;
}

static bool is_for(const struct collopt_link *l, const struct collopt_message *m)
{
    return l->outgoing == m->send && l->tag == collopt_tag_of(m)
        && l->members == m->members && (l->peer == m->peer || (m->members > 0 && m->send))
        && (m->members == 0 || memcmp(l->member, m->member, members_size(m)) == 0);
}

static struct collopt_link *make_link(struct collopt_comm *c, const struct collopt_message *m)
{
    size_t requests = m->send && m->members > 0 ? (size_t)m->members : 1;
    struct collopt_link *l = malloc(sizeof *l + requests * sizeof *l->told + members_size(m));

    if (!l)
        return NULL;
    *l = (struct collopt_link){ .peer = m->peer, .tag = collopt_tag_of(m),
                                .outgoing = m->send, .members = m->members,
                                .told = (MPI_Request *)(l + 1),
                                .member = (int *)(void *)((MPI_Request *)(l + 1) + requests),
                                .next = c->links };
    if (m->members > 0)
        memcpy(l->member, m->member, members_size(m));
    c->links = l;
    return tell(c, l) ? NULL : l;
}

struct collopt_link *collopt_shm_link(struct collopt_comm *c, const struct collopt_message *m,
                                      size_t bytes)
{
    struct collopt_link *l = c->links;

    while (l && !is_for(l, m))
        l = l->next;
    if (!l && !(l = make_link(c, m)))
        return NULL;
    if (m->send && !l->closed)
        collopt_channel_widen(&l->channel, bytes, collopt_shm_piece(c, m->members > 0));
    return l;
}

/* A call that failed may leave requests. */
static void leave_requests(struct collopt_link *l)
{
    for (; l->tolds > 0; l->tolds--) {
        if (!l->outgoing)
            collopt_host.Cancel(&l->told[l->tolds - 1]);
        collopt_host.Request_free(&l->told[l->tolds - 1]);
    }
}

void collopt_shm_unlink(struct collopt_comm *c)
{
    struct collopt_link *l;

    c->execution.sending = c->execution.receiving = NULL;
    while ((l = c->links)) {
        bool left = l->tolds > 0;

        c->links = l->next;
        leave_requests(l);
        if (l->open && !l->closed && !l->outgoing)
            collopt_channel_close(&l->channel);
        else if (l->open && !l->closed && !c->spoilt)
            collopt_channel_free(&l->channel);
        if (!c->spoilt && !left)        /* the host may still read or write the offset */
            free(l);
    }
}

/* ---- payloads -------------------------------------------------------------------------------- */

static char *address(const struct collopt_execution *e, int place, size_t at)
{
    return e->place[place] + (ptrdiff_t)at * e->plan->facts.extent;
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
        size_t bytes = m->run[i].n * e->plan->facts.size;

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
               m->run[i].n * e->plan->facts.size);
        payload += m->run[i].n * e->plan->facts.size;
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

/* ---- messages -------------------------------------------------------------------------------- */

/* Of a multicast only the first message is written to the channel; without room it tells the
 * receivers that all its messages go by the host. */
static int send_now(struct collopt_execution *e, int message)
{
    const struct collopt_wire *w = &e->plan->wire[message];
    struct collopt_channel *ch = &w->link->channel;
    char *payload = w->link->closed ? NULL : collopt_channel_payload(ch, w->bytes);
    int err;

    if (payload && w->repeats)
        return MPI_SUCCESS;
    if (!payload) {
        if (!w->link->closed && !w->repeats)
            collopt_channel_send(ch, e->call, NULL, 0);
        e->diverted += w->bytes;
        return collopt_start(e, message);
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

/* ---- queues of messages that wait, one for each link ----------------------------------------- */

enum { LAST = -1 };

static void enqueue(struct collopt_execution *e, struct collopt_link **list, int message)
{
    struct collopt_link *l = e->plan->wire[message].link;

    if (l->head)
        e->next[l->tail - 1] = message + 1;
    else
        l->head = message + 1;
    l->tail = message + 1;
    e->next[message] = LAST;
    if (l->listed)
        return;
    l->listed = true;
    l->queued = *list;
    *list = l;
}

static void dequeue(struct collopt_execution *e, struct collopt_link *l)
{
    int first = l->head - 1;

    l->head = e->next[first] == LAST ? 0 : e->next[first];
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
        if (l->head) {
            list = &l->queued;
        } else {
            l->listed = false;
            *list = l->queued;
        }
    }
    return err;
}

static inline bool may_send(const struct collopt_wire *w)
{
    return w->link->closed || w->repeats || collopt_channel_has_room(&w->link->channel, w->bytes);
}

int collopt_shm_send(struct collopt_execution *e, int message)
{
    const struct collopt_wire *w = &e->plan->wire[message];
    struct collopt_link *l = w->link;

    if (__builtin_expect(!l->head && may_send(w), 1))
        return send_now(e, message);
    enqueue(e, &e->sending, message);
    e->lates++;
    return MPI_SUCCESS;
}

static int send_queued(struct collopt_execution *e, struct collopt_link *l)
{
    int err = MPI_SUCCESS;

    while (!err && l->head && may_send(&e->plan->wire[l->head - 1])) {
        int message = l->head - 1;

        dequeue(e, l);
        e->lates--;
        err = send_now(e, message);
    }
    return err;
}

int collopt_shm_send_late(struct collopt_execution *e)
{
    return serve_links(e, &e->sending, send_queued);
}

static int open_link(struct collopt_comm *c, struct collopt_link *l)
{
    int told, err = collopt_host.Test(l->told, &told, MPI_STATUS_IGNORE);

    if (err || !told)
        return err;
    l->tolds = 0;
    l->open = true;
    l->closed = l->offset < 0;
    if (!l->closed)
        collopt_channel_open(&l->channel, segment[collopt_peer(c, l->peer).rank],
                             (size_t)l->offset, receiver_of(c, l));
    return MPI_SUCCESS;
}

/* A message that goes by the host: its receive begins when that is known. */
static int receive_by_host(struct collopt_execution *e, int message, bool *done)
{
    int err = MPI_SUCCESS;

    if (e->request[message] == MPI_REQUEST_NULL)
        err = collopt_start(e, message);
    return err ? err : collopt_test(&e->request[message], done);
}

static bool is_view(const struct collopt_execution *e, int place)
{
    return place >= COLLOPT_FIRST_SLOT + e->plan->bound->slots - e->plan->bound->views;
}

/* The message that is read where it is moves to the scratch that it stands for, so that its cell
 * can be taken. */
static void move_held(struct collopt_execution *e, struct collopt_link *l)
{
    const struct collopt_wire *w = &e->plan->wire[l->held - 1];
    char *scratch = e->scratch + e->plan->slot[w->place - COLLOPT_FIRST_SLOT];

    memcpy(scratch, e->place[w->place], w->bytes);
    e->place[w->place] = scratch;
    l->held = 0;
    collopt_channel_take(&l->channel);
}

/* A datatype of the user's may want to lie at multiples of 32 or 64 bytes, as it does in a block
 * but not in a cell. */
static bool may_lie_here(const struct collopt_plan *plan, size_t bytes)
{
    return !plan->ordered || bytes > COLLOPT_INLINE;
}

/* The next message of its channel.  VIEW: it may be read where it is. */
static int receive_next(struct collopt_execution *e, int message, bool view, bool *done)
{
    const struct collopt_wire *w = &e->plan->wire[message];
    struct collopt_link *l = w->link;
    const char *payload;
    size_t bytes;
    int err = MPI_SUCCESS;

    *done = false;
    if (__builtin_expect(!l->open, 0) && ((err = open_link(e->comm, l)) || !l->open))
        return err;
    if (__builtin_expect(l->closed || e->request[message] != MPI_REQUEST_NULL, 0))
        return receive_by_host(e, message, done);
    if (__builtin_expect(l->held > 0, 0))
        move_held(e, l);
    switch (collopt_channel_look(&l->channel, e->call, &payload, &bytes)) {
    case COLLOPT_NOT_THERE:
        return MPI_SUCCESS;
    case COLLOPT_COMES_BY_HOST:
        collopt_channel_take(&l->channel);
        return receive_by_host(e, message, done);
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

void collopt_shm_post(struct collopt_execution *e, int message)
{
    enqueue(e, &e->receiving, message);
    e->posteds++;
}

/* Stores what has arrived for the posted receives of L that come before MESSAGE. */
static int store_before(struct collopt_execution *e, struct collopt_link *l, int message)
{
    bool done = true;

    while (l->head && l->head - 1 != message) {
        int first = l->head - 1, err = receive_next(e, first, false, &done);

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
    return l->head == e->watched ? MPI_SUCCESS : store_before(e, l, -1);
}

int collopt_shm_drain(struct collopt_execution *e)
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
    if ((err = store_before(e, l, message)) || (l->head && l->head - 1 != message)
        || (err = receive_next(e, message, true, done)) || !*done)
        return err;
    if (l->head) {
        dequeue(e, l);
        e->posteds--;
    }
    return MPI_SUCCESS;
}

int collopt_shm_receive(struct collopt_execution *e, int message, bool *done)
{
    if (__builtin_expect(e->posteds == 0 && !e->arrived[message], 1))
        return receive_next(e, message, true, done);
    return receive_posted(e, message, done);
}

void collopt_shm_take(const struct collopt_execution *e, const struct collopt_step *s)
{
    const struct collopt_bound *b = e->plan->bound;
    int first = COLLOPT_FIRST_SLOT + b->slots - b->views;

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

static void forget(struct collopt_link **list)
{
    for (; *list; *list = (*list)->queued) {
        (*list)->head = 0;
        (*list)->listed = false;
    }
}

void collopt_shm_abandon(struct collopt_execution *e)
{
    forget(&e->sending);
    forget(&e->receiving);
    e->lates = e->posteds = 0;
    for (int i = 0; i < e->plan->bound->messages; i++) {
        struct collopt_link *l = e->plan->wire[i].link;

        e->next[i] = 0;
        e->arrived[i] = false;
        if (!l || l->outgoing || !l->open || l->closed)
            continue;
        l->held = 0;
        collopt_channel_take_all(&l->channel);
    }
}
