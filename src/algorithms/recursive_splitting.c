/* Recursive splitting: reduce-scatter, and the way back, by groups of several ranks that exchange
 * parts of what they share.
 *
 * On a level of radix f the ranks of a group share a window of the vector. They split it into f
 * parts, each sends every other one that one's part (along lines of the machine's grid, the
 * farthest first), and combines what it has got for its own, in one pass. So recursive halving and
 * Rabenseifner's algorithm are those of radix 2; a larger radix has fewer levels, and the messages
 * of a level are under way together. On the way back the same groups exchange what they have, or,
 * of a Reduce, give it to the one that is in the group as the root is in its own. Where windows
 * have become short, it is faster not to split them further: beyond the first "splits" levels the
 * ranks of an Allreduce's group exchange their windows whole, those of a Reduce's send theirs to
 * one of them, and there is no way back. Allreduce and Reduce begin with neighbours, so rank order
 * is kept. A Reduce_scatter begins with ranks that are far apart, as its windows are those of
 * neighbours: commutative operations only (near_splitting, strided_splitting: any). No prime factor
 * of p may be above the radix. radices=8x2x8 are the levels one by one, as they come; on the
 * machine's grid they go along its sides, so that groups are on lines.
 * An Allreduce's or Reduce's vector may be cut in "chunks", which go through the levels one behind
 * the other, each beginning when the one before is through the first level: then links between
 * nodes carry one chunk while another is combined inside them (Allreduce of 4 MiB on 64 simulated
 * ranks of a dragonfly: 804 us in one chunk, 676 in four). Or in "strands", which begin
 * together, each on another level, and go round: on a grid each is on links along a side of its
 * own, by radices=4x4x4 of a torus of 4x4x4 in three strands. They do not combine in rank
 * order. Cost: sum of (f-1) messages, (p-1)/p m; with the way back twice as much; (p-1)/p m
 * combined. A level that is not split: f-1 windows sent and combined. With c chunks c times as many
 * messages. Scratch: about m.
 * Use it for medium vectors where messages of one rank overlap.
 * As recursive multiplying, Ruefenacht, Bull and Booth, EuroMPI 2016, with the parts of
 * Rabenseifner, ICCS 2004; in MPICH "recexch". Short ways inside long ones: van de Geijn, J.
 * Parallel Distrib. Comput. 22 (1994). Chunks that overlap levels, in a node and between nodes
 * there: Luo et al., HAN, CLUSTER 2020. Strands along the sides of a grid, of rings: Jain and
 * Sabharwal, ICS 2010; Sack and Gropp, ACM Trans. Parallel Comput. 1, 2 (2015). */
#include "config.h"

#include "splitting.h"

/* PIECE, cut in windows. */
static struct collopt_window begin(struct collopt_schedule *s, const struct collopt_problem *p,
                                   int rank, const struct collopt_course *c,
                                   struct collopt_block piece)
{
    return collopt_window(s, p, rank, collopt_partition_block(s, piece, c->windows), c->windows);
}

/* Returns the round of the first level. */
static int scatter(struct collopt_window *w, const struct collopt_course *c)
{
    int begun = 0;

    for (int l = 0; l < c->splits; l++) {
        collopt_split(w, c->width[l], c->radix[l], false);
        if (l == 0)
            begun = collopt_round_number(w->s);
    }
    return begun;
}

/* Begins a multicast in this rank's group: F ranks, WIDTH apart. */
static void begin_multicast(const struct collopt_window *w, int width, int f)
{
    int member[COLLOPT_FOLD_OPERANDS], first = w->rank - collopt_digit(w->rank, width, f) * width;

    for (int i = 0; i < f; i++)
        member[i] = first + i * width;
    collopt_multicast(w->s, f, member);
}

/* F ranks, WIDTH apart, combine their windows: all of them, or the one whose digit is TO. */
static void combine_whole(struct collopt_window *w, int width, int f, int to)
{
    int digit = collopt_digit(w->rank, width, f), others[COLLOPT_FOLD_OPERANDS];
    struct collopt_block own = block(w->partition, w->first, w->parts);
    struct collopt_region operand[COLLOPT_FOLD_OPERANDS];

    collopt_farthest_first(w->topology, width, f, digit, others);
    collopt_round(w->s);
    if (to < 0)
        begin_multicast(w, width, f);
    for (int j = 1; j < f; j++) {
        int next = others[j - 1], from = modulo(digit - j, f);

        if (to < 0 || to == next)
            collopt_send(w->s, w->rank + (next - digit) * width, at(w->mine, own));
        operand[from] = at(to < 0 || to == digit ? collopt_packed_slot(w->s) : w->mine, own);
        if (to < 0 || to == digit)
            collopt_receive(w->s, w->rank + (from - digit) * width, operand[from]);
    }
    collopt_multicast(w->s, 0, NULL);
    operand[digit] = at(w->mine, own);
    if (to < 0 || to == digit)
        collopt_fold(w->s, at(w->sums, own), f, operand);
}

