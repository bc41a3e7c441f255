/* The state of a communicator; taking it over and releasing it. */
#ifndef COLLOPT_MPI_COMM_COMM_H
#define COLLOPT_MPI_COMM_COMM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memo.h"
#include "catalogue/choice.h"
#include "model/machine.h"
#include "mpi/run/execute.h"
#include "mpi/host/host.h"
#include "schedule/schedule.h"
#include "select/rental.h"
#include "topology/topology.h"

struct collopt_link;
struct collopt_nonblocking;
struct collopt_plan;
struct collopt_rows;

enum collopt_status {
    COLLOPT_NEW,                /* not taken over yet: calls are counted */
    COLLOPT_TAKEN_OVER,
    COLLOPT_REFUSED,            /* passed on for good */
    /* being freed: calls are passed on, also from the program's delete callbacks */
    COLLOPT_LEAVING,
    COLLOPT_INTERCOMM
};

struct collopt_wish {           /* an info key of the communicator */
    bool given;
    struct collopt_choice choice;
};

struct collopt_peer {           /* how messages reach a rank of a communicator */
    int rank;                   /* on the hidden communicator */
    int tags;                   /* the first of the tags with which it receives (context.h) */
};

/* Comes from a pool that is never unmapped, so comm.c may read one that was just freed. */
struct collopt_comm {
    _Atomic(MPI_Comm) comm;     /* the user's; MPI_COMM_NULL when free */
    enum collopt_status status;
    bool busy;                  /* inside a collopt call: nested calls go to the host */
    /* TAKEN_OVER; info keys may wait on some ranks, as all know: the next call compares them */
    bool keys_due;
    bool yields;                /* yield the processor while polling shared memory */
    /* yield also while waiting for the host's messages; else the host waits its own way */
    bool polite;
    int calls;                  /* of the family, while NEW */
    /* PLACED: INSIDE is known. INSIDE: within a world that agreed in MPI_Init */
    bool placed, inside;
    int rank, ranks;
    MPI_Comm hidden;            /* carries collopt's messages; MPI_COMM_NULL for one rank */
    bool counted;               /* as one of COLLOPT_COMMUNICATORS */
    bool own;                   /* HIDDEN belongs to this communicator, else to the world */
    bool spoilt;                /* a reduction failed and may have left messages */
    int context;                /* context id of this rank; -1: none */
    struct collopt_peer *peer;  /* [ranks]; NULL: rank r of HIDDEN is r, and receives with TAGS */
    int tags;
    struct collopt_rental rental;       /* problems that have earned a plan; COLLOPT_AFTER=auto */
    uint64_t earned;            /* ns that collopt would have saved so far */
    struct collopt_topology topology;   /* as found, or as stated: what is chosen depends on it */
    int *node;                  /* storage of topology.node */
    /* All its ranks are found on one node, and nothing else is stated.  What memory they may share
     * depends on this: nodes that are stated may be larger than those that there are. */
    bool one_node;
    /* other groups of the ranks; LEVEL's node is to be freed */
    struct collopt_topology level[COLLOPT_GROUPINGS];
    /* the known ones, for topology.groups */
    const struct collopt_topology *groups[COLLOPT_GROUPINGS];
    struct collopt_machine machine;
    struct collopt_machine by_messages; /* the same for vectors that do not fit shared memory */
    struct collopt_wish wish[COLLOPT_COLLECTIVES];
    struct collopt_keys *waiting;       /* info keys not compared yet, or NULL; info.c */

