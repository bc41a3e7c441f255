/* Which ranks share a node.
 *
 * Ranks with the same boot id, host name and network namespace do: the MPI library sees them so,
 * too.  Containers of one machine have names of their own, and often networks.  They are one node
 * if and only if their ranks can map each other's memory: processes with the same boot id, process
 * namespace, user namespace and user try it, and it takes all of them.  COLLOPT_NODES=names tells
 * them apart by names and networks alone, as virtual clusters want it. */
#ifndef COLLOPT_MPI_NODE_NODES_H
#define COLLOPT_MPI_NODE_NODES_H

#include <mpi.h>

struct collopt_segment_key;

enum { COLLOPT_NODES_ROOM = 52 };       /* bytes for each rank */

/* Sets *NODE [RANKS], in ROOM, to the numbers of the nodes, in the order of their first ranks.
 * SEGMENT is this rank's; its descriptor is -1 where there is none.  Collective; an error code of
 * the host.  Nothing here needs memory of its own, since a rank that lacked it would leave the
 * others waiting. */
int collopt_nodes_find(MPI_Comm comm, int rank, int ranks,
                       const struct collopt_segment_key *segment, void *room, const int **node);

#endif
