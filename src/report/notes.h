/* When this process entered its reductions, call by call, and how long they took: so that at the
 * end the ranks of a communicator can tell waiting for the last of them from reducing.  Only if
 * COLLOPT_REPORT is set.  No MPI here.
 *
 * The n-th note of a communicator is the same reduction on all its ranks, since MPI has them start
 * reductions on a communicator in the same order.  Times are nanoseconds of this process's clock.
 * Notes never move: a nonblocking reduction's is completed later, maybe by another thread.
 *
 * Where each call is wanted, too (COLLOPT_TRACE), notes have a place for their waiting. */
#ifndef COLLOPT_REPORT_NOTES_H
#define COLLOPT_REPORT_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/counters.h"

enum {
    COLLOPT_NOTES_AHEAD = 8,            /* two cache lines */
    COLLOPT_NOTES_PIECE = 4096,         /* notes of a piece, at most */
    COLLOPT_NOTES_BYTES = 64 << 20      /* of all notes of a process */
};
#define COLLOPT_NOTES_UNKNOWN UINT64_MAX

/* The waiting of each call is wanted; set before there are notes. */
extern bool collopt_notes_waiting;

/* A nonblocking call, and a start of a persistent one, have two notes, in two lists.  In the first
 * one TOOK is the time in the call that starts it and in the one that waits for it.  The second is
 * of the latter: when it began, how long it TOOK, and, as ROOT, whether it came at once.  If none
 * has waited, it has the time at which a test found the end. */
struct collopt_note {
    uint64_t entered;           /* 0: the call has not ended */
    uint64_t took : 48;         /* three days */
    uint64_t row : 15;          /* what the call is counted as */
    uint64_t root : 1;          /* this rank is the root of an MPI_Reduce */
};

enum { COLLOPT_NOTES_AT_ONCE = 5000 };  /* ns from the end of one call to the next, at most */

/* Rows are numbered as they come, so the numbers are the same on all ranks. */
struct collopt_notes_row {
    struct collopt_counted as;
    int collective;             /* enum collopt_collective */
    bool later;                 /* it does not end with the call that starts it */
};

/* The sizes of the pieces depend on nothing but their order. */
struct collopt_notes_piece {
    struct collopt_notes_piece *next;
    size_t size, used;
    uint64_t *waiting;          /* [size], nanoseconds; COLLOPT_NOTES_UNKNOWN: not known; NULL: not
                                 * wanted */
    struct collopt_note note[];
};

struct collopt_notes {          /* of one communicator; zeros: none yet */
    struct collopt_notes_piece *first, *last;
    struct collopt_notes_row *row;
    size_t rows, latest_row;
    bool full;                  /* later calls have no notes */
};

/* Room for one more note behind the latest piece; false: there is none. */
bool collopt_notes_grow(struct collopt_notes *n);
/* The note of the next call, which has not ended yet, so it is all zeros; NULL: no room. */
static inline struct collopt_note *collopt_notes_next(struct collopt_notes *n)
{
    struct collopt_note *note;

    if ((n->full || !n->last || n->last->used == n->last->size) && !collopt_notes_grow(n))
        return NULL;
    note = &n->last->note[n->last->used++];
    /* Stores become visible in order: one that waits for its cache line would delay the call's
     * first message. */
    __builtin_prefetch(note + COLLOPT_NOTES_AHEAD, 1);
    return note;
}

/* Where the waiting of the latest call will be; NULL: nowhere. */
static inline const uint64_t *collopt_notes_waiting_at(const struct collopt_notes *n)
{
    return n->last && n->last->waiting ? &n->last->waiting[n->last->used - 1] : NULL;
}

enum { COLLOPT_NOTES_ROWS = 1 << 15 };
/* The number of a row, maybe a new one; COLLOPT_NOTES_ROWS: no room. */
size_t collopt_notes_row(struct collopt_notes *n, const struct collopt_notes_row *row);
static inline bool collopt_notes_same(const struct collopt_counted *a,
                                      const struct collopt_counted *b)
{
    return a->what == b->what && a->which == b->which && a->passed == b->passed;
}

/* The same, mostly that of the call before. */
static inline size_t collopt_notes_find_row(struct collopt_notes *n,
                                            const struct collopt_notes_row *row)
{
    bool again = n->rows > 0 && collopt_notes_same(&n->row[n->latest_row].as, &row->as);

    return again ? n->latest_row : collopt_notes_row(n, row);
}

/* Sets its row; false: no room. */
static inline bool collopt_notes_describe(struct collopt_notes *n, struct collopt_note *note,
                                          const struct collopt_notes_row *row, bool root)
{
    size_t i = collopt_notes_find_row(n, row);

    if (i == COLLOPT_NOTES_ROWS)
        return false;
    note->row = i;
    note->root = root;
    return true;
}

/* Completes it, as a whole: a store to a part of a word delays the next load of it. */
static inline void collopt_notes_fill(struct collopt_notes *n, struct collopt_note *note,
                                      const struct collopt_notes_row *row, bool root,
                                      uint64_t entered, uint64_t took)
{
    size_t i = collopt_notes_find_row(n, row);

    if (i < COLLOPT_NOTES_ROWS)
        *note = (struct collopt_note){ .entered = entered, .took = took, .row = i, .root = root };
}

/* How many calls from the first on have ended, one after the other. */
size_t collopt_notes_ended(const struct collopt_notes *n);
/* Of the first CALLS: what ranks have to have in common if the notes are those of the same calls.
 * *ROWS: how many rows these have. */
uint64_t collopt_notes_hash(const struct collopt_notes *n, size_t calls, size_t *rows);
/* Later calls have no notes. */
void collopt_notes_close(struct collopt_notes *n);
void collopt_notes_free(struct collopt_notes *n);

/* On whom a rank depends in a reduction. */
enum collopt_depends {
    COLLOPT_DEPENDS_ON_ALL,
    /* the root depends on all, the others need nobody: to send to their parent in a tree is part
     * of the reduction */
    COLLOPT_DEPENDS_AS_ROOT,
    COLLOPT_DEPENDS_ON_LOWER            /* on the ranks before it */
};
enum collopt_depends collopt_depends(int collective);

/* How long a call that was entered at ENTERED and took so long waited until LAST, when the last
 * rank that it depends on entered.  A call may end before: a sum of no elements needs nobody. */
uint64_t collopt_waiting(int64_t entered, uint64_t took, int64_t last);

#endif
