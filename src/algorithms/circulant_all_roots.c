/* Pipelined circulant graph with all ranks as roots: reduce-scatter for parts of very different
 * lengths.
 *
 * Every part is cut into n blocks and reduced to its owner as circulant_pipeline.c reduces a vector
 * to a root. All these reductions run at once; in a round a rank sends at most one block of every
 * part, all in one message. In a reduce-scatter by halving a long part travels whole, ceil(log2 p)
 * times on the critical path. Here its blocks follow one another, so it travels little more than
 * once.
 * A rank's receives are in a table of p ceil(log2 p) bytes, and a round lists up to p blocks. So
 * building takes time and memory in proportion to p: for p = 1024 and one block 0.3 ms and 10 KiB
 * of schedule, for 16 blocks 40 ms and 2 MiB; for p = 16384 and one block 6 ms and 13 KiB.
 * Cost, n blocks: n - 1 + ceil(log2 p) rounds; (p-1)/p m sent and combined if parts are alike, as
 * in all other algorithms; if one rank gets everything, (1 + (q-1)/n) m instead of q m. Scratch: m
 * and two messages. Commutative operations only. Use it where the longest part is several times the
 * average.
 * Traeff, arXiv 2205.10072 and 2312.11236. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "algorithm.h"

enum { MOST_BLOCKS = 64 };

/* ---- the table ------------------------------------------------------------------------------- */

typedef unsigned long long set;         /* of base blocks, as bits */

struct table {
    int ranks, q, skip[COLLOPT_SKIPS];
    signed char *received;      /* [q][ranks] the block a rank receives in round k of a phase,
                                 * relative to the phase */
};

/* The smallest skip in every number as a sum of skips, largest first; q for 0. */
static void base_blocks(const struct table *t, set *base)
{
    base[0] = 1ULL << t->q;
    for (int k = 0; k < t->q; k++) {
        base[t->skip[k]] = 1ULL << k;
        for (int v = t->skip[k] + 1; v < t->skip[k + 1]; v++)
            base[v] = base[v - t->skip[k]];
    }
}

static int highest(set s)
{
    int i = 0;

    while (s >> (i + 1))
        i++;
    return i;
}

/* UNION[v] is of the base blocks of the WIDTH ranks up to v; makes it of twice as many. */
static void widen(int ranks, int width, set *unions, set *other)
{
    memcpy(other, unions, (size_t)ranks * sizeof *other);
    for (int v = 0; v < ranks; v++)
        unions[v] |= other[modulo(v - width, ranks)];
}

/* The rule of circulant_pipeline.c for all ranks at once. In round k a rank looks for what it has
 * not had yet among the base blocks of those that are skip[k] .. skip[k+1]-1 below. */
static void fill(struct table *t, set *base, set *unions, set *used)
{
    int p = t->ranks, width = 1;
    set *other = used + p;

    base_blocks(t, base);
    memcpy(unions, base, (size_t)p * sizeof *unions);
    memcpy(used, base, (size_t)p * sizeof *used);
    for (int k = 0; k < t->q; k++) {
        int near = t->skip[k], far = t->skip[k + 1];

        for (; 2 * width <= far - near; width *= 2)
            widen(p, width, unions, other);
        for (int v = 0; v < p; v++) {
            set fresh =
                (unions[modulo(v - near, p)] | unions[modulo(v - far + width, p)]) & ~used[v];
            set block = fresh ? 1ULL << highest(fresh) : base[modulo(v - far, p)];

            used[v] |= block;
            t->received[(size_t)k * (size_t)p + (size_t)v] =
                (signed char)(block == 1ULL << t->q ? highest(base[v]) : highest(block) - t->q);
        }
    }
}

enum { ROOM = 4 };              /* sets for each rank, while the table is made */

/* RECEIVED has room for ranks ceil(log2 ranks) bytes. */
static struct table table_of(int ranks, set *room, signed char *received)
{
    struct table t = { .ranks = ranks, .received = received };

    t.q = collopt_skips(ranks, t.skip);
    fill(&t, room, room + ranks, room + 2 * ranks);
    return t;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* Round I of a broadcast: BLOCK in the phase and OFFSET are block BLOCK + OFFSET, the last one if
 * there are not so many. */
struct round {
    int k, offset;
};

static struct round round_of(const struct table *t, int blocks, int i)
{
    int skipped = modulo(1 - blocks, t->q);     /* rounds without traffic at the start of the first
                                                 * phase */

    return (struct round){ (i + skipped) % t->q, (i + skipped) / t->q * t->q - skipped };
}

/* The block that the rank V above its root receives from below in a broadcast, and so sends down in
 * a reduction; -1: none. */
static int block_of(const struct table *t, struct round r, int blocks, int v)
{
    int block = v == 0 ? -1 : t->received[(size_t)r.k * (size_t)t->ranks + (size_t)v] + r.offset;

    return block < 0 ? -1 : least(block, blocks - 1);
}

struct work {
    struct collopt_schedule *s;
    struct table t;
    int rank, blocks, partition, sum;
    bool *summed;               /* [ranks * blocks] lies in SUM; the others are still in IN */
    struct collopt_block *list, *fresh;
};

static int append(struct collopt_block *list, int n, struct collopt_block b)
{
    if (n > 0 && list[n - 1].first + list[n - 1].parts == b.first)
        list[n - 1].parts++;
    else
        list[n++] = b;
    return n;
}

/* The blocks that go down to the rank skip[k] below, if AWAY is 0, or come from the one above, if
 * it is skip[k]: one block or none of every part. Untouched ones are copied to SUM first. */
static struct collopt_region blocks_of(struct work *w, struct round r, int away)
{
    int n = 0, fresh = 0, p = w->t.ranks;

