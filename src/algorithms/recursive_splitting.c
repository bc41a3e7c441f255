/* Recursive splitting: reduce-scatter, and the way back, by groups of several ranks that exchange parts of what they
 * share.
 *
 * On a level of radix f the ranks of a group share a window of the vector.  They split it into f parts, each sends
 * every other one that one's part (along lines of the machine's grid, the farthest first), and combines what it has
 * got for its own, in one pass.  So recursive halving and Rabenseifner's algorithm are those of radix 2; a larger
 * radix has fewer levels, and the messages of a level are under way together.  On the way back the same groups
 * exchange what they have, or, of a Reduce, give it to the one that is in the group as the root is in its own.
 * Where windows have become short, it is faster not to split them further: beyond the first "splits" levels the ranks of an
 * Allreduce's group exchange their windows whole, those of a Reduce's send theirs to one of them, and there is no way back.
 * Allreduce and Reduce begin with neighbours, so rank order is kept.  A Reduce_scatter begins with ranks that are
 * far apart, as its windows are those of neighbours: commutative operations only.  near_splitting begins with
 * neighbours there, too, which keeps the order, and the longest messages where networks are wide.  On the last level the windows
 * are those of others, whose digits are in reverse: each of these gets its part from all ranks of the group, which takes no round
 * of its own.  No prime factor of p may be above the radix.  radices=8x2x8 are the levels one by one, as they come; on the
 * machine's grid they go along its sides, so that groups are on lines.
 * An Allreduce's or Reduce's vector may be cut in "chunks", which go through the levels one behind the other, each beginning when the
 * one before is through the first level: then links between nodes carry one chunk while another is combined inside them.
 * Cost: sum of (f-1) messages, (p-1)/p m; with the way back twice as much; near_splitting one message of m/p more, on its last
 * level; (p-1)/p m combined.  A level that is not split: f-1 windows sent and combined.  With c chunks c times as many
 * messages.  Scratch: about m.
 * Use it for medium vectors where messages of one rank overlap; near_splitting for long ones, too, on many ranks.
 * As recursive multiplying, Ruefenacht, Bull and Booth, EuroMPI 2016, with the parts of Rabenseifner, ICCS 2004; in
 * MPICH "recexch".  Short ways inside long ones: van de Geijn, J. Parallel Distrib. Comput. 22 (1994).  Chunks that overlap levels, in
 * a node and between nodes there: Luo et al., HAN, CLUSTER 2020. */
#include "config.h"

#include <math.h>

#include "algorithm.h"
#include "select/model.h"

enum { RADICES, RADIX, SPLITS, CHUNKS };        /* parameters */

/* One rank on its way through the levels. */
struct way {
    struct collopt_schedule *s;
    const struct collopt_topology *topology;
    int rank, partition;
    int first, parts;           /* the window */
    int mine, sums;             /* where the window lies: IN until it has been combined; and where it is from then on */
};

/* RANK's digit on a level whose ranks are WIDTH apart. */
static int digit_of(int rank, int width, int f)
{
    return rank / width % f;
}

static struct collopt_block part(const struct way *w, int f, int digit)
{
    return block(w->partition, w->first + w->parts / f * digit, w->parts / f);
}

/* F ranks, WIDTH apart, exchange parts of the window, which becomes this rank's.  LAST: what is combined goes to
 * OUT. */
static void split(struct way *w, int width, int f, bool last)
{
    int digit = digit_of(w->rank, width, f), others[COLLOPT_FOLD_OPERANDS];
    struct collopt_region operand[COLLOPT_FOLD_OPERANDS];

    collopt_farthest_first(w->topology, width, f, digit, others);
    collopt_round(w->s);
    for (int j = 1; j < f; j++) {
        int to = others[j - 1], from = modulo(digit - j, f);
        bool straight = w->mine == COLLOPT_IN && j == 1;        /* nothing is there yet */

        operand[from] = straight ? at(w->sums, part(w, f, digit)) : at(collopt_packed_slot(w->s), part(w, f, digit));
        collopt_send(w->s, w->rank + (to - digit) * width, at(w->mine, part(w, f, to)));
        collopt_receive(w->s, w->rank + (from - digit) * width, operand[from]);
    }
    operand[digit] = at(w->mine, part(w, f, digit));
    collopt_fold(w->s, at(last ? COLLOPT_OUT : w->sums, part(w, f, digit)), f, operand);
    w->first += w->parts / f * digit;
    w->parts /= f;
    w->mine = w->sums;
}

