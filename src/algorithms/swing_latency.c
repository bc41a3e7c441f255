/* Swing with whole vectors: in step s every rank exchanges what it has with the one at distance 1,
 * 1, 3, 5, 11 ...
 *
 * The partners are those of swing.c, on as many ranks as a power of two has; others are folded onto
 * their neighbours before and get the result after. Then nobody hears of an operand twice, but
 * ranks add in orders of their own. Cost: F = floor(log2 p) rounds and F m, folded two rounds and
 * one m more, as recursive doubling; on a ring messages go over two thirds of its distances.
 * Scratch: two vectors. Sums grow in no order of ranks, and another on each: for operations that
 * commute and are exact only.
 * Use it for short vectors where messages over a distance cost more. De Sensi et al., NSDI 2024
 * (arXiv 2401.09356). */
#include "config.h"

#include <stdlib.h>

#include "algorithm.h"

static int partner(int ranks, int index, int step)
{
    int nodes = 1 << log2_floor(ranks), distance = collopt_swing_distance(step);

    return collopt_fold_rank(ranks, nodes,
                             modulo(index % 2 ? index - distance : index + distance, nodes));
}

/* MINE and what PEER has, in OUT. */
static void exchange(struct collopt_schedule *s, int peer, bool sends, bool first,
                     struct turns *tmp)
{
    struct collopt_region mine = first ? in(whole()) : out(whole());
    struct collopt_region theirs = first ? out(whole()) : at(turn(s, tmp), whole());

    collopt_round(s);
    if (sends)
        collopt_send(s, peer, mine);
    collopt_receive(s, peer, theirs);
    collopt_combine(s, out(whole()), mine, theirs);
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    int steps = log2_floor(p->ranks);
    struct collopt_fold_pairs f = collopt_fold_pairs(p->ranks, 1 << steps, rank);
    struct turns tmp = { .slots = 2 };

    if (f.index < 0) {
        collopt_send(s, rank + 1, in(whole()));
        collopt_round(s);
        collopt_receive(s, rank + 1, out(whole()));
        return;
    }
    if (f.folded)
        exchange(s, rank - 1, false, true, &tmp);
    for (int k = 0; k < steps; k++)
        exchange(s, partner(p->ranks, f.index, k), true, k == 0 && !f.folded, &tmp);
    if (f.folded) {
        collopt_round(s);
        collopt_send(s, rank - 1, out(whole()));
    }
    if (p->ranks == 1)
        collopt_copy(s, out(whole()), in(whole()));
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    double m = vector_bytes(p);

    if (p->ranks != 1 << log2_floor(p->ranks))
        collopt_messages(t, 2, (struct collopt_messages){ .pattern = COLLOPT_TREE, .distance = 1,
                                                          .bytes = m, .combined = m / 2 });
    for (int s = 0; s < log2_floor(p->ranks); s++)
        collopt_messages(t, 1, (struct collopt_messages){ .pattern = COLLOPT_SWING,
                                                          .distance
                                                              = abs(collopt_swing_distance(s)),
                                                          .bytes = m, .combined = m });
}

const struct collopt_algorithm collopt_allreduce_swing_latency = {
    .name = "swing_latency",
    .summary = "whole vectors exchanged over near ranks first; short vectors, exact operations",
    .collective = COLLOPT_ALLREDUCE, .order = COLLOPT_COMMUTATIVE, .identical = false,
    .rounds = "F, folded: F + 2", .bytes = "F m, folded: (F+1) m",
    .when = "short vectors where near ranks are near",
    .source = "De Sensi et al., NSDI 2024 (arXiv 2401.09356)", .traffic = traffic, .build = build,
};