    for (int owner = 0; owner < p; owner++) {
        int b = block_of(&w->t, r, w->blocks, modulo(w->rank - owner + away, p));

        if (b < 0)
            continue;

        struct collopt_block q = block(w->partition, owner * w->blocks + b, 1);

        n = append(w->list, n, q);
        if (!w->summed[q.first])
            fresh = append(w->fresh, fresh, q);
        w->summed[q.first] = true;
    }
    if (fresh > 0)
        collopt_copy(w->s, at_list(w->sum, fresh, w->fresh), at_list(COLLOPT_IN, fresh, w->fresh));
    return at_list(w->sum, n, w->list);
}

static void reduce(struct work *w)
{
    struct turns tmp = { .slots = 2 };
    int p = w->t.ranks;

    for (int i = w->blocks - 1 + w->t.q - 1; i >= 0; i--) {
        struct round r = round_of(&w->t, w->blocks, i);
        int skip = w->t.skip[r.k];
        struct collopt_region give, take, theirs;

        collopt_round(w->s);
        give = blocks_of(w, r, 0);
        if (give.blocks > 0)
            collopt_send(w->s, modulo(w->rank - skip, p), give);
        take = blocks_of(w, r, skip);
        if (take.blocks == 0)
            continue;
        theirs = at_list(turn(w->s, &tmp), take.blocks, take.list);
        collopt_receive(w->s, modulo(w->rank + skip, p), theirs);
        collopt_combine(w->s, take, take, theirs);
    }
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct work w = { .s = s, .rank = rank, .blocks = (int)p->value[0] };
    size_t ranks = (size_t)p->ranks, blocks = ranks * (size_t)w.blocks;
    set *room = collopt_workspace(s, ROOM * ranks * sizeof *room);
    signed char *received = collopt_workspace(s, ranks * (size_t)(log2_ceil(p->ranks) + 1));
    struct collopt_block own = block(collopt_partition_counts(s), rank, 1);

    w.summed = collopt_workspace(s, blocks * sizeof *w.summed);
    w.list = collopt_workspace(s, 2 * ranks * sizeof *w.list);
    if (room && received && w.summed && w.list) {
        memset(w.summed, 0, blocks * sizeof *w.summed);
        w.fresh = w.list + ranks;
        w.t = table_of(p->ranks, room, received);
        w.partition = collopt_partition_each(s, own.partition, w.blocks);
        w.sum = collopt_accumulator(s);
        reduce(&w);
        collopt_copy(s, out(own), at(w.sum, own));
    }
    free(room);
    free(received);
    free(w.summed);
    free(w.list);
}

/* The longest part reaches its owner as through a pipeline of q - 1 hops. */
static size_t blocks(const struct collopt_problem *p)
{
    size_t longest = p->counts ? 0 : p->count / (size_t)p->ranks;

    for (int r = 0; r < p->ranks && p->counts; r++)
        longest = p->counts[r] > longest ? p->counts[r] : longest;

    double bytes = (double)longest * (double)p->size;
    size_t segment = collopt_preset_segment(p, log2_ceil(p->ranks) - 1, bytes), n = 1;

    while (n < MOST_BLOCKS && 2 * n * segment <= bytes)
        n *= 2;
    return n;
}

#define BLOCKS { .name = "blocks", .least = 1, .most = MOST_BLOCKS, \
                 .help = "blocks that a part is cut into", .preset = blocks }

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    int skip[COLLOPT_SKIPS], q = collopt_skips(p->ranks, skip), rounds = (int)p->value[0] - 1 + q;
    double bytes = (vector_bytes(p) - vector_bytes(p) / p->ranks) / most(rounds, 1);

    for (int k = 0; k < q; k++)
        collopt_messages(t, (double)rounds / q,
                         (struct collopt_messages){ .pattern = COLLOPT_SHIFT,
                                                    .distance = skip[k],
                                                    .bytes = bytes,
                                                    .combined = bytes,
                                                    .blocks = (int)p->value[0] });
}

#define ALL_ROOTS \
    .name = "circulant_pipeline", .order = COLLOPT_COMMUTATIVE, .parameter = { BLOCKS }, \
    .source = "Traeff, arXiv 2205.10072 and 2312.11236", .traffic = traffic, .build = build

const struct collopt_algorithm collopt_reduce_scatter_circulant_pipeline = {
    ALL_ROOTS, .collective = COLLOPT_REDUCE_SCATTER,
    .summary = "all parts pipelined through a circulant graph; parts of very different lengths",
};

const struct collopt_algorithm collopt_reduce_scatter_block_circulant_pipeline = {
    ALL_ROOTS, .collective = COLLOPT_REDUCE_SCATTER_BLOCK,
    .summary = "all parts pipelined through a circulant graph; few long messages under way",
};
