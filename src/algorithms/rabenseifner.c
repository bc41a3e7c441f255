/* Rabenseifner's allreduce: reduce-scatter by halving the vector over doubling distances, then
 * allgather back the same way.
 *
 * In round k partners 2^k apart halve the part of the vector they share: each sends the half it
 * gives up and combines the half it keeps. Distances double, so groups that are combined are
 * neighbours and rank order is kept. Where p is not a power of two, neighbouring pairs are folded
 * before, each rank of a pair combining one half. Cost: 2 log2 p rounds, 2 (p-1)/p m sent, (p-1)/p
 * m combined; with folding three more rounds, 3/2 m and m/2. Scratch: 3/8 m, with folding 3/4 m.
 * Any operation. For medium and long vectors on a power of two of ranks. Rabenseifner, ICCS 2004;
 * halves in the folding: Thakur, Rabenseifner and Gropp, IJHPCA 19 (2005). */
#include "config.h"

#include "algorithm.h"

/* The state of one rank. */
struct way {
    struct collopt_schedule *s;
    int rank, index, partition;
    int place;                  /* where its share lies: IN until it has been combined */
    struct turns tmp;
};

/* Sends GIVE to PEER, receives its contribution to KEEP, and combines. */
static void exchange(struct way *w, int peer, struct collopt_block give, struct collopt_block keep)
{
    struct collopt_region theirs =
        w->place == COLLOPT_IN ? out(keep) : at(turn(w->s, &w->tmp), keep);

    collopt_round(w->s);
    collopt_send(w->s, peer, at(w->place, give));
    collopt_receive(w->s, peer, theirs);
    merge(w->s, out(keep), at(w->place, keep), theirs, peer < w->rank);
}

/* The pair's lower rank stands aside with the upper half combined; the upper rank ends with both
 * halves. */
static void fold(struct way *w, int parts)
{
    struct collopt_block low = block(w->partition, 0, parts / 2),
                         high = block(w->partition, parts / 2, parts / 2);
    bool upper = w->index >= 0;
    int peer = upper ? w->rank - 1 : w->rank + 1;

    exchange(w, peer, upper ? high : low, upper ? low : high);
    collopt_round(w->s);
    if (upper)
        collopt_receive(w->s, peer, out(high));
    else
        collopt_send(w->s, peer, out(high));
    w->place = COLLOPT_OUT;
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct collopt_fold_pairs f = collopt_fold_pairs(p->ranks, 1 << log2_floor(p->ranks), rank);
    int levels = log2_floor(p->ranks), parts = 1 << levels, first = 0;
    struct way w = { s, rank, f.index, collopt_partition(s, parts), COLLOPT_IN, { .slots = 2 } };

    if (f.folded)
        fold(&w, parts);
    for (int k = 0; k < levels && f.index >= 0; k++) {
        int half = parts >> (k + 1), bit = f.index >> k & 1;
        struct collopt_block low = block(w.partition, first, half),
                             high = block(w.partition, first + half, half);

        exchange(&w, collopt_fold_rank(p->ranks, 1 << log2_floor(p->ranks), f.index ^ 1 << k),
                 bit ? low : high, bit ? high : low);
        w.place = COLLOPT_OUT;
        first += bit ? half : 0;
    }
    for (int k = levels - 1; k >= 0 && f.index >= 0; k--) {
        int half = parts >> (k + 1), bit = f.index >> k & 1;
        int peer = collopt_fold_rank(p->ranks, 1 << log2_floor(p->ranks), f.index ^ 1 << k);
        int other = bit ? first - half : first + half;

        collopt_round(s);
        collopt_send(s, peer, out(block(w.partition, first, half)));
        collopt_receive(s, peer, out(block(w.partition, other, half)));
        first = least(first, other);
    }
    if (f.folded) {
        collopt_round(s);
        if (f.index >= 0)
            collopt_send(s, rank - 1, out(whole()));
        else
            collopt_receive(s, rank + 1, out(whole()));
    }
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    double m = vector_bytes(p);

    if (p->ranks != 1 << log2_floor(p->ranks))
        collopt_messages(t, 3, (struct collopt_messages){ .pattern = COLLOPT_TREE, .distance = 1,
                                                          .bytes = m / 2, .combined = m / 6 });
    collopt_traffic_halving(t, p->ranks, m, 1);
    collopt_traffic_halving(t, p->ranks, m, 0);
}

const struct collopt_algorithm collopt_allreduce_rabenseifner = {
    .name = "rabenseifner",
    .summary = "halving over doubling distances, then back; long vectors, a power of two of ranks",
    .collective = COLLOPT_ALLREDUCE, .order = COLLOPT_IN_ORDER,
    .source = "Rabenseifner, ICCS 2004; Thakur, Rabenseifner and Gropp, IJHPCA 19 (2005)",
    .traffic = traffic, .build = build,
};
