/* Which MPI this process uses. */
#ifndef COLLOPT_FRONT_FIND_H
#define COLLOPT_FRONT_FIND_H

#include <stdbool.h>
#include <stdint.h>

enum { COLLOPT_LIBRARY_VERSION = 8192 };    /* MPI_MAX_LIBRARY_VERSION_STRING of every MPI fits */

struct collopt_span {                       /* the addresses of an object, the last one excluded */
    uintptr_t from, to;
};

struct collopt_mpi {
    void *handle;                           /* of the object that defines its functions */
    struct collopt_span span;               /* of that object */
    const char *path;
    const char *name;                       /* the backend for its ABI; NULL: none */
    int unsupported;                        /* its MPI_ERR_UNSUPPORTED_OPERATION */
    char version[COLLOPT_LIBRARY_VERSION];
};

/* Finds the MPI that the code at CALLER uses. False if there is none. */
bool collopt_find_mpi(const void *caller, struct collopt_mpi *mpi);

/* The object in which ADDRESS lies.  dladdr() would also search the symbols of that object, and MPI
 * libraries have thousands. */
struct collopt_span collopt_span_of(const void *address);

static inline bool collopt_spans(struct collopt_span s, const void *address)
{
    return (uintptr_t)address >= s.from && (uintptr_t)address < s.to;
}

#endif
