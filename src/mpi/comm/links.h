/* Messages of schedules between ranks of one node, by shared memory.
 *
 * At MPI_Init the processes of a node map each other's segments.  It is all or nothing for a node,
 * and all ranks of the job know which nodes have it.  A communicator gets a channel from one rank
 * to another, or to the others of a multicast, when its first plan has such a message: the sender
 * makes it and tells each receiver, by one message of the host's, where it is, or that there is no
 * room for one; then all their messages go by the host.  A single message does so where its payload
 * finds no room in the sender's segment.  So nothing has to be agreed on beyond the plan itself. */
#ifndef COLLOPT_MPI_COMM_LINKS_H
#define COLLOPT_MPI_COMM_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/node/context.h"
#include "mpi/host/host.h"
#include "schedule/schedule.h"
#include "shm/channel.h"

struct collopt_comm;
struct collopt_execution;
struct collopt_problem;
struct collopt_segment_key;
struct collopt_sight;
struct collopt_step;

struct collopt_link {           /* a channel of a communicator */
    struct collopt_channel channel;
    int peer, tag;              /* on the communicator; as collopt_tag_of() says */
    bool outgoing;
    int members, *member;       /* of a multicast; MEMBERS 0: the channel joins two ranks */
    bool open;                  /* else the receiver has not been told yet where it is */
    bool closed;                /* there is none: all goes by the host */
    bool listed;                /* among the execution's links with a queue */
    int head, tail;             /* the queue's first and last message + 1; 0: it is empty */
    struct collopt_link *queued;        /* the next one of these links */
    int held;                   /* the message + 1 that is read where it is; 0: none */
    long long offset;           /* in the sender's segment; -1: there is none */
    MPI_Request *told;          /* [tolds] by which the offset is sent, or received */
    int tolds;
    struct collopt_link *next;
};

/* After the ranks of MPI_COMM_WORLD have seen each other: maps the segments of this node.
 * OK is room for a number of each node.  Collective on HIDDEN. */
void collopt_shm_begin(MPI_Comm hidden, int rank, int ranks, const struct collopt_sight *seen,
                       int *ok);
void collopt_shm_end(void);
/* The segment of this process, to be told to the others; made unless COLLOPT_SHM=off. */
void collopt_shm_offer(struct collopt_segment_key *key);
/* Do the ranks of every node share memory?  All ranks answer alike. */
bool collopt_shm_everywhere(void);

/* Of a rank of MPI_COMM_WORLD that is on this node. */
char *collopt_shm_segment(int rank);
/* Bytes of room that each rank of this node has behind its segment; 0: some rank has none. They
 * answer alike. */
size_t collopt_shm_room(void);
/* This rank gives up CALL on C, and the ranks of its node that wait for it are to see that. */
void collopt_shm_fail(const struct collopt_comm *c, uint32_t call);
bool collopt_shm_has_failed(const struct collopt_comm *c, uint32_t call);
/* Does shared memory carry what the calls on C send inside this rank's node? */
bool collopt_shm_carries(const struct collopt_comm *c);
/* NEAR[r]: rank R is another one of this node.  False: none is.  For what shared memory carries. */
bool collopt_shm_near(const struct collopt_comm *c, bool *near);
/* The tag of M within a call.  A multicast has a channel of its own, and without room its messages
 * go by the host.  There they must not match messages of other channels, so their tags differ. */
static inline int collopt_tag_of(const struct collopt_message *m)
{
    _Static_assert(2 * COLLOPT_MULTICAST_STRANDS <= COLLOPT_STRAND_TAGS, "their tags differ");
    return m->members > 0 ? COLLOPT_STRAND_TAGS - 1 - m->tag : m->tag % COLLOPT_STRAND_TAGS;
}
/* Bytes of a message between two ranks, or of a MULTICAST; longer ones are cut. */
size_t collopt_shm_piece(const struct collopt_comm *c, bool multicast);
/* The channel that carries M, a message of BYTES.  If there is none, this makes one: the sender
 * begins to send its offset to the receivers.  NULL: no memory. */
struct collopt_link *collopt_shm_link(struct collopt_comm *c, const struct collopt_message *m,
                                      size_t bytes);
/* After all channels of a plan were asked for: waits until what the receivers are told is sent.
 * They may need it when this rank has left the call and computes.  They all come to the call. */
int collopt_shm_settle(struct collopt_comm *c);
/* Of a communicator that is freed. */
void collopt_shm_unlink(struct collopt_comm *c);

/* A send begins.  Its payload is copied, at once or when there is room: until then it is in the
 * queue of its link. */
int collopt_shm_send(struct collopt_execution *e, int message);
/* Sends what waited for room, as far as there is some now. */
int collopt_shm_send_late(struct collopt_execution *e);
/* A receive begins.  Messages of a channel arrive in the order of their receives. */
void collopt_shm_post(struct collopt_execution *e, int message);
/* While this rank waits: what has arrived for posted receives is stored, so that its senders have
 * room; but not the message that is watched, which may be read where it is. */
int collopt_shm_drain(struct collopt_execution *e);
/* Receives a message, posted or not, if it is there: *done. */
int collopt_shm_receive(struct collopt_execution *e, int message, bool *done);
/* Step S was the last to read some views. */
void collopt_shm_take(const struct collopt_execution *e, const struct collopt_step *s);
/* After an error: nothing is under way any more. */
void collopt_shm_abandon(struct collopt_execution *e);

#endif
