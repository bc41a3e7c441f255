/* A plan: a schedule bound to a count, a datatype and an operation of this host. */
#ifndef COLLOPT_MPI_PLAN_PLAN_H
#define COLLOPT_MPI_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memo.h"
#include "kernels/exact_words.h"
#include "mpi/host/attributes.h"
#include "mpi/host/call.h"
#include "mpi/host/host.h"
#include "report/counters.h"
#include "schedule/block.h"
#include "schedule/bound.h"
#include "schedule/descriptor.h"
#include "schedule/problem.h"

struct collopt_adapted;
struct collopt_algorithm;
struct collopt_bound;
struct collopt_comm;
struct collopt_link;
struct collopt_message;

struct collopt_wire {           /* one message as the host is told it */
    int peer, tag, count, place;
    ptrdiff_t at;               /* bytes from the place's address */
    MPI_Datatype type;
    /* TYPE is made of UNITs, UNITS of them for an element: 1 of the element's type, or all its
     * bytes */
    MPI_Datatype unit;
    int units;
    struct collopt_link *link;  /* by shared memory (src/shm); NULL: by the host */
    size_t bytes;               /* of the message */
    bool flat;                  /* its runs are plain bytes */
    bool exchanged;             /* shared memory: its ranks send to one another */
    int repeats;                /* a send of a multicast: the message + 1 whose data it has, too; 0:
                                 * it is the first one with them */
    bool made;                  /* TYPE is ours to free */
    /* its runs are in several places: TYPE is made for each call, with absolute addresses */
    bool absolute;
    const struct collopt_message *message;
};

struct collopt_plan_data {         /* how the messages of a plan carry the data */
    bool derived;               /* shared memory carries some messages of a derived datatype */
    bool ordered;               /* the data lie in the order in which they are sent */
    bool gaps;                  /* messages carry the gaps of pairs along, as bytes ... */
    int tail;                   /* ... but for the last one: it has so many bytes */
    /* of IN and OUT: where the last message in it ends, in elements */
    size_t end[COLLOPT_FIRST_SLOT];
    /* bytes of the host's longest eager message.  A message that is eager only without its gaps is
     * sent without them.  0: all messages carry their gaps */
    size_t eager;
    bool types_made;            /* some wire has a datatype that was made from the call's */
};

/* A sum that is rounded once and travels as exact accumulators. */
struct collopt_plan_rows {
    struct collopt_exact_words of;      /* no words: it does not */
    size_t inputs, results;     /* elements that this rank contributes, and gets */
    int operands;               /* ranks whose contributions are in a result */
    ptrdiff_t in, out;          /* bytes from the start of scratch to the rows of both */
};

struct collopt_plan {
    /* what it is for */
    enum collopt_collective collective;
    bool in_place;
    int root;
    size_t count;               /* as in the call; Reduce_scatter: hash of the counts */
    size_t *counts;             /* Reduce_scatter, else NULL */
    struct collopt_facts facts; /* of the call */
    uint64_t stamp;             /* of handles, from before FACTS were last seen to be right */
    enum collopt_mode mode;     /* as in the call, and its candidate */
    unsigned char candidate;
    /* calls like this go by these trials: each candidate has a plan of its own */
    struct collopt_adapted *adapted;

    /* what to do; algorithm NULL: the host's own collective */
    const struct collopt_algorithm *algorithm;
    enum collopt_reason passed; /* why, if it is the host's */
    const struct collopt_bound *bound;
    /* what the schedule combines: FACTS, or those of the words of rows */
    struct collopt_facts element;
    struct collopt_plan_rows rows;
    struct collopt_wire *wire;  /* [bound->messages] */
    bool wired;                 /* they are set */
    /* [bound->slots] bytes to the slot's element 0: from the start of scratch; to that of a view
     * from element 0 of the place whose memory it stands for */
    ptrdiff_t *slot;
    size_t scratch;             /* bytes */
    size_t room;                /* bytes that an execution needs for its arrays */
    bool shm;                   /* shared memory carries its messages inside the node */
    uint64_t sent[COLLOPT_SENT];        /* bytes of a call's sends, as planned */
    bool unchecked;             /* whether the datatype is committed is not known yet */
    struct collopt_plan_data data;

    uint64_t bytes;             /* of data in the input vector */
    int size_class;
    unsigned recorded;          /* its algorithm's name (recorder/recorder.h) */
    /* the algorithm with its parameters, for people; only where calls are checked */
    char *chosen;
    struct collopt_memoized memoized;
    int held;                   /* by operations; it is freed after the last one ... */
    bool forgotten;             /* ... if no call finds it any more */
};

/* Requests that are under way refer to their plan, which does not change. */
void collopt_plan_retain(struct collopt_plan *plan);
void collopt_plan_release(struct collopt_plan *plan);
bool collopt_plan_is_held(struct collopt_plan *plan);
/* No call finds it any more: frees it, now or when it is not held any more. */
void collopt_plan_forget(struct collopt_plan *plan);
void collopt_plan_free(struct collopt_plan *plan);
/* Frees the datatypes of its wires. */
void collopt_plan_free_types(struct collopt_plan *plan);

#endif
