/* The entry points of the backend, one for each intercepted name: in entry.c, start.c, complete.c
 * and reduce_local.c. */
#ifndef COLLOPT_MPI_CALL_ENTRY_H
#define COLLOPT_MPI_CALL_ENTRY_H

#include "mpi/host/host.h"

/* int collopt_entry_Allreduce(const void *in, void *out, int count, host_type type, host_op op,
 * host_comm comm) and so on for every name. An entry point is called only where the host has the
 * name. */
#define COLLOPT_ENTRY(function, id, ID, needs, parameters, arguments) \
    int collopt_entry_##id parameters;
COLLOPT_NAMES(COLLOPT_ENTRY)
#undef COLLOPT_ENTRY
void collopt_entry_Pcontrol(int level);          /* the caller then calls the host's */

#endif
