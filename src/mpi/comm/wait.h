/* Waiting for messages on a communicator.  Where every rank has a processor, and where the host
 * yields by itself, we wait as the host waits.  Where ranks share processors under a host that does
 * not, a rank that polls keeps from running the one it waits for, so after some fruitless polls the
 * processor is given away. */
#ifndef COLLOPT_MPI_COMM_WAIT_H
#define COLLOPT_MPI_COMM_WAIT_H

#include "mpi/host/host.h"

struct collopt_comm;

/* Between two fruitless looks of C's blocking call.  An error code: another rank has failed in the
 * call. */
int collopt_idle(struct collopt_comm *c, unsigned *polls);
/* Until *REQUEST is complete, and null. */
int collopt_wait(struct collopt_comm *c, MPI_Request *request);

#endif
