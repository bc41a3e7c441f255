/* The notes of the reductions on a communicator (report/notes.h).  They outlive it: the ranks bring
 * them together in MPI_Finalize (call/waiting.c), so that no message is added while the program
 * runs. */
#ifndef COLLOPT_MPI_COMM_NOTED_H
#define COLLOPT_MPI_COMM_NOTED_H

#include "mpi/comm/comm.h"
#include "mpi/host/call.h"
#include "report/notes.h"

/* A nonblocking call, or a start of a persistent one, that is under way.  Times are ns. */
struct collopt_noting {
    struct collopt_note *note, *wait;   /* NULL: it has none */
    uint64_t entered, starting; /* when the call that starts it was entered, how long that took */
    uint64_t awaited, waiting;  /* the same of the one that has waited for it; 0: none has */
};

struct collopt_noted {
    struct collopt_noted *next;         /* made later */
    struct collopt_notes notes;
    struct collopt_notes waits; /* the second notes of those calls that go on after their end */
    struct collopt_note *latest;        /* of the latest call; NULL: it has none */
    struct collopt_noting begun;        /* the latest nonblocking call, until it is taken */
    /* Starts of persistent requests may come in another order on each rank, so each request has
     * notes of its own: PARENT is its communicator's.  MADE: the latest one, until it is taken. */
    struct collopt_noted *parent, *made;
    /* the same on all ranks, and for all communicators with the same ranks, unless they are taken
     * over: nonblocking calls, and threads, may use these in another order on each rank */
    uint64_t members;
    int rank, ranks;
    bool ended;                 /* its communicator is no more */
    const int *member;          /* [ranks], in MPI_COMM_WORLD */
    int own[];                  /* storage of MEMBER; the parent's serves its requests */
};

/* In MPI_Init: the ranks will meet in MPI_Finalize. */
void collopt_noted_begin(void);
/* C's first call; NULL: C has no notes, and will not get any. */
struct collopt_noted *collopt_noted_add(struct collopt_comm *c);
/* C is taken over. */
void collopt_noted_agreed(const struct collopt_comm *c);
/* All of this process, in the order of their first calls; *LOST: there should be more. */
struct collopt_noted *collopt_noted_all(bool *lost);
/* At the end, after collopt_comm_shut_down(). */
void collopt_noted_free(void);

/* A persistent request is made on C. */
void collopt_noted_make(struct collopt_comm *c);
/* Its notes; NULL: it has none. */
struct collopt_noted *collopt_noted_made(const struct collopt_comm *c);

static inline struct collopt_noted *collopt_noted(const struct collopt_comm *c)
{
    return collopt_part(c, COLLOPT_PART_NOTED);
}

/* Where the waiting of the latest call will be (notes.h); NULL: nowhere. */
static inline const uint64_t *collopt_noted_waiting(const struct collopt_comm *c)
{
    const struct collopt_noted *n = c->noted ? collopt_noted(c) : NULL;

    return n && n->latest ? collopt_notes_waiting_at(&n->notes) : NULL;
}

/* A call begins.  The numbers of the calls have to be the same on all ranks: this comes before
 * whatever may leave the call. */
static inline void collopt_noted_enter(struct collopt_comm *c)
{
    struct collopt_noted *n;

    if (c->noted && ((n = collopt_noted(c)) || (n = collopt_noted_add(c))))
        n->latest = collopt_notes_next(&n->notes);
}

/* The same for a nonblocking call, which collopt_noted_begun() then gives. */
void collopt_noted_begin_call(struct collopt_comm *c);
struct collopt_noting collopt_noted_begun(const struct collopt_comm *c);
/* A start of the request whose notes N has, or NULL. */
struct collopt_noting collopt_noting_of(struct collopt_noted *n);
/* A start was missed: later ones of this request have no notes.  N may be NULL. */
void collopt_noted_lose(struct collopt_noted *n);
/* Sets the collective of G, and the row AS which it is counted.  ROOT: this rank is the root of an
 * MPI_Reduce. */
void collopt_noting_describe(struct collopt_noting *g, struct collopt_noted *n, int collective,
                             struct collopt_counted as, bool root);
/* It has ended without an error. */
void collopt_noting_end(const struct collopt_noting *g);
/* Nanoseconds of this rank. */
static inline uint64_t collopt_noting_time(const struct collopt_noting *g)
{
    return g->starting + g->waiting;
}

/* The latest call was entered at START and took TIME. */
static inline void collopt_noted_leave(const struct collopt_comm *c,
                                       const struct collopt_call *call, struct collopt_counted as,
                                       uint64_t start, uint64_t time)
{
    struct collopt_noted *n = c->noted ? collopt_noted(c) : NULL;

    if (n && n->latest)
        collopt_notes_fill(&n->notes, n->latest,
                           &(struct collopt_notes_row){ .as = as, .collective = call->collective },
                           call->collective == COLLOPT_REDUCE && call->root == c->rank, start,
                           time);
}

#endif