/* None where they do not make up the ranks: presets look at what has not been found usable yet. */
static struct collopt_levels levels_of(const struct collopt_problem *p)
{
    struct collopt_levels none = { .levels = 0 }, listed;

    if (p->value[RADICES] == 0)
        return collopt_factors(p->ranks, (int)p->value[RADIX]);
    listed = collopt_listed_levels(p->value[RADICES]);
    return listed.ranks == p->ranks ? listed : none;
}

/* Levels on which windows are split. */
static int splits_of(const struct collopt_problem *p, const struct collopt_levels *all)
{
    return p->value[SPLITS] > 0 && p->value[SPLITS] < (size_t)all->levels ? (int)p->value[SPLITS] : all->levels;
}

/* Windows that this makes of the vector. */
static int windows_of(const struct collopt_problem *p, const struct collopt_levels *all)
{
    int windows = 1;

    for (int l = 0; l < splits_of(p, all); l++)
        windows *= all->radix[l];
    return windows;
}

static int chunks_of(const struct collopt_problem *p)
{
    return most((int)p->value[CHUNKS], 1);
}

/* CHUNK of the vector, whose PARTITION has WINDOWS parts in each. */
static struct way begin(struct collopt_schedule *s, const struct collopt_problem *p, int rank, int partition, int chunk, int windows)
{
    return (struct way){ s, p->topology, rank, partition, chunk * windows, windows, COLLOPT_IN, COLLOPT_OUT };
}

/* Neighbours first; returns how far apart the ranks of the last level that is split are, times its radix.  *BEGUN: the round of the
 * first level. */
static int scatter(struct way *w, const struct collopt_problem *p, const struct collopt_levels *all, int *begun)
{
    int width = 1;

    for (int l = 0; l < splits_of(p, all); width *= all->radix[l++]) {
        split(w, width, all->radix[l], false);
        if (l == 0)
            *begun = collopt_round_number(w->s);
    }
    return width;
}

/* A chunk's way through the levels; returns the round of the first one. */
typedef int collopt_one_chunk(struct collopt_schedule *s, const struct collopt_problem *p, int rank, int partition, int chunk);

static void in_chunks(struct collopt_schedule *s, const struct collopt_problem *p, int rank, collopt_one_chunk *one)
{
    struct collopt_levels all = levels_of(p);
    int partition = collopt_partition(s, windows_of(p, &all) * chunks_of(p)), begun = 0;

    if (p->ranks == 1) {
        collopt_copy(s, out(whole()), in(whole()));
        return;
    }
    for (int i = 0; i < chunks_of(p); i++) {
        collopt_strand(s, i);
        collopt_round(s);
        if (i > 0)
            collopt_follow(s, i - 1, begun);
        begun = one(s, p, rank, partition, i);
    }
}

/* F ranks, WIDTH apart, combine their windows: all of them, or the one whose digit is TO. */
static void combine_whole(struct way *w, int width, int f, int to)
{
    int digit = digit_of(w->rank, width, f), others[COLLOPT_FOLD_OPERANDS];
    struct collopt_block own = block(w->partition, w->first, w->parts);
    struct collopt_region operand[COLLOPT_FOLD_OPERANDS];

    collopt_farthest_first(w->topology, width, f, digit, others);
    collopt_round(w->s);
    for (int j = 1; j < f; j++) {
        int next = others[j - 1], from = modulo(digit - j, f);

        if (to < 0 || to == next)
            collopt_send(w->s, w->rank + (next - digit) * width, at(w->mine, own));
        operand[from] = at(to < 0 || to == digit ? collopt_packed_slot(w->s) : w->mine, own);
        if (to < 0 || to == digit)
            collopt_receive(w->s, w->rank + (from - digit) * width, operand[from]);
    }
    operand[digit] = at(w->mine, own);
    if (to < 0 || to == digit)
        collopt_fold(w->s, at(w->sums, own), f, operand);
}

