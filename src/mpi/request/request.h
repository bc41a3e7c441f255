/* Reductions whose call returns before they are complete: persistent and nonblocking ones of the
 * ranks of one node.
 *
 * The start copies a rank's input into shared memory and publishes it by a number. The others need
 * nothing more of that rank: a rank that waits reads the inputs of all and combines its own result.
 * So between start and MPI_Wait a rank may compute, or wait in any call of the host. persistent.h
 * and nonblocking.h say where inputs lie and when they may be overwritten.
 *
 * If each rank would combine the whole of a long vector, the ranks that wait share the work: each
 * claims slices, combines them into a shared result, and copies the result in the end. A rank that
 * has claimed a slice stays in the call until the slice is combined. */
#ifndef COLLOPT_MPI_REQUEST_REQUEST_H
#define COLLOPT_MPI_REQUEST_REQUEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/host/attributes.h"
#include "mpi/host/poll.h"
#include "mpi/run/execution.h"
#include "mpi/host/host.h"
#include "schedule/schedule.h"
#include "shm/channel.h"
#include "shm/segment.h"

struct collopt_call;
struct collopt_comm;
struct collopt_comparison;
struct collopt_nonblocking;
struct collopt_plan;
struct collopt_rows;
struct collopt_staging;

/* Bytes of scratch that an operation keeps for the next one that it serves as, at most. */
enum { COLLOPT_KEPT_SCRATCH = 64 << 10 };

enum collopt_stage {
    COLLOPT_INACTIVE,
    COLLOPT_STARTED,
    COLLOPT_DONE                /* the result is there; no completion call has returned it */
};

struct collopt_request;

/* The host's request that the program holds (handle.h), and what the host takes it for. */
enum collopt_shown { COLLOPT_SHOWN_INACTIVE, COLLOPT_SHOWN_ACTIVE, COLLOPT_SHOWN_COMPLETE };

struct collopt_handle {
    _Atomic(MPI_Request) request;
    _Atomic enum collopt_shown shown;
    bool persistent;
    /* persistent: this start was the host's alone, as collopt found later; the next one may be */
    bool adopted;
    void (*gone)(struct collopt_request *op);
    bool noticed;               /* the last look has found it as it is now */
};

struct collopt_work {           /* on slices, in shared memory */
    _Alignas(COLLOPT_SHM_LINE) _Atomic uint64_t claimed;
    _Alignas(COLLOPT_SHM_LINE) _Atomic uint64_t finished;
};

struct collopt_request;

/* What serves a request.  START is that of a persistent one; RELEASE frees what it holds besides its
 * head. */
struct collopt_request_ops {
    void (*start)(struct collopt_request *op);
    /* Goes on without waiting; true: it is DONE.  Any thread. */
    bool (*advance)(struct collopt_request *op);
    void (*release)(struct collopt_request *op);
    /* As ADVANCE, without MPI calls; this thread has claimed it.  NULL: it cannot be helped so. */
    bool (*help)(struct collopt_request *op);
    /* it goes on in the progress of the host, where it times itself */
    bool in_progress;
};

struct collopt_request {
    struct collopt_handle handle;
    _Atomic(struct collopt_request *) chain;    /* the next one in the table (table.c) */
    struct collopt_poke poke;
    char *scratch;              /* for one vector, and what it holds at most */
    size_t scratch_size;
    bool counted;               /* among what is kept between calls */
    struct collopt_execution execution;         /* by messages */
    atomic_bool helped;         /* the thread of COLLOPT_ASYNC may advance it */
    atomic_bool claimed;        /* a thread advances or ends it now */
    /* in the array of a completion call: where its handle was, and the next one of ours */
    int position;
    struct collopt_request *listed;
    _Atomic enum collopt_stage stage;   /* the first one that collopt_request_clear() clears */
    _Atomic(const struct collopt_request_ops *) ops;    /* NULL: nothing serves it yet */
    int err;                    /* of the last start */
    uint64_t number;            /* of the last start; of the communicator's nonblocking call */

    enum collopt_collective collective;
    struct collopt_facts facts;
    int root, rank, ranks;
    const void *users_in;
    void *users_out;            /* equal: in place */
    const void *in;             /* the same, unless they are in device memory */
    void *out;
    struct collopt_staging *staging;
    size_t count, bytes;        /* elements of the input vector; bytes of data in it */
    size_t first, mine;         /* elements of the result of this rank */
    int operands;               /* ranks 0 to OPERANDS - 1 are combined for this rank */
    bool packed;                /* packed data is published; else elements as they lie in memory */
    /* what RANK has published */
    const char *(*data)(const struct collopt_request *op, int rank);
    int seen;                   /* ranks that are known to have started */
    int needed;                 /* nonblocking: ranks that have to, as it is now */

    size_t slice;               /* elements of a slice */
    unsigned slices;            /* 0: each rank combines its result alone */
    struct collopt_work *work;
    uint64_t slices_before;     /* this start, in what WORK counts */
    char *result;               /* that slices are combined to */
    char *aside[2];             /* PACKED: element 0 of the vectors in the scratch */
    const void **operand;       /* [ranks] in the scratch */
    bool lacks_memory;          /* for the scratch: each start is an error */

    struct collopt_comm *owner; /* whose state may be another one's by now */
    MPI_Comm comm;
    bool timed, yields;
    uint64_t time;              /* nanoseconds that it took this rank */
    bool frees_op, frees_type;  /* the program has freed them, but for this operation */

