/* The host MPI as the backend sees it: mpi.h, the host's own function behind every intercepted name, and
 * our entry points for the same names. Implemented in host.c; the entry points in entry.c.
 *
 * Inside the backend, call an intercepted name as collopt_host.Allreduce(...): PMPI_Allreduce would enter
 * the front. Every other function of MPI is called as PMPI_X. */

#ifndef COLLOPT_HOST_H
#define COLLOPT_HOST_H

#include <mpi.h>

typedef MPI_Datatype host_type;
typedef MPI_Op host_op;
typedef MPI_Comm host_comm;
typedef MPI_Info host_info;
typedef MPI_Request host_request;
typedef MPI_Count host_count;

#include "front/names.h"

/* collopt_host has the host's own functions. collopt_next has the same ones, but where a profiling tool stands between us and the
 * host, the tool's for the names of COLLOPT_SERVICES: with these an entry point goes on with the user's call.
 *
 * NULL where the host has no such name: Allreduce_c and its like, the persistent ones, X_Allreduce_init (that is
 * MPIX_Allreduce_init), Comm_idup_with_info. On SMPI also Pcontrol, which aborts there. */
struct collopt_host {
#define COLLOPT_FIELD(function, id, ID, needs, parameters, arguments) int (*id) parameters;
    COLLOPT_NAMES(COLLOPT_FIELD)
#undef COLLOPT_FIELD
    int (*Pcontrol)(const int level, ...);
};

#ifdef COLLOPT_STATIC
extern const struct collopt_host collopt_host;
# define collopt_next collopt_host
#else
extern struct collopt_host collopt_host, collopt_next;  /* filled once, before the first entry point is called */
#endif

/* int collopt_entry_Allreduce(const void *in, void *out, int count, host_type type, host_op op, host_comm comm) and so on for
 * every name. An entry point is called only where the host has the name. */
#define COLLOPT_ENTRY(function, id, ID, needs, parameters, arguments) int collopt_entry_##id parameters;
COLLOPT_NAMES(COLLOPT_ENTRY)
#undef COLLOPT_ENTRY
void collopt_entry_Pcontrol(int level);          /* whoever calls it goes on with the host's */

/* What MPI_Get_library_version says, and where the host was found; NULL in a static archive. */
extern const char *collopt_host_version, *collopt_host_path;

#endif
