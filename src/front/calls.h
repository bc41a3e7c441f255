/* The exported MPI_X and PMPI_X. */
#ifndef COLLOPT_FRONT_CALLS_H
#define COLLOPT_FRONT_CALLS_H

#include "front/lacking.h"

/* Those that not every host has. */
extern const struct collopt_optional collopt_optional[];

#endif
