/* Recursive doubling: in round k every rank exchanges what it has with the rank 2^k away, and both
 * combine it alike.
 *
 * After round k, aligned groups of 2^(k+1) ranks hold the sum of the group. Where p is not a power
 * of two, the first 2 (p - 2^F) ranks are folded in neighbouring pairs before, and the even ones
 * get the result after: groups stay consecutive, so rank order is kept.
 * Cost: F = floor(log2 p) rounds and F m, two more rounds and one m if p is not a power of two.
 * Scratch: two vectors. The best for short vectors and any operation. Folklore; Thakur,
 * Rabenseifner and Gropp, IJHPCA 19 (2005). */
#include "config.h"

#include "algorithm.h"

static void double_up(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct collopt_fold_pairs f = collopt_fold_pairs(p->ranks, 1 << log2_floor(p->ranks), rank);
    struct collopt_region mine = in(whole());
    struct turns tmp = { .slots = 2 };

    for (int k = -1; k < log2_floor(p->ranks); k++) {
        if (k < 0 && !f.folded)
            continue;

        int peer = k < 0 ? rank - 1
                         : collopt_fold_rank(p->ranks, 1 << log2_floor(p->ranks), f.index ^ 1 << k);
        struct collopt_region theirs =
            mine.place == COLLOPT_IN ? out(whole()) : at(turn(s, &tmp), whole());

        collopt_round(s);
        if (k >= 0)
            collopt_send(s, peer, mine);
        collopt_receive(s, peer, theirs);
        merge(s, out(whole()), mine, theirs, peer < rank);
        mine = out(whole());
    }
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct collopt_fold_pairs f = collopt_fold_pairs(p->ranks, 1 << log2_floor(p->ranks), rank);

    if (f.index < 0) {
        collopt_send(s, rank + 1, in(whole()));
        collopt_round(s);
        collopt_receive(s, rank + 1, out(whole()));
        return;
    }
    double_up(s, p, rank);
    if (f.folded) {
        collopt_round(s);
        collopt_send(s, rank - 1, out(whole()));
    }
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    double m = vector_bytes(p);

    if (p->ranks != 1 << log2_floor(p->ranks))
        collopt_messages(t, 2, (struct collopt_messages){ .pattern = COLLOPT_TREE, .distance = 1,
                                                          .bytes = m, .combined = m / 2 });
    collopt_traffic_doubling(t, p->ranks, m);
}

const struct collopt_algorithm collopt_allreduce_recursive_doubling = {
    .name = "recursive_doubling",
    .summary = "whole vectors exchanged over doubling distances; short vectors",
    .collective = COLLOPT_ALLREDUCE, .order = COLLOPT_IN_ORDER,
    .source = "folklore; Thakur, Rabenseifner and Gropp, IJHPCA 19 (2005)", .traffic = traffic,
    .build = build,
};
