/* Lengths of fragments.
 *
 * Hosts send short messages eagerly: they copy them to where the receiver finds them, and the
 * sender goes on. Longer ones wait for the receiver. Some that are a little longer are faster in
 * eager fragments, the more so if each is combined while the next one is under way. Of very long
 * messages the caches still hold what has just been received if it is combined in fragments. Where
 * these limits are inside a node, only measurements tell: the machine file has them. */
#include "config.h"

#include "select/fragment_length.h"
#include "model/fragments.h"
#include "model/machine.h"
#include "model/model.h"
#include "schedule/bound.h"
#include "schedule/problem.h"
#include "topology/topology.h"

/* Over TCP, Open MPI sends what needs a handshake by a protocol that waits again and again. 8
 * hosts at 200 Mbit/s, whole messages and fragments that are just eager: Reduce_scatter of 512 KiB
 * by ring 53 and 34 ms, of 4 MiB 243 and 185; of 4 MiB by elimination 349 and 237. Fragments may
 * be copied on their way, so those of very long vectors are not cut. */
static size_t eager_over_tcp(const struct collopt_problem *p)
{
    const size_t least = 16 << 10, longest = 16 << 20;
    bool open_mpi = collopt_over_tcp(p) && p->machine->mpi == COLLOPT_OPENMPI;
    double eager = open_mpi ? p->machine->way[COLLOPT_OVER_NET].eager : 0;

    return eager >= (double)least && p->count * p->size <= longest
        ? (size_t)(eager * 15 / 16) : 0;        /* the header takes some */
}

static bool is_for(const struct collopt_fragment *f, const struct collopt_problem *p)
{
    size_t ranks = (size_t)p->ranks;

    return f->collective == p->collective && ranks >= f->ranks.least && ranks <= f->ranks.most;
}

/* Messages between nodes and through shared memory have limits of their own. */
static const struct collopt_fragments *measured(const struct collopt_problem *p)
{
    bool host_inside =
        p->topology->nodes == 1 && !p->topology->wired && p->machine && !p->machine->shm;

    return host_inside ? p->machine->fragments : NULL;
}

void collopt_cuts(const struct collopt_problem *p, struct collopt_cut cut[COLLOPT_CUTS])
{
    const struct collopt_fragments *all = measured(p);
    size_t eager = eager_over_tcp(p);
    int n = 0;

    if (eager > 0)
        cut[n++] = (struct collopt_cut){ .above = eager, .piece = eager };
    for (int i = 0; all && i < all->n; i++) {
        const struct collopt_fragment *f = &all->row[i];

        if (!is_for(f, p))
            continue;
        cut[n++] = (struct collopt_cut){ f->bytes.least ? f->bytes.least - 1 : 0, f->length,
                                         f->in_turn };
        if (f->bytes.most < SIZE_MAX)
            cut[n++] = (struct collopt_cut){ f->bytes.most, SIZE_MAX, false };
    }
    cut[n] = (struct collopt_cut){ 0 };
}
