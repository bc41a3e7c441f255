/* What the processes of a node know of each other's failed calls.
 *
 * A rank that has no memory for a reduction can send nothing, and the others would wait for it for
 * good.  So it writes the call down in its segment, and ranks that have waited for a while look
 * there.  A call is known by the id with which its rank receives on the communicator (context.h in
 * src/mpi), and by its number.
 *
 * The owner writes, all others read.  Only the latest COLLOPT_FAILURES are kept: an older one is
 * forgotten.  No memory is needed, and no MPI. */
#ifndef COLLOPT_SHM_FAILURES_H
#define COLLOPT_SHM_FAILURES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { COLLOPT_FAILURES = 32 };

struct collopt_failures {
    _Atomic uint32_t count;
    _Atomic uint64_t call[COLLOPT_FAILURES];    /* context id, then the number of the call */
};

/* The number that stands for all nonblocking calls of a communicator. */
static const uint32_t COLLOPT_ALL_NONBLOCKING = UINT32_MAX;

/* Any thread. */
void collopt_failures_add(struct collopt_failures *f, uint32_t context, uint32_t call);
bool collopt_failures_has(const struct collopt_failures *f, uint32_t context, uint32_t call);

#endif
