/* Scan and Exscan by windows that become several times as wide in each round: a rank sends the sum
 * it has to several above.
 *
 * A rank has the sum of the w ranks up to itself, or of all from rank 0. In a round of factor f it
 * sends it to those w, 2w ... (f-1) w above, along lines of the machine's grid to the farthest
 * first, and puts what comes from below on the left, in one pass; then it has the sum of f w. The
 * factors are the radix, and in the last round what is left. In an Exscan the sum without its own
 * is kept, and its own is added to what is sent.
 * Cost: rounds of f-1 messages, ceil(log_k p) rounds for radix k; in an Exscan one combine more for
 * each round but the last. Scratch: up to 2 (k-1) vectors, in an Exscan two more. In rank order.
 * Use it for short vectors where a rank's messages overlap: they take one latency together. With
 * radix 2 a Scan is recursive doubling: Hillis and Steele, Commun. ACM 29 (1986); with higher
 * radices, as adders in hardware: Gurkaynak, Leblebici, Chaouati and McGuinness, ISCAS 2000. */
#include "config.h"

#include "algorithm.h"

struct level {
    int ranks, radix;
    int width, factor;
};

static int radix_of(const struct collopt_problem *p)
{
    return most((int)p->value[0], 2);   /* recursive doubling has no parameter */
}

/* The round in which windows of WIDTH grow. */
static struct level level_of(int ranks, int radix, int width)
{
    return (struct level){ ranks, radix, width, least(radix, (ranks - 1) / width + 1) };
}

static struct level first_level(const struct collopt_problem *p)
{
    return level_of(p->ranks, radix_of(p), 1);
}

static bool is_level(struct level l)
{
    return l.width < l.ranks;
}

/* The next one, if there is one. */
static struct level next_level(struct level l)
{
    int64_t width = (int64_t)l.width * l.factor;

    return level_of(l.ranks, l.radix, width < l.ranks ? (int)width : l.ranks);
}

static int slots_of(int ranks, int radix)
{
    return 2 * (level_of(ranks, radix, 1).factor - 1);
}

/* Messages that come to RANK in a round. */
static int received(struct level l, int rank)
{
    return least(l.factor - 1, rank / l.width);
}

static bool sends(struct level l, int rank)
{
    return rank < l.ranks - l.width;
}

/* The messages of a round; what comes is added to ROW, lower ranks first. FREE: one may come to
 * OUT, as nothing is there. */
static void exchange(struct collopt_schedule *s, const struct collopt_topology *t, struct level l,
                     int rank, struct collopt_region mine, bool free, struct turns *tmp,
                     struct collopt_row *row)
{
    int steps[COLLOPT_FOLD_OPERANDS];

    collopt_farthest_first(t, l.width, l.factor, 0, steps);
    collopt_round(s);
    for (int i = 0; i < l.factor - 1; i++)
        if (rank < l.ranks - steps[i] * l.width)
            collopt_send(s, rank + steps[i] * l.width, mine);
    for (int j = received(l, rank); j >= 1; j--) {
        struct collopt_region below = free && j == 1 ? out(whole()) : at(turn(s, tmp), whole());

        collopt_receive(s, rank - j * l.width, below);
        collopt_row_add(s, row, below);
    }
}

static void build_scan(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct collopt_region mine = in(whole());
    struct turns tmp = { .slots = slots_of(p->ranks, radix_of(p)) };

    if (rank == 0)
        collopt_copy(s, out(whole()), mine);
    for (struct level l = first_level(p); is_level(l); l = next_level(l)) {
        struct collopt_row row = { .to = out(whole()) };

        exchange(s, p->topology, l, rank, mine, mine.place == COLLOPT_IN, &tmp, &row);
        if (row.operands == 0)
            continue;
        collopt_row_add(s, &row, mine);
        collopt_row_flush(s, &row);
        mine = out(whole());
    }
}

static void build_exscan(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct collopt_region with_own = in(whole());
    struct turns tmp = { .slots = slots_of(p->ranks, radix_of(p)) }, sums = { .slots = 2 };
    bool have = false;

    for (struct level l = first_level(p); is_level(l); l = next_level(l)) {
        struct collopt_row row = { .to = out(whole()) };

        exchange(s, p->topology, l, rank, with_own, !have, &tmp, &row);
        if (row.operands == 0)
            continue;
        if (have)
            collopt_row_add(s, &row, out(whole()));
        collopt_row_flush(s, &row);
        have = true;
        if (sends(next_level(l), rank)) {
            with_own = at(turn(s, &sums), whole());
            collopt_combine(s, with_own, out(whole()), in(whole()));
        }
    }
}

void collopt_traffic_scan_multiplying(struct collopt_traffic *t, int ranks, int radix, int apart,
                                      double bytes)
{
    for (struct level l = level_of(ranks, radix, 1); is_level(l); l = next_level(l))
        collopt_messages(t, 1, (struct collopt_messages){ .pattern = COLLOPT_UPWARDS,
                                                          .distance = l.width * apart,
                                                          .bytes = bytes,
                                                          .combined = (l.factor - 1) * bytes,
                                                          .fan = l.factor - 1,
                                                          .farthest_first = true, .uneven = 1.2 });
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    collopt_traffic_scan_multiplying(t, p->ranks, radix_of(p), 1, vector_bytes(p));
}

extern const struct collopt_algorithm collopt_scan_recursive_multiplying;

static size_t radix(const struct collopt_problem *p)
{
    return collopt_preset_radix(&collopt_scan_recursive_multiplying, p, 0);
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    (p->collective == COLLOPT_SCAN ? build_scan : build_exscan)(s, p, rank);
}

#define DOUBLING "Hillis and Steele, Commun. ACM 29 (1986)"

const struct collopt_algorithm collopt_scan_recursive_doubling = {
    .name = "recursive_doubling", .summary = "sums sent up over doubling distances; short vectors",
    .collective = COLLOPT_SCAN, .order = COLLOPT_IN_ORDER, .source = DOUBLING, .traffic = traffic,
    .build = build,
};

COLLOPT_SCAN_AND_EXSCAN(recursive_multiplying,
    .name = "recursive_multiplying",
    .summary = "sums sent to several ranks above, over multiplied distances; short vectors",
    .order = COLLOPT_IN_ORDER, .source = DOUBLING "; radices: Gurkaynak et al., ISCAS 2000",
    .parameter = { COLLOPT_RADIX(radix) }, .traffic = traffic, .build = build);