/* The window before it was split among F; this rank has part DIGIT of it. */
static void widen(struct collopt_window *w, int f, int digit)
{
    w->first -= w->parts * digit;
    w->parts *= f;
}

/* The way of a PIECE of the vector through the levels; returns the round of the first one. */
static int allreduce_piece(struct collopt_schedule *s, const struct collopt_problem *p, int rank,
                           const struct collopt_course *c, struct collopt_block piece)
{
    struct collopt_window w = begin(s, p, rank, c, piece);
    int begun = scatter(&w, c);

    for (int l = c->splits; l < c->levels; l++)
        combine_whole(&w, c->width[l], c->radix[l], -1);
    for (int l = c->splits - 1; l >= 0; l--) {
        int f = c->radix[l], width = c->width[l], digit = collopt_digit(rank, width, f),
            others[COLLOPT_FOLD_OPERANDS];
        struct collopt_block own = block(w.partition, w.first, w.parts);

        collopt_farthest_first(p->topology, width, f, digit, others);
        widen(&w, f, digit);
        collopt_round(s);
        begin_multicast(&w, width, f);
        for (int j = 1; j < f; j++) {
            int to = others[j - 1], from = modulo(digit - j, f);

            collopt_send(s, rank + (to - digit) * width, out(own));
            collopt_receive(s, rank + (from - digit) * width,
                            out(collopt_window_part(&w, f, from)));
        }
        collopt_multicast(s, 0, NULL);
    }
    return begun;
}

/* Only the root needs room for more than it has after the first level. */
static int sums_of_reduce(const struct collopt_window *w, const struct collopt_problem *p,
                          const struct collopt_course *c)
{
    int f = c->radix[0], digit = collopt_digit(w->rank, c->width[0], f);

    return w->rank == p->root ? COLLOPT_OUT
                              : collopt_vector_slot(w->s, collopt_window_part(w, f, digit));
}

static int reduce_piece(struct collopt_schedule *s, const struct collopt_problem *p, int rank,
                        const struct collopt_course *c, struct collopt_block piece)
{
    struct collopt_window w = begin(s, p, rank, c, piece);
    bool done = false;
    int begun;

    w.sums = sums_of_reduce(&w, p, c);
    begun = scatter(&w, c);
    for (int l = c->splits; l < c->levels && !done; l++) {
        int f = c->radix[l], collects = collopt_digit(p->root, c->width[l], f);

        done = collopt_digit(rank, c->width[l], f) != collects;
        combine_whole(&w, c->width[l], f, collects);
    }
    for (int l = c->splits - 1; l >= 0 && !done; l--) {
        int f = c->radix[l], width = c->width[l];
        int digit = collopt_digit(rank, width, f), collects = collopt_digit(p->root, width, f);
        struct collopt_block own = block(w.partition, w.first, w.parts);

        done = digit != collects;
        widen(&w, f, digit);
        collopt_round(s);
        if (done)
            collopt_send(s, rank + (collects - digit) * width, at(w.sums, own));
        for (int j = 1; j < f && !done; j++) {
            int from = (digit + j) % f;

            collopt_receive(s, rank + (from - digit) * width,
                            at(w.sums, collopt_window_part(&w, f, from)));
        }
    }
    return begun;
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    int strands = collopt_split_strands(p), chunks = collopt_split_chunks(p),
        pieces = collopt_partition(s, strands * chunks);

    for (int i = 0; i < strands; i++) {
        struct collopt_course c = collopt_split_course(p, i);

        for (int chunk = 0, begun = 0; chunk < chunks; chunk++) {
            int piece = i * chunks + chunk;

            collopt_strand(s, piece);
            collopt_round(s);
            if (chunk > 0)
                collopt_follow(s, piece - 1, begun);
            begun = (p->collective == COLLOPT_REDUCE ? reduce_piece : allreduce_piece)(
                s, p, rank, &c, block(pieces, piece, 1));
        }
    }
}

static void build_reduce_scatter(struct collopt_schedule *s, const struct collopt_problem *p,
                                 int rank)
{
    struct collopt_levels all = collopt_split_levels(p);
    struct collopt_window w = collopt_window(s, p, rank, collopt_partition_counts(s), p->ranks);
    int f = all.levels ? all.radix[0] : 1, width = p->ranks;

    if (all.levels > 1)
        w.sums = collopt_vector_slot(
            s, block(w.partition, p->ranks / f * (rank / (p->ranks / f)), p->ranks / f));
    for (int l = 0; l < all.levels; l++)
        collopt_split(&w, width /= all.radix[l], all.radix[l], l == all.levels - 1);
}

