/* Agreement of the ranks on version and settings, and the message if they differ. */
#ifndef COLLOPT_MPI_NODE_AGREE_H
#define COLLOPT_MPI_NODE_AGREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/host/host.h"

/* One native MIN over COMM; true if all ranks run the same version with the same settings and all
 * say READY. */
bool collopt_agree(MPI_Comm comm, bool ready, bool *alike);
/* The same, and whether HASH is equal on all ranks. */
bool collopt_agree_also(MPI_Comm comm, bool ready, uint64_t hash, bool *alike, bool *hash_alike);
/* If they differ: "have different COLLOPT_ variables: rank 3 has ..., rank 0 has ...", on all
 * ranks.  Collective. */
void collopt_difference(MPI_Comm comm, char *text, size_t size);
/* After MPI_Init.  MEMORY: there is some for the world (world.h). */
void collopt_agree_on_world(bool memory);
bool collopt_world_asked(void);         /* the agreement in MPI_Init took place */
/* all ranks of MPI_COMM_WORLD have the same measurements that come with collopt */
bool collopt_world_bundled(void);
/* all ranks of MPI_COMM_WORLD run collopt with the same settings, switched on */
bool collopt_world_agreed(void);
/* the same, on or off */
bool collopt_world_alike(void);

#endif