    struct collopt_memo plans;
    /* the last plan used: the next call is often the same */
    struct collopt_plan *last[COLLOPT_COLLECTIVES];
    struct collopt_link *links; /* channels, src/mpi/comm/links.h */
    bool telling;               /* offsets of some of them are being sent */
    struct collopt_nonblocking *nonblocking;    /* NULL: none was made */
    bool journal_lost;          /* there was no memory for it, or for ROWS: no such call any more */
    struct collopt_rows *rows;  /* of operations by messages; NULL: there was none */
    unsigned later;             /* number of the nonblocking call, the same on all ranks */
    int held;                   /* by these; the state is given back after the last one ... */
    bool deleted;               /* ... if the communicator is no more */
    struct collopt_nudge nudge;
    struct collopt_schedules *schedules;
    struct collopt_remembered *remembered;      /* predictions */
    struct collopt_adapted *adapted;
    struct collopt_execution execution;         /* of blocking calls, one at a time */
    bool timed, traced, checked;        /* report, trace, COLLOPT_CHECK requested */
    unsigned call;              /* number of the call, the same on all ranks; part of the tags */
    unsigned agreements;        /* number of agreements, the same on all ranks (greatest.h) */
    bool agreeing;              /* this rank takes part in the latest agreement */
    struct collopt_comm *next;  /* list of unused states */
    struct collopt_comm *other; /* list of all states */
};

/* The state of a communicator, made at the first call; NULL: none available (the call is passed
 * on). */
struct collopt_comm *collopt_comm_find(MPI_Comm comm);
/* Where this thread found none: because of the memory?  Then it is an error, as the other ranks
 * count the call. */
bool collopt_comm_lacks_memory(void);
/* Counts a call with a vector of BYTES on a NEW communicator and, when due, takes it over or
 * refuses it. Collective. An error code: this rank alone cannot go on; it is raised. */
int collopt_comm_take_over(struct collopt_comm *c, size_t bytes);
/* Counts a nonblocking call, which cannot take C over: the next blocking one may. A communicator of
 * one rank is taken over here too. */
void collopt_comm_note(struct collopt_comm *c, size_t bytes);
/* Takes over MPI_COMM_WORLD in MPI_Init, where it is cheapest, unless COLLOPT_AFTER is a number.
 * Collective. */
void collopt_comm_take_over_world(void);
/* A communicator of a session may consist of ranks of MPI_COMM_WORLD and outlive MPI_Finalize,
 * and looks like any other. After a process has begun a session, communicators are taken over as
 * if they reached beyond the world. */
void collopt_session_begins(void);
/* When the last session has ended and there is no world, or the world after the last session, MPI
 * ends, and its handles with it.  A session begins another MPI. */
void collopt_session_ended(void);
void collopt_world_ended(void);
bool collopt_sessions_begun(void);
/* Around MPI_Comm_free and MPI_Comm_disconnect: reductions in the program's delete callbacks go
 * to the host. */
struct collopt_leaving {
    MPI_Comm comm;
    enum collopt_status status;         /* to be restored if it cannot be freed */
    const struct collopt_leaving *outer;
};
void collopt_comm_leaves(MPI_Comm comm, struct collopt_leaving *l);
void collopt_comm_left(const struct collopt_leaving *l, int err);
static inline MPI_Comm collopt_comm_of(const struct collopt_comm *c)
{
    return atomic_load_explicit(&c->comm, memory_order_relaxed);
}
/* How messages reach RANK. */
static inline struct collopt_peer collopt_peer(const struct collopt_comm *c, int rank)
{
    return c->peer ? c->peer[rank] : (struct collopt_peer){ .rank = rank, .tags = c->tags };
}
/* Is C inside a call, so that this one is nested and the host's?  A call that an operation of the
 * user's has left by an exception or longjmp is cleared away. */
bool collopt_comm_nested(struct collopt_comm *c);
/* Operations by messages need C's state also when the program has freed the communicator. */
void collopt_comm_hold(struct collopt_comm *c);
void collopt_comm_let_go(struct collopt_comm *c);
/* True if all ranks of C belong to a world that took part in the agreement of MPI_Init; the same
 * on all ranks. */
bool collopt_comm_inside(struct collopt_comm *c);
/* Silences the user's error handler during an attempt on the user's communicator; and restores it.
 * Other threads' errors on it are silenced as well, so never while this rank may have to wait. */
MPI_Errhandler collopt_quiet(MPI_Comm comm);
void collopt_as_before(MPI_Comm comm, MPI_Errhandler handler);
/* Saves the results of trials on existing communicators for the report. */
void collopt_comm_tell(void);
/* Frees everything that belongs to the host before MPI_Finalize; afterwards delete callbacks
 * call no MPI. */
void collopt_comm_shut_down(void);

#endif
