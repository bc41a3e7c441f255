/* MPI_COMM_WORLD as collopt uses it: one hidden communicator for the messages of all communicators inside it, and
 * where its ranks are.  Made in MPI_Init, given back in MPI_Finalize. */
#ifndef COLLOPT_WORLD_H
#define COLLOPT_WORLD_H

#include <mpi.h>
#include <stdbool.h>

#include "select/rental.h"
#include "sight.h"

struct collopt_world {
    MPI_Comm hidden;            /* the ranks of MPI_COMM_WORLD, in its order */
    int rank, ranks;
    struct collopt_sight *sight;        /* [ranks] */
    enum collopt_surroundings surroundings;
};

/* In MPI_Init.  AGREED: all ranks of MPI_COMM_WORLD run collopt alike, switched on.  Collective. */
void collopt_world_open(bool agreed);
/* NULL: there is none, so communicators inside MPI_COMM_WORLD get hidden communicators of their own. */
const struct collopt_world *collopt_world(void);
/* Of the world; on a node where there is none. */
enum collopt_surroundings collopt_world_surroundings(void);
/* Of MPI_COMM_WORLD, kept for good: communicators of sessions are compared with it after MPI_Finalize too. */
MPI_Group collopt_world_group(void);
/* Before MPI_Finalize, when nobody uses it any more. */
void collopt_world_close(void);

/* The tags of collopt's own messages on the hidden communicator, outside of any reduction (context 0). */
enum { COLLOPT_TAG_REPORT = 0 };

#endif
