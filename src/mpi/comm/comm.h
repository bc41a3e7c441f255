/* The state of a communicator: made at its first call, found by its handle, ended with it. */
#ifndef COLLOPT_MPI_COMM_COMM_H
#define COLLOPT_MPI_COMM_COMM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/machine.h"
#include "mpi/host/host.h"
#include "mpi/host/poll.h"
#include "mpi/node/segments.h"
#include "select/break_even.h"
#include "topology/topology.h"

struct collopt_comm;

enum collopt_status {
    COLLOPT_NEW,                /* not taken over yet: calls are counted */
    COLLOPT_TAKEN_OVER,
    COLLOPT_REFUSED,            /* its calls fall back for good */
    /* being freed: calls fall back, also those of the program's delete callbacks */
    COLLOPT_LEAVING,
    COLLOPT_INTERCOMM
};

/* Other modules attach parts to a communicator's state, in the order in which they are freed.  The
 * state knows only these functions of a part; each may be NULL. */
struct collopt_part_ops {
    /* before the host frees C: waits for what must have ended by then */
    void (*settle)(struct collopt_comm *c);
    /* what travelled on C is complete, or C is spoilt */
    void (*end)(struct collopt_comm *c);
    /* does this part return C's context id, later? */
    bool (*keeps_context)(struct collopt_comm *c);
    /* before MPI_Finalize, where the communicator is not freed: gives the host's things back */
    void (*shut_down)(struct collopt_comm *c);
    /* C is busy: has an operation of the user's left its call by longjmp or an exception?  Then the
     * call is cleared away. */
    bool (*recover)(struct collopt_comm *c);
    /* the info keys of C have changed */
    void (*hints_changed)(struct collopt_comm *c);
    /* for the report, before MPI_Finalize and before C ends */
    void (*report)(struct collopt_comm *c);
};
enum collopt_part {
    COLLOPT_PART_PLANS,
    COLLOPT_PART_SCHEDULES,
    COLLOPT_PART_EXECUTION,
    COLLOPT_PART_LINKS,
    COLLOPT_PART_TUNING,
    COLLOPT_PART_MAP,
    COLLOPT_PART_ROWS,
    COLLOPT_PART_HINTS,
    COLLOPT_PART_JOURNALS,
    COLLOPT_PART_COMPARISONS,
    COLLOPT_PART_RECORDED,
    COLLOPT_PART_NOTED,
    COLLOPT_PART_TRACED,
    COLLOPT_PARTS
};

struct collopt_peer {           /* how messages reach a rank of a communicator */
    int rank;                   /* on the hidden communicator */
    int tags;                   /* the first of the tags with which it receives (context.h) */
};

struct collopt_map {            /* where the ranks are: comm/topology.c fills it in */
    struct collopt_topology topology;   /* as found, or as stated: what is chosen depends on it */
    int *node;                  /* storage of topology.node */
    /* All its ranks are found on one node, and nothing else is stated.  Whether they may share
     * memory depends on this: stated nodes may be larger than the real ones. */
    bool one_node;
    /* other groups of the ranks; LEVEL's node is to be freed */
    struct collopt_topology level[COLLOPT_GROUPINGS];
    /* the known ones, for topology.groups */
    const struct collopt_topology *groups[COLLOPT_GROUPINGS];
    struct collopt_machine machine;
    struct collopt_machine machine_p2p; /* where no message goes by shared memory */
};

/* Comes from a pool that is never unmapped, so comm.c may read one that was just freed. */
struct collopt_comm {
    _Atomic(MPI_Comm) comm;     /* the user's; MPI_COMM_NULL when free */
    enum collopt_status status;
    bool busy;                  /* inside a collopt call: nested calls go to the host */
    /* TAKEN_OVER; info keys may wait on some ranks, as all know: the next call compares them */
    bool hints_due;
    bool yields;                /* yield the processor while polling shared memory */
    /* yield also while waiting for the host's messages; else the host waits its own way */
    bool yields_in_host;
    bool timed, traced, checked;        /* report, trace, COLLOPT_CHECK requested */
    bool noted;                 /* TIMED, and it has notes (noted.h), or may get them */
    bool agreeing;              /* this rank takes part in the latest agreement */
    unsigned call;              /* number of the call, the same on all ranks; part of the tags */
    unsigned agreements;        /* number of agreements, the same on all ranks (greatest.h) */
    unsigned nonblocking;       /* number of the nonblocking call, the same on all ranks */
    int rank, ranks;
    MPI_Comm hidden;            /* carries collopt's messages; MPI_COMM_NULL for one rank */
    bool own;                   /* HIDDEN belongs to this communicator, else to the world */
    bool spoilt;                /* a reduction failed and may have left messages */
    int context;                /* context id of this rank; COLLOPT_NO_CONTEXT: none */
    struct collopt_peer *peer;  /* [ranks]; NULL: rank r of HIDDEN is r, and receives with TAGS */
    int tags;
    struct collopt_part_of {
        void *data;             /* NULL: there is none */
        const struct collopt_part_ops *ops;
    } part[COLLOPT_PARTS];
    struct collopt_map map;
    struct collopt_poke poke;
    /* TIMED: nanoseconds that the ranks have spent in this call on agreeing how to run it */
    uint64_t prepared;
    uint64_t reductions;        /* TIMED: blocking ones that have ended */
    int calls;                  /* of the family, while NEW */
    uint64_t saved;             /* ns that collopt would have saved in its calls, while NEW */
    /* PLACED: INSIDE is known. INSIDE: within a world that agreed in MPI_Init */
    bool placed, inside;
    /* problems and their savings, for COLLOPT_AFTER=auto */
    struct collopt_break_even break_even;
    struct {
        struct collopt_comm *next;      /* list of unused states */
        struct collopt_comm *other;     /* list of all states */
        int held;               /* by operations; the state ends after the last one ... */
        bool deleted;           /* ... if the communicator is no more */
        bool counted;           /* as one of COLLOPT_COMMUNICATORS */
    } pool;
};

