/* A profiling tool, as others make them: it counts calls of every name that collopt knows, and says
 * at MPI_Finalize, on rank 0, how many there were. Like the front it knows no mpi.h, so one file
 * serves every host.
 *
 *     -DNEXT       goes on by the next PMPI_X after itself, not by PMPI_X
 *     -DPMPI       defines PMPI_X too, for bindings that call it; as Darshan does, which needs
 *                  -DNEXT
 *     -DSERVICES   knows only what collopt listens to, not the collectives
 *     -DHALF       is no tool, but that object of an MPI library which has MPI_X, where another one
 *                  has PMPI_X */

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/front.h"
#include "front/names.h"

enum { LACKING = 16 };          /* whatever the host says of it, no success */

static atomic_int calls[COLLOPT_NAME_COUNT];

#ifdef SERVICES
# define NAMES  COLLOPT_SERVICES
#else
# define NAMES  COLLOPT_NAMES
#endif

#define SPELLED(function, id, ID, needs, parameters, arguments) [COLLOPT_NAME_##ID] = #id,
static const char *const names[COLLOPT_NAME_COUNT] = {
    NAMES(SPELLED) [COLLOPT_NAME_PCONTROL] = "Pcontrol"
};

static void note(enum collopt_name name)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK")
                                                      : getenv("PMI_RANK");

    atomic_fetch_add(&calls[name], 1);
    if (name == COLLOPT_NAME_FINALIZE && (!rank || !strcmp(rank, "0")))
        for (int i = 0; i < COLLOPT_NAME_COUNT; i++)
            if (calls[i])
                fprintf(stderr, "tool %s %d\n", names[i], calls[i]);
}

#ifdef NEXT
# define GO_ON(function, parameters) \
    ((int (*) parameters)(uintptr_t)dlsym(RTLD_NEXT, "P" #function))
#else
# define GO_ON(function, parameters)     P##function
#endif

#ifdef PMPI
# define ALSO(function, parameters) \
    int P##function parameters __attribute__((alias(#function)));
#else
# define ALSO(function, parameters)
#endif

#define COUNTED(function, id, ID, needs, parameters, arguments) \
    int P##function parameters __attribute__((weak)); \
    int function parameters; \
    int function parameters \
    { \
        int (*on) parameters = GO_ON(function, parameters); \
        \
        note(COLLOPT_NAME_##ID); \
        return on ? on arguments : LACKING; \
    } \
    ALSO(function, parameters)
NAMES(COUNTED)

#ifdef HALF
int MPI_T_init_thread(int required, int *provided);
int MPI_T_init_thread(int required, int *provided)
{
    (void)required, (void)provided;
    return LACKING;
}
#endif

/* What app.c calls it with: more than there are registers for. */
static int as_given(va_list list)
{
    int right = strcmp(va_arg(list, const char *), "more") == 0 && va_arg(list, double) == 0.5;

    for (int i = 1; i <= 10; i++)
        right = right && va_arg(list, int) == i && va_arg(list, double) == i + 0.5
            && va_arg(list, long long) == i * 10000000000;
    return right && va_arg(list, long double) == 0.25L
        && strcmp(va_arg(list, const char *), "last") == 0;
}

int PMPI_Pcontrol(const int level, ...);
int MPI_Pcontrol(const int level, ...);
int MPI_Pcontrol(const int level, ...)
{
    va_list list;

    note(COLLOPT_NAME_PCONTROL);
    va_start(list, level);
    if (!as_given(list))
        fprintf(stderr, "tool Pcontrol was given something else\n");
    va_end(list);
    return GO_ON(MPI_Pcontrol, (const int, ...))(level);
}
ALSO(MPI_Pcontrol, (const int level, ...))
