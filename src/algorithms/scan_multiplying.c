/* Scan and Exscan by windows that become several times as wide in each round: a rank sends the sum it has to several above.
 *
 * A rank has the sum of the w ranks up to itself, or of all from rank 0.  In a round of factor f it sends it to those w, 2w ...
 * (f-1) w above, and puts what comes from below on the left, in one pass; then it has the sum of f w.  The factors are the
 * radix, and in the last round what is left.  In an Exscan the sum without its own is kept, and its own is added to what is
 * sent.
 * Cost: rounds of f-1 messages, ceil(log_k p) rounds for radix k; in an Exscan one combine more for each round but the last.
 * Scratch: up to 2 (k-1) vectors, in an Exscan two more.  In rank order.
 * Use it for short vectors where a rank's messages overlap: they take one latency together.
 * Over doubling distances: Hillis and Steele, Commun. ACM 29 (1986); with higher radices, as adders in hardware: Gurkaynak,
 * Leblebici, Chaouati and McGuinness, ISCAS 2000. */
#include "config.h"

#include "algorithm.h"

struct level {
    int width, factor;
};

/* The round in which windows of WIDTH grow. */
static struct level level_of(const struct collopt_problem *p, int width)
{
    return (struct level){ width, least((int)p->value[0], (p->ranks - 1) / width + 1) };
}

/* The next one; its width is the number of ranks at least, if there is none. */
static struct level next_level(const struct collopt_problem *p, struct level l)
{
    int64_t width = (int64_t)l.width * l.factor;

    return width < p->ranks ? level_of(p, (int)width) : (struct level){ p->ranks, 1 };
}

static int slots_of(const struct collopt_problem *p)
{
    return 2 * (level_of(p, 1).factor - 1);
}

/* Messages that come to RANK in a round. */
static int received(struct level l, int rank)
{
    return least(l.factor - 1, rank / l.width);
}

static bool sends(const struct collopt_problem *p, struct level l, int rank)
{
    return rank < p->ranks - l.width;
}

/* The messages of a round; what comes is added to ROW, lower ranks first.  FREE: one may come to OUT, as nothing is there. */
static void exchange(struct collopt_schedule *s, const struct collopt_problem *p, struct level l, int rank,
                     struct collopt_region mine, bool free, struct turns *tmp, struct collopt_row *row)
{
    collopt_round(s);
    for (int j = 1; j < l.factor && rank < p->ranks - j * l.width; j++)
        collopt_send(s, rank + j * l.width, mine);
    for (int j = received(l, rank); j >= 1; j--) {
        struct collopt_region below = free && j == 1 ? out(whole()) : at(turn(s, tmp), whole());

        collopt_receive(s, rank - j * l.width, below);
        collopt_row_add(s, row, below);
    }
}

static void build_scan(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct collopt_region mine = in(whole());
    struct turns tmp = { .slots = slots_of(p) };

    if (rank == 0)
        collopt_copy(s, out(whole()), mine);
    for (struct level l = level_of(p, 1); l.width < p->ranks; l = next_level(p, l)) {
        struct collopt_row row = { .to = out(whole()) };

        exchange(s, p, l, rank, mine, mine.place == COLLOPT_IN, &tmp, &row);
        if (row.operands == 0)
            continue;
        collopt_row_add(s, &row, mine);
        collopt_row_finish(s, &row);
        mine = out(whole());
    }
}

static void build_exscan(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct collopt_region with_own = in(whole());
    struct turns tmp = { .slots = slots_of(p) }, sums = { .slots = 2 };
    bool have = false;

    for (struct level l = level_of(p, 1); l.width < p->ranks; l = next_level(p, l)) {
        struct collopt_row row = { .to = out(whole()) };

        exchange(s, p, l, rank, with_own, !have, &tmp, &row);
        if (row.operands == 0)
            continue;
        if (have)
            collopt_row_add(s, &row, out(whole()));
        collopt_row_finish(s, &row);
        have = true;
        if (sends(p, next_level(p, l), rank)) {
            with_own = at(turn(s, &sums), whole());
            collopt_combine(s, with_own, out(whole()), in(whole()));
        }
    }
}

