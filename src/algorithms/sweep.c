/* Up and down sweep: a scan with few messages, for networks that many messages congest.
 *
 * Up: of every two neighbouring groups of d ranks, the last rank of the lower sends its sum to the
 * last of the upper, d = 1, 2, 4 ... Down, with d falling: the last rank of a group, which has its
 * prefix by now, sends it to the rank d above, the last of the lower half of the next group.
 * Cost: 2 floor(log2 p) - 1 rounds, one more from 3/2 2^k ranks on, of whole
 * vectors, but fewer than 2p messages in all.  Scratch: up to three vectors.
 * In rank order. Use it for short vectors on congested networks. Brent and Kung, IEEE Trans.
 * Comput. 31 (1982). */
#include "config.h"

#include "algorithm.h"

/* The height at which RANK is the last of the lower group: how often it receives on the way up. */
static int height_of(int rank)
{
    int h = 0;

    while (!((rank + 1) >> h & 1))
        h++;
    return h;
}

struct sweep {
    struct collopt_schedule *s;
    bool exclusive;
    struct collopt_region sum;  /* of the ranks from the group's first up to this one (Exscan: below
                                 * this one) */
    bool empty;                 /* Exscan: there are none */
    struct turns tmp, give;
    struct collopt_region given;        /* the sum with this rank's own, as long as nothing was
                                         * received since */
    bool known;
};

/* Received data belong to the left of the rank's own. */
static void take(struct sweep *w, int from)
{
    bool first = w->exclusive ? w->empty : w->sum.place == COLLOPT_IN;
    struct collopt_region below = first ? out(whole()) : at(turn(w->s, &w->tmp), whole());

    collopt_receive(w->s, from, below);
    if (!(w->exclusive && w->empty))
        collopt_combine(w->s, out(whole()), below, w->sum);
    w->sum = out(whole());
    w->empty = w->known = false;
}

/* The sum with this rank's own. */
static struct collopt_region inclusive(struct sweep *w)
{
    if (!w->exclusive)
        return w->sum;
    if (w->empty)
        return in(whole());
    if (!w->known) {
        w->given = at(turn(w->s, &w->give), whole());
        collopt_combine(w->s, w->given, w->sum, in(whole()));
        w->known = true;
    }
    return w->given;
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    int height = height_of(rank), distance = 1 << height, q = log2_ceil(p->ranks);
    struct sweep w = { .s = s, .exclusive = p->collective == COLLOPT_EXSCAN, .sum = in(whole()),
                       .empty = true, .tmp = { .slots = 2 }, .give = { .slots = 1 } };

    for (int h = 0; h < q; h++) {
        collopt_round(s);
        if (h < height)
            take(&w, rank - (1 << h));
        else if (h == height && rank + distance < p->ranks)
            collopt_send(s, rank + distance, inclusive(&w));
    }
    if (rank >= distance)
        take(&w, rank - distance);

    struct collopt_region whole_sum = height > 0 && rank + 1 < p->ranks ? inclusive(&w) : w.sum;

    for (int h = height - 1; h >= 0; h--) {
        collopt_round(s);
        if (rank + (1 << h) < p->ranks)
            collopt_send(s, rank + (1 << h), whole_sum);
    }
    if (!w.exclusive && w.sum.place == COLLOPT_IN)
        collopt_copy(s, out(whole()), w.sum);
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    double m = vector_bytes(p);

    for (int d = 1; 2 * d <= p->ranks; d *= 2)          /* and down, if there are ranks after the
                                                         * first pair */
        collopt_messages(t, 3 * d <= p->ranks ? 2 : 1,
                         (struct collopt_messages){ .pattern = COLLOPT_TREE, .distance = d,
                                                    .bytes = m, .combined = m });
}

COLLOPT_SCAN_AND_EXSCAN(sweep,
    .name = "sweep",
    .summary = "few messages, up a tree and down; short vectors, congested networks",
    .order = COLLOPT_IN_ORDER, .source = "Brent and Kung, IEEE Trans. Comput. 31 (1982)",
    .traffic = traffic, .build = build);
