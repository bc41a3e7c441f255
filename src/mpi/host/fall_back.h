/* Calls that are passed through to the host. */
#ifndef COLLOPT_MPI_HOST_FALL_BACK_H
#define COLLOPT_MPI_HOST_FALL_BACK_H

#include "mpi/host/host.h"

struct collopt_call;

/* Runs CALL by the host's own function with the caller's arguments. */
int collopt_hand_over(const struct collopt_call *call);
/* The same for a nonblocking call. */
int collopt_hand_over_later(const struct collopt_call *call, MPI_Request *request);

#endif
