/* Census: ceil(log2 p) rounds of whole vectors for every p, for operations that do not round.
 *
 * A rank keeps I, the sum of a window of w ranks from itself upwards (cyclic), and, where it will
 * be of use, E, the same without itself. A round doubles the window by adding the I of the rank w
 * above, or makes it 2w - 1 by adding the E of the rank w - 1 above. The windows are p halved and
 * rounded up again and again, backwards.
 * Cost: q = ceil(log2 p) rounds, q m sent, up to (2q - 2) m combined, three vectors of scratch (two
 * for a power of two). Every rank adds in an order of its own: commutative operations only, and
 * only those for which the order does not show. Use it for short vectors where p is not a power of
 * two. Bar-Noy, Kipnis and Schieber, Discrete Appl. Math. 1993. */
#include "config.h"

#include "algorithm.h"

/* Is E sent in a round from K on? */
static bool needs_e(const int *window, int q, int k)
{
    for (; k < q; k++)
        if (window[k + 1] % 2)
            return true;
    return false;
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    int window[COLLOPT_SKIPS], q = collopt_skips(p->ranks, window);
    struct turns tmp = { .slots = 2 };
    struct collopt_region i = in(whole()), e = out(whole());

    if (needs_e(window, q, 1))
        e = at(collopt_packed_slot(s), whole());
    if (p->ranks == 1)
        collopt_copy(s, out(whole()), i);
    for (int k = 0; k < q; k++) {
        bool odd = window[k + 1] % 2;
        int distance = window[k] - odd;
        struct collopt_region theirs = k == 0 ? e : at(turn(s, &tmp), whole());

        collopt_round(s);
        collopt_send(s, modulo(rank - distance, p->ranks), odd ? e : i);
        collopt_receive(s, modulo(rank + distance, p->ranks), theirs);
        collopt_combine(s, out(whole()), i, theirs);
        if (k > 0 && needs_e(window, q, k + 1))
            collopt_combine(s, e, e, theirs);
        i = out(whole());
    }
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    int window[COLLOPT_SKIPS], q = collopt_skips(p->ranks, window);

    for (int k = 0; k < q; k++)
        collopt_messages(t, 1, (struct collopt_messages){ .pattern = COLLOPT_SHIFT,
                                                          .distance = window[k],
                                                          .bytes = vector_bytes(p),
                                                          .combined = vector_bytes(p) });
}

const struct collopt_algorithm collopt_allreduce_census = {
    .name = "census",
    .summary = "fewest rounds for any number of ranks, operations that do not round; short vectors",
    .collective = COLLOPT_ALLREDUCE, .order = COLLOPT_COMMUTATIVE, .identical = false,
    .rounds = "q", .bytes = "q m", .when = "short vectors, p not a power of two",
    .source = "Bar-Noy, Kipnis and Schieber, Discrete Appl. Math. 1993", .traffic = traffic,
    .build = build,
};
