/* The counts of calls; see call.h. */
#include "config.h"

#include "mpi/host/call.h"
#include "base/hash.h"

bool collopt_counts_negative(const struct collopt_call *call, int ranks)
{
    if (!call->counts)
        return true;
    for (int i = 0; i < ranks; i++)
        if (collopt_is_negative(collopt_call_count(call, i)))
            return true;
    return false;
}

size_t collopt_call_elements(const struct collopt_call *call, int ranks)
{
    size_t n = call->collective == COLLOPT_REDUCE_SCATTER_BLOCK ? call->count * (size_t)ranks
                                                                : call->count;

    for (int i = 0; collopt_call_scatters(call) && i < ranks; i++)
        n += collopt_call_count(call, i);
    return n;
}

size_t collopt_call_results(const struct collopt_call *call, int rank)
{
    if ((call->collective == COLLOPT_REDUCE && rank != call->root)
        || (call->collective == COLLOPT_EXSCAN && rank == 0))
        return 0;
    return collopt_call_count(call, rank);
}

size_t collopt_counts_hash(const struct collopt_call *call, int ranks)
{
    size_t h = 0;

    for (int i = 0; i < ranks; i++)
        h = collopt_mix(h + collopt_call_count(call, i) + 1);
    return h;
}
