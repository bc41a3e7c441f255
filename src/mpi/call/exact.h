/* The exact sums of include/collopt.h in a backend. */
#ifndef COLLOPT_MPI_CALL_EXACT_H
#define COLLOPT_MPI_CALL_EXACT_H

#include "front/public.h"

extern const struct collopt_exact_functions collopt_exact_functions;

#endif
