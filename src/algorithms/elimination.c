/* 3-2 elimination: vector halving over doubling distances in rank order, for any number of ranks.
 *
 * A class is the ranks that hold sums of the same window of the vector, in rank order; at first all
 * ranks and the whole vector. Neighbours in a class pair up and split the window: the lower keeps
 * its first half and goes on in the "low" class, the upper keeps the second half and goes on in the
 * "up" class. If the class is odd, its last three ranks P0 P1 P2 become two: P1 gives the first
 * half to P0 and, combined with P0's, the second half to P2, and stands aside. P2 has to wait for
 * that; who waited is last in its next class too, so where it is in a triple again it is P2 again,
 * which has time. Merged ranks are always neighbours, so rank order is kept. The way back
 * (allgather, or gather to a root) is the same in reverse, and who stood aside comes back at its
 * own level.
 * Cost: 2 ceil(log2 p) rounds, 2m to 3m on the critical path, at most 2.5 m sent by one rank, 1 m
 * to 1.5 m combined. Scratch: up to 3/4 m. Any operation. For medium and long vectors of an
 * operation that does not commute, or any, on any p; on a power of two it is Rabenseifner's
 * algorithm.
 * Reduce_scatter: windows are sets of ranks' parts, and who stood aside gets its part in one round
 * more. Rabenseifner and Traeff, EuroPVM/MPI 2004. */
#include "config.h"

#include <stdlib.h>

#include "algorithm.h"

enum { MOST_LEVELS = 32 };

enum role { LOWER, UPPER, P0, P1, P2 };

/* One rank on its way down the levels. */
struct path {
    int ranks, index;           /* INDEX: in its class */
    unsigned bits;              /* which classes it went to, "up" is 1, the first one highest */
};

/* The role of one rank on one level. */
struct step {
    enum role role;
    int peer[2];                /* of a pair the other one; of a triple the other two, lower
                                 * first */
    int lo, mid, hi;            /* the window and where it is split, in leaves: the windows of the
                                 * last level */
    int size, index;            /* of the class, and in it */
    unsigned bits;              /* that lead to the class */
};

/* The rank that is number INDEX in the class of LEVEL that BITS leads to. */
static int rank_of(int ranks, int level, unsigned bits, int index)
{
    for (int l = level - 1; l >= 0; l--, bits >>= 1) {
        int size = ranks >> l, up = bits & 1;

        if (size % 2 && index == size / 2 - 1)
            index = up ? size - 1 : size - 3;
        else
            index = 2 * index + up;
    }
    return index;
}

static enum role role_of(int size, int index)
{
    if (size % 2 && index >= size - 3)
        return P0 + index - (size - 3);
    return index % 2 ? UPPER : LOWER;
}

static bool keeps_high(enum role role)
{
    return role == UPPER || role == P1 || role == P2;
}

static struct step step_at(const struct path *w, int level)
{
    int size = w->ranks >> level, leaves = 1 << (log2_floor(w->ranks) - level), base = size - 3;
    int lo = (int)w->bits * leaves;
    struct step k = { .role = role_of(size, w->index), .lo = lo, .mid = lo + leaves / 2,
                      .hi = lo + leaves, .size = size, .index = w->index, .bits = w->bits };
    int other[2] = { k.role == P0 ? base + 1 : base, k.role == P2 ? base + 1 : base + 2 };

    if (k.role == LOWER || k.role == UPPER)
        other[0] = other[1] = w->index ^ 1;
    for (int j = 0; j < 2; j++)
        k.peer[j] = rank_of(w->ranks, level, w->bits, other[j]);
    return k;
}

/* To the next level; P1 has none. */
static void advance(struct path *w, int level, enum role role)
{
    int size = w->ranks >> level;

    w->index = role == P0 || role == P2 ? size / 2 - 1 : w->index / 2;
    w->bits = w->bits << 1 | keeps_high(role);
}

/* The steps of RANK from the first level to its last; returns how many. */
static int steps(int ranks, int rank, struct step step[MOST_LEVELS])
{
    struct path w = { ranks, rank, 0 };
    int levels = log2_floor(ranks);

    for (int l = 0; l < levels; l++) {
        step[l] = step_at(&w, l);
        if (step[l].role == P1)
            return l + 1;
        advance(&w, l, step[l].role);
    }
    return levels;
}

/* ---- the way down ---------------------------------------------------------------------------- */

/* Leaves are parts of the vector, or, where LIST is given, blocks START[leaf] .. START[leaf + 1] -
 * 1 of it. */
struct work {
    struct collopt_schedule *s;
    int partition;
    const struct collopt_block *list;
    const int *start;
    int have;                   /* where the rank's window lies: IN until something was combined */
    struct turns tmp;
};

static struct collopt_region window(const struct work *w, int place, int lo, int hi)
{
    if (w->list)
        return at_list(place, w->start[hi] - w->start[lo], w->list + w->start[lo]);
    return at(place, block(w->partition, lo, hi - lo));
}

