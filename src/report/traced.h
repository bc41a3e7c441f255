/* The reductions of this process one by one, for COLLOPT_TRACE: when it entered each, how long it
 * took, and what it was.  trace.h writes them.  No MPI here.
 *
 * Kept are the first calls, as many as COLLOPT_TRACE_SIZE has room for: so all ranks of a
 * communicator keep the same ones, and those whose waiting is known (notes.h).  Times are
 * nanoseconds of this process's clock. */
#ifndef COLLOPT_REPORT_TRACED_H
#define COLLOPT_REPORT_TRACED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum collopt_traced_form {
    COLLOPT_TRACED_BLOCKING,
    COLLOPT_TRACED_NONBLOCKING,         /* from its start until its completion was seen */
    COLLOPT_TRACED_STARTED      /* a persistent one, the same times */
};

/* Communicators of the same name and ranks, one after the other: a row of the timeline. */
struct collopt_traced_comm {
    struct collopt_traced_comm *next;   /* made later */
    char name[64];              /* MPI_Comm_get_name at the first call */
    uint64_t id;                /* the same on all its ranks; 0: an intercommunicator */
    int rank, ranks;
    int row;                    /* from 1 */
    bool used;                  /* by a communicator that is not freed yet */
};

struct collopt_traced {
    const struct collopt_traced_comm *comm;
    const char *name;           /* "Allreduce"; lives for ever, as BY does */
    const char *by;             /* what runs it; NULL: the host */
    const char *why;            /* the host does; NULL: not told */
    const uint64_t *waiting;    /* where its waiting will be found (notes.h); NULL: nowhere */
    uint64_t entered;
    uint64_t took : 48, form : 8, collective : 8;       /* TOOK: three days */
    uint64_t count, bytes;      /* COLLOPT_NOT_TRACED: not known */
};

#define COLLOPT_NOT_TRACED UINT64_MAX
#define COLLOPT_NOT_ENDED ((UINT64_C(1) << 48) - 1)

/* Before there are any: so many bytes may be kept. */
void collopt_traced_begin(size_t limit);
/* The row for a communicator that is like ABOUT, until collopt_traced_leave_comm(); NULL: no room.
 * Any thread. */
struct collopt_traced_comm *collopt_traced_comm(const struct collopt_traced_comm *about);
void collopt_traced_leave_comm(struct collopt_traced_comm *c);
/* For one more communicator and a call on it. */
bool collopt_traced_has_room(void);
/* Keeps a call, where it stays; NULL: no room. */
struct collopt_traced *collopt_traced_add(const struct collopt_traced *call);
/* A call that was not ended has ended now. */
void collopt_traced_end(struct collopt_traced *call);
/* How many calls had no room. */
uint64_t collopt_traced_dropped(void);
const struct collopt_traced_comm *collopt_traced_comms(void);
/* All that are kept, *N, in the order in which they were entered; to be freed.  NULL: no memory. */
const struct collopt_traced **collopt_traced_sorted(size_t *n);
void collopt_traced_free(void);

#endif
