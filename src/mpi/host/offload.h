/* Does this MPI library hand its reductions to the network? */
#ifndef COLLOPT_MPI_HOST_OFFLOAD_H
#define COLLOPT_MPI_HOST_OFFLOAD_H

/* After MPI_Init: the result of collopt_offload_find() for this process.  It may differ between
 * ranks. */
int collopt_host_offload(void);

#endif