/* The window before it was split among F, of which this rank has part DIGIT. */
static void widen(struct way *w, int f, int digit)
{
    w->first -= w->parts * digit;
    w->parts *= f;
}

static int allreduce_chunk(struct collopt_schedule *s, const struct collopt_problem *p, int rank, int partition, int chunk)
{
    struct collopt_levels all = levels_of(p);
    int splits = splits_of(p, &all), begun = 0;
    struct way w = begin(s, p, rank, partition, chunk, windows_of(p, &all));
    int width = scatter(&w, p, &all, &begun);

    for (int l = splits, far = width; l < all.levels; far *= all.radix[l++])
        combine_whole(&w, far, all.radix[l], -1);
    for (int l = splits - 1; l >= 0; l--) {
        int f = all.radix[l], digit = digit_of(rank, width /= f, f), others[COLLOPT_FOLD_OPERANDS];
        struct collopt_block own = block(w.partition, w.first, w.parts);

        collopt_farthest_first(p->topology, width, f, digit, others);
        widen(&w, f, digit);
        collopt_round(s);
        for (int j = 1; j < f; j++) {
            int to = others[j - 1], from = modulo(digit - j, f);

            collopt_send(s, rank + (to - digit) * width, out(own));
            collopt_receive(s, rank + (from - digit) * width, out(part(&w, f, from)));
        }
    }
    return begun;
}

static void build_allreduce(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    in_chunks(s, p, rank, allreduce_chunk);
}

/* Only the root needs room for more than it has after the first level. */
static int sums_of_reduce(const struct way *w, const struct collopt_problem *p, const struct collopt_levels *all)
{
    int f = all->radix[0];

    return w->rank == p->root ? COLLOPT_OUT : collopt_vector_slot(w->s, part(w, f, w->rank % f));
}

static int reduce_chunk(struct collopt_schedule *s, const struct collopt_problem *p, int rank, int partition, int chunk)
{
    struct collopt_levels all = levels_of(p);
    int splits = splits_of(p, &all), begun = 0, width;
    struct way w = begin(s, p, rank, partition, chunk, windows_of(p, &all));
    bool done = false;

    w.sums = sums_of_reduce(&w, p, &all);
    width = scatter(&w, p, &all, &begun);
    for (int l = splits, far = width; l < all.levels && !done; far *= all.radix[l++]) {
        int collects = digit_of(p->root, far, all.radix[l]);

        done = digit_of(rank, far, all.radix[l]) != collects;
        combine_whole(&w, far, all.radix[l], collects);
    }
    for (int l = splits - 1; l >= 0 && !done; l--) {
        int f = all.radix[l], digit = digit_of(rank, width /= f, f), collects = digit_of(p->root, width, f);
        struct collopt_block own = block(partition, w.first, w.parts);

        done = digit != collects;
        widen(&w, f, digit);
        collopt_round(s);
        if (done)
            collopt_send(s, rank + (collects - digit) * width, at(w.sums, own));
        for (int j = 1; j < f && !done; j++) {
            int from = (digit + j) % f;

            collopt_receive(s, rank + (from - digit) * width, at(w.sums, part(&w, f, from)));
        }
    }
    return begun;
}

static void build_reduce(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    in_chunks(s, p, rank, reduce_chunk);
}

static void build_reduce_scatter(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct collopt_levels all = levels_of(p);
    struct way w = { s, p->topology, rank, collopt_partition_counts(s), 0, p->ranks, COLLOPT_IN, COLLOPT_OUT };
    int f = all.levels ? all.radix[0] : 1, width = p->ranks;

    if (p->ranks == 1)
        collopt_copy(s, out(whole()), in(whole()));
    if (all.levels > 1)
        w.sums = collopt_vector_slot(s, block(w.partition, p->ranks / f * (rank / (p->ranks / f)), p->ranks / f));
    for (int l = 0; l < all.levels; l++)
        split(&w, width /= all.radix[l], all.radix[l], l == all.levels - 1);
}

/* The lowest rank of those that share a window in which PART is, when all levels but the last have been split: the digits of the
 * part in reverse. */
static int sharer_of(const struct collopt_levels *all, int ranks, int part)
{
    int sharer = 0, width = 1;

    for (int l = 0; l < all->levels - 1; width *= all->radix[l++]) {
        ranks /= all->radix[l];
        sharer += part / ranks * width;
        part %= ranks;
    }
    return sharer;
}

