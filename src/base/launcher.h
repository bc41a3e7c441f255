/* Reads the launcher's environment variables. */
#ifndef COLLOPT_BASE_LAUNCHER_H
#define COLLOPT_BASE_LAUNCHER_H

#include <stdbool.h>

/* The rank of this process; -1: no variable is set. */
int collopt_launched_rank(void);
/* The number of ranks of the job on this node; -1: unknown. */
int collopt_launched_local_ranks(void);
/* True if Open MPI yields the processor while it waits: by mpi_yield_when_idle, or because its
 * launcher saw more ranks than processors. Settings in files are not seen. */
bool collopt_launched_to_yield(void);

#endif