/* ---- traffic --------------------------------------------------------------------------------- */

/* There and back along a strand's levels; TIMES of it. */
static void add_strand(const struct collopt_problem *p, const struct collopt_course *c,
                       double bytes, double times, struct collopt_traffic *t)
{
    bool reduce = p->collective == COLLOPT_REDUCE;
    /* else a node's ranks that collect windows share its port */
    bool alone = p->abreast == 0 && p->topology->largest <= 1;

    for (int l = 0; l < c->levels; l++) {
        struct collopt_messages m =
            collopt_split_messages(c->radix[l], c->width[l],
                                   bytes /= l < c->splits ? c->radix[l] : 1);

        m.strands = collopt_split_strands(p);
        m.combined = (c->radix[l] - 1) * bytes;
        m.pattern = reduce && l >= c->splits && alone ? COLLOPT_TREE : m.pattern;
        m.multicast = !reduce && l >= c->splits;
        collopt_messages(t, times, m);
        m.multicast = !reduce;
        m.combined = 0;
        m.pattern = reduce ? COLLOPT_TREE : m.pattern;
        collopt_messages(t, l < c->splits ? times : 0, m);
    }
}

/* Each strand counts 1 / strands: the prediction is their mean time. */
static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    int strands = collopt_split_strands(p), chunks = collopt_split_chunks(p);

    collopt_chunks(t, chunks);
    for (int i = 0; i < strands; i++) {
        struct collopt_course c = collopt_split_course(p, i);

        add_strand(p, &c, vector_bytes(p) / strands / chunks, 1.0 / strands, t);
    }
    collopt_chunks_end(t);
}

static void traffic_reduce_scatter(const struct collopt_problem *p, struct collopt_traffic *t)
{
    struct collopt_levels all = collopt_split_levels(p);
    double bytes = vector_bytes(p);
    int width = p->ranks;

    for (int l = 0; l < all.levels; l++) {
        struct collopt_messages m =
            collopt_split_messages(all.radix[l], width /= all.radix[l], bytes /= all.radix[l]);

        m.combined = (all.radix[l] - 1) * bytes;
        collopt_messages(t, 1, m);
    }
}

extern const struct collopt_algorithm collopt_reduce_recursive_splitting;

/* Of Reduce and Allreduce: the model looks at the problem's collective. */
static size_t splits(const struct collopt_problem *p)
{
    return collopt_split_preset_splits(&collopt_reduce_recursive_splitting, p);
}

static size_t chunks(const struct collopt_problem *p)
{
    return collopt_split_preset_chunks(&collopt_reduce_recursive_splitting, p);
}

static size_t strands(const struct collopt_problem *p)
{
    return collopt_split_preset_strands(&collopt_reduce_recursive_splitting, p);
}

COLLOPT_SPLIT_LEVEL_PRESETS(reduce_recursive_splitting, false)
COLLOPT_SPLIT_LEVEL_PRESETS(reduce_scatter_recursive_splitting, true)

static bool usable_in_strands(const struct collopt_problem *p)
{
    return collopt_split_usable(p) && (collopt_split_strands(p) == 1 || p->commutative);
}

#define SPLITTING \
    .name = "recursive_splitting", \
    .source = "parts: Rabenseifner, ICCS 2004; radices: Ruefenacht, Bull and Booth, EuroMPI 2016" \
              "; in MPICH"

COLLOPT_REDUCE_AND_ALLREDUCE(recursive_splitting,
    SPLITTING, .order = COLLOPT_IN_ORDER,
    .summary = "groups of several ranks exchange parts, then results; medium vectors",
    .parameter = { COLLOPT_SPLIT_LEVELS(reduce_recursive_splitting), COLLOPT_SPLITS(splits),
                   COLLOPT_CHUNKS(chunks), COLLOPT_STRANDS(strands) },
    .usable = usable_in_strands,
    .unfit = COLLOPT_SPLIT_UNFIT ", or it has several strands and the operation does not commute",
    .traffic = traffic, .build = build);

COLLOPT_SCATTER_AND_BLOCK(recursive_splitting,
    SPLITTING, .order = COLLOPT_COMMUTATIVE,
    .summary = "groups of several ranks exchange parts; medium vectors",
    .parameter = { COLLOPT_SPLIT_LEVELS(reduce_scatter_recursive_splitting) },
    .usable = collopt_split_usable, .unfit = COLLOPT_SPLIT_UNFIT, .traffic = traffic_reduce_scatter,
    .build = build_reduce_scatter);