/* The last level: F ranks, WIDTH apart, share a window of the parts of F others, and send each of these its own. */
static void give(struct way *w, const struct collopt_levels *all, int ranks, int width, int f)
{
    int digit = w->rank / width, sharer = sharer_of(all, ranks, w->rank), number = w->rank % f;
    struct collopt_block own = block(w->partition, w->rank, 1);
    struct collopt_region operand[COLLOPT_FOLD_OPERANDS];

    collopt_round(w->s);
    for (int j = 0; j < f; j++) {
        int to = w->first + (digit + j) % f, from = modulo(number - j, f);

        if (to != w->rank)
            collopt_send(w->s, to, at(w->mine, block(w->partition, to, 1)));
        operand[from] = at(w->mine, own);
        if (sharer + from * width != w->rank) {
            operand[from] = at(collopt_packed_slot(w->s), own);
            collopt_receive(w->s, sharer + from * width, operand[from]);
        }
    }
    collopt_fold(w->s, out(own), f, operand);
}

static void build_near(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct collopt_levels all = levels_of(p);
    struct way w = { s, p->topology, rank, collopt_partition_counts(s), 0, p->ranks, COLLOPT_IN, COLLOPT_OUT };
    int last = all.levels - 1, f = all.levels ? all.radix[0] : 1, width = 1;

    if (p->ranks == 1)
        collopt_copy(s, out(whole()), in(whole()));
    if (last > 0)
        w.sums = collopt_vector_slot(s, block(w.partition, p->ranks / f * (rank % f), p->ranks / f));
    for (int l = 0; l < last; width *= all.radix[l++])
        split(&w, width, all.radix[l], false);
    if (last == 0)
        split(&w, 1, p->ranks, true);
    if (last > 0)
        give(&w, &all, p->ranks, width, all.radix[last]);
}

/* ---- costs ------------------------------------------------------------------------------------------------------------ */

/* Of FROM .. TO-1, whose windows are split from SHARE of the vector on; or whole ones of that. */
static void add_levels(const struct collopt_levels *all, int from, int to, bool split_, double *share, double *messages,
                       double *shares)
{
    for (int l = from; l < to; l++) {
        int f = all->radix[l];

        *share /= split_ ? f : 1;
        *messages += f - 1;
        *shares += (f - 1) * *share;
    }
}

/* BACK: 1, or 0 where there is no way back.  SUMS: somebody keeps the first level's part in scratch. */
static void cost_of(const struct collopt_problem *p, int back, bool sums, struct collopt_cost *c)
{
    struct collopt_levels all = levels_of(p);
    int splits = back ? splits_of(p, &all) : all.levels;
    double m = vector_bytes(p), first = all.levels ? m / all.radix[0] : 0, share = 1;
    double messages = 0, shares = 0, whole_messages = 0, whole_shares = 0;

    add_levels(&all, 0, splits, true, &share, &messages, &shares);
    add_levels(&all, splits, all.levels, false, &share, &whole_messages, &whole_shares);
    c->rounds = ((1 + back) * messages + whole_messages) * (back ? chunks_of(p) : 1);
    c->bytes = ((1 + back) * shares + whole_shares) * m;
    c->combined = (shares + whole_shares) * m;
    c->scratch = (shares + whole_shares) * m - (sums ? 0 : first);      /* one part of the first level needs no slot of its own */
}

static void cost_allreduce(const struct collopt_problem *p, struct collopt_cost *c)
{
    cost_of(p, 1, false, c);
}

static void cost_reduce(const struct collopt_problem *p, struct collopt_cost *c)
{
    cost_of(p, 1, true, c);
}

/* On the last of several levels a rank has nothing of its own part, and the others of its group do not want theirs. */
static void cost_near(const struct collopt_problem *p, struct collopt_cost *c)
{
    bool gives = levels_of(p).levels > 1;
    double part = gives ? vector_bytes(p) / p->ranks : 0;

    cost_of(p, 0, gives, c);
    c->rounds += gives;
    c->bytes += part;
    c->scratch += part;
}

static void cost_reduce_scatter(const struct collopt_problem *p, struct collopt_cost *c)
{
    cost_of(p, 0, levels_of(p).levels > 1, c);
}

