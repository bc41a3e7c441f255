/* Calls fall back to the host's own functions, with the program's arguments. */
#ifndef COLLOPT_MPI_HOST_FALL_BACK_H
#define COLLOPT_MPI_HOST_FALL_BACK_H

#include "mpi/host/host.h"

struct collopt_call;

int collopt_fall_back(const struct collopt_call *call);
int collopt_fall_back_nonblocking(const struct collopt_call *call, MPI_Request *request);

#endif