/* One level down; the kept half is combined in SUM. */
static void reduce(struct work *w, const struct step *k, int sum)
{
    struct collopt_schedule *s = w->s;
    bool high = keeps_high(k->role);
    int lo = high ? k->mid : k->lo, hi = high ? k->hi : k->mid;
    int got = w->have == COLLOPT_IN ? sum : turn(s, &w->tmp);
    struct collopt_region mine = window(w, w->have, lo, hi), theirs = window(w, got, lo, hi);

    collopt_round(s);
    collopt_send(s, k->peer[0],
                 high ? window(w, w->have, k->lo, k->mid) : window(w, w->have, k->mid, k->hi));
    collopt_receive(s, k->role == P2 ? k->peer[1] : k->peer[0], theirs);
    if (k->role == P0) {
        struct collopt_region last = window(w, turn(s, &w->tmp), lo, hi);

        collopt_round(s);
        collopt_receive(s, k->peer[1], last);
        collopt_fold(s, window(w, sum, lo, hi), 3, (struct collopt_region[]){ mine, theirs, last });
    } else {
        merge(s, window(w, sum, lo, hi), mine, theirs, high);
    }
    if (k->role == P1) {
        collopt_round(s);
        collopt_send(s, k->peer[1], window(w, sum, lo, hi));
    }
    w->have = sum;
}

/* ---- the ways back --------------------------------------------------------------------------- */

/* One level up: who has half a window in OUT gets the other half, and P1 gets both. */
static void allgather(struct work *w, const struct step *k)
{
    struct collopt_schedule *s = w->s;
    struct collopt_region low = window(w, COLLOPT_OUT, k->lo, k->mid),
                          high = window(w, COLLOPT_OUT, k->mid, k->hi);
    bool keeps = keeps_high(k->role);

    collopt_round(s);
    if (k->role == P0) {
        collopt_send(s, k->peer[1], low);
        collopt_round(s);
    } else if (k->role == P1) {
        collopt_receive(s, k->peer[1], high);
        collopt_round(s);
    }
    collopt_send(s, k->role == P2 ? k->peer[1] : k->peer[0], keeps ? high : low);
    collopt_receive(s, k->peer[0], keeps ? low : high);
}

/* The window of a class finally belongs to the member of the same index in all classes of a
 * level. */
static void needed(int ranks, int root, int index[MOST_LEVELS])
{
    index[0] = root;
    for (int l = 0; l + 1 < log2_floor(ranks); l++) {
        int size = ranks >> l;

        index[l + 1] = role_of(size, index[l]) >= P0 ? size / 2 - 1 : index[l] / 2;
    }
}

/* Is it among those that the member X gets its window from, or X itself? */
static bool near(const struct step *k, int x)
{
    if (role_of(k->size, x) >= P0)
        return k->role >= P0;
    return k->role < P0 && k->index / 2 == x / 2;
}

/* One level up: the member X of the class gets the halves of those who have them, which are of X's
 * own pair or triple. */
static void gather(struct work *w, const struct step *k, int x, int rank_of_x, int place)
{
    struct collopt_schedule *s = w->s;
    struct collopt_region low = window(w, place, k->lo, k->mid),
                          high = window(w, place, k->mid, k->hi);
    enum role role = k->role;

    collopt_round(s);
    if (!near(k, x))
        return;
    if (k->index == x) {
        if (role != LOWER && role != P0)
            collopt_receive(s, k->peer[0], low);
        if (role != UPPER && role != P2)
            collopt_receive(s, role == LOWER ? k->peer[0] : k->peer[1], high);
    } else if (role != P1) {
        collopt_send(s, rank_of_x, keeps_high(role) ? high : low);
    }
}

/* ---- the algorithms -------------------------------------------------------------------------- */

/* Allreduce and Reduce. */
static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct step step[MOST_LEVELS];
    bool back = p->collective == COLLOPT_ALLREDUCE;
    int leaves = 1 << log2_floor(p->ranks), half = leaves / 2, sum = COLLOPT_OUT;
    int levels = steps(p->ranks, rank, step), x[MOST_LEVELS];
    struct work w = { .s = s, .partition = collopt_partition(s, leaves), .have = COLLOPT_IN,
                      .tmp = { .slots = 2 } };

    if (!back && rank != p->root)
        sum = collopt_vector_slot(s, block(w.partition, keeps_high(step[0].role) ? half : 0, half));
    needed(p->ranks, p->root, x);
    for (int l = 0; l < levels; l++)
        reduce(&w, &step[l], sum);
    for (int l = levels - 1; l >= 0; l--)
        if (back)
            allgather(&w, &step[l]);
        else
            gather(&w, &step[l], x[l], rank_of(p->ranks, l, step[l].bits, x[l]), sum);
}