    /* persistent: shared by the ranks, or this rank's own where it is alone */
    char *memory;
    size_t size, part, slot;    /* bytes in all, of a rank, of a slot */
    unsigned slots;             /* of a rank, a power of two */
    size_t at;                  /* of this start's slot, in bytes from a rank's first one */
    bool one_way;               /* persistent.h */
    uint64_t passed;            /* all readers of this rank have acknowledged at least this */
    int reader;                 /* the next reader to look at; those before it have ... */
    uint64_t least;             /* ... acknowledged at least this */
    /* nonblocking; NULL: persistent, or this rank is alone */
    _Atomic(struct collopt_nonblocking *) queue;
    bool nonblocking;
    uint32_t mark;              /* of what is called */
    bool differs;               /* some rank has called something else, or has an error */
    char *own;                  /* what this rank has published */
    /* by messages; NULL: by shared memory */
    struct collopt_plan *plan;
    struct collopt_rows *rows;  /* of its communicator */
    unsigned row;
    bool begun;                 /* its row was free */
    struct collopt_request *queued;   /* the next one that is under way */
    /* COLLOPT_CHECK, of a nonblocking call; NULL: it is not compared */
    struct collopt_comparison *comparison;
    bool refused;               /* the ranks' calls differ: it only returns an error */
    bool raised;                /* the host has already raised ERR */
    /* the host serves it (by_host.h): the request there, or the call until the host gets it */
    bool by_host;
    MPI_Request host;
    struct collopt_call *deferred;
    /* of unused or queued ones, or of those that were freed while they were active */
    struct collopt_request *next;
};

static inline enum collopt_stage collopt_stage_of(const struct collopt_request *op)
{
    return atomic_load_explicit(&op->stage, memory_order_acquire);
}
static inline void collopt_set_stage(struct collopt_request *op, enum collopt_stage to)
{
    atomic_store_explicit(&op->stage, to, memory_order_relaxed);
}
static inline const struct collopt_request_ops *collopt_request_ops_of(
    const struct collopt_request *op)
{
    return atomic_load_explicit(&op->ops, memory_order_relaxed);
}
/* Goes on without waiting; true: it is DONE.  Any thread. */
static inline bool collopt_request_advance(struct collopt_request *op)
{
    const struct collopt_request_ops *ops = collopt_request_ops_of(op);

    return ops ? ops->advance(op) : collopt_stage_of(op) != COLLOPT_STARTED;
}

/* Several threads may advance operations: MPI_THREAD_MULTIPLE, COLLOPT_ASYNC=thread. */
extern bool collopt_many_threads;

/* Takes OP for this thread.  False: it is taken, perhaps by this thread, which the host has called
 * from within. */
static inline bool collopt_request_claim(struct collopt_request *op)
{
    bool taken;

    if (collopt_many_threads)
        return !atomic_exchange_explicit(&op->claimed, true, memory_order_acquire);
    taken = atomic_load_explicit(&op->claimed, memory_order_relaxed);
    atomic_store_explicit(&op->claimed, true, memory_order_relaxed);
    return !taken;
}

/* Waits for another thread that has taken it. */
static inline void collopt_request_claim_surely(struct collopt_request *op)
{
    while (!collopt_request_claim(op) && collopt_many_threads)
        collopt_pause();
}

static inline void collopt_request_unclaim(struct collopt_request *op)
{
    atomic_store_explicit(&op->claimed, false, memory_order_release);
}

/* A cleared one; NULL: no memory. */
struct collopt_request *collopt_request_take(void);
/* Clears all but its handle, poke, place in the table, execution and short scratch. */
void collopt_request_clear(struct collopt_request *op);
/* Gives it back; the request is not its own. */
void collopt_request_give_back(struct collopt_request *op);

/* Fills it in from CALL, on C, which is taken over; else why the call is not served, alike on all
 * ranks of a right program.  SLICEABLE: the whole result is wanted, so slices of it can be
 * anybody's work. */
const char *collopt_request_describe(struct collopt_request *op, struct collopt_comm *c,
                                       struct collopt_call *call, bool sliceable);
/* Fills in the fields that shared memory and messages both need.  OP->facts must be set.  Returns
 * NULL, or why the host serves the call. */
const char *collopt_request_fill(struct collopt_request *op, struct collopt_comm *c,
                                   const struct collopt_call *call);
/* Bytes that each rank publishes. */
size_t collopt_request_published(const struct collopt_request *op);

/* A start: the user's buffers are looked at. Then the input is copied to where it is published. */
void collopt_request_begin(struct collopt_request *op);
void collopt_request_copy_in(struct collopt_request *op, char *to);
/* All OPERANDS have started: combines the result. False: slices that others have claimed are not
 * finished. */
bool collopt_request_combine(struct collopt_request *op);
/* True: OP may combine and send, since its comparison has ended or it has none.  Sets REFUSED if
 * the calls differ. */
bool collopt_request_compare(struct collopt_request *op);
static inline bool collopt_request_is_compared(struct collopt_request *op)
{
    return __builtin_expect(!op->comparison, 1) || collopt_request_compare(op);
}
/* Can it be completed without MPI calls? */
bool collopt_request_is_plain(const struct collopt_request *op);
/* It is complete: DONE. */
void collopt_request_end(struct collopt_request *op);
/* Counts the last start for the report, unless the host ran it or it was refused. */
void collopt_request_count(const struct collopt_request *op);

#endif
