/* Transpose for Scan and Exscan: the owner of a part of the vector makes the prefixes of its
 * group's ranks.
 *
 * Groups of g neighbouring ranks cut the vector into g parts. Each rank receives its part from all
 * ranks of its group, adds them up and learns what the groups below have summed up to (an Exscan
 * among the owners of the same part); from there it makes the prefix of each rank of its group, and
 * hands it to that rank. One group of all ranks needs no Exscan. This Exscan is by transpose, too,
 * as often as "splits" says, in groups of as many owners; in the end by pairwise_doubling, or with
 * a radix k above 2 by recursive_multiplying. The vector may be cut in "chunks", each of which
 * begins when the one before has been exchanged in the groups: while owners that are far apart
 * carry one, neighbours exchange another. Cost: for s splits 2 s (g-1) + (k-1) log_k n rounds, n =
 * p/g^s, with a g-th of the vector, of that ...; about 2m combined; c chunks: c times as many
 * rounds of a c-th. Scratch: about m. In rank order. Use it for medium and long vectors: no prefix
 * travels through others, as in chains and trees, whose pipelines have to be filled, and only 1/g
 * of a vector is sent for each level of a tree. Small groups for medium vectors, since messages
 * overlap in a group.
 * Pairwise exchange is folklore; prefixes at the owner: collopt. */
#include "config.h"

#include <stdlib.h>

#include "algorithm.h"
#include "model/model.h"

extern const struct collopt_algorithm collopt_exscan_pairwise_doubling,
    collopt_exscan_recursive_multiplying, collopt_exscan_transpose;

/* Larger groups share links with all that they send at once. */
enum { MOST_RADIX = 4, MOST_SPLITS = 5 };

enum { WIDTH, RADIX, SPLITS, CHUNKS };      /* parameters */

/* A form that the model predicts to be hardly faster may be slower, and the first forms are
 * simpler. Scan of 64 KiB on 8 hosts over TCP takes 4.8 ms by a width of 4, and 5.7 by one of 2
 * and two splits, for which 0.99 times as much is predicted. */
static const double differs = 0.97;

struct variant {
    size_t radix, splits;
};

static int width_of(const struct collopt_problem *p)
{
    return p->value[WIDTH] < (size_t)p->ranks ? (int)p->value[WIDTH] : p->ranks;
}

/* Of the last Exscan among owners; 2: by pairwise_doubling. */
static int radix_of(const struct collopt_problem *p)
{
    return most((int)p->value[RADIX], 2);
}

/* As often groups of owners exchange parts. */
static int splits_of(const struct collopt_problem *p)
{
    return most((int)p->value[SPLITS], 1);
}

static int chunks_of(const struct collopt_problem *p)
{
    return most((int)p->value[CHUNKS], 1);
}

/* One rank, number INDEX of WIDTH in its group, on its way through one chunk. */
struct member {
    struct collopt_schedule *s;
    const struct collopt_problem *p;
    int rank, index, group, width, groups;
    int parts, first_part;      /* the partition; where the chunk begins in it, with a part for each
                                 * of the group */
    struct collopt_block mine;
    bool exclusive;
    struct collopt_region *operand, *result;    /* [width] what ranks of the group contribute to
                                                 * MINE, and what they are to get */
};

static struct collopt_block part_of(const struct member *m, int index)
{
    return block(m->parts, m->first_part + index, 1);
}

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
            collopt_send(m->s, first + to, in(part_of(m, to)));
        if (!contributes(m, from))
            continue;
        m->operand[from] = at(collopt_packed_slot(m->s), m->mine);
        collopt_receive(m->s, first + from, m->operand[from]);
    }
}

/* The total of the last group is not needed. */
static int add_up(struct member *m)
{
    struct collopt_row row = { .operands = 0 };

    if (m->group == m->groups - 1)
        return COLLOPT_IN;
    row.to = at(collopt_vector_slot(m->s, m->mine), m->mine);
    for (int i = 0; i < m->width; i++)
        collopt_row_add(m->s, &row, m->operand[i]);
    collopt_row_flush(m->s, &row);
    return row.to.place;
}

