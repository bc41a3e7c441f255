/* Transpose for Scan and Exscan: the owner of a part of the vector makes the prefixes of its group's ranks.
 *
 * Groups of g neighbouring ranks cut the vector into g parts.  Each rank receives its part from all ranks of its
 * group, adds them up and learns what the groups below have summed up to (an Exscan among the owners of the same
 * part, by pairwise_doubling); from there it makes the prefix of each rank of its group, and hands it to that rank.
 * One group of all ranks needs no Exscan.
 * Cost: 2 (g-1) + log2 n rounds and (2 (g-1) + log2 n) m/g, n = p/g; about 2m combined.  Scratch: about m.  In rank
 * order.
 * Use it for medium and long vectors: no prefix travels through others, as in chains and trees, whose pipelines have
 * to be filled, and only 1/g of a vector is sent for each level of a tree.  Small groups for medium vectors, since
 * messages overlap in a group.
 * Pairwise exchange is folklore; prefixes at the owner: collopt. */
#include "config.h"

#include <stdlib.h>

#include "algorithm.h"
#include "select/model.h"

extern const struct collopt_algorithm collopt_exscan_pairwise_doubling, collopt_exscan_transpose;

static int width_of(const struct collopt_problem *p)
{
    return p->value[0] < (size_t)p->ranks ? (int)p->value[0] : p->ranks;
}

/* One rank, number INDEX of WIDTH in its group. */
struct member {
    struct collopt_schedule *s;
    const struct collopt_problem *p;
    int rank, index, group, width, groups;
    int parts;
    struct collopt_block mine;
    bool exclusive;
    struct collopt_region *operand, *result;    /* [width] what ranks of the group contribute to MINE, and what they are to get */
};

/* Nobody's prefix has the last rank of an Exscan in it. */
static bool contributes(const struct member *m, int index)
{
    return !m->exclusive || m->group < m->groups - 1 || index < m->width - 1;
}

/* Everybody of a group sends everybody his part. */
static void exchange(struct member *m)
{
    int first = m->rank - m->index;

    m->operand[m->index] = in(m->mine);
    for (int j = 1; j < m->width; j++) {
        int to = modulo(m->index + j, m->width), from = modulo(m->index - j, m->width);

        collopt_round(m->s);
        if (contributes(m, m->index))
            collopt_send(m->s, first + to, in(block(m->parts, to, 1)));
        if (!contributes(m, from))
            continue;
        m->operand[from] = at(collopt_packed_slot(m->s), m->mine);
        collopt_receive(m->s, first + from, m->operand[from]);
    }
}

/* What the last group sums up to is of no use. */
static int add_up(struct member *m)
{
    struct collopt_row row = { .operands = 0 };

    if (m->group == m->groups - 1)
        return COLLOPT_IN;
    row.to = at(collopt_vector_slot(m->s, m->mine), m->mine);
    for (int i = 0; i < m->width; i++)
        collopt_row_add(m->s, &row, m->operand[i]);
    collopt_row_finish(m->s, &row);
    return row.to.place;
}

/* The sum of all groups below, where there are any.  It is the first rank's prefix in an Exscan. */
static struct collopt_region carry(struct member *m)
{
    static const struct collopt_inner inner = { .algorithm = &collopt_exscan_pairwise_doubling, .segments = 1 };
    int *member = collopt_workspace(m->s, (size_t)m->groups * sizeof *member);
    struct collopt_phase phase = { .name = "carry", .ranks = m->groups, .index = m->group, .member = member, .whole = m->mine,
                                   .in = add_up(m), .out = COLLOPT_OUT };

    if (!member)
        return in(m->mine);
    for (int i = 0; i < m->groups; i++)
        member[i] = i * m->width + m->index;
    if (m->group > 0 && (!m->exclusive || m->index > 0))
        phase.out = collopt_vector_slot(m->s, m->mine);
    collopt_phase(m->s, m->p, &phase, &inner);
    free(member);
    return at(phase.out, m->mine);
}

/* Each prefix from the one before, or from BELOW, where its last operand is; that must not be IN, and this rank's own is
 * to be in OUT. */
static void extend(struct member *m, const struct collopt_region *below)
{
    struct collopt_region sum = below ? *below : m->operand[0];

    m->result[0] = sum;
    for (int last = 0; last + m->exclusive < m->width; last++) {
        struct collopt_region to = m->operand[last];

        if (last + m->exclusive == m->index && m->rank > 0)
            to = out(m->mine);
        else if (last == m->index && (last > 0 || below))
            to = at(collopt_packed_slot(m->s), m->mine);
        if (last > 0 || below)
            collopt_combine(m->s, to, sum, m->operand[last]);
        else if (to.place == COLLOPT_OUT)
            collopt_copy(m->s, to, sum);
        sum = to;
        m->result[last + m->exclusive] = sum;
    }
}

/* Rank 0 has no prefix but its own vector. */
static void hand_out(struct member *m)
{
    int first = m->rank - m->index;

    for (int j = 1; j < m->width; j++) {
        int to = modulo(m->index + j, m->width), from = modulo(m->index - j, m->width);

        collopt_round(m->s);
        if (first + to > 0)
            collopt_send(m->s, first + to, m->result[to]);
        if (m->rank > 0)
            collopt_receive(m->s, first + from, out(block(m->parts, from, 1)));
    }
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    int width = width_of(p), parts = collopt_partition(s, width);
    struct member m = { .s = s, .p = p, .rank = rank, .index = rank % width, .group = rank / width, .width = width,
                        .groups = p->ranks / width, .parts = parts, .mine = block(parts, rank % width, 1),
                        .exclusive = p->collective == COLLOPT_EXSCAN };
    struct collopt_region below;

    m.operand = collopt_workspace(s, 2 * (size_t)width * sizeof *m.operand);
    if (!m.operand)
        return;
    m.result = m.operand + width;
    exchange(&m);
    if (m.groups > 1)
        below = carry(&m);
    extend(&m, m.group > 0 ? &below : NULL);
    hand_out(&m);
    if (rank == 0 && !m.exclusive)
        collopt_copy(s, out(whole()), in(whole()));
    free(m.operand);
}

