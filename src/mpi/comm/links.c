/* Makes and frees the channels of communicators; see links.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/comm/links.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/wait.h"
#include "mpi/node/context.h"
#include "mpi/node/segments.h"
#include "settings/settings.h"

enum { SHORTEST_PIECE = 1024, LONGEST_PIECE = 64 << 10 };

struct links {                  /* of a communicator */
    struct collopt_link *first;
    bool telling;               /* offsets of some of them are being sent */
};

static struct links *list(const struct collopt_comm *c)
{
    return collopt_part(c, COLLOPT_PART_LINKS);
}

bool collopt_links_near(const struct collopt_comm *c, bool *near)
{
    const int *node = c->map.topology.node;
    bool any = false;

    for (int r = 0; r < c->ranks; r++) {
        near[r] = r != c->rank && (!node || node[r] == node[c->rank])
            && collopt_segment_of(collopt_peer(c, r).rank);
        any = any || near[r];
    }
    return any;
}

/* So many bytes that each rank of the node can have a channel to each other one in half of its
 * segment, and some for multicasts in the other half. */
size_t collopt_links_piece(const struct collopt_comm *c, bool multicast)
{
    enum { MULTICASTS = 8 };
    size_t peers = (size_t)(c->map.topology.largest > 0 ? c->map.topology.largest : c->ranks) - 1;
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
    list(c)->telling = true;
    if (l->members == 0)
        return tell_one(c, l, l->peer);
    for (int i = 0; i < l->members && !err; i++)
        if (l->member[i] != c->rank)
            err = tell_one(c, l, l->member[i]);
    return err;
}

int collopt_links_settle(struct collopt_comm *c)
{
    struct links *links = list(c);
    int err = MPI_SUCCESS;

    if (!links || !links->telling)
        return MPI_SUCCESS;
    for (struct collopt_link *l = links->first; l && !err; l = l->next)
        while (l->outgoing && l->tolds > 0 && !(err = collopt_wait(c, &l->told[l->tolds - 1])))
            l->tolds--;
    links->telling = err != MPI_SUCCESS;
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

/* A call that failed may leave requests. */
static void leave_requests(struct collopt_link *l)
{
    for (; l->tolds > 0; l->tolds--) {
        if (!l->outgoing)
            collopt_host.Cancel(&l->told[l->tolds - 1]);
        collopt_host.Request_free(&l->told[l->tolds - 1]);
    }
}

static void free_links(struct collopt_comm *c)
{
    struct links *links = list(c);
    struct collopt_link *l;

    while ((l = links->first)) {
        bool left = l->tolds > 0;

        links->first = l->next;
        leave_requests(l);
        if (l->open && !l->closed && !l->outgoing)
            collopt_channel_close(&l->channel);
        else if (l->open && !l->closed && !c->spoilt)
            collopt_channel_free(&l->channel);
        if (!c->spoilt && !left)        /* the host may still read or write the offset */
            free(l);
    }
    free(links);
    collopt_part_attach(c, COLLOPT_PART_LINKS, NULL, NULL);
}

static struct links *make_list(struct collopt_comm *c)
{
    static const struct collopt_part_ops ops = { .end = free_links, .shut_down = free_links };
    struct links *links = list(c);

    if (!links && (links = calloc(1, sizeof *links)))
        collopt_part_attach(c, COLLOPT_PART_LINKS, links, &ops);
    return links;
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
                                .next = list(c)->first };
    if (m->members > 0)
        memcpy(l->member, m->member, members_size(m));
    list(c)->first = l;
    return tell(c, l) ? NULL : l;
}

struct collopt_link *collopt_link_to(struct collopt_comm *c, const struct collopt_message *m,
                                     size_t bytes)
{
    struct links *links = make_list(c);
    struct collopt_link *l = links ? links->first : NULL;

    if (!links)
        return NULL;
    while (l && !is_for(l, m))
        l = l->next;
    if (!l && !(l = make_link(c, m)))
        return NULL;
    if (m->send && !l->closed)
        collopt_channel_widen(&l->channel, bytes, collopt_links_piece(c, m->members > 0));
    return l;
}

int collopt_link_open(struct collopt_comm *c, struct collopt_link *l)
{
    int told, err = collopt_host.Test(l->told, &told, MPI_STATUS_IGNORE);

    if (err || !told)
        return err;
    l->tolds = 0;
    l->open = true;
    l->closed = l->offset < 0;
    if (!l->closed)
        collopt_channel_open(&l->channel, collopt_segment_of(collopt_peer(c, l->peer).rank),
                             (size_t)l->offset, receiver_of(c, l));
    return MPI_SUCCESS;
}