/* What RANK does in an Exscan.  Of all that prepare as many sums to be sent, the highest receives most. */
static void exscan_work(const struct collopt_problem *p, int rank, struct collopt_cost *c)
{
    int messages = 0, prepared = 0;

    for (struct level l = level_of(p, 1); l.width < p->ranks; l = next_level(p, l)) {
        messages += received(l, rank);
        prepared += received(l, rank) > 0 && sends(p, next_level(p, l), rank);
    }

    double combined = (most(messages - 1, 0) + prepared) * vector_bytes(p);
    double scratch = (least(most(messages - 1, 0), slots_of(p)) + least(prepared, 2)) * vector_bytes(p);

    c->combined = combined > c->combined ? combined : c->combined;
    c->scratch = scratch > c->scratch ? scratch : c->scratch;
}

static int messages_of(const struct collopt_problem *p)
{
    int messages = 0;

    for (struct level l = level_of(p, 1); l.width < p->ranks; l = next_level(p, l))
        messages += l.factor - 1;
    return messages;
}

static void cost_scan(const struct collopt_problem *p, struct collopt_cost *c)
{
    int messages = messages_of(p);

    c->rounds = messages;
    c->bytes = messages * vector_bytes(p);
    c->combined = c->bytes;
    c->scratch = most(least(messages - 1, slots_of(p)), 0) * vector_bytes(p);
}

static void cost_exscan(const struct collopt_problem *p, struct collopt_cost *c)
{
    cost_scan(p, c);
    c->combined = c->scratch = 0;
    exscan_work(p, p->ranks - 1, c);
    for (struct level l = level_of(p, 1); l.width < p->ranks; l = next_level(p, l))
        exscan_work(p, p->ranks - 1 - l.width, c);
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    double m = vector_bytes(p);

    for (struct level l = level_of(p, 1); l.width < p->ranks; l = next_level(p, l))
        collopt_messages(t, 1, (struct collopt_messages){ .pattern = COLLOPT_UPWARDS, .distance = l.width, .bytes = m,
                                                          .combined = (l.factor - 1) * m, .fan = l.factor - 1, .uneven = 1.2 });
}

extern const struct collopt_algorithm collopt_scan_recursive_multiplying;

static size_t radix(const struct collopt_problem *p)
{
    return collopt_preset_by_model(&collopt_scan_recursive_multiplying, p, 0, 2, COLLOPT_FOLD_OPERANDS);
}

static const char source[] = "Hillis and Steele, Commun. ACM 29 (1986); radices: Gurkaynak et al., ISCAS 2000";

const struct collopt_algorithm collopt_scan_recursive_multiplying = {
    .name = "recursive_multiplying", .summary = "sums sent to several ranks above, over multiplied distances; short vectors",
    .collective = COLLOPT_SCAN, .order = COLLOPT_IN_ORDER, .identical = true,
    .rounds = "(k-1) ceil(log_k p)", .bytes = "(k-1) ceil(log_k p) m",
    .when = "short vectors where messages overlap", .source = source,
    .parameter = { COLLOPT_RADIX(radix) },
    .cost = cost_scan, .traffic = traffic, .build = build_scan,
};

const struct collopt_algorithm collopt_exscan_recursive_multiplying = {
    .name = "recursive_multiplying", .summary = "sums sent to several ranks above, over multiplied distances; short vectors",
    .collective = COLLOPT_EXSCAN, .order = COLLOPT_IN_ORDER, .identical = true,
    .rounds = "(k-1) ceil(log_k p)", .bytes = "(k-1) ceil(log_k p) m",
    .when = "short vectors where messages overlap", .source = source,
    .parameter = { COLLOPT_RADIX(radix) },
    .cost = cost_exscan, .traffic = traffic, .build = build_exscan,
};
