/* The host's own functions, and the way in: behind the front a module hands over its table, a
 * static archive defines the MPI names itself.
 *
 * An archive exports MPI_X only. A second PMPI_X would clash with the one in a static libmpi. */

#include "config.h"

#include "mpi/host/host.h"
#include "front/backend.h"
#include "front/public.h"
#include "mpi/host/quirks.h"
#include "report/counters.h"
#include "settings/search_path.h"

const char *collopt_host_name = COLLOPT_HOST;

/* SMPI's PMPI_Pcontrol stops the simulation ("not yet implemented"). */
#ifdef COLLOPT_HOST_SMPI
# define HOST_PCONTROL  NULL
#else
# define HOST_PCONTROL  PMPI_Pcontrol
#endif

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

/* COLLOPT_HAVE_LARGE=1 and its like come from configure, for each MPI. */
#define COLLOPT_HAVE_BASE       1
#define IF(have, code, otherwise)               IF_EXPANDED(have, code, otherwise)
#define IF_EXPANDED(have, code, otherwise)      IF_##have(code, otherwise)
#define IF_1(code, otherwise)                   code
#define IF_0(code, otherwise)                   otherwise

#define FUNCTION(function, id, ID, needs, parameters, arguments) \
    .id = IF(COLLOPT_HAVE_##needs, P##function, NULL),
const struct collopt_host collopt_host = {
    COLLOPT_NAMES(FUNCTION)
    .Pcontrol = HOST_PCONTROL
};

/* That of the mpi.h: an archive is linked with one MPI. */
#define TEXT(number)            TEXT_EXPANDED(number)
#define TEXT_EXPANDED(number)   #number
#if defined OMPI_MAJOR_VERSION
const char *collopt_host_version = TEXT(OMPI_MAJOR_VERSION) "." TEXT(OMPI_MINOR_VERSION);
#elif defined MPICH_VERSION
const char *collopt_host_version = MPICH_VERSION;
#else
const char *collopt_host_version = "";
#endif

#define EXPORT  __attribute__((visibility("default")))

#define DEFINITION(function, id, ID, needs, parameters, arguments) \
    IF(COLLOPT_HAVE_##needs, DEFINED(function, id, parameters, arguments), )
#define DEFINED(function, id, parameters, arguments) \
    EXPORT int function parameters { return collopt_entry_##id arguments; }
COLLOPT_NAMES(DEFINITION)

EXPORT int MPI_Pcontrol(const int level, ...)
{
    collopt_entry_Pcontrol(level);
    return collopt_host.Pcontrol ? collopt_host.Pcontrol(level) : MPI_SUCCESS;
}

#else

struct collopt_host collopt_host, collopt_next;
const char *collopt_host_version;

#define CALLED(function, id, ID, needs, parameters, arguments) #id,
static void went_past(enum collopt_name name)
{
    static const char *const called[] = { COLLOPT_NAMES(CALLED) "Pcontrol" };

    collopt_count_passed(called[name], COLLOPT_PASS_TOOL, 1);
}

#define ENTRY(function, id, ID, needs, parameters, arguments) \
    [COLLOPT_NAME_##ID] = (collopt_function)collopt_entry_##id,
static struct collopt_backend_table table = {
    .size = sizeof table,
    .version = COLLOPT_INTERFACE,
    .mpi = COLLOPT_HOST,
#ifdef MPI_ERR_UNSUPPORTED_OPERATION
    .unsupported = MPI_ERR_UNSUPPORTED_OPERATION,
#else
    .unsupported = MPI_ERR_OTHER,
#endif
    .public_table = &collopt_public,
    .entry = {
        COLLOPT_NAMES(ENTRY)
        [COLLOPT_NAME_PCONTROL] = (collopt_function)collopt_entry_Pcontrol,
    },
    .went_past = went_past
};

#define TAKE(function, id, ID, needs, parameters, arguments) \
    collopt_host.id = (int (*) parameters)front->host[COLLOPT_NAME_##ID]; \
    collopt_next.id = (int (*) parameters)front->next[COLLOPT_NAME_##ID];

__attribute__((visibility("default")))
const struct collopt_backend_table *collopt_backend_open(const struct collopt_front_table *front)
{
    if (front->size != sizeof *front || front->version != COLLOPT_INTERFACE)
        return NULL;
    COLLOPT_NAMES(TAKE)
    collopt_host.Pcontrol = (int (*)(const int, ...))front->host[COLLOPT_NAME_PCONTROL];
    collopt_host_version = front->library_version;
    collopt_host_name = collopt_implementation(COLLOPT_HOST, collopt_host_version);
    for (int i = 0; i < COLLOPT_NAME_COUNT; i++)        /* what the host lacks we lack */
        if (!front->host[i])
            table.entry[i] = NULL;
    return &table;
}

#endif
