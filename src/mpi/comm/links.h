/* The links of a communicator: channels in shared memory from one rank to another, or to the others
 * of a multicast.
 *
 * A link is made when the communicator's first plan has such a message: the sender makes the
 * channel and tells each receiver, by one message of the host's, where it is, or that there is no
 * room for one; then all their messages go by the host.  So nothing has to be agreed on beyond the
 * plan itself, and the segment bounds the memory.
 *
 * Multicasts, eight ranks on two processors, Allreduce of 16 KiB: 21 us instead of 44. */
#ifndef COLLOPT_MPI_COMM_LINKS_H
#define COLLOPT_MPI_COMM_LINKS_H

#include <stdbool.h>
#include <stddef.h>

#include "mpi/host/host.h"
#include "mpi/node/context.h"
#include "schedule/bound.h"
#include "shm/channel.h"

struct collopt_comm;

struct collopt_link {
    struct collopt_channel channel;
    int peer, tag;              /* on the communicator; as collopt_tag_of() says */
    bool outgoing;
    int members, *member;       /* of a multicast; MEMBERS 0: the channel joins two ranks */
    bool open;                  /* else the receiver has not been told yet where it is */
    bool closed;                /* there is no channel: all messages go by the host */
    long long offset;           /* of the channel in the sender's segment; -1: no channel */
    MPI_Request *told;          /* [tolds] by which the offset is sent, or received */
    int tolds;
    struct collopt_link *next;
    struct {                    /* of an execution's messages that wait: run/payloads.c */
        bool listed;            /* among the execution's links with a queue */
        int head, tail;         /* the first and last message + 1; 0: it is empty */
        struct collopt_link *next;      /* of these links */
    } queue;
    int held;                   /* the message + 1 that is read in place; 0: none */
};

/* NEAR[r]: R is another rank on this node, so shared memory carries its messages.  False: there is
 * none. */
bool collopt_links_near(const struct collopt_comm *c, bool *near);
/* The tag of M within a call.  A multicast has a channel of its own, and without room its messages
 * go by the host.  There they must not match messages of other channels, so their tags differ. */
static inline int collopt_tag_of(const struct collopt_message *m)
{
    _Static_assert(2 * COLLOPT_MULTICAST_STRANDS <= COLLOPT_STRAND_TAGS, "their tags differ");
    return m->members > 0 ? COLLOPT_STRAND_TAGS - 1 - m->tag : m->tag % COLLOPT_STRAND_TAGS;
}
/* Bytes of a message between two ranks, or of a MULTICAST; longer ones are cut. */
size_t collopt_links_piece(const struct collopt_comm *c, bool multicast);
/* The link that carries M, a message of BYTES.  If there is none, this makes one: the sender begins
 * to send its offset to the receivers.  NULL: no memory. */
struct collopt_link *collopt_link_to(struct collopt_comm *c, const struct collopt_message *m,
                                     size_t bytes);
/* After all links of a plan were made: waits until what the receivers are told is sent.  They may
 * need it when this rank has left the call and computes.  They all come to the call. */
int collopt_links_settle(struct collopt_comm *c);
/* Opens the channel of an incoming link if its sender has told where it is. */
int collopt_link_open(struct collopt_comm *c, struct collopt_link *l);

#endif
