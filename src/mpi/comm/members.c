/* See members.h. */
#include "config.h"

#include <stdlib.h>

#include "mpi/comm/members.h"
#include "base/hash.h"
#include "mpi/node/world.h"

bool collopt_members_find(MPI_Comm comm, int ranks, int *member)
{
    int *number = malloc((size_t)ranks * sizeof *number);
    MPI_Group here = MPI_GROUP_NULL;
    bool found = false;

    for (int r = 0; number && r < ranks; r++)
        number[r] = r;
    if (number && collopt_world_group() != MPI_GROUP_NULL && !PMPI_Comm_group(comm, &here)) {
        found = !PMPI_Group_translate_ranks(here, ranks, number, collopt_world_group(), member);
        PMPI_Group_free(&here);
    }
    for (int r = 0; found && r < ranks; r++)
        if (member[r] == MPI_UNDEFINED)
            member[r] = -1;
    free(number);
    return found;
}

bool collopt_members_are_world(const int *member, int ranks)
{
    int all = 0;

    PMPI_Comm_size(MPI_COMM_WORLD, &all);
    for (int r = 0; r < ranks; r++)
        if (member[r] != r)
            return false;
    return ranks == all;
}

uint64_t collopt_members_hash(const int *member, int ranks)
{
    uint64_t h = COLLOPT_HASH_START;

    for (int r = 0; r < ranks; r++)
        h = (h ^ (uint64_t)(unsigned)member[r]) * COLLOPT_HASH_PRIME;
    return h | 1;               /* not 0 */
}
