/* Topology discovery: where the ranks of a communicator are.  Inside MPI_COMM_WORLD nothing is
 * sent for it.  A grid of MPI_Cart_get is the machine's only if the user says `cartesian`. */
#ifndef COLLOPT_MPI_COMM_TOPOLOGY_H
#define COLLOPT_MPI_COMM_TOPOLOGY_H

#include <stdbool.h>

#include "mpi/host/host.h"

struct collopt_comm;
struct collopt_locality;

/* Fills in C's map and break-even table from what its ranks have SEEN, in C's order.  False: no
 * memory. */
bool collopt_map_fill(struct collopt_comm *c, MPI_Comm comm, struct collopt_locality *seen);
/* Empties the map. */
void collopt_map_free(struct collopt_comm *c);
/* Once, after MPI_Init: warns if COLLOPT_TOPOLOGY does not fit the world. */
void collopt_map_check_world(void);

#endif
