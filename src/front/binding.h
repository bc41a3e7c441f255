/* The function behind every name. */
#ifndef COLLOPT_FRONT_BINDING_H
#define COLLOPT_FRONT_BINDING_H

#include <stdatomic.h>

#include "front/backend.h"

/* NULL stands for a name that the host lacks, or that no tool has. */
struct collopt_binding {
    collopt_function mpi[COLLOPT_NAME_COUNT];   /* what MPI_X does: as PMPI_X, or by way of tools */
    collopt_function pmpi[COLLOPT_NAME_COUNT];  /* what PMPI_X does: our work, or by way of tools */
    collopt_function work[COLLOPT_NAME_COUNT];  /* our work: the backend's, or the host's own */
    collopt_function host[COLLOPT_NAME_COUNT];
    collopt_function tool_mpi[COLLOPT_NAME_COUNT];      /* MPI_X of the next profiling tool behind
                                                         * us */
    collopt_function tool_pmpi[COLLOPT_NAME_COUNT];     /* PMPI_X of the next one that defines that
                                                         * too */
    int unsupported;                            /* the answer to a name that the host lacks */
    const struct collopt_backend_table *backend;        /* NULL: all is the host's */
};

extern _Atomic(const struct collopt_binding *) collopt_bound;

/* NULL: nothing is bound yet. */
static inline const struct collopt_binding *collopt_binding(void)
{
    return atomic_load_explicit(&collopt_bound, memory_order_acquire);
}

/* "MPI_Allreduce", ... */
extern const char *const collopt_front_names[COLLOPT_NAME_COUNT];

/* Called when a call of the family was given to TOOL and has ended without coming back to the
 * front. */
void collopt_bypassed(enum collopt_name name, collopt_function tool);

#endif