/* The sum of all groups below, where there are any.  It is the first rank's prefix in an Exscan. */
static struct collopt_region carry(struct member *m)
{
    int radix = radix_of(m->p), splits = splits_of(m->p);
    struct collopt_inner inner = { .algorithm = &collopt_exscan_pairwise_doubling, .segments = 1 };
    int *member = collopt_workspace(m->s, (size_t)m->groups * sizeof *member);
    struct collopt_phase phase = { .ranks = m->groups, .index = m->group, .member = member,
                                   .whole = m->mine, .in = add_up(m), .out = COLLOPT_OUT };

    if (!member)
        return in(m->mine);
    if (splits > 1)
        inner = (struct collopt_inner){ &collopt_exscan_transpose,
                                        { (size_t)m->width, (size_t)radix, (size_t)splits - 1 },
                                        1 };
    else if (radix > 2)
        inner = (struct collopt_inner){ &collopt_exscan_recursive_multiplying, { (size_t)radix },
                                        1 };
    for (int i = 0; i < m->groups; i++)
        member[i] = i * m->width + m->index;
    if (m->group > 0 && (!m->exclusive || m->index > 0))
        phase.out = collopt_vector_slot(m->s, m->mine);
    collopt_phase(m->s, m->p, &phase, &inner);
    free(member);
    return at(phase.out, m->mine);
}

/* Each prefix from the one before, or from BELOW, where its last operand is; that must not be IN,
 * and this rank's own is to be in OUT. */
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
            collopt_receive(m->s, first + from, out(part_of(m, from)));
    }
}

/* Writes the schedule of one chunk; returns the number of the round after the exchange. */
static int one_chunk(struct member *m)
{
    struct collopt_region below;
    int begun;

    exchange(m);
    begun = collopt_round_number(m->s);
    if (m->groups > 1)
        below = carry(m);
    extend(m, m->group > 0 ? &below : NULL);
    hand_out(m);
    return begun;
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    int width = width_of(p), begun = 0;
    struct member m = { .s = s, .p = p, .rank = rank, .index = rank % width, .group = rank / width,
                        .width = width, .groups = p->ranks / width,
                        .parts = collopt_partition(s, width * chunks_of(p)),
                        .exclusive = p->collective == COLLOPT_EXSCAN };

    m.operand = collopt_workspace(s, 2 * (size_t)width * sizeof *m.operand);
    if (!m.operand)
        return;
    m.result = m.operand + width;
    for (int i = 0; i < chunks_of(p); i++) {
        m.first_part = i * width;
        m.mine = part_of(&m, m.index);
        collopt_strand(s, i);
        collopt_round(s);
        if (i > 0)
            collopt_follow(s, i - 1, begun);
        begun = one_chunk(&m);
    }
    if (rank == 0 && !m.exclusive)
        collopt_copy(s, out(whole()), in(whole()));
    free(m.operand);
}

/* ---- traffic --------------------------------------------------------------------------------- */

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    int width = width_of(p), radix = radix_of(p), splits = splits_of(p), apart = 1;
    double m = vector_bytes(p) / chunks_of(p);

    if (width == p->ranks) {
        collopt_traffic_exchange(t, p, vector_bytes(p));
        collopt_traffic_exchange(t, p, 0);
        return;
    }
    collopt_chunks(t, chunks_of(p));
    for (int l = 0; l < splits && apart < p->ranks; l++) {
        m /= width;
        collopt_messages(t, 2, (struct collopt_messages){ .pattern = COLLOPT_PAIRS,
                                                          .distance = apart, .bytes = m,
                                                          .combined = width * m,
                                                          .fan = width - 1 });
        apart *= width;
    }
    if (radix > 2)
        collopt_traffic_scan_multiplying(t, p->ranks / apart, radix, apart, m);
    for (int d = apart; radix == 2 && d < p->ranks; d *= 2)
        collopt_messages(t, 1, (struct collopt_messages){ .pattern = COLLOPT_PAIRS, .distance = d,
                                                          .bytes = m, .combined = m });
    collopt_chunks_end(t);
}

/* Does WIDTH divide RANKS as often as SPLITS says, or until there is one group? */
static bool divides(int ranks, int width, int splits)
{
    for (; splits > 0 && ranks > 1; splits--) {
        if (ranks % width)
            return false;
        ranks /= width;
    }
    return true;
}

