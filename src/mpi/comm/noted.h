/* The notes of the reductions on a communicator (report/notes.h).  They outlive it: the ranks bring
 * them together in MPI_Finalize (call/waiting.c), so that no message is added while the program
 * runs. */
#ifndef COLLOPT_MPI_COMM_NOTED_H
#define COLLOPT_MPI_COMM_NOTED_H

#include "mpi/comm/comm.h"
#include "mpi/host/call.h"
#include "report/notes.h"

struct collopt_noted {
    struct collopt_noted *next;         /* made later */
    struct collopt_notes notes;
    struct collopt_note *latest;        /* of the latest call; NULL: it has none */
    uint64_t members;           /* the same on all ranks, and for all with the same ranks */
    int rank, ranks;
    bool ended;                 /* its communicator is no more */
    int member[];               /* [ranks], in MPI_COMM_WORLD */
};

/* In MPI_Init: the ranks will meet in MPI_Finalize. */
void collopt_noted_begin(void);
/* C's first call; NULL: C has no notes, and will not get any. */
struct collopt_noted *collopt_noted_add(struct collopt_comm *c);
/* All of this process, in the order of their first calls; *LOST: there should be more. */
struct collopt_noted *collopt_noted_all(bool *lost);
/* At the end, after collopt_comm_shut_down(). */
void collopt_noted_free(void);

static inline struct collopt_noted *collopt_noted(const struct collopt_comm *c)
{
    return collopt_part(c, COLLOPT_PART_NOTED);
}

/* A call begins.  The numbers of the calls have to be the same on all ranks: this comes before
 * whatever may leave the call. */
static inline void collopt_noted_enter(struct collopt_comm *c)
{
    struct collopt_noted *n;

    if (c->noted && ((n = collopt_noted(c)) || (n = collopt_noted_add(c))))
        n->latest = collopt_notes_next(&n->notes);
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