/* One level between ranks WIDTH apart, of parts of BYTES. */
static struct collopt_messages level(int f, int width, double bytes)
{
    return (struct collopt_messages){ .pattern = COLLOPT_PAIRS, .distance = width, .bytes = bytes, .fan = f - 1,
                                      .farthest_first = true };
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    struct collopt_levels all = levels_of(p);
    bool reduce = p->collective == COLLOPT_REDUCE, far = p->collective != COLLOPT_ALLREDUCE && !reduce;
    bool alone = p->abreast == 0 && p->topology->largest <= 1;  /* else a node's ranks that collect windows share its port */
    int chunks = far ? 1 : chunks_of(p);
    double bytes = vector_bytes(p) / chunks;
    int width = far ? p->ranks : 1, splits = far ? all.levels : splits_of(p, &all);

    collopt_chunks(t, chunks);
    for (int l = 0; l < all.levels; l++) {
        int f = all.radix[l];
        struct collopt_messages m = level(f, far ? width / f : width, bytes /= l < splits ? f : 1);

        m.combined = (f - 1) * bytes;
        m.pattern = reduce && l >= splits && alone ? COLLOPT_TREE : m.pattern;
        collopt_messages(t, 1, m);
        m.combined = 0;
        m.pattern = reduce ? COLLOPT_TREE : m.pattern;
        collopt_messages(t, far || l >= splits ? 0 : 1, m);
        width = far ? width / f : width * f;
    }
    collopt_chunks_end(t);
}

/* How far apart the ends of the machine's longest way are; or WIDTH. */
static int farthest(const struct collopt_problem *p, int width)
{
    struct collopt_grid g;
    int distance = 0;

    if (p->abreast > 0 || !p->topology->wired || !collopt_grid(&g, p->topology->dims))
        return width;
    for (int d = 0; d < g.sides; d++)
        distance += g.stride[d] * (p->topology->rings >> d & 1 ? g.side[d] / 2 : g.side[d] - 1);
    return distance;
}

static void traffic_near(const struct collopt_problem *p, struct collopt_traffic *t)
{
    struct collopt_levels all = levels_of(p);
    double bytes = vector_bytes(p);
    int width = 1;

    for (int l = 0; l < all.levels; width *= all.radix[l++]) {
        bool gives = l > 0 && l == all.levels - 1;
        struct collopt_messages m = level(all.radix[l] + gives, gives ? farthest(p, width) : width, bytes /= all.radix[l]);

        m.combined = (all.radix[l] - 1) * bytes;
        m.farthest_first = !gives;
        collopt_messages(t, 1, m);
    }
}

/* Larger groups reach farther, and share links with all that they send at once.  Simulated, Allreduce of 512 KiB on
 * 64 ranks, radix 2, 4, 8: on a dragonfly 148, 108, 195 us, on a fat tree 96, 90, 88.  On a grid it is known what they share. */
static int most_preset(const struct collopt_problem *p)
{
    return p->topology->wired && p->abreast == 0 ? COLLOPT_FOLD_OPERANDS : 4;
}

/* How many of WITH's levels are best split, where it doesn't say; and the time that this takes, in as many chunks as are best.  Where
 * there are several, what is hardly faster by the model need not be so, and more splits send less. */
static size_t best_splits(const struct collopt_algorithm *a, struct collopt_problem with, double *seconds)
{
    int levels = levels_of(&with).levels, given = (int)with.value[SPLITS];
    double differs = with.topology->wired || vector_bytes(&with) < COLLOPT_CHUNKS_FROM ? 1 - 1e-9 : 0.98;
    size_t best = 0;

    if (!a->parameter[SPLITS].name) {
        *seconds = collopt_model(a, &with);
        return 1;
    }
    if (given > 0 || levels < 2) {
        collopt_preset_chunks(a, &with, CHUNKS, seconds);
        return given > 0 ? (size_t)given : 1;
    }
    for (int splits = levels; splits >= 1; splits--) {
        double time;

        with.value[SPLITS] = (size_t)splits;
        collopt_preset_chunks(a, &with, CHUNKS, &time);
        if (best == 0 || time < *seconds * differs) {
            best = (size_t)splits;
            *seconds = time;
        }
    }
    return best;
}

