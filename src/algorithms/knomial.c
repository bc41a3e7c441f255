/* k-nomial tree reduce in rank order, for any root, without a hop to forward the result; with radix 2 the binomial tree.
 *
 * Aligned groups of k^l ranks have one representative each, which holds the group's sum: the root if it is in the group,
 * else the group's lowest rank.  k neighbouring groups become one when all their representatives send to the one that is
 * also the new group's; it puts its own at its place among theirs, so rank order is kept.
 * Cost: ceil(log_k p) levels of up to k-1 messages, combined in one pass.  Scratch: one vector for each receive of two levels
 * but the first, off the root one more.  Use it for short vectors: a larger radix where messages of different ranks overlap well.
 * Folklore; the representatives that make any root as cheap as rank 0 are ours. */
#include "config.h"

#include "algorithm.h"

static int representative(int root, int lo, int hi)
{
    return lo <= root && root < hi ? root : lo;
}

/* One level: RANK stands for ranks of its group of WIDTH.  False: it has sent what it has, in *SUM, and is done. */
static bool climb(struct collopt_schedule *s, const struct collopt_problem *p, int rank, int radix, int width,
                  struct turns *tmp, struct collopt_region *sum)
{
    int lo = rank - rank % (radix * width), hi = least(lo + radix * width, p->ranks);
    int stays = representative(p->root, lo, hi);
    struct collopt_row row = { .operands = 0 };
    bool fresh = sum->place == COLLOPT_IN;      /* nothing in the accumulator yet: the first to arrive goes there */

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

static void build_of(struct collopt_schedule *s, const struct collopt_problem *p, int rank, int radix)
{
    struct collopt_region sum = in(whole());
    struct turns tmp = { .slots = 2 * (radix - 1) };

    for (int width = 1; width < p->ranks; width *= radix) {
        collopt_round(s);
        if (!climb(s, p, rank, radix, width, &tmp, &sum))
            return;
    }
    if (sum.place == COLLOPT_IN)
        collopt_copy(s, out(whole()), sum);
}

static void build_binomial(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    build_of(s, p, rank, 2);
}

static void build_knomial(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    build_of(s, p, rank, (int)p->value[0]);
}

/* How often does a representative receive until it stands for LO .. HI-1? */
static int receives(int radix, int rank, int lo, int hi)
{
    int n = 0;

    for (int width = 1; width < hi - lo; width *= radix) {
        int group = rank - (rank - lo) % (radix * width), end = least(group + radix * width, hi);

        n += (end - group + width - 1) / width - 1;
    }
    return n;
}

static void cost_of(const struct collopt_problem *p, int radix, struct collopt_cost *c)
{
    int at_root = receives(radix, p->root, 0, p->ranks), elsewhere = 0, slots = 2 * (radix - 1), top = 1, levels = 0;

    for (int width = 1; width < p->ranks; width *= radix) {     /* the first group beside the root's is the fullest */
        int lo = p->root - p->root % (radix * width), first = p->root < lo + width ? lo + width : lo;

        if (first < p->ranks)
            elsewhere = most(elsewhere, receives(radix, first, first, least(first + width, p->ranks)));
        levels++;
        top = width;
    }
    c->rounds = levels ? (levels - 1) * (radix - 1) + (p->ranks + top - 1) / top - 1 : 0;
    c->combined = most(at_root, elsewhere) * vector_bytes(p);
    c->bytes = c->combined;
    c->scratch = most(least(at_root - 1, slots), elsewhere ? 1 + least(elsewhere - 1, slots) : 0) * vector_bytes(p);
}

static void cost_binomial(const struct collopt_problem *p, struct collopt_cost *c)
{
    cost_of(p, 2, c);
}

static void cost_knomial(const struct collopt_problem *p, struct collopt_cost *c)
{
    cost_of(p, (int)p->value[0], c);
}

static size_t radix(const struct collopt_problem *p)
{
    (void)p;
    return 4;
}

const struct collopt_algorithm collopt_reduce_binomial = {
    .name = "binomial", .summary = "binomial tree in rank order, any root; short vectors",
    .collective = COLLOPT_REDUCE, .order = COLLOPT_IN_ORDER, .identical = true,
    .cost = cost_binomial, .build = build_binomial,
};

const struct collopt_algorithm collopt_reduce_knomial = {
    .name = "knomial", .summary = "tree with several children on each level, in rank order, any root; short vectors",
    .collective = COLLOPT_REDUCE, .order = COLLOPT_IN_ORDER, .identical = true,
    .parameter = { COLLOPT_RADIX(radix) },
    .cost = cost_knomial, .build = build_knomial,
};
