/* A backend that only counts: every call is forwarded to the host, and rank 0 says at the end what
 * came by. Like the front it knows no mpi.h, so one file serves every host. */

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/backend.h"
#include "front/front.h"

#ifndef VERSION
# define VERSION        COLLOPT_INTERFACE
#endif

static const struct collopt_front_table *host;
static atomic_int calls[COLLOPT_NAME_COUNT];

#define SPELLED(function, id, ID, needs, parameters, arguments) #id,
static const char *const names[] = { COLLOPT_NAMES(SPELLED) "Pcontrol" };

static void note(enum collopt_name name)
{
    atomic_fetch_add(&calls[name], 1);
}

/* Not in MPI_Finalize: tools may take it past us. */
__attribute__((destructor)) static void tell(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK")
                                                      : getenv("PMI_RANK");

    for (int i = 0; i < COLLOPT_NAME_COUNT; i++)
        if (calls[i] && (!rank || !strcmp(rank, "0")))
            fprintf(stderr, "backend %s %d\n", names[i], calls[i]);
}

#define COUNTED(function, id, ID, needs, parameters, arguments) \
    static int counted_##id parameters \
    { \
        note(COLLOPT_NAME_##ID); \
        return ((int (*) parameters)host->next[COLLOPT_NAME_##ID]) arguments; \
    }
COLLOPT_NAMES(COUNTED)

static void counted_Pcontrol(int level)
{
    (void)level;
    note(COLLOPT_NAME_PCONTROL);
}

static void bypassed(enum collopt_name name)
{
    fprintf(stderr, "backend missed %s\n", names[name]);
}

#define ENTRY(function, id, ID, needs, parameters, arguments) (collopt_function)counted_##id,
static struct collopt_backend_table table = {
    .size = sizeof table, .version = VERSION, .mpi = "any", .unsupported = 77,
    .entry = { COLLOPT_NAMES(ENTRY) (collopt_function)counted_Pcontrol },
    .bypassed = bypassed,
};

collopt_backend_open_function collopt_backend_open;

const struct collopt_backend_table *collopt_backend_open(const struct collopt_front_table *front)
{
    host = front;
    for (int i = 0; i < COLLOPT_NAME_COUNT; i++)
        if (!front->host[i])
            table.entry[i] = NULL;
    return &table;
}
