/* One clock for all ranks, for the report.
 *
 * On one node the ranks have the same clock.  The first rank of each other node exchanges messages
 * with rank 0, in MPI_Init and in MPI_Finalize: the exchange that takes least time tells best by
 * how much the clocks are apart, up to half of that time, and in between the difference is taken to
 * grow evenly. */
#ifndef COLLOPT_MPI_NODE_CLOCKS_H
#define COLLOPT_MPI_NODE_CLOCKS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* In MPI_Init, and in MPI_Finalize if the first has worked.  Collective; COMM has the ranks of
 * MPI_COMM_WORLD and returns its errors.  False: the clocks are not known. */
bool collopt_clocks_begin(MPI_Comm comm);
bool collopt_clocks_end(void);
/* TIME of collopt_now(), as rank 0's clock shows it. */
int64_t collopt_clocks_common(uint64_t time);
/* How far it may be off, in nanoseconds, for this rank; 0: it is rank 0's clock. */
uint64_t collopt_clocks_error(void);

#endif
