/* Binomial tree reduce in rank order, for any root, without a hop to forward the result.
 *
 * Aligned groups of 2^k ranks have one representative each, which holds the group's sum: the root if it is in the group,
 * else the group's lowest rank.  Two neighbouring groups become one when the representative that will not go on sends to the
 * one that does; it knows whether the other group lies left or right of its own, so rank order is kept.
 * Cost: ceil(log2 p) rounds, ceil(log2 p) m received and combined.  Scratch: up to three vectors.
 * Use it for short vectors.  Folklore; the representatives that make any root as cheap as rank 0 are ours. */
#include "config.h"

#include "algorithm.h"

static bool within(int rank, int lo, int hi)
{
    return lo <= rank && rank < hi;
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct collopt_region mine = in(whole());
    struct turns tmp = { .slots = 2 };

    for (int width = 1; width < p->ranks; width *= 2) {
        int lo = rank - rank % (2 * width), mid = lo + width, hi = least(lo + 2 * width, p->ranks);
        int left = within(p->root, lo, mid) ? p->root : lo;
        int right = within(p->root, mid, hi) ? p->root : mid;
        int stays = right == p->root ? right : left, goes = stays == left ? right : left;

        if (mid >= p->ranks)
            continue;
        collopt_round(s);
        if (rank == goes) {
            collopt_send(s, stays, mine);
            return;
        }

        struct collopt_region sum = at(collopt_accumulator(s), whole());
        struct collopt_region theirs = at(turn(s, &tmp), whole());

        collopt_receive(s, goes, theirs);
        merge(s, sum, mine, theirs, goes < rank);
        mine = sum;
    }
    if (mine.place == COLLOPT_IN)
        collopt_copy(s, out(whole()), mine);
}

/* How often does the representative of ranks lo .. hi-1 receive that is their root or their lowest? */
static int receives(int lo, int hi, int rank)
{
    int n = 0;

    for (int width = 1; width < hi - lo; width *= 2) {
        int group = rank - (rank - lo) % (2 * width);

        n += group + width < hi;
    }
    return n;
}

static void cost(const struct collopt_problem *p, struct collopt_cost *c)
{
    int at_root = receives(0, p->ranks, p->root), elsewhere = 0;

    for (int width = 1; width < p->ranks; width *= 2) {
        int group = p->root - p->root % width, sibling = group % (2 * width) ? group - width : group + width;

        if (sibling < p->ranks)
            elsewhere = most(elsewhere, log2_ceil(least(width, p->ranks - sibling)));
    }
    c->rounds = log2_ceil(p->ranks);
    c->bytes = most(at_root, elsewhere) * vector_bytes(p);
    if (p->ranks > 1 && c->bytes == 0)
        c->bytes = vector_bytes(p);
    c->combined = most(at_root, elsewhere) * vector_bytes(p);
    c->scratch = most(least(at_root, 2), elsewhere ? 1 + least(elsewhere, 2) : 0) * vector_bytes(p);
}

const struct collopt_algorithm collopt_reduce_binomial = {
    .name = "binomial", .summary = "binomial tree in rank order, any root; short vectors",
    .collective = COLLOPT_REDUCE, .order = COLLOPT_IN_ORDER, .identical = true,
    .cost = cost, .build = build,
};
