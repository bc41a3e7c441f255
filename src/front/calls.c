/* The exported MPI_X and PMPI_X.
 *
 * Both are defined because Open MPI's Fortran bindings call PMPI_X. Both do the work, but where there are profiling tools
 * behind us, which are given the call first (tools.c). MPI_Pcontrol is in pcontrol.c.
 *
 * The caller's return address tells which MPI it uses, where several objects of a process could answer. */

#include "config.h"

#include <stddef.h>

#include "front.h"

#define EXPORT  __attribute__((visibility("default")))
#define CALLER  __builtin_extract_return_addr(__builtin_return_address(0))

static inline const struct collopt_binding *binding(const void *caller)
{
    const struct collopt_binding *b = atomic_load_explicit(&collopt_bound, memory_order_acquire);

    return __builtin_expect(b != NULL, 1) ? b : collopt_bind(caller);
}

#define FORWARD(function, member, ID, parameters, arguments) \
    EXPORT int function parameters; \
    int function parameters \
    { \
        const struct collopt_binding *b = binding(CALLER); \
        int (*f) parameters = (int (*) parameters)b->member[COLLOPT_NAME_##ID]; \
        return f ? f arguments : b->unsupported; \
    }
#define FORWARD_BOTH(function, id, ID, needs, parameters, arguments) \
    FORWARD(function, mpi, ID, parameters, arguments) \
    FORWARD(P##function, pmpi, ID, parameters, arguments)

COLLOPT_NAMES(FORWARD_BOTH)
