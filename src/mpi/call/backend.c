/* The way in: behind the front a backend gives its table of entry points, a static archive defines
 * the MPI names itself.
 *
 * An archive exports MPI_X only. A second PMPI_X would clash with the one in a static libmpi. */
#include "config.h"

#include "front/backend.h"
#include "mpi/call/entry.h"
#include "mpi/call/exact.h"
#include "mpi/host/host.h"
#include "mpi/host/quirks.h"
#include "report/counters.h"
#include "report/public.h"
#include "settings/search_path.h"

#ifdef COLLOPT_STATIC

#if COLLOPT_HAVE_PERSISTENT_X
# include <mpi-ext.h>
#endif

#define EXPORT  __attribute__((visibility("default")))

#define DEFINITION(function, id, ID, needs, parameters, arguments) \
    COLLOPT_IF(COLLOPT_HAVE_##needs, DEFINED(function, id, parameters, arguments), )
#define DEFINED(function, id, parameters, arguments) \
    EXPORT int function parameters { return collopt_entry_##id arguments; }
COLLOPT_NAMES(DEFINITION)

EXPORT int MPI_Pcontrol(const int level, ...)
{
    collopt_entry_Pcontrol(level);
    return collopt_host.Pcontrol ? collopt_host.Pcontrol(level) : MPI_SUCCESS;
}

#else

#define CALLED(function, id, ID, needs, parameters, arguments) #id,
static void bypassed(enum collopt_name name)
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
    .exact = &collopt_exact_functions,
    .entry = {
        COLLOPT_NAMES(ENTRY)
        [COLLOPT_NAME_PCONTROL] = (collopt_function)collopt_entry_Pcontrol,
    },
    .bypassed = bypassed
};

#define TAKE(function, id, ID, needs, parameters, arguments) \
    collopt_host.id = (int (*) parameters)front->host[COLLOPT_NAME_##ID]; \
    collopt_next.id = (int (*) parameters)front->next[COLLOPT_NAME_##ID];

__attribute__((visibility("default")))
const struct collopt_backend_table *collopt_backend_open(const struct collopt_front_table *);

const struct collopt_backend_table *collopt_backend_open(const struct collopt_front_table *front)
{
    if (front->size != sizeof *front || front->version != COLLOPT_INTERFACE)
        return NULL;
    COLLOPT_NAMES(TAKE)
    collopt_host.Pcontrol = (int (*)(const int, ...))front->host[COLLOPT_NAME_PCONTROL];
    collopt_host_version = front->library_version;
    collopt_host_name = collopt_implementation(COLLOPT_HOST, collopt_host_version);
    for (int i = 0; i < COLLOPT_NAME_COUNT; i++)        /* a name that the host lacks has no
                                                         * entry */
        if (!front->host[i])
            table.entry[i] = NULL;
    return &table;
}

#endif
