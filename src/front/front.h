/* Inside libcollopt.so: the only part of collopt that a user names.
 *
 * It knows no mpi.h and needs only libc, so it can be preloaded into anything. The first intercepted call finds
 * the process's MPI (find.c), loads the backend built for its ABI and publishes what each name shall do
 * (bind.c); every further call is one load and one jump (calls.c). A process that makes no such call pays
 * for being mapped and no more: there is no constructor. */

#ifndef COLLOPT_FRONT_H
#define COLLOPT_FRONT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "backend.h"

/* Handles pass through as words. Nobody may look at one: where MPI's handles are ints, the upper half is
 * undefined. */
typedef uintptr_t host_type;
typedef uintptr_t host_op;
typedef uintptr_t host_comm;
typedef uintptr_t host_info;
typedef uintptr_t host_request;
typedef int64_t host_count;

/* ---- bind.c: what every name does ---- */

/* NULL stands for a name that the host lacks. */
struct collopt_binding {
    collopt_function mpi[COLLOPT_NAME_COUNT];   /* MPI_X: the next profiling tool's MPI_X, or as below */
    collopt_function pmpi[COLLOPT_NAME_COUNT];  /* PMPI_X: the backend's, or the host's */
    int unsupported;                            /* the answer to a name that the host lacks */
    const struct collopt_backend_table *backend;        /* NULL: all is the host's */
};

extern _Atomic(const struct collopt_binding *) collopt_bound;

/* Binds at the first call, which was made from CALLER; later ones get what was bound. */
const struct collopt_binding *collopt_bind(const void *caller);

/* Is this the address of something in libcollopt.so? */
bool collopt_is_ours(const void *address);

/* ---- find.c: which MPI this process uses ---- */

enum { COLLOPT_LIBRARY_VERSION = 8192 };    /* MPI_MAX_LIBRARY_VERSION_STRING of every MPI fits */

struct collopt_mpi {
    void *handle;                           /* of the object that defines its functions */
    const void *base;                       /* where that object is mapped */
    const char *path;
    const char *name;                       /* the backend for its ABI; NULL: none */
    int unsupported;                        /* its MPI_ERR_UNSUPPORTED_OPERATION */
    char version[COLLOPT_LIBRARY_VERSION];
};

/* Finds the MPI that the code at CALLER uses. False if there is none. */
bool collopt_find_mpi(const void *caller, struct collopt_mpi *mpi);

#endif
