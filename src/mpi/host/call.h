/* A reduction that the program has called: its arguments, and the counts among them. */
#ifndef COLLOPT_MPI_HOST_CALL_H
#define COLLOPT_MPI_HOST_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/host/host.h"
#include "schedule/problem.h"

enum collopt_mode { COLLOPT_BLOCKING, COLLOPT_PERSISTENT, COLLOPT_NONBLOCKING };

/* What becomes of a call, before anything is sent or written. */
enum collopt_outcome {
    COLLOPT_RUN,                /* collopt runs it */
    COLLOPT_FALL_BACK,          /* the host does: its arguments are the host's to judge */
    COLLOPT_TOO_EARLY,          /* the host does: the savings have not reached the cost of a plan */
    COLLOPT_FAILED              /* an error of this rank, which comes with an MPI error code */
};

/* Made for every call.  Up to this size the compiler sets it by plain stores; what is longer it
 * clears first, by an instruction that takes as long as the rest of a short call. */
struct collopt_call {
    enum collopt_collective collective;
    enum collopt_mode mode;
    const char *name;           /* as counted: "Allreduce", "Allreduce_c" */
    const void *in;
    void *out;
    /* Reduce_scatter_block: per rank, as the caller says it; Reduce_scatter: unused */
    size_t count;
    const void *counts;         /* Reduce_scatter: of int, or of host_count where LARGE */
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm;
    int root;
    /* by this candidate + 1 of the trials for problems like it; 0: by what is selected */
    unsigned char candidate;
    bool large;                 /* MPI_Allreduce_c and its like */
    /* IN was OUT, and is MPI_IN_PLACE now (arguments.h) */
    bool taken;
    unsigned char why;          /* a request that falls back: enum collopt_reason */
};
_Static_assert(sizeof(struct collopt_call) <= 11 * sizeof(void *), "clearing it would take long");

static inline bool collopt_call_scatters(const struct collopt_call *call)
{
    return call->collective == COLLOPT_REDUCE_SCATTER;
}

/* The number of elements that RANK gets of a Reduce_scatter; else the count, which is the same for
 * all ranks. */
static inline size_t collopt_call_count(const struct collopt_call *call, int rank)
{
    if (!collopt_call_scatters(call))
        return call->count;
    return call->large ? (size_t)((const host_count *)call->counts)[rank]
                       : (size_t)((const int *)call->counts)[rank];
}

/* Was COUNT converted from a negative number? */
static inline bool collopt_is_negative(size_t count)
{
    return count > SIZE_MAX / 2;
}
bool collopt_counts_negative(const struct collopt_call *call, int ranks);
/* Is a count negative, or are there none? */
static inline bool collopt_call_negative(const struct collopt_call *call, int ranks)
{
    return collopt_call_scatters(call) ? collopt_counts_negative(call, ranks)
                                       : collopt_is_negative(call->count);
}
/* Elements of the input of one rank; the counts are valid. */
size_t collopt_call_elements(const struct collopt_call *call, int ranks);
/* Elements of the result that RANK gets; 0: none. */
size_t collopt_call_results(const struct collopt_call *call, int rank);
size_t collopt_counts_hash(const struct collopt_call *call, int ranks);
/* The count, or a hash of the counts.  If two hashes are equal, the counts have to be compared one
 * by one. */
static inline size_t collopt_call_key(const struct collopt_call *call, int ranks)
{
    return collopt_call_scatters(call) ? collopt_counts_hash(call, ranks) : call->count;
}

#endif
