/* Makes and frees the hidden communicator of MPI_COMM_WORLD; see world.h. */
#include "config.h"

#include "mpi/node/world.h"
#include "base/log.h"
#include "mpi/node/agree.h"
#include "mpi/host/errhandler.h"
#include "mpi/node/context.h"
#include "mpi/host/host.h"
#include "mpi/host/progress.h"
#include "mpi/node/locality.h"
#include "mpi/node/segments.h"
#include "select/break_even.h"
#include "shm/segment.h"

#include <stdlib.h>

static struct collopt_world world = { .hidden = MPI_COMM_NULL };
static MPI_Group group = MPI_GROUP_NULL;
static _Atomic(const struct collopt_world *) opened;

const struct collopt_world *collopt_world(void)
{
    return atomic_load_explicit(&opened, memory_order_acquire);
}

MPI_Comm collopt_world_comm(void)
{
    return collopt_world() ? collopt_world()->hidden : MPI_COMM_SELF;
}

MPI_Group collopt_world_group(void)
{
    return group;
}

void collopt_world_forget_group(void)
{
    group = MPI_GROUP_NULL;
}

enum collopt_surroundings collopt_world_surroundings(void)
{
    return collopt_world() ? collopt_world()->surroundings : COLLOPT_ON_NODE;
}

static void free_world(void)
{
    if (world.hidden != MPI_COMM_NULL)
        collopt_host.Comm_free(&world.hidden);
    collopt_segments_end();
    free(world.locality);
    world = (struct collopt_world){ .hidden = MPI_COMM_NULL };
}

/* MPI promises tags up to 32767. */
static int tag_ub(void)
{
    int *value = NULL, found = 0;

    if (PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found) || !found)
        return 32767;
    return *value;
}

/* Behind the localities lie flags of the nodes, for collopt_segments_begin(). */
bool collopt_world_reserve(void)
{
    int ranks;

    if (PMPI_Comm_size(MPI_COMM_WORLD, &ranks))
        return false;
    world.locality = malloc((size_t)ranks * (sizeof *world.locality + sizeof(int)));
    return world.locality != NULL;
}

/* Not a duplicate: MPI_Comm_dup would run the user's attribute callbacks. */
static bool make(void)
{
    struct collopt_segment_key segment;

    if (PMPI_Comm_rank(MPI_COMM_WORLD, &world.rank) || PMPI_Comm_size(MPI_COMM_WORLD, &world.ranks)
        || collopt_host.Comm_split(MPI_COMM_WORLD, 0, world.rank, &world.hidden)
        || PMPI_Comm_set_errhandler(world.hidden, MPI_ERRORS_RETURN))
        return false;
    collopt_segments_offer(&segment);
    return !collopt_localities_gather(world.hidden, world.rank, world.ranks, &segment,
                                      world.locality);
}

static enum collopt_surroundings find_surroundings(void)
{
    bool crowded = false, several = false;

    for (int r = 0; r < world.ranks; r++) {
        crowded = crowded || world.locality[r].crowded;
        several = several || world.locality[r].node != world.locality[0].node;
    }
    return crowded ? COLLOPT_CROWDED : several ? COLLOPT_ON_NETWORK : COLLOPT_ON_NODE;
}

void collopt_world_open(bool agreed)
{
    MPI_Errhandler handler = collopt_save_errhandler(MPI_COMM_WORLD);
    bool alike, made;

    PMPI_Comm_group(MPI_COMM_WORLD, &group);
    if (!agreed) {
        free_world();
        collopt_restore_errhandler(MPI_COMM_WORLD, handler);
        return;
    }
    made = make();
    made = collopt_agree(MPI_COMM_WORLD, made, &alike);
    collopt_restore_errhandler(MPI_COMM_WORLD, handler);
    if (!made) {
        free_world();
        collopt_warn("no hidden communicator of MPI_COMM_WORLD could be made; each communicator "
                     "that collopt takes over gets "
                     "its own");
        return;
    }
    collopt_segments_begin(world.hidden, world.rank, world.ranks, world.locality,
                           (int *)(void *)(world.locality + world.ranks));
    world.surroundings = find_surroundings();
    collopt_progress_agree(world.hidden);
    collopt_contexts_begin(tag_ub());
    atomic_store_explicit(&opened, &world, memory_order_release);
}

void collopt_world_close(void)
{
    if (!collopt_world())
        return;
    atomic_store_explicit(&opened, NULL, memory_order_relaxed);
    free_world();
}
