/* Where each rank is, and who else is there: found out by the rank itself, told to all others.
 *
 * MPI_COMM_WORLD is asked once, in MPI_Init.  Communicators inside it take from that what is said of their ranks; only
 * communicators that reach beyond it (sessions, merged worlds) are asked again. */
#ifndef COLLOPT_SIGHT_H
#define COLLOPT_SIGHT_H

#include <mpi.h>
#include <stdbool.h>

#include "shm/segment.h"

struct collopt_sight {          /* of one rank; ints only, as it is sent */
    int node;                   /* a number that the ranks of its node have in common */
    int world;                  /* its rank in MPI_COMM_WORLD; elsewhere its rank among those that were asked */
    int crowded;                /* its node has more ranks than usable processors */
    int fast;                   /* its node has a fast network */
    int host;                   /* its number in the file of hosts; -1: there is no file, or it is not there */
    int pattern, branch, address;       /* hashes of Slurm's switches and node; 0: Slurm says nothing */
    struct collopt_segment_key segment;         /* of shared memory */
    int spot;                   /* in its node, as packed by collopt_pack_spot(); COLLOPT_ALONE: no other rank is there */
};

/* Fills SEEN[RANKS] for COMM, a communicator of collopt's own.  SEGMENT is this rank's; NULL: none.  Collective; an error code
 * of the host. */
int collopt_gather_sights(MPI_Comm comm, int rank, int ranks, const struct collopt_segment_key *segment,
                          struct collopt_sight *seen);

#endif
