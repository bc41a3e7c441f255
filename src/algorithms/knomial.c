/* k-nomial tree in rank order: Reduce to any root without a hop to forward the result; Allreduce
 * sends the result back down the tree, Reduce_scatter (radix 2) every part of it. With radix 2 it
 * is the binomial tree.
 *
 * Aligned groups of k^l ranks have one representative each, which holds the group's sum: the root
 * if it is in the group, else the group's lowest rank. k neighbouring groups become one when all
 * their representatives send to the one that is also the new group's; it puts its own at its place
 * among theirs, so rank order is kept. Cost: ceil(log_k p) levels of up to k-1 messages, combined
 * in one pass; Allreduce and Reduce_scatter twice as many. Scratch: one vector for each receive of
 * two levels but the first, one more where the sum is not the result. Use it for short vectors: a
 * larger radix where messages of different ranks overlap well; there are fewer messages in all than
 * in a butterfly. Reduce_scatter is a reference: the root handles q whole vectors. Folklore; the
 * representatives that make any root as cheap as rank 0 are ours. */
#include "config.h"

#include "algorithm.h"

static int representative(int root, int lo, int hi)
{
    return lo <= root && root < hi ? root : lo;
}

/* One level: RANK stands for ranks of its group of WIDTH. False: it has sent what it has, in *SUM,
 * and is done. */
static bool climb(struct collopt_schedule *s, const struct collopt_problem *p, int rank, int radix,
                  int width, struct turns *tmp, struct collopt_region *sum)
{
    int lo = rank - rank % (radix * width), hi = least(lo + radix * width, p->ranks);
    int stays = representative(p->root, lo, hi);
    struct collopt_row row = { .operands = 0 };
    bool fresh = sum->place == COLLOPT_IN;      /* nothing in the accumulator yet: the first to
                                                 * arrive goes there */

    if (rank != stays) {
        collopt_send(s, stays, *sum);
        return false;
    }
    row.to = at(collopt_accumulator(s), whole());
    for (int group = lo; group < hi; group += width) {
        int from = representative(p->root, group, least(group + width, hi));

        if (from == rank) {
            collopt_row_add(s, &row, *sum);
        } else {
            struct collopt_region theirs = fresh ? row.to : at(turn(s, tmp), whole());

            fresh = false;
            collopt_receive(s, from, theirs);
            collopt_row_add(s, &row, theirs);
        }
    }
    collopt_row_flush(s, &row);
    *sum = row.operand[0];
    return true;
}

/* Up to the root, or as far as RANK stands for a group; returns the width of the largest one it
 * stands for. */
static int reduce(struct collopt_schedule *s, const struct collopt_problem *p, int rank, int radix)
{
    struct collopt_region sum = in(whole());
    struct turns tmp = { .slots = 2 * (radix - 1) };
    int width = 1;

    for (; width < p->ranks; width *= radix) {
        collopt_round(s);
        if (!climb(s, p, rank, radix, width, &tmp, &sum))
            break;
    }
    return width;
}

/* Parts of the result that go to the ranks LO .. HI-1: all of it, where nothing is scattered. */
static struct collopt_block share(int parts, int lo, int hi)
{
    return parts < 0 ? whole() : block(parts, lo, hi - lo);
}

/* From rank 0 down the same tree. RANK stands for a group of WIDTH; the result, or what the group
 * is to get of it by PARTS, comes to the place SUM, but a rank alone receives in OUT. */
static void spread(struct collopt_schedule *s, const struct collopt_problem *p, int rank, int radix,
                   int width, int parts, int sum)
{
    if (rank != 0) {
        collopt_round(s);
        collopt_receive(s, rank - rank % (radix * width),
                        at(width > 1 ? sum : COLLOPT_OUT,
                           share(parts, rank, least(rank + width, p->ranks))));
    }
    for (int w = width / radix; w >= 1; w /= radix) {
        collopt_round(s);
        for (int to = rank + w; to < least(rank + radix * w, p->ranks); to += w)
            collopt_send(s, to, at(sum, share(parts, to, least(to + w, p->ranks))));
    }
}

static int radix_of(const struct collopt_problem *p)
{
    return most((int)p->value[0], 2);   /* a binomial tree has no parameter */
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    int width = reduce(s, p, rank, radix_of(p));

    if (p->collective == COLLOPT_ALLREDUCE)
        spread(s, p, rank, radix_of(p), width, -1, COLLOPT_OUT);
}

static void build_reduce_scatter(struct collopt_schedule *s, const struct collopt_problem *p,
                                 int rank)
{
    int width = reduce(s, p, rank, 2), parts = collopt_partition_counts(s);
    struct collopt_block own = block(parts, rank, 1);

    if (width == 1) {
        spread(s, p, rank, 2, width, parts, COLLOPT_OUT);
    } else {
        spread(s, p, rank, 2, width, parts, collopt_accumulator(s));
        collopt_copy(s, out(own), at(collopt_accumulator(s), own));
    }
}

extern const struct collopt_algorithm collopt_reduce_knomial;

/* For Allreduce too, whose way back takes as long. */
static size_t radix(const struct collopt_problem *p)
{
    struct collopt_problem up = *p;

    up.collective = COLLOPT_REDUCE;
    return collopt_preset_radix(&collopt_reduce_knomial, &up, 0);
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    collopt_traffic_tree(t, p->ranks, radix_of(p), vector_bytes(p), 1);
    if (p->collective == COLLOPT_ALLREDUCE)
        collopt_traffic_tree(t, p->ranks, radix_of(p), vector_bytes(p), 0);
    else if (p->collective != COLLOPT_REDUCE)
        collopt_traffic_gather(t, p->ranks, vector_bytes(p));
}

#define TREE \
    .order = COLLOPT_IN_ORDER, .source = "folklore; any root in as many rounds: collopt", \
    .traffic = traffic

COLLOPT_REDUCE_AND_ALLREDUCE(binomial,
    TREE, .name = "binomial", .build = build,
    .summary = "binomial tree in rank order, any root, up and down; short vectors, few messages");

COLLOPT_REDUCE_AND_ALLREDUCE(knomial,
    TREE, .name = "knomial", .build = build, .parameter = { COLLOPT_RADIX(radix) },
    .summary = "tree with several children on each level, in rank order, any root; short vectors");

COLLOPT_SCATTER_AND_BLOCK(binomial,
    TREE, .name = "binomial", .build = build_reduce_scatter,
    .summary = "binomial reduce and scatter, in rank order; a reference");