/* ---- costs ------------------------------------------------------------------------------------------------------------ */

struct work {                   /* of one rank, in parts */
    int combined, scratch;
};

/* What pairwise_doubling does in group K of N. */
static struct work carrying(int k, int n)
{
    struct work w = { 0, 0 };
    bool has_prefix = false, has_sum = false;

    for (int d = 1; d < n; d *= 2) {
        bool upper = k & d, keeps = k + 2 * d < n;

        w.combined += keeps + (upper && has_prefix);
        w.scratch += ((upper && has_prefix) || (!upper && keeps)) + (upper && keeps && !has_sum);
        has_sum |= keeps;
        has_prefix |= upper;
    }
    w.scratch = least(w.scratch, 3);
    return w;
}

/* The busiest rank of group K. */
static struct work work_of(const struct collopt_problem *p, int k, int width)
{
    int groups = p->ranks / width, exclusive = p->collective == COLLOPT_EXSCAN;
    bool first = k == 0, last = k == groups - 1;
    struct work w = carrying(k, groups);

    w.combined += most(width - exclusive - first, 0) + (last ? 0 : width - 1);
    w.scratch += width - 1 + !last + !first + (exclusive && !last && width > 2);
    return w;
}

static void cost(const struct collopt_problem *p, struct collopt_cost *c)
{
    int width = width_of(p), groups = p->ranks / width, messages = 2 * (width - 1) + log2_ceil(groups);
    struct work busiest = { 0, 0 };

    for (int k = 0; k < groups; k++) {
        struct work w = work_of(p, k, width);

        busiest.combined = most(busiest.combined, w.combined);
        busiest.scratch = most(busiest.scratch, w.scratch);
    }
    c->rounds = messages;
    c->bytes = messages * vector_bytes(p) / width;
    c->combined = busiest.combined * vector_bytes(p) / width;
    c->scratch = busiest.scratch * vector_bytes(p) / width;
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    int width = width_of(p);
    double m = vector_bytes(p);

    if (width == p->ranks) {
        collopt_traffic_exchange(t, p, m);
        collopt_traffic_exchange(t, p, 0);
        return;
    }

    collopt_messages(t, 2, (struct collopt_messages){ .pattern = COLLOPT_PAIRS, .distance = 1, .bytes = m / width,
                                                      .combined = m, .fan = width - 1 });
    for (int d = 1; d * width < p->ranks; d *= 2)
        collopt_messages(t, 1, (struct collopt_messages){ .pattern = COLLOPT_PAIRS, .distance = d * width, .bytes = m / width,
                                                          .combined = m / width });
}

/* All ranks, or one of the least divisors of their number.  On a grid what wide groups exchange shares more links than is
 * predicted: Scan of 4 MiB on a 4x4x4 torus by a width of 32 is simulated to take 718 us, for 536. */
static size_t width(const struct collopt_problem *p)
{
    enum { MOST = 64, MOST_ON_GRID = 16 };
    struct collopt_problem with = *p;
    size_t best = with.value[0] = (size_t)most(p->ranks, 2);
    double least_time = p->ranks > 2 ? collopt_model(&collopt_exscan_transpose, &with) : 0;

    for (int g = least(p->topology->wired ? MOST_ON_GRID : MOST, p->ranks / 2); g >= 2; g--) {
        double time;

        if (p->ranks % g)
            continue;
        with.value[0] = (size_t)g;
        time = collopt_model(&collopt_exscan_transpose, &with);
        if (time < least_time) {
            least_time = time;
            best = (size_t)g;
        }
    }
    return best;
}

static bool usable(const struct collopt_problem *p)
{
    return p->ranks % width_of(p) == 0;
}

#define WIDTH \
    { .name = "width", .least = 2, .most = (size_t)1 << 31, .preset = width, \
      .help = "neighbouring ranks that exchange parts; divides the ranks" }

static const char source[] = "pairwise exchange: folklore; prefixes at the owner: collopt";
static const char summary[] = "for every part, a rank of its own makes all prefixes of a group; medium and long vectors";
static const char unfit[] = "its width does not divide the ranks";
static const char rounds[] = "2 (g-1) + log2(p/g), g the width", bytes[] = "(2 (g-1) + log2(p/g)) m/g";

const struct collopt_algorithm collopt_scan_transpose = {
    .name = "transpose", .summary = summary,
    .collective = COLLOPT_SCAN, .order = COLLOPT_IN_ORDER, .identical = true,
    .rounds = rounds, .bytes = bytes,
    .when = "medium and long vectors", .source = source,
    .parameter = { WIDTH }, .usable = usable, .unfit = unfit,
    .cost = cost, .traffic = traffic, .build = build,
};

const struct collopt_algorithm collopt_exscan_transpose = {
    .name = "transpose", .summary = summary,
    .collective = COLLOPT_EXSCAN, .order = COLLOPT_IN_ORDER, .identical = true,
    .rounds = rounds, .bytes = bytes,
    .when = "medium and long vectors", .source = source,
    .parameter = { WIDTH }, .usable = usable, .unfit = unfit,
    .cost = cost, .traffic = traffic, .build = build,
};
