/* A call of the family, and its way: described by entry.c, judged and run by dispatch.c.  What
 * stops on the way is declined: the host's own function gets the arguments untouched, and nothing
 * was written or sent by then. */
#ifndef COLLOPT_MPI_CALL_DISPATCH_H
#define COLLOPT_MPI_CALL_DISPATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "mpi/host/host.h"
#include "schedule/schedule.h"

/* For what a short call like the one before it does not come by: the functions on its way save no
 * registers for that. */
#define COLLOPT_OUT_OF_LINE __attribute__((noinline))

enum {                          /* instead of an MPI error code: the host is to do it */
    COLLOPT_DECLINED = -1,      /* arguments that are the host's to judge */
    COLLOPT_NOT_YET = -2        /* a plan would cost more than it has earned */
};

struct collopt_adapted;         /* trials, adapt.c */
struct collopt_comm;
struct collopt_facts;
struct collopt_plan;

/* Made for every call.  Up to this size the compiler sets it by plain stores; what is longer it
 * clears first, by an instruction that takes as long as the rest of a short call. */
struct collopt_call {
    enum collopt_collective collective;
    bool large;                 /* MPI_Allreduce_c and its like */
    bool taken;                 /* dispatch.c has taken IN for MPI_IN_PLACE; the caller said OUT */
    const char *name;           /* as counted: "Allreduce", "Allreduce_c" */
    const void *in;
    void *out;
    /* Reduce_scatter_block: per rank, as the caller says it; Reduce_scatter: unused */
    size_t count;
    const int *counts;          /* Reduce_scatter */
    const host_count *counts64; /* Reduce_scatter_c */
    MPI_Datatype type;
    MPI_Op op;
    int root;
    /* by this candidate + 1 of the trials for problems like it; 0: by what is selected; or: */
    int trial;
    MPI_Comm comm;
};
enum {
    COLLOPT_PERSISTENT = -1,    /* it is made, and started later */
    COLLOPT_NONBLOCKING = -2
};
/* Does a later call complete it? */
static inline bool collopt_is_later(const struct collopt_call *call)
{
    return call->trial == COLLOPT_PERSISTENT || call->trial == COLLOPT_NONBLOCKING;
}
_Static_assert(sizeof(struct collopt_call) <= 11 * sizeof(void *), "clearing it would take long");

/* Works on CALL, which the caller does not use afterwards. */
int collopt_dispatch(struct collopt_call *call);
/* Takes the communicator of a persistent CALL over, if need be, and compares the calls of all
 * ranks if that is wanted. COLLOPT_DECLINED: the call goes to the host, alike on all ranks, and
 * was counted as such. Else MPI_SUCCESS or an error code. *PLAN: by messages, else NULL: by shared
 * memory. */
int collopt_dispatch_persistent(struct collopt_call *call, struct collopt_comm **state,
                                struct collopt_plan **plan);
/* The same for a nonblocking call.  It must not wait, so it takes over no communicator, and the
 * comparison comes later (check_later.h).  Raises no error. */
int collopt_dispatch_nonblocking(struct collopt_call *call, struct collopt_comm **state,
                                 struct collopt_plan **plan);
/* Can nonblocking calls on C use shared memory?  All ranks answer alike. */
bool collopt_publishes(const struct collopt_comm *c, const struct collopt_call *call);
/* Can CALL be served here?  Then *F is filled in.  Works on CALL. */
bool collopt_arguments_fit(const struct collopt_comm *c, struct collopt_call *call,
                           struct collopt_facts *f);
/* Does MPI forbid the arguments of CALL?  Some hosts accept them. */
bool collopt_arguments_wrong(const struct collopt_comm *c, struct collopt_call *call);
/* In MPI_Init: does the host look at the arguments of calls? */
void collopt_see_whether_host_looks(void);
/* Errors are the user's: the handler of COMM hears of them. */
int collopt_raise(MPI_Comm comm, int err);
extern atomic_bool collopt_switched_on;         /* MPI_Pcontrol, where agreed; COLLOPT=off */
extern atomic_bool collopt_reporting;  /* COLLOPT_REPORT: calls that are passed on are timed */

#endif
