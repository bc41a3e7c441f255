/* Calls that have failed; see failure.h. */
#include "config.h"

#include "mpi/comm/failure.h"
#include "mpi/comm/comm.h"
#include "mpi/node/context.h"
#include "mpi/node/segments.h"
#include "shm/failures.h"
#include "shm/segment.h"

COLLOPT_OUT_OF_LINE void collopt_give_up(struct collopt_comm *c, uint32_t call)
{
    c->spoilt = true;
    if (c->ranks > 1 && c->context > 0 && collopt_comm_shares_memory(c))
        collopt_failures_add(collopt_segment_failures(collopt_segment_base()),
                             (uint32_t)c->context, call);
}

bool collopt_has_failed(const struct collopt_comm *c, uint32_t call)
{
    for (int r = 0; r < c->ranks; r++) {
        struct collopt_peer peer = collopt_peer(c, r);
        char *base = collopt_segment_of(peer.rank);
        uint32_t context = (uint32_t)(peer.tags / COLLOPT_CONTEXT_TAGS);

        if (base && collopt_failures_has(collopt_segment_failures(base), context, call))
            return true;
    }
    return false;
}