enum { COLLOPT_NO_CONTEXT = -1 };

/* The state of a communicator, made at the first call; NULL: none available (the call falls
 * back). */
struct collopt_comm *collopt_comm_find(MPI_Comm comm);
/* Where this thread found none: because of the memory?  Then it is an error, as the other ranks
 * count the call. */
bool collopt_comm_lacks_memory(void);
static inline MPI_Comm collopt_comm_of(const struct collopt_comm *c)
{
    return atomic_load_explicit(&c->comm, memory_order_relaxed);
}
/* How messages reach RANK. */
static inline struct collopt_peer collopt_peer(const struct collopt_comm *c, int rank)
{
    return c->peer ? c->peer[rank] : (struct collopt_peer){ .rank = rank, .tags = c->tags };
}
/* A communicator for calls of the host that need one, such as MPI_Pack. */
static inline MPI_Comm collopt_comm_to_pack(const struct collopt_comm *c)
{
    return c->hidden != MPI_COMM_NULL ? c->hidden : collopt_comm_of(c);
}
/* Does shared memory carry what the calls on C send inside this rank's node? */
static inline bool collopt_comm_shares_memory(const struct collopt_comm *c)
{
    return !c->own && collopt_segments_here();
}

/* Of C, which is taken over: the same on all its ranks, and no other living communicator has it,
 * as rank 0 receives with tags that it gives to one at a time.  0: C has none, or is
 * MPI_COMM_WORLD. */
uint64_t collopt_comm_id(const struct collopt_comm *c);

static inline void *collopt_part(const struct collopt_comm *c, enum collopt_part part)
{
    return c->part[part].data;
}
static inline void collopt_part_attach(struct collopt_comm *c, enum collopt_part part, void *data,
                                       const struct collopt_part_ops *ops)
{
    c->part[part] = (struct collopt_part_of){ .data = data, .ops = ops };
}
/* Calls hints_changed of all parts. */
void collopt_comm_hints_changed(struct collopt_comm *c);
/* Calls report of all parts of all communicators. */
void collopt_comm_report(void);

/* Is C inside a call, so that this one is nested and the host's?  On other communicators a call
 * from inside the host, such as a reduction of ROMIO's, is an ordinary one.  A call that an
 * operation of the user's has left by an exception or longjmp is cleared away. */
bool collopt_comm_nested(struct collopt_comm *c);
/* Requests by messages need C's state also when the program has freed the communicator. */
void collopt_comm_retain(struct collopt_comm *c);
void collopt_comm_release(struct collopt_comm *c);

/* One more communicator is taken over, with a hidden communicator of its OWN or the world's.
 * False: the process has taken over as many as it may. */
bool collopt_comm_reserve(struct collopt_comm *c, bool own);
void collopt_comm_unreserve(struct collopt_comm *c);

/* Around MPI_Comm_free and MPI_Comm_disconnect: reductions in the program's delete callbacks go
 * to the host. */
struct collopt_leaving {
    MPI_Comm comm;
    enum collopt_status status;         /* to be restored if it cannot be freed */
    const struct collopt_leaving *outer;
};
void collopt_comm_leaves(MPI_Comm comm, struct collopt_leaving *l);
void collopt_comm_left(const struct collopt_leaving *l, int err);

/* A communicator of a session may consist of ranks of MPI_COMM_WORLD and outlive MPI_Finalize,
 * and looks like any other. After a process has begun a session, communicators are taken over as
 * if they reached beyond the world. */
void collopt_session_begins(void);
/* When the last session has ended and there is no world, or the world after the last session, MPI
 * ends, and its handles with it.  A session begins another MPI. */
void collopt_session_ended(void);
void collopt_world_ended(void);
bool collopt_sessions_begun(void);
bool collopt_sessions_open(void);       /* one has not ended yet */

/* Frees everything that belongs to the host before MPI_Finalize; afterwards delete callbacks
 * call no MPI. */
void collopt_comm_shut_down(void);

#endif
