/* MPI libraries with measured times; see host_mpi.h. */
#include "config.h"

#include <string.h>

#include "model/host_mpi.h"

const char *const collopt_mpi_names[COLLOPT_MPIS] = { "other", "openmpi", "mpich" };

static const char *const title[] = { [COLLOPT_OPENMPI] = "Open MPI ", [COLLOPT_MPICH] = "MPICH " };

enum collopt_mpi collopt_mpi_of(const char *version)
{
    for (int i = COLLOPT_OTHER_MPI + 1; version && i < COLLOPT_MPIS; i++)
        if (strncmp(version, title[i], strlen(title[i])) == 0)
            return (enum collopt_mpi)i;
    return COLLOPT_OTHER_MPI;
}
