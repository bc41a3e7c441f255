/* Communication patterns shared by many algorithms, for the model. */
#include "config.h"

#include "model/traffic.h"
#include "base/numbers.h"
#include "base/skips.h"
#include "model/model.h"
#include "schedule/problem.h"
#include "topology/topology.h"

/* Ranks that are more than a power of two have been made part of others before: folded, or
 * eliminated on the way. */
static int folded(int ranks)
{
    return ranks - (1 << log2_floor(ranks));
}

void collopt_traffic_halving(struct collopt_traffic *t, int ranks, double bytes, int combine)
{
    for (int d = 1; 2 * d <= ranks; d *= 2) {
        bytes /= 2;
        collopt_messages(t, 1, (struct collopt_messages){ .pattern = COLLOPT_PAIRS, .distance = d,
                                                          .bytes = bytes,
                                                          .combined = combine * bytes,
                                                          .folded = folded(ranks) });
    }
}

void collopt_traffic_circulant(struct collopt_traffic *t, int ranks, double bytes, int combine)
{
    int skip[COLLOPT_SKIPS], q = collopt_skips(ranks, skip);

    for (int k = 0; k < q; k++) {
        double share = bytes / ranks * (skip[k + 1] - skip[k]);

        collopt_messages(t, 1, (struct collopt_messages){ .pattern = COLLOPT_SHIFT,
                                                          .distance = skip[k], .bytes = share,
                                                          .combined = combine * share });
    }
}

void collopt_traffic_tree(struct collopt_traffic *t, int ranks, int radix, double bytes,
                          int combine)
{
    for (int width = 1; width < ranks; width *= radix) {
        int fan = least(radix, (ranks + width - 1) / width) - 1;

        collopt_messages(t, 1, (struct collopt_messages){ .pattern = COLLOPT_TREE,
                                                          .distance = width, .bytes = bytes,
                                                          .combined = combine * fan * bytes,
                                                          .fan = fan, .staggered = true });
    }
}

void collopt_traffic_gather(struct collopt_traffic *t, int ranks, double bytes)
{
    for (int d = 1; d < ranks; d *= 2)
        collopt_messages(t, 1, (struct collopt_messages){ .pattern = COLLOPT_TREE, .distance = d,
                                                          .bytes = bytes / ranks
                                                                   * least(d, ranks - d) });
}

/* Measured between two processes of a node, of up to 512 bytes in blocks of 8: Open MPI takes 130
 * to 210 ns longer for 2 to 32 blocks than for a stretch, 540 for 128, MPICH 460, 400 and 510.
 * Longer messages are copied once more; in shared memory MPICH takes 0.2 to 0.45 ns for each byte
 * of 16 KiB and more. */
void collopt_traffic_scattered(struct collopt_traffic *t, const struct collopt_problem *p,
                               int messages, double blocks, double bytes)
{
    static const double message = 0.3e-6, each = 10e-9;
    double byte = collopt_machine_of(p)->combine * (p->topology->wired ? 1 : 4);

    if (blocks * (double)p->size > bytes)       /* most of them are empty */
        blocks = bytes / (double)p->size;
    if (blocks > 1)
        collopt_inner_seconds(t, messages * (message + blocks * each + bytes * byte));
}

void collopt_traffic_fill_rounds(struct collopt_traffic *t, int ranks, double rounds, double bytes)
{
    collopt_traffic_fill(t, ranks, rounds / most(2 * log2_floor(ranks) - 1, 1), bytes);
}

void collopt_traffic_fill(struct collopt_traffic *t, int ranks, double passes, double bytes)
{
    for (int d = 1; 2 * d <= ranks; d *= 2)
        collopt_messages(t, passes, (struct collopt_messages){ .pattern = COLLOPT_TREE,
                                                               .distance = d, .bytes = bytes,
                                                               .combined = bytes,
                                                               .fan = d > 1 ? 2 : 1 });
}

/* Between nodes, and in shared memory, the next ones are sent while the last are under way; in a
 * node the processors that copy a host's messages are busy. */
void collopt_traffic_exchange(struct collopt_traffic *t, const struct collopt_problem *p,
                              double combined)
{
    bool overlap = p->topology->nodes > 1 || p->topology->wired || collopt_machine_of(p)->shm;
    int others = p->ranks - 1, some = least(others, 32);
    struct collopt_messages m = { .pattern = COLLOPT_SHIFT, .bytes = vector_bytes(p) / p->ranks };

    for (int i = 0; i < some; i++) {
        double times = (double)others / some, alone = i == some - 1 ? 1 : 0;

        m.distance = 1 + i * others / some;
        if (overlap)
            collopt_pipeline(t, times - alone, 1, 1, m);
        m.combined = alone * combined;
        collopt_messages(t, overlap ? alone : times, m);
    }
}

int collopt_traffic_strands(const struct collopt_problem *p, int strands)
{
    bool parts = collopt_scatters(p->collective);
    size_t longest = parts ? (p->count + (size_t)p->ranks - 1) / (size_t)p->ranks : p->count;

    for (int r = 0; parts && p->counts && r < p->ranks; r++)
        longest = p->counts[r] > longest ? p->counts[r] : longest;
    return longest < (size_t)strands ? most((int)longest, 1) : strands;
}
