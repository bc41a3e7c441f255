/* Requests: persistent and nonblocking reductions of the program.
 *
 * There are four kinds, each with a struct that begins with struct collopt_request: persistent.c
 * and nonblocking.c by shared memory (shared.h), p2p_request.c by the host's messages,
 * host_request.c by the host.  A nonblocking request that has ended keeps its handle and its
 * memory, and serves as another one, of any kind; so all have the same size. */
#ifndef COLLOPT_MPI_REQUEST_REQUEST_H
#define COLLOPT_MPI_REQUEST_REQUEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/comm/noted.h"
#include "mpi/host/attributes.h"
#include "mpi/host/host.h"
#include "mpi/host/poll.h"
#include "mpi/run/execution.h"
#include "report/counters.h"
#include "schedule/problem.h"
#include "shm/channel.h"

struct collopt_again;
struct collopt_call;
struct collopt_comm;
struct collopt_comparison;
struct collopt_request;
struct collopt_traced;

enum {
    /* bytes of scratch that a request keeps for the next one that it serves as, at most */
    COLLOPT_KEPT_SCRATCH = 64 << 10,
    COLLOPT_REQUEST_SIZE = 856          /* bytes that the struct of a kind may have */
};

enum collopt_state {
    COLLOPT_INACTIVE,
    COLLOPT_STARTED,
    COLLOPT_DONE                /* the result is there; no completion call has returned it */
};

/* The host's request that the program holds (handle.h), and what the host takes it for. */
enum collopt_shown { COLLOPT_SHOWN_INACTIVE, COLLOPT_SHOWN_ACTIVE, COLLOPT_SHOWN_COMPLETE };

struct collopt_handle {
    _Atomic(MPI_Request) request;
    _Atomic enum collopt_shown shown;
    bool persistent;
    /* persistent: this start was the host's alone, as collopt found later; the next one may be */
    bool adopted;
    void (*gone)(struct collopt_request *r);
    bool noticed;               /* the last look has found it as it is now */
};

/* How a request is served.  START is that of a persistent one; RELEASE frees what the kind holds
 * besides the head. */
struct collopt_request_ops {
    void (*start)(struct collopt_request *r);
    /* Goes on without waiting; true: it is DONE.  Any thread. */
    bool (*advance)(struct collopt_request *r);
    void (*release)(struct collopt_request *r);
    /* Advances it by the thread of COLLOPT_ASYNC, which has claimed it and calls no MPI.  NULL: it
     * cannot be helped so. */
    void (*help)(struct collopt_request *r);
    /* it goes on in the progress of the host, where it times itself */
    bool in_progress;
};

struct collopt_request {        /* the head of each kind */
    /* kept when it serves as another one */
    struct collopt_handle handle;
    _Atomic(struct collopt_request *) chain;    /* the next one in the table (table.c) */
    struct collopt_poke poke;
    struct collopt_kept {
        char *scratch;
        size_t size;            /* of it, in bytes */
        bool counted;           /* its bytes count as kept between calls */
        struct collopt_execution execution;     /* of p2p_request.c */
    } kept;
    atomic_bool helped;         /* the thread of COLLOPT_ASYNC may advance it */
    atomic_bool claimed;        /* a thread advances or ends it now */
    struct {                    /* in the array of a completion call */
        uint64_t call;          /* its number */
        int position;           /* where its handle was first */
        struct collopt_again *again;            /* where else */
        struct collopt_request *next;           /* of ours */
    } array;

    _Atomic enum collopt_state state;   /* the first one that collopt_request_clear() clears */
    _Atomic(const struct collopt_request_ops *) ops;    /* NULL: nothing serves it yet */
    int err;                    /* of the last start */
    bool nonblocking;
    bool by_host;               /* the host serves it */
    bool refused;               /* the ranks' calls differ: it only returns an error */
    bool raised;                /* the host has already raised ERR */
    enum collopt_collective collective;
    struct collopt_facts facts;
    struct collopt_comm *owner; /* its state may be another communicator's by now */
    MPI_Comm comm;
    uint64_t bytes;             /* of data in the input vector */
    const char *transport;      /* shared memory, or the algorithm, for people */
    bool yields;
    struct {                    /* for the report */
        bool timed;
        struct collopt_noted *noted;    /* of the communicator, or of this persistent request */
        struct collopt_noting noting;
        bool root;              /* persistent: this rank is that of an MPI_Reduce */
        uint64_t sent[COLLOPT_SENT];    /* bytes that this rank sends */
        uint64_t recorded;      /* the sequence of its call (src/recorder); 0: none */
        struct collopt_traced *traced;  /* COLLOPT_TRACE (report/traced.h); or NULL */
    } measured;
    /* COLLOPT_CHECK, of a nonblocking call; NULL: it is not compared */
    struct collopt_comparison *comparison;
    struct {                    /* the program has freed them, but for this request */
        bool op, type;
    } frees;
    /* of unused or queued ones, or of those that were freed while they were active */
    struct collopt_request *next;
};

