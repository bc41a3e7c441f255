/* Inside libcollopt.so: the only part of collopt that a user names.
 *
 * It knows no mpi.h and needs only libc, so it can be preloaded into anything. The first
 * intercepted call finds the process's MPI (find.c), loads the backend built for its ABI and
 * publishes what each name shall do (bind.c); every further call is one load and one jump (calls.c,
 * pcontrol.c), or goes by profiling tools (tools.c). A process that makes no such call pays for
 * being mapped and no more: there is no constructor. */

#ifndef COLLOPT_FRONT_H
#define COLLOPT_FRONT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "backend.h"

/* Handles pass through as words. Nobody may look at one: where MPI's handles are ints, the upper
 * half is undefined. */
typedef uintptr_t host_type;
typedef uintptr_t host_op;
typedef uintptr_t host_comm;
typedef uintptr_t host_info;
typedef uintptr_t host_request;
typedef const host_request *host_requests;
typedef void host_status;
typedef uintptr_t host_errhandler;
typedef uintptr_t host_session;
typedef int64_t host_count;

/* ---- bind.c: what every name does ---- */

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

/* Binds at the first call, which was made from CALLER; later ones get what was bound. */
const struct collopt_binding *collopt_bind(const void *caller);

/* A call of the family was given to TOOL, and has ended without coming back to us. */
void collopt_bypassed(enum collopt_name name, collopt_function tool);

/* ---- calls.c, lacking.c: names that not every host has ---- */

struct collopt_optional {
    enum collopt_name name;
    bool profiling;                         /* PMPI_X, not MPI_X */
    collopt_function ours;                  /* what we export by that name; NULL ends the list */
};

extern const struct collopt_optional collopt_optional[];

/* From now on everybody finds those of ours that are THERE ([0]: MPI_X, [1]: PMPI_X) without us
 * too, behind us, and nobody others. */
void collopt_show_as_there(const bool there[COLLOPT_NAME_COUNT][2]);

/* ---- tools.c: where there are tools behind us ---- */

/* The next functions that the backend calls for names that it only listens to. */
void collopt_stand_around_tools(const struct collopt_binding *b, struct collopt_front_table *front);
/* Puts tools on the way of MPI_X and PMPI_X. */
void collopt_go_by_tools(struct collopt_binding *b);

/* ---- find.c: which MPI this process uses ---- */

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
