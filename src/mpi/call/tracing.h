/* COLLOPT_TRACE: from MPI_Init to MPI_Finalize. */
#ifndef COLLOPT_MPI_CALL_TRACING_H
#define COLLOPT_MPI_CALL_TRACING_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* In MPI_Init.  ALL: the ranks of MPI_COMM_WORLD, which will meet in MPI_Finalize, or
 * MPI_COMM_NULL.  Collective on ALL. */
void collopt_tracing_begin(MPI_Comm all);
/* Writes the timeline to WHERE of the calls since SINCE.  CLOCKS: the ranks' clocks are related
 * (node/clocks.h).  Collective on ALL; rank 0 says what is missing, or this rank where ALL is
 * MPI_COMM_NULL. */
void collopt_tracing_end(MPI_Comm all, const char *where, uint64_t since, bool clocks);

#endif
