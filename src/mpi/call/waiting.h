/* Tells the waiting of reductions from reducing, once, in MPI_Finalize. */
#ifndef COLLOPT_MPI_CALL_WAITING_H
#define COLLOPT_MPI_CALL_WAITING_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* In MPI_Init: the ranks of ALL will call collopt_waiting_end(), if all call this.  Collective. */
void collopt_waiting_begin(MPI_Comm all);
/* Counts what was waiting in the calls since SINCE (counters.h).  Collective.  False: how the
 * ranks' clocks are related is not known. */
bool collopt_waiting_end(MPI_Comm all, uint64_t since);

#endif
