/* The placement of each rank: found by the rank itself and sent to all others.
 *
 * MPI_COMM_WORLD exchanges it once, in MPI_Init. Communicators inside it reuse the result; only
 * communicators that reach beyond it (sessions, merged worlds) exchange again.
 *
 * nodes.h says which ranks share a node.  hwloc takes 7 ms, so it is asked only where ranks share a
 * node and some are bound. */
#ifndef COLLOPT_MPI_NODE_LOCALITY_H
#define COLLOPT_MPI_NODE_LOCALITY_H

#include <mpi.h>

#include "shm/segment.h"

struct collopt_locality {          /* of one rank; ints only, since it is sent */
    int node;                   /* a number shared by the ranks of a node */
    /* its rank in MPI_COMM_WORLD, or beyond it the rank in the exchange */
    int world;
    int crowded;                /* its node has more ranks than usable processors */
    int fast;                   /* its node has a fast network */
    int offload;                /* what its MPI library hands to the network (mpi/host/offload.h) */
    int host;                   /* its number in the file of hosts; -1: no file, or not listed */
    /* hashes of Slurm's switches and node; 0: not set by Slurm */
    int pattern, branch, address;
    struct collopt_segment_key segment;         /* of shared memory */
    /* binding, packed by collopt_pack_spot(); COLLOPT_ALONE: the only rank of its node */
    int spot;
};

/* Fills SEEN[RANKS] for COMM, a communicator of collopt's own.  SEGMENT is this rank's; NULL: none.
 * Collective; an error code of the host. */
int collopt_localities_gather(MPI_Comm comm, int rank, int ranks,
                          const struct collopt_segment_key *segment, struct collopt_locality *seen);

#endif
