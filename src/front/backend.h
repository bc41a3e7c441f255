/* The interface between the front (libcollopt.so) and a backend (libcollopt-<mpi>.so).
 *
 * Included by both, so it knows no mpi.h. Both tables start with their size and version; a
 * table of another size or version is refused. Functions are listed in the order of enum
 * collopt_name and have the types of names.h; NULL stands for a name that is not there. */

#ifndef COLLOPT_FRONT_BACKEND_H
#define COLLOPT_FRONT_BACKEND_H

#include <stdint.h>

#include "front/names.h"

#define COLLOPT_INTERFACE 3u        /* changes with any change of meaning below */

typedef void (*collopt_function)(void);

/* The front's findings about the host. It lives as long as the process. */
struct collopt_front_table {
    uint32_t size, version;
    const char *library_version;                /* MPI_Get_library_version */
    collopt_function host[COLLOPT_NAME_COUNT];  /* its own PMPI_X */
    collopt_function next[COLLOPT_NAME_COUNT];  /* with what an entry that only listens goes on: a
                                                 * tool's, or the host's */
};

struct collopt_public;
struct collopt_exact_functions;

/* The functions of a backend. */
struct collopt_backend_table {
    uint32_t size, version;
    const char *mpi;                            /* "openmpi", "mpich" */
    int unsupported;                            /* the error class that answers a name the host
                                                 * lacks */
    const struct collopt_public *public_table;  /* the answers to include/collopt.h, see public.h */
    const struct collopt_exact_functions *exact;        /* its exact sums */
    collopt_function entry[COLLOPT_NAME_COUNT]; /* NULL: the front calls the host's function */
    /* entry[COLLOPT_NAME_PCONTROL] is a void (*)(int level); the front goes on with the call
     * itself. */
    void (*bypassed)(enum collopt_name name);  /* a tool has taken a call of the family to the
                                                 * host */
};

/* The one symbol that a backend exports, collopt_backend_open(). It makes no MPI call; NULL if the
 * front's table is not of its version. Called once per process, before the first intercepted call
 * goes through. */
typedef const struct collopt_backend_table *collopt_backend_open_function(
    const struct collopt_front_table *);

#endif
