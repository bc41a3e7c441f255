/* The state of a plan that runs. */
#ifndef COLLOPT_MPI_RUN_EXECUTION_H
#define COLLOPT_MPI_RUN_EXECUTION_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/host/host.h"

struct collopt_comm;
struct collopt_link;
struct collopt_plan;

/* All that changes while a plan runs, so that a plan may run several times at once. Its arrays have
 * room for the largest plan that it has run. Between runs all requests are null, and no message is
 * late, posted or arrived. */
struct collopt_execution {
    struct collopt_comm *comm;
    const struct collopt_plan *plan;
    /* number of the call, the same on all ranks; marks its messages in channels */
    unsigned call;
    int tags;                   /* the first of its tags, relative to the receiver's */
    bool apart;                 /* of a persistent or nonblocking reduction */
    bool begun;                 /* strand 0 has posted the message of a step that posts and waits */
    char **place;               /* [COLLOPT_FIRST_SLOT + slots] addresses */
    MPI_Request *request;       /* [bound->messages] */
    int *step;                  /* [strands] the next one of each */
    /* [messages] in the queue of a link: the next message + 1, -1: the last; 0: not in one */
    int *next;
    /* sends that wait for room, receives that were posted and have not arrived, in queues */
    int lates, posteds;
    struct collopt_link *sending, *receiving;   /* links that may have such ones */
    int watched;                /* the receive that is waited for, + 1; 0: none */
    /* [messages] receives that have arrived and were not waited for yet */
    bool *arrived;
    bool *diverts;              /* [messages] first sends of a multicast that went by the host */
    size_t room;                /* elements of each array */
    void **operand;             /* [most runs of a step] addresses, for the step that runs */
    char *scratch;
    void *result;               /* the program's, where rows stand for it */
    size_t scratch_size;        /* bytes */
    bool passing;               /* the scratch is not kept when the call has ended */
    uint64_t diverted;          /* bytes sent by the host because a channel had no room */
    /* while an operation of the user's runs: a word of the stack frame that waits for it, which has
     * MARK; else NULL */
    const volatile uint64_t *frame;
    uint64_t mark;
    pthread_t thread;           /* whose frame it is */
};

#endif
