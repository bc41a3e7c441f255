/* The host's own functions: an archive knows them by name, behind the front backend.c fills them
 * in. */
#include "config.h"

#include "mpi/host/host.h"
#include "mpi/host/quirks.h"
#include "settings/search_path.h"

const char *collopt_host_name = COLLOPT_HOST;

_Atomic unsigned collopt_host_quirks;

/* Several threads may do this at once: all find the same. */
unsigned collopt_know_quirks(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    unsigned has = 1u << COLLOPT_QUIRKS;

    PMPI_Get_library_version(version, &length);
    has |= collopt_quirks_of(COLLOPT_HOST, version);
    atomic_store_explicit(&collopt_host_quirks, has, memory_order_relaxed);
    return has;
}

#ifdef COLLOPT_STATIC

#if COLLOPT_HAVE_PERSISTENT_X
# include <mpi-ext.h>
#endif

/* SMPI's PMPI_Pcontrol stops the simulation ("not yet implemented"). */
#ifdef COLLOPT_HOST_SMPI
# define HOST_PCONTROL  NULL
#else
# define HOST_PCONTROL  PMPI_Pcontrol
#endif

#define FUNCTION(function, id, ID, needs, parameters, arguments) \
    .id = COLLOPT_IF(COLLOPT_HAVE_##needs, P##function, NULL),
const struct collopt_host collopt_host = {
    COLLOPT_NAMES(FUNCTION)
    .Pcontrol = HOST_PCONTROL
};

/* The version in mpi.h: an archive is linked with one MPI. */
#define TEXT(number)            TEXT_EXPANDED(number)
#define TEXT_EXPANDED(number)   #number
#if defined OMPI_MAJOR_VERSION
const char *collopt_host_version = TEXT(OMPI_MAJOR_VERSION) "." TEXT(OMPI_MINOR_VERSION);
#elif defined MPICH_VERSION
const char *collopt_host_version = MPICH_VERSION;
#else
const char *collopt_host_version = "";
#endif

#else

struct collopt_host collopt_host, collopt_next;
const char *collopt_host_version;

#endif
