/* Running a plan, its messages and waiting: with shm.c the only files that send or receive. */
#ifndef COLLOPT_MPI_RUN_EXECUTE_H
#define COLLOPT_MPI_RUN_EXECUTE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/host/host.h"

struct collopt_comm;
struct collopt_facts;
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
    bool apart;                 /* of a persistent or nonblocking operation (by_messages.h) */
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
    size_t room;                /* elements of each array */
    void **operand;             /* [most runs of a step] addresses, for the step that runs */
    char *scratch;
    size_t scratch_size;        /* bytes */
    bool passing;               /* the scratch is not kept when the call has ended */
    uint64_t diverted;          /* bytes sent by the host because a channel had no room */
    /* while an operation of the user's runs: a word of the stack frame that waits for it, which has
     * MARK; else NULL */
    const volatile uint64_t *frame;
    uint64_t mark;
    pthread_t thread;           /* whose frame it is */
};

/* Runs PLAN to its end; MPI_SUCCESS or an error code, the host's or MPI_ERR_NO_MEM. */
int collopt_execute(struct collopt_comm *c, struct collopt_plan *plan, const void *in, void *out);
/* The same in parts. Begin sends nothing; the caller then sets CALL and TAGS and zeroes the steps.
 * Advance goes on as far as possible without waiting; *DONE: to the end. Clear frees the scratch,
 * after an error or where it is PASSING. */
int collopt_execution_begin(struct collopt_execution *e, struct collopt_comm *c,
                            struct collopt_plan *plan, const void *in, void *out);
int collopt_execution_advance(struct collopt_execution *e, bool *done);
void collopt_execution_clear(struct collopt_execution *e, int err);
void collopt_execution_free(struct collopt_execution *e);
/* Has an operation of the user's left E by an exception or longjmp?  Asked by the thread that would
 * run the next call; false also while the operation runs. */
bool collopt_execution_left(const struct collopt_execution *e);
/* This rank fails in CALL on C, whose context id is never used again. */
void collopt_give_up(struct collopt_comm *c, unsigned call);
int collopt_post(struct collopt_execution *e, int message);
int collopt_start(struct collopt_execution *e, int message);    /* by the host */
int collopt_test_message(struct collopt_execution *e, int message, bool *done);
int collopt_wait_message(struct collopt_execution *e, int message);
/* Post and wait in one step; TRY is the form that does not wait, called until it is DONE. */
int collopt_receive_now(struct collopt_execution *e, int message);
int collopt_send_now(struct collopt_execution *e, int message);
int collopt_try_now(struct collopt_execution *e, int message, bool *done);
int collopt_wait(struct collopt_comm *c, MPI_Request *request);
int collopt_test(MPI_Request *request, bool *done);
/* on SMPI: until one of them is complete, and null */
int collopt_wait_any(int n, MPI_Request *const request[]);

/* While we wait for shared memory the host has to make progress with what the program has begun. */
struct collopt_nudge {
    bool begun;                 /* REQUEST exists */
    MPI_Request request;        /* never completes: testing it makes the host progress */
};
void collopt_nudge(struct collopt_nudge *n);
void collopt_nudge_end(struct collopt_nudge *n);
/* Between two fruitless looks; of C's blocking call, or at shared memory.  An error code: another
 * rank has failed in the call. */
int collopt_idle(struct collopt_comm *c, unsigned *polls);
void collopt_idle_at(struct collopt_nudge *n, bool yields, unsigned *polls);

/* TO = the operands, which lie in memory, combined from left to right by a kernel. */
void collopt_fold_here(const struct collopt_facts *f, char *to, int operands,
                       const void *const *operand, size_t n);
/* RIGHT = LEFT op RIGHT by the host, for operations and datatypes that we have no loop for. */
int collopt_combine_by_host(const struct collopt_facts *f, char *left, char *right, size_t n);
/* after an error; true: messages were under way */
bool collopt_abandon(struct collopt_execution *e);

#endif