/* The radix of which the levels are fastest, and the time that they take; 2 where none serves. */
static size_t best_radix(const struct collopt_algorithm *a, struct collopt_problem with, double *seconds)
{
    size_t best = 0;
    int most_tried = most_preset(&with);

    *seconds = HUGE_VAL;
    for (int radix = 2; radix <= most_tried || (best == 0 && radix <= COLLOPT_FOLD_OPERANDS); radix++) {
        struct collopt_levels f = collopt_factors(with.ranks, radix);
        double time;

        if (f.ranks != with.ranks || collopt_widest_level(f) < radix)   /* as with a smaller one */
            continue;
        with.value[RADIX] = (size_t)radix;
        best_splits(a, with, &time);
        if (time < *seconds * (1 - 1e-9)) {
            best = (size_t)radix;
            *seconds = time;
        }
    }
    return best ? best : 2;
}

static size_t radix_of(const struct collopt_algorithm *a, const struct collopt_problem *p)
{
    double seconds;

    return p->value[RADICES] ? (size_t)collopt_widest_level(levels_of(p)) : best_radix(a, *p, &seconds);
}

static double seconds_with(const struct collopt_algorithm *a, const struct collopt_problem *p, size_t list)
{
    struct collopt_problem with = *p;
    double seconds;

    with.value[RADICES] = list;
    best_splits(a, with, &seconds);
    return seconds;
}

/* FAR: the first level is of ranks that are far apart.  Where not all levels need be split lists have more to choose from than the
 * model can tell apart: on a mesh of 8x8 an Allreduce of 128 KiB is predicted to take 51.4 us with radices 8x2x4 and 53.5 with
 * radix 4, and is simulated to take 57.5 and 50.8. */
static size_t radices_of(const struct collopt_algorithm *a, const struct collopt_problem *p, bool far)
{
    static const double differs = 0.9;
    double least_time;

    if (p->value[RADIX] > 0 || !p->topology->wired)
        return 0;
    best_radix(a, *p, &least_time);
    return collopt_preset_radices(a, p, far, least_time * (a->parameter[SPLITS].name ? differs : 1), seconds_with);
}

static size_t splits_of_best(const struct collopt_algorithm *a, const struct collopt_problem *p)
{
    double seconds;

    return best_splits(a, *p, &seconds);
}

static size_t chunks_of_best(const struct collopt_algorithm *a, const struct collopt_problem *p)
{
    double seconds;

    return collopt_preset_chunks(a, p, CHUNKS, &seconds);
}

#define LEVEL_PRESETS(which, far) \
    extern const struct collopt_algorithm collopt_##which; \
    static size_t radices_##which(const struct collopt_problem *p) { return radices_of(&collopt_##which, p, far); } \
    static size_t radix_##which(const struct collopt_problem *p) { return radix_of(&collopt_##which, p); }
#define SPLITS_PRESET(which) \
    static size_t splits_##which(const struct collopt_problem *p) { return splits_of_best(&collopt_##which, p); } \
    static size_t chunks_##which(const struct collopt_problem *p) { return chunks_of_best(&collopt_##which, p); }

LEVEL_PRESETS(allreduce_recursive_splitting, false)
SPLITS_PRESET(allreduce_recursive_splitting)
LEVEL_PRESETS(reduce_recursive_splitting, false)
SPLITS_PRESET(reduce_recursive_splitting)
LEVEL_PRESETS(reduce_scatter_recursive_splitting, true)
LEVEL_PRESETS(reduce_scatter_near_splitting, false)

#define LEVELS_OF(which)    COLLOPT_RADICES(radices_##which), COLLOPT_RADIX(radix_##which)

static bool usable(const struct collopt_problem *p)
{
    return levels_of(p).ranks == p->ranks;
}

static const char unfit[] = "the number of ranks has a prime factor above its radix, or its radices do not multiply to it";
static const char both_ways[] = "2 sum of (f-1), factors f of p or radices; once if not split",
    both_bytes[] = "2 (p-1)/p m; of n parts 2 (n-1)/n m, then whole m/n";
static const char source[] = "parts: Rabenseifner, ICCS 2004; radices: Ruefenacht, Bull and Booth, EuroMPI 2016; in MPICH";
static const char when[] = "medium and long vectors where messages overlap", levels[] = "sum of (f-1) over the factors f of p, or the radices";

