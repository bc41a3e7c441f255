/* The entry points of the backend, one for each intercepted name: in entry.c, start.c, complete.c
 * and reduce_local.c. */
#ifndef COLLOPT_MPI_CALL_ENTRY_H
#define COLLOPT_MPI_CALL_ENTRY_H

#include "mpi/host/call.h"
#include "mpi/host/host.h"

/* int collopt_entry_Allreduce(const void *in, void *out, int count, host_type type, host_op op,
 * host_comm comm) and so on for every name. An entry point is called only where the host has the
 * name. */
#define COLLOPT_ENTRY(function, id, ID, needs, parameters, arguments) \
    int collopt_entry_##id parameters;
COLLOPT_NAMES(COLLOPT_ENTRY)
#undef COLLOPT_ENTRY
void collopt_entry_Pcontrol(int level);          /* the caller then calls the host's */

/* How a call of each shape is described, with counts of C: int or host_count. */
#define COLLOPT_CALL(id, ID, SHAPE, C) \
    .collective = COLLOPT_##ID, .name = #id, .in = in, .out = out, .type = type, .op = op, \
    .comm = comm, .large = COLLOPT_LARGE_##C, COLLOPT_FILL_##SHAPE
#define COLLOPT_FILL_COLLOPT_ROOTED     .count = (size_t)count, .root = root
#define COLLOPT_FILL_COLLOPT_VECTOR     .count = (size_t)count
#define COLLOPT_FILL_COLLOPT_SCATTERED  .counts = counts
#define COLLOPT_LARGE_int               false
#define COLLOPT_LARGE_host_count        true

#endif
