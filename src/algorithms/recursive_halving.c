/* Recursive halving reduce-scatter: in every round partners exchange the halves of what both still
 * hold, distance halving.
 *
 * A group of ranks holds the parts of its own ranks; partners half a group apart send the half that
 * belongs to the other half of the group and combine the rest, so a window is always one stretch of
 * the vector. Where p is not a power of two, neighbouring pairs are folded before (the upper rank
 * works for both) and the lower one gets its part at the end. Cost: log2 p rounds, (p-1)/p m; with
 * folding two more rounds, m in and up to m more in work. Scratch: 7/8 m, with folding 7/4 m.
 * Combines ranks that are not neighbours: commutative operations only.
 * Use it for medium vectors on a power of two of ranks. Thakur, Rabenseifner and Gropp, IJHPCA 19
 * (2005). */
#include "config.h"

#include "algorithm.h"

/* The parts that belong to indexes LO .. HI-1: folded pairs have two. */
static struct collopt_block parts_of(int partition, int ranks, int lo, int hi)
{
    int folded = ranks - (1 << log2_floor(ranks));
    int first = lo < folded ? 2 * lo : lo + folded, last = hi < folded ? 2 * hi : hi + folded;

    return block(partition, first, last - first);
}

/* The last window is one rank's part, or the two parts of a pair whose upper rank is RANK. */
static void finish(struct collopt_schedule *s, int partition, int rank, bool folded, int mine,
                   int theirs, bool theirs_is_lower)
{
    struct collopt_block own = block(partition, rank, 1), other = block(partition, rank - 1, 1);

    if (folded) {
        merge(s, at(mine, other), at(mine, other), at(theirs, other), theirs_is_lower);
        collopt_round(s);
        collopt_send(s, rank - 1, at(mine, other));
    }
    merge(s, out(own), at(mine, own), at(theirs, own), theirs_is_lower);
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct collopt_fold_pairs f = collopt_fold_pairs(p->ranks, 1 << log2_floor(p->ranks), rank);
    int partition = collopt_partition_counts(s), group = 1 << log2_floor(p->ranks);
    int mine = COLLOPT_IN, sum = -1;
    struct turns tmp = { .slots = 2 };

    if (f.index < 0) {
        collopt_send(s, rank + 1, in(whole()));
        collopt_round(s);
        collopt_receive(s, rank + 1, out(block(partition, rank, 1)));
        return;
    }
    if (f.folded) {
        mine = sum = collopt_vector_slot(s, whole());
        collopt_receive(s, rank - 1, at(sum, whole()));
        collopt_combine(s, at(sum, whole()), at(sum, whole()), in(whole()));
    }
    for (; group > 1; group /= 2) {
        int lo = f.index - f.index % group, mid = lo + group / 2;
        bool upper = f.index >= mid, last = group == 2;
        struct collopt_block low = parts_of(partition, p->ranks, lo, mid);
        struct collopt_block high = parts_of(partition, p->ranks, mid, lo + group);
        struct collopt_block keep = upper ? high : low, give = upper ? low : high;
        int other = upper ? f.index - group / 2 : f.index + group / 2;
        int peer = collopt_fold_rank(p->ranks, 1 << log2_floor(p->ranks), other), theirs;

        if (last && f.folded)
            theirs = collopt_vector_slot(s, keep);
        else if (sum < 0)
            theirs = sum = last ? COLLOPT_OUT : collopt_vector_slot(s, keep);
        else
            theirs = turn(s, &tmp);
        collopt_round(s);
        collopt_send(s, peer, at(mine, give));
        collopt_receive(s, peer, at(theirs, keep));
        if (last) {
            finish(s, partition, rank, f.folded, mine, theirs, upper);
            return;
        }
        merge(s, at(sum, keep), at(mine, keep), at(theirs, keep), upper);
        mine = sum;
    }
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    double m = vector_bytes(p);
    int levels = log2_floor(p->ranks), extra = p->ranks - (1 << levels);

    if (extra)
        collopt_messages(t, 1, (struct collopt_messages){ .pattern = COLLOPT_TREE, .distance = 1,
                                                          .bytes = m, .combined = m });
    /* the longest go farthest */
    for (int d = levels > 0 ? 1 << (levels - 1) : 0; d > 0; d /= 2) {
        double share = (extra ? 1.5 : 1) * m * d / (1 << levels);

        collopt_messages(t, 1, (struct collopt_messages){ .pattern = COLLOPT_PAIRS, .distance = d,
                                                          .bytes = share, .combined = share });
    }
    if (extra)
        collopt_messages(t, 1, (struct collopt_messages){ .pattern = COLLOPT_TREE, .distance = 1,
                                                          .bytes = m / p->ranks, .combined = 0 });
}

COLLOPT_SCATTER_AND_BLOCK(recursive_halving,
    .name = "recursive_halving",
    .summary = "halves exchanged over halving distances; medium vectors, a power of two of ranks",
    .order = COLLOPT_COMMUTATIVE, .source = "Thakur, Rabenseifner and Gropp, IJHPCA 19 (2005)",
    .traffic = traffic, .build = build);