const struct collopt_algorithm collopt_allreduce_recursive_splitting = {
    .name = "recursive_splitting", .summary = "groups of several ranks exchange parts, then results; medium vectors",
    .collective = COLLOPT_ALLREDUCE, .order = COLLOPT_IN_ORDER, .identical = true,
    .rounds = both_ways, .bytes = both_bytes, .when = when, .source = source,
    .parameter = { LEVELS_OF(allreduce_recursive_splitting), COLLOPT_SPLITS(splits_allreduce_recursive_splitting),
                   COLLOPT_CHUNKS(chunks_allreduce_recursive_splitting) },
    .usable = usable, .unfit = unfit,
    .cost = cost_allreduce, .traffic = traffic, .build = build_allreduce,
};

const struct collopt_algorithm collopt_reduce_recursive_splitting = {
    .name = "recursive_splitting", .summary = "groups of several ranks exchange parts, which are gathered; medium vectors",
    .collective = COLLOPT_REDUCE, .order = COLLOPT_IN_ORDER, .identical = true,
    .rounds = both_ways, .bytes = both_bytes, .when = when, .source = source,
    .parameter = { LEVELS_OF(reduce_recursive_splitting), COLLOPT_SPLITS(splits_reduce_recursive_splitting),
                   COLLOPT_CHUNKS(chunks_reduce_recursive_splitting) },
    .usable = usable, .unfit = unfit,
    .cost = cost_reduce, .traffic = traffic, .build = build_reduce,
};

const struct collopt_algorithm collopt_reduce_scatter_recursive_splitting = {
    .name = "recursive_splitting", .summary = "groups of several ranks exchange parts; medium vectors",
    .collective = COLLOPT_REDUCE_SCATTER, .order = COLLOPT_COMMUTATIVE, .identical = true,
    .rounds = levels, .bytes = "(p-1)/p m",
    .when = when, .source = source,
    .parameter = { LEVELS_OF(reduce_scatter_recursive_splitting) }, .usable = usable, .unfit = unfit,
    .cost = cost_reduce_scatter, .traffic = traffic, .build = build_reduce_scatter,
};

const struct collopt_algorithm collopt_reduce_scatter_block_recursive_splitting = {
    .name = "recursive_splitting", .summary = "groups of several ranks exchange parts; medium vectors",
    .collective = COLLOPT_REDUCE_SCATTER_BLOCK, .order = COLLOPT_COMMUTATIVE, .identical = true,
    .rounds = levels, .bytes = "(p-1)/p m",
    .when = when, .source = source,
    .parameter = { LEVELS_OF(reduce_scatter_recursive_splitting) }, .usable = usable, .unfit = unfit,
    .cost = cost_reduce_scatter, .traffic = traffic, .build = build_reduce_scatter,
};

static const char near[] = "neighbours exchange parts first, each group sends ranks their own last; medium and long vectors";
static const char near_when[] = "medium and long vectors on many ranks, any operation";
static const char near_rounds[] = "1 + sum of (f-1) over the factors f of p, or the radices";

const struct collopt_algorithm collopt_reduce_scatter_near_splitting = {
    .name = "near_splitting", .summary = near,
    .collective = COLLOPT_REDUCE_SCATTER, .order = COLLOPT_IN_ORDER, .identical = true,
    .rounds = near_rounds, .bytes = "m", .when = near_when, .source = source,
    .parameter = { LEVELS_OF(reduce_scatter_near_splitting) }, .usable = usable, .unfit = unfit,
    .cost = cost_near, .traffic = traffic_near, .build = build_near,
};

const struct collopt_algorithm collopt_reduce_scatter_block_near_splitting = {
    .name = "near_splitting", .summary = near,
    .collective = COLLOPT_REDUCE_SCATTER_BLOCK, .order = COLLOPT_IN_ORDER, .identical = true,
    .rounds = near_rounds, .bytes = "m", .when = near_when, .source = source,
    .parameter = { LEVELS_OF(reduce_scatter_near_splitting) }, .usable = usable, .unfit = unfit,
    .cost = cost_near, .traffic = traffic_near, .build = build_near,
};
