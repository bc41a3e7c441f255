/* Window doubling for Exscan: every rank keeps the sum E of the w ranks just below it, and w grows
 * to 2w or 2w+1 a round.
 *
 * In a round a rank sends either E, which widens the window of the rank w above to 2w, or E op x,
 * which makes it 2w+1 for the rank w+1 above. The widths are the leading bits of a target e >= p-1:
 * a bit 1 costs one combine more, to prepare what is sent. Any e will do; we take one with the
 * fewest bits set among those with the fewest rounds. Cost: ceil(log2 p) rounds and vectors sent;
 * one combine less, and one for each bit of e but the first. In rank order. Use it for short
 * vectors. 1, 3, 6, 12, ... is the 1-2-3 doubling of Traeff, arXiv 2507.04785; e = p-1 that of
 * arXiv 2604.25667. */
#include "config.h"

#include "algorithm.h"

static int bits_set(int e)
{
    int n = 0;

    for (; e; e &= e - 1)
        n++;
    return n;
}

/* The least number of bits set among the numbers from p-1 that are no longer than it. */
static int target(int ranks)
{
    int width = ranks - 1, best = width;

    for (int low = 1; low <= width; low *= 2) {
        int e = (width + low - 1) / low * low;

        if (log2_floor(e) == log2_floor(width) && bits_set(e) < bits_set(best))
            best = e;
    }
    return best;
}

struct step {
    int distance;
    bool with_own;              /* E op x is sent, not E */
};

/* The round after which the window is as wide as the leading bits of E down to BIT. */
static struct step step_of(int e, int bit)
{
    int width = e >> (bit + 1), one = e >> bit & 1;

    return (struct step){ .distance = width + one, .with_own = one };
}

/* Ranks 1 and up have an E from the second round on; rank 0 never. */
static bool sends(struct step k, int rank, int ranks)
{
    return rank + k.distance < ranks && (rank > 0 || k.with_own);
}

static bool receives(struct step k, int rank)
{
    return rank >= k.distance && (rank > k.distance || k.with_own);
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    int e = target(p->ranks);
    struct turns tmp = { .slots = 2 }, sum = { .slots = 1 };
    bool have = false;

    for (int bit = e ? log2_floor(e) : -1; bit >= 0; bit--) {
        struct step k = step_of(e, bit);

        collopt_round(s);
        if (sends(k, rank, p->ranks)) {
            struct collopt_region give = have ? out(whole()) : in(whole());

            if (have && k.with_own) {
                give = at(turn(s, &sum), whole());
                collopt_combine(s, give, out(whole()), in(whole()));
            }
            collopt_send(s, rank + k.distance, give);
        }
        if (receives(k, rank)) {
            struct collopt_region below = have ? at(turn(s, &tmp), whole()) : out(whole());

            collopt_receive(s, rank - k.distance, below);
            if (have)
                collopt_combine(s, out(whole()), below, out(whole()));
            have = true;
        }
    }
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    int e = target(p->ranks);

    for (int bit = e ? log2_floor(e) : -1; bit >= 0; bit--)
        collopt_messages(t, 1, (struct collopt_messages){ .pattern = COLLOPT_UPWARDS,
                                                          .distance = step_of(e, bit).distance,
                                                          .bytes = vector_bytes(p),
                                                          .combined = vector_bytes(p),
                                                          .uneven = 0.5 });
}

const struct collopt_algorithm collopt_exscan_window_doubling = {
    .name = "window_doubling",
    .summary = "windows that double over doubling distances; short vectors",
    .collective = COLLOPT_EXSCAN, .order = COLLOPT_IN_ORDER,
    .source = "Traeff, arXiv 2507.04785 and 2604.25667", .traffic = traffic, .build = build,
};