static inline enum collopt_state collopt_state_of(const struct collopt_request *r)
{
    return atomic_load_explicit(&r->state, memory_order_acquire);
}
static inline void collopt_set_state(struct collopt_request *r, enum collopt_state to)
{
    atomic_store_explicit(&r->state, to, memory_order_relaxed);
}
/* It may be advanced and completed from now on. */
static inline void collopt_request_is_started(struct collopt_request *r)
{
    atomic_store_explicit(&r->state, COLLOPT_STARTED, memory_order_release);
}
static inline bool collopt_request_under_way(const struct collopt_request *r)
{
    return collopt_state_of(r) == COLLOPT_STARTED;
}
static inline const struct collopt_request_ops *collopt_ops_of(const struct collopt_request *r)
{
    return atomic_load_explicit(&r->ops, memory_order_relaxed);
}
static inline void collopt_set_ops(struct collopt_request *r, const struct collopt_request_ops *ops)
{
    atomic_store_explicit(&r->ops, ops, memory_order_relaxed);
}
static inline bool collopt_request_in_progress(const struct collopt_request *r)
{
    const struct collopt_request_ops *ops = collopt_ops_of(r);

    return ops && ops->in_progress;
}
/* Goes on without waiting; true: it is DONE.  Any thread. */
static inline bool collopt_request_advance(struct collopt_request *r)
{
    const struct collopt_request_ops *ops = collopt_ops_of(r);

    return ops ? ops->advance(r) : !collopt_request_under_way(r);
}

/* Several threads may advance requests: MPI_THREAD_MULTIPLE, COLLOPT_ASYNC=thread. */
extern bool collopt_many_threads;

/* Takes R for this thread.  False: it is taken, perhaps by this thread, which the host has called
 * from within. */
static inline bool collopt_request_claim(struct collopt_request *r)
{
    bool taken;

    if (collopt_many_threads)
        return !atomic_exchange_explicit(&r->claimed, true, memory_order_acquire);
    taken = atomic_load_explicit(&r->claimed, memory_order_relaxed);
    atomic_store_explicit(&r->claimed, true, memory_order_relaxed);
    return !taken;
}

/* Waits for another thread that has taken it. */
static inline void collopt_request_claim_surely(struct collopt_request *r)
{
    while (!collopt_request_claim(r) && collopt_many_threads)
        collopt_pause();
}

static inline void collopt_request_unclaim(struct collopt_request *r)
{
    atomic_store_explicit(&r->claimed, false, memory_order_release);
}

/* A cleared one; NULL: no memory. */
struct collopt_request *collopt_request_take(void);
/* Clears all but the handle and what KEPT has. */
void collopt_request_clear(struct collopt_request *r);
/* Gives it back; its handle is no more. */
void collopt_request_give_back(struct collopt_request *r);
/* Its scratch has SIZE bytes at least; false: no memory. */
bool collopt_request_scratch(struct collopt_request *r, size_t size);

/* Fills in the head from CALL.  FACTS must be set.  Returns NULL, or why the host serves the
 * call. */
const char *collopt_request_fill(struct collopt_request *r, struct collopt_comm *c,
                                 const struct collopt_call *call);
/* True: R may combine and send, since its comparison has ended or it has none.  Sets REFUSED if the
 * calls differ. */
bool collopt_request_compare(struct collopt_request *r);
static inline bool collopt_request_is_compared(struct collopt_request *r)
{
    return __builtin_expect(!r->comparison, 1) || collopt_request_compare(r);
}
/* It is complete: DONE. */
void collopt_request_end(struct collopt_request *r);
/* Around what starts R, which is timed: it is noted by NOTING.  ROOT: this rank is the root of an
 * MPI_Reduce. */
void collopt_request_starts(struct collopt_request *r, const struct collopt_noting *noting,
                            bool root);
void collopt_request_has_started(struct collopt_request *r);
/* A call has waited for its end since BEGUN, in all so long. */
static inline void collopt_request_awaited(struct collopt_request *r, uint64_t begun, uint64_t time)
{
    r->measured.noting.awaited = begun;
    r->measured.noting.waiting = time;
}
/* Counts the last start, which is complete, for the report, unless the host ran it or it was
 * refused. */
void collopt_request_count(const struct collopt_request *r);

#endif
