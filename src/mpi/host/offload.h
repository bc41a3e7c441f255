/* Does this MPI library hand its reductions to the network? */
#ifndef COLLOPT_MPI_HOST_OFFLOAD_H
#define COLLOPT_MPI_HOST_OFFLOAD_H

/* What this process finds, after MPI_Init: a number as of collopt_offload_find().  Other ranks may
 * find something else. */
int collopt_host_offload(void);

#endif