/* The fastest splits and radix for WITH's width, where it doesn't say them, and the time that they
 * take; no splits: none serves. */
static struct variant best_variant(struct collopt_problem with, double *seconds)
{
    int left = with.ranks, width = width_of(&with), radix = (int)with.value[RADIX],
        splits = (int)with.value[SPLITS];
    struct variant best = { 0, 0 };

    for (int s = 1; s <= MOST_SPLITS && left > 1 && left % width == 0; s++) {
        left /= width;
        for (int k = radix ? radix : 2; k <= (radix ? radix : most(2, least(left, MOST_RADIX)));
             k++) {
            double time;

            if (splits && splits != s && left > 1)
                continue;
            with.value[RADIX] = (size_t)k;
            with.value[SPLITS] = (size_t)s;
            time = collopt_model(&collopt_exscan_transpose, &with);
            if (best.splits == 0 || time < differs * *seconds) {
                *seconds = time;
                best = (struct variant){ (size_t)k, (size_t)(splits ? splits : s) };
            }
        }
    }
    return best;
}

static size_t radix(const struct collopt_problem *p)
{
    double seconds;

    return (size_t)most((int)best_variant(*p, &seconds).radix, 2);
}

static size_t chunks(const struct collopt_problem *p)
{
    if (width_of(p) == p->ranks && p->value[CHUNKS] == 0)       /* there is one level */
        return 1;
    return collopt_preset_chunks(&collopt_exscan_transpose, p, CHUNKS, NULL);
}

static size_t splits(const struct collopt_problem *p)
{
    double seconds;

    return (size_t)most((int)best_variant(*p, &seconds).splits, 1);
}

/* The preset of the width: one of the least divisors of the number of ranks, or all ranks. Wide
 * groups share more links than is predicted: on a 4x4x4 torus a Scan of 4 MiB by a width of 32
 * takes 718 us simulated, 536 predicted; of 512 KiB on 64 ranks of a dragonfly, width 4 and 8, 111
 * and 196 us simulated, 122 and 116 predicted, where a fat tree takes 102 and 97. */
static size_t width(const struct collopt_problem *p)
{
    enum { MOST = 64, MOST_ON_GRID = 16, NARROW = 4 };
    static const double wide = 1.3;
    bool network = !p->topology->wired && (p->abreast > 0 || p->topology->nodes > 1);
    struct collopt_problem with = *p;
    size_t best = with.value[WIDTH] = (size_t)most(p->ranks, 2);
    double least_time = p->ranks > 2 ? collopt_model(&collopt_exscan_transpose, &with) : 0;

    for (int g = least(p->topology->wired ? MOST_ON_GRID : MOST, p->ranks / 2); g >= 2; g--) {
        double time;

        with.value[WIDTH] = (size_t)g;
        with.value[SPLITS] = g > NARROW && network && p->value[SPLITS] == 0 ? 1 : p->value[SPLITS];
        if (p->ranks % g || best_variant(with, &time).splits == 0)
            continue;
        time *= g > NARROW && network ? wide : 1;
        if (time < differs * least_time) {
            least_time = time;
            best = (size_t)g;
        }
    }
    return best;
}

static bool usable(const struct collopt_problem *p)
{
    return divides(p->ranks, width_of(p), splits_of(p));
}

#define WIDTH_PARAMETER \
    { .name = "width", .least = 2, .most = (size_t)1 << 31, .preset = width, \
      .help = "neighbouring ranks that exchange parts; divides the ranks" }

COLLOPT_SCAN_AND_EXSCAN(transpose,
    .name = "transpose",
    .summary = "for every part, a rank of its own makes all prefixes of a group; medium and long "
               "vectors",
    .order = COLLOPT_IN_ORDER,
    .source = "pairwise exchange: folklore; prefixes at the owner: collopt",
    .parameter = { WIDTH_PARAMETER, COLLOPT_RADIX(radix), COLLOPT_SPLITS(splits),
                   COLLOPT_CHUNKS(chunks) },
    .usable = usable, .unfit = "its width does not divide the ranks, as often as its splits say",
    .traffic = traffic, .build = build);
