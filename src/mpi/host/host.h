/* The host MPI seen from the backend: mpi.h, and the host's function for every intercepted name.
 *
 * Inside the backend, call an intercepted name as collopt_host.Allreduce(...): PMPI_Allreduce
 * would enter the front. Every other function of MPI is called as PMPI_X. */

#ifndef COLLOPT_MPI_HOST_HOST_H
#define COLLOPT_MPI_HOST_HOST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <mpi.h>

/* For code off the path of a short repeated call: functions on the path then save no registers for
 * it. */
#define COLLOPT_OUT_OF_LINE __attribute__((noinline))

typedef MPI_Datatype host_type;
typedef MPI_Op host_op;
typedef MPI_Comm host_comm;
typedef MPI_Info host_info;
typedef MPI_Request host_request;
#if COLLOPT_HAVE_CONST_REQUESTS /* MPICH 4.2 leaves out the const of MPI_Request_get_status_all */
typedef const MPI_Request *host_requests;
#else
typedef MPI_Request *host_requests;
#endif
typedef MPI_Status host_status;
typedef MPI_Errhandler host_errhandler;
#if COLLOPT_HAVE_SESSION        /* Open MPI 5.0 has sessions, though it says MPI 3.1 */
typedef MPI_Session host_session;
#else
/* a newer version of this host may have sessions: MPI_Session_init only sets such a handle, and
 * MPI_Session_finalize ends it */
typedef void *host_session;
#endif
typedef MPI_Count host_count;

#include "front/names.h"
#include "mpi/host/quirks.h"

/* collopt_host has the host's functions. collopt_next differs if a profiling tool is between
 * collopt and the host: for the names of COLLOPT_SERVICES it has the tool's functions, with which
 * an entry point continues the user's call.
 *
 * NULL if the host lacks the name: large-count and persistent functions, X_Allreduce_init (that is
 * MPIX_Allreduce_init), Comm_idup_with_info, Request_get_status_any and its like,
 * X_Request_is_complete. On SMPI also Pcontrol, which aborts there. */
struct collopt_host {
#define COLLOPT_FIELD(function, id, ID, needs, parameters, arguments) int (*id) parameters;
    COLLOPT_NAMES(COLLOPT_FIELD)
#undef COLLOPT_FIELD
    int (*Pcontrol)(const int level, ...);
};

#ifdef COLLOPT_STATIC
/* COLLOPT_HAVE_LARGE=1 and its like come from configure, for each MPI. */
#define COLLOPT_HAVE_BASE       1
#define COLLOPT_IF(have, code, otherwise)       COLLOPT_IF_EXPANDED(have, code, otherwise)
#define COLLOPT_IF_EXPANDED(have, code, otherwise) COLLOPT_IF_##have(code, otherwise)
#define COLLOPT_IF_1(code, otherwise)           code
#define COLLOPT_IF_0(code, otherwise)           otherwise

extern const struct collopt_host collopt_host;
# define collopt_next collopt_host
#else
/* filled once, before the first entry point is called */
extern struct collopt_host collopt_host, collopt_next;
#endif

/* True if this host has the quirk. Evaluated on first use, since a static archive does not know
 * its host earlier. */
extern _Atomic unsigned collopt_host_quirks;    /* bit COLLOPT_QUIRKS: they are known */
unsigned collopt_know_quirks(void);

static inline bool collopt_quirk(enum collopt_quirk quirk)
{
    unsigned has = atomic_load_explicit(&collopt_host_quirks, memory_order_relaxed);

    return (__builtin_expect(has != 0, 1) ? has : collopt_know_quirks()) >> quirk & 1;
}

/* Invalid handles raise errors on MPI_COMM_WORLD or crash in the host, so it is not asked about
 * them. What a handle's value reveals depends on the ABI, so the header decides: MPICH's handles
 * encode their kind in bits; predefined handles of the standard ABI are small numbers in a range
 * per kind; Open MPI's are addresses, and only a null one can be recognized. */
#if defined MPICH_VERSION
static inline bool collopt_plausible_comm(MPI_Comm comm)
{
    return ((unsigned)comm & 0x3c000000u) == 0x04000000u && ((unsigned)comm & 0xc0000000u) != 0;
}
static inline bool collopt_plausible_op(MPI_Op op)
{
    return ((unsigned)op & 0x3c000000u) == 0x18000000u && ((unsigned)op & 0xc0000000u) != 0;
}
static inline bool collopt_plausible_type(MPI_Datatype type)
{
    return ((unsigned)type & 0x3c000000u) == 0x0c000000u && ((unsigned)type & 0xc0000000u) != 0;
}
#elif defined MPI_ABI_VERSION && !defined OPEN_MPI
static inline bool collopt_among(const void *handle, uintptr_t first, uintptr_t last)
{
    return (uintptr_t)handle > 0xfff || ((uintptr_t)handle >= first && (uintptr_t)handle <= last);
}
static inline bool collopt_plausible_comm(MPI_Comm comm)
{
    return collopt_among(comm, (uintptr_t)MPI_COMM_WORLD, (uintptr_t)MPI_COMM_SELF);
}
static inline bool collopt_plausible_op(MPI_Op op)
{
    return collopt_among(op, (uintptr_t)MPI_SUM, 0x3f);
}
static inline bool collopt_plausible_type(MPI_Datatype type)
{
    return collopt_among(type, (uintptr_t)MPI_DATATYPE_NULL + 1, 0x3ff);
}
#else
static inline bool collopt_plausible_comm(MPI_Comm comm) { return comm != MPI_COMM_NULL; }
static inline bool collopt_plausible_op(MPI_Op op) { return op != MPI_OP_NULL; }
static inline bool collopt_plausible_type(MPI_Datatype type) { return type != MPI_DATATYPE_NULL; }
#endif

#endif
