/* The ranks of a communicator in MPI_COMM_WORLD. */
#ifndef COLLOPT_MPI_COMM_PEERS_H
#define COLLOPT_MPI_COMM_PEERS_H

#include <stdbool.h>

#include "mpi/host/host.h"

struct collopt_comm;

/* True if all ranks of C belong to a world that took part in the agreement of MPI_Init; the same
 * on all ranks. */
bool collopt_comm_inside(struct collopt_comm *c);
/* Makes C's peers, with their ranks in MPI_COMM_WORLD; false: no memory, or some are not there. */
bool collopt_peers_make(struct collopt_comm *c, MPI_Comm comm);
void collopt_peers_free(struct collopt_comm *c);
/* Their tags are set: frees the peers if they follow from their ranks. */
void collopt_peers_simplify(struct collopt_comm *c);

#endif