/* The rank that stood aside and whose part is in LEAF; -1: none. */
static int guest(int ranks, int leaf)
{
    int levels = log2_floor(ranks), low = 0;

    if (leaf == 0)
        return -1;
    while (!(leaf >> low & 1))
        low++;

    int level = levels - 1 - low, size = ranks >> level;

    return size % 2 ? rank_of(ranks, level, (unsigned)leaf >> (low + 1), size - 2) : -1;
}

/* The one leaf of a rank that did not stand aside. */
static int leaf_of(const struct step *last)
{
    return keeps_high(last->role) ? last->mid : last->lo;
}

/* The rank that serves the one that stood aside last: its leaf is the first of the half which
 * that rank gave away. */
static int host_of(int ranks, const struct step *last)
{
    return rank_of(ranks, log2_floor(ranks), (unsigned)last->mid, 0);
}

/* The parts in the order of the leaves, each with its own rank's and its guest's. */
static void arrange(int ranks, int partition, struct collopt_block *list, int *start)
{
    int levels = log2_floor(ranks), n = 0;

    for (int leaf = 0; leaf < 1 << levels; leaf++) {
        int other = guest(ranks, leaf);

        start[leaf] = n;
        list[n++] = block(partition, rank_of(ranks, levels, (unsigned)leaf, 0), 1);
        if (other >= 0)
            list[n++] = block(partition, other, 1);
    }
    start[1 << levels] = n;
}

static void scatter(struct collopt_schedule *s, const struct collopt_problem *p, int rank,
                    struct work *w)
{
    struct step step[MOST_LEVELS];
    int levels = steps(p->ranks, rank, step);
    const struct step *last = &step[levels - 1];
    bool aside = last->role == P1;
    int other = aside ? -1 : guest(p->ranks, leaf_of(last));
    struct collopt_block own = block(w->partition, rank, 1);

    for (int l = 0; l < levels; l++)
        reduce(w, &step[l],
               l == levels - 1 && !aside && other < 0 ? COLLOPT_OUT : collopt_accumulator(s));
    collopt_round(s);
    if (aside) {
        collopt_receive(s, host_of(p->ranks, last), out(own));
    } else if (other >= 0) {
        collopt_send(s, other, at(w->have, block(w->partition, other, 1)));
        collopt_copy(s, out(own), at(w->have, own));
    }
}

static void build_reduce_scatter(struct collopt_schedule *s, const struct collopt_problem *p,
                                 int rank)
{
    struct collopt_block *list = collopt_workspace(s, (size_t)p->ranks * sizeof *list);
    int *start = collopt_workspace(s, ((size_t)p->ranks + 1) * sizeof *start);
    struct work w = { .s = s, .partition = collopt_partition_counts(s), .list = list,
                      .start = start, .have = COLLOPT_IN, .tmp = { .slots = 2 } };

    if (list && start) {
        arrange(p->ranks, w.partition, list, start);
        scatter(s, p, rank, &w);
    }
    free(list);
    free(start);
}

/* ---- traffic --------------------------------------------------------------------------------- */

/* Windows of a Reduce_scatter are of ranks' parts that lie apart. */
static void traffic_scattered(const struct collopt_problem *p, struct collopt_traffic *t)
{
    double bytes = vector_bytes(p), blocks = p->ranks;

    for (int level = log2_floor(p->ranks); level > 0; level--)
        collopt_traffic_scattered(t, p, 1, blocks /= 2, bytes /= 2);
}

/* Odd classes need one more round each way, in which a rank waits. */
static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    double m = vector_bytes(p);
    int odd = log2_ceil(p->ranks) - log2_floor(p->ranks);
    struct collopt_messages more = { .pattern = COLLOPT_PAIRS, .distance = most(p->ranks / 4, 1),
                                     .bytes = m / 4, .combined = m / 4 };

    collopt_traffic_halving(t, p->ranks, m, 1);
    collopt_messages(t, odd, more);
    more.combined = 0;
    collopt_messages(t, odd, more);
    if (p->collective == COLLOPT_ALLREDUCE)
        collopt_traffic_halving(t, p->ranks, m, 0);
    else if (p->collective == COLLOPT_REDUCE)
        collopt_traffic_gather(t, 1 << log2_floor(p->ranks), m);
    else
        traffic_scattered(p, t);
}

#define ELIMINATION \
    .name = "elimination", .order = COLLOPT_IN_ORDER, .traffic = traffic, \
    .source = "Rabenseifner and Traeff, EuroPVM/MPI 2004"

const struct collopt_algorithm collopt_allreduce_elimination = {
    ELIMINATION, .collective = COLLOPT_ALLREDUCE, .build = build,
    .summary = "halving in rank order for any number of ranks; medium and long vectors",
};

const struct collopt_algorithm collopt_reduce_elimination = {
    ELIMINATION, .collective = COLLOPT_REDUCE, .build = build,
    .summary = "halving in rank order, then a gather, any root; medium and long vectors",
};

COLLOPT_SCATTER_AND_BLOCK(elimination,
    ELIMINATION, .build = build_reduce_scatter,
    .summary = "halving in rank order for any number of ranks; short and medium vectors");
