/* Finds the ranks of communicators in MPI_COMM_WORLD; see peers.h. */
#include "config.h"

#include <stdlib.h>

#include "mpi/comm/peers.h"
#include "mpi/comm/comm.h"
#include "mpi/node/agree.h"
#include "mpi/node/world.h"

/* Sets PEER's ranks, unless it is NULL, to those in MPI_COMM_WORLD; false: some are not there.
 * Without memory of its own: all ranks have to come to the same answer. */
static bool translate(MPI_Comm comm, int ranks, struct collopt_peer *peer)
{
    const MPI_Group world = collopt_world_group();
    enum { AT_ONCE = 256 };
    int rank[AT_ONCE], in_world[AT_ONCE];
    MPI_Group group;
    bool within = true;

    if (world == MPI_GROUP_NULL)
        return false;
    PMPI_Comm_group(comm, &group);
    for (int from = 0; from < ranks && within; from += AT_ONCE) {
        int n = ranks - from < AT_ONCE ? ranks - from : AT_ONCE;

        for (int i = 0; i < n; i++)
            rank[i] = from + i;
        PMPI_Group_translate_ranks(group, n, rank, world, in_world);
        for (int i = 0; i < n; i++) {
            within = within && in_world[i] != MPI_UNDEFINED;
            if (peer)
                peer[from + i] = (struct collopt_peer){ .rank = in_world[i] };
        }
    }
    PMPI_Group_free(&group);
    return within;
}

/* Do all its ranks belong to MPI_COMM_WORLD, and did these agree on collopt in MPI_Init?  All ranks
 * of a communicator answer alike: one that reaches beyond a world does so for everybody in it. */
bool collopt_comm_inside(struct collopt_comm *c)
{
    MPI_Comm comm = collopt_comm_of(c);

    if (!c->placed)
        c->inside = c->ranks == 1
            || (collopt_world_asked()
                && (comm == MPI_COMM_WORLD || translate(comm, c->ranks, NULL)));
    c->placed = collopt_world_asked();  /* not yet, where a tool reduces inside MPI_Init */
    return c->inside;
}

bool collopt_peers_make(struct collopt_comm *c, MPI_Comm comm)
{
    c->peer = malloc((size_t)c->ranks * sizeof *c->peer);
    return c->peer && translate(comm, c->ranks, c->peer);
}

void collopt_peers_free(struct collopt_comm *c)
{
    free(c->peer);
    c->peer = NULL;
}

/* Most communicators are all of the world in its order, with one id for all: then nothing is
 * kept. */
void collopt_peers_simplify(struct collopt_comm *c)
{
    bool plain = true;

    for (int r = 0; r < c->ranks; r++)
        plain = plain && c->peer[r].rank == r && c->peer[r].tags == c->peer[0].tags;
    if (!plain)
        return;
    c->tags = c->peer[0].tags;
    collopt_peers_free(c);
}
