/* Which ranks of MPI_COMM_WORLD a communicator has. */
#ifndef COLLOPT_MPI_COMM_MEMBERS_H
#define COLLOPT_MPI_COMM_MEMBERS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* The RANKS ranks of COMM in MPI_COMM_WORLD into MEMBER, -1 for those of other worlds; false: not
 * known. */
bool collopt_members_find(MPI_Comm comm, int ranks, int *member);
bool collopt_members_are_world(const int *member, int ranks);
/* The same on all ranks, and for all communicators that have the same ranks; not 0. */
uint64_t collopt_members_hash(const int *member, int ranks);

#endif
