/* Inclusive doubling scan: in round k every rank sends the sum it has to the rank 2^k above.
 *
 * Before round k a rank holds the sum of the 2^k ranks up to itself (or of all from rank 0); what
 * it receives is the sum of those just below, so it belongs on the left.
 * Cost: ceil(log2 p) rounds, as many vectors sent and combined, two vectors of scratch. In rank
 * order. Use it for short vectors. Hillis and Steele, Commun. ACM 29 (1986). */
#include "config.h"

#include "algorithm.h"

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct collopt_region mine = in(whole());
    struct turns tmp = { .slots = 2 };

    if (rank == 0)
        collopt_copy(s, out(whole()), mine);
    for (int distance = 1; distance < p->ranks; distance *= 2) {
        collopt_round(s);
        if (rank + distance < p->ranks)
            collopt_send(s, rank + distance, mine);
        if (rank < distance)
            continue;

        struct collopt_region below =
            mine.place == COLLOPT_IN ? out(whole()) : at(turn(s, &tmp), whole());

        collopt_receive(s, rank - distance, below);
        collopt_combine(s, out(whole()), below, mine);
        mine = out(whole());
    }
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    double m = vector_bytes(p);

    /* The lower ranks run ahead, and send to several at once. */
    for (int d = 1; d < p->ranks; d *= 2)
        collopt_messages(t, 1, (struct collopt_messages){ .pattern = COLLOPT_UPWARDS, .distance = d,
                                                          .bytes = m, .combined = m,
                                                          .uneven = 1.2 });
}

const struct collopt_algorithm collopt_scan_recursive_doubling = {
    .name = "recursive_doubling", .summary = "sums sent up over doubling distances; short vectors",
    .collective = COLLOPT_SCAN, .order = COLLOPT_IN_ORDER,
    .source = "Hillis and Steele, Commun. ACM 29 (1986)", .traffic = traffic, .build = build,
};
