/* Persistent and nonblocking reductions of the ranks of one node, by shared memory.
 *
 * The start copies a rank's input into shared memory and publishes it by a number. The others need
 * nothing more of that rank: a rank that waits reads the inputs of all and combines its own result.
 * So between start and MPI_Wait a rank may compute, or wait in any call of the host. persistent.h
 * and nonblocking.h say where inputs lie and when they may be overwritten.
 *
 * If each rank would combine the whole of a long vector, the ranks that wait share the work: each
 * claims slices, combines them into a shared result, and copies the result in the end. A rank that
 * has claimed a slice stays in the call until the slice is combined. */
#ifndef COLLOPT_MPI_REQUEST_SHARED_H
#define COLLOPT_MPI_REQUEST_SHARED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/request/buffers.h"
#include "mpi/request/request.h"
#include "shm/segment.h"

struct collopt_work {           /* on slices, in shared memory */
    _Alignas(COLLOPT_SHM_LINE) _Atomic uint64_t claimed;
    _Alignas(COLLOPT_SHM_LINE) _Atomic uint64_t finished;
};

struct collopt_shared {
    struct collopt_request r;
    struct collopt_buffers buffers;
    int root, rank, ranks;
    size_t first;               /* the first element of the result of this rank */
    int operands;               /* ranks 0 to OPERANDS - 1 are combined for this rank */
    bool packed;                /* packed data is published; else elements as they lie in memory */
    bool lacks_memory;          /* for the scratch: each start returns an error */
    /* what RANK has published */
    const char *(*data)(const struct collopt_shared *s, int rank);
    int seen;                   /* ranks that are known to have started */
    uint64_t number;            /* of the last start; of the communicator's nonblocking call */

    size_t slice;               /* elements of a slice */
    unsigned slices;            /* 0: each rank combines its result alone */
    struct collopt_work *work;
    uint64_t slices_before;     /* this start, in what WORK counts */
    char *result;               /* that slices are combined to */
    char *aside[2];             /* PACKED: element 0 of the vectors in the scratch */
    const void **operand;       /* [ranks] in the scratch */
};

static inline struct collopt_shared *collopt_shared_of(struct collopt_request *r)
{
    return (struct collopt_shared *)r;
}

/* Fills it in from CALL, on C, which is taken over.  Returns NULL, or why the call is not served;
 * all ranks of a correct program get the same.  SLICEABLE: the whole result is wanted, so any rank
 * may compute a slice of it. */
const char *collopt_shared_describe(struct collopt_shared *s, struct collopt_comm *c,
                                    struct collopt_call *call, bool sliceable);
/* Bytes that each rank publishes. */
size_t collopt_shared_published(const struct collopt_shared *s);

/* A start: the user's buffers are looked at. Then the input is copied to where it is published. */
void collopt_shared_begin(struct collopt_shared *s);
void collopt_shared_copy_in(struct collopt_shared *s, char *to);
/* All OPERANDS have started: combines the result. False: slices that others have claimed are not
 * finished. */
bool collopt_shared_combine(struct collopt_shared *s);
/* Can it be completed without MPI calls? */
bool collopt_shared_is_plain(const struct collopt_shared *s);
/* It is complete: DONE. */
void collopt_shared_end(struct collopt_shared *s);

#endif
