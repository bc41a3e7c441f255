/* The world: one hidden communicator for the messages of all communicators inside
 * MPI_COMM_WORLD, and the placement of its ranks. Made in MPI_Init, freed in MPI_Finalize.
 *
 * So no reduction creates a communicator: the host's limit on them (2046 on MPICH) does not matter,
 * no reduction meets another thread's MPI_Comm_dup in the host, and delete callbacks free nothing
 * of the host's. */
#ifndef COLLOPT_MPI_NODE_WORLD_H
#define COLLOPT_MPI_NODE_WORLD_H

#include <mpi.h>
#include <stdbool.h>

#include "select/break_even.h"

struct collopt_locality;

struct collopt_world {
    MPI_Comm hidden;            /* the ranks of MPI_COMM_WORLD, in its order */
    int rank, ranks;
    struct collopt_locality *locality;        /* [ranks] */
    enum collopt_surroundings surroundings;
};

/* Memory for the ranks of MPI_COMM_WORLD, before they agree; false: this rank has none. */
bool collopt_world_reserve(void);
/* In MPI_Init.  AGREED: all ranks of MPI_COMM_WORLD run collopt with the same settings, switched
 * on.  Collective. */
void collopt_world_open(bool agreed);
/* NULL: there is none; communicators inside MPI_COMM_WORLD then get their own hidden
 * communicators. */
const struct collopt_world *collopt_world(void);
/* For calls of the host that need some communicator, whose error handler returns. */
MPI_Comm collopt_world_comm(void);
/* Of the world; COLLOPT_ON_NODE if there is none. */
enum collopt_surroundings collopt_world_surroundings(void);
/* Of MPI_COMM_WORLD, kept for good: communicators of sessions are compared with it after
 * MPI_Finalize too. */
MPI_Group collopt_world_group(void);
/* It is gone with the MPI that it belonged to. */
void collopt_world_forget_group(void);
/* Before MPI_Finalize, after its last use. */
void collopt_world_close(void);

/* The tags of collopt's own messages on the hidden communicator, outside of any reduction (context
 * 0). */
enum { COLLOPT_TAG_REPORT = 0, COLLOPT_TAG_NEVER = 1, COLLOPT_TAG_TOLD = 2 };

#endif
