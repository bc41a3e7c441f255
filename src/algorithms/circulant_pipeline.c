/* Pipelined circulant graph: n blocks reach or leave one rank in n - 1 + ceil(log2 p) rounds, the
 * fewest there can be.
 *
 * In round i, with k = i mod q, every rank sends a block to the rank skip[k] above and receives one
 * from skip[k] below. Two tables of q numbers say which: receives[k] is the block counted from the
 * phase's first (a phase is q rounds), or, negative, from the blocks that came before. In one phase
 * a rank receives q different blocks, all but one of them of earlier phases. That is a broadcast; a
 * reduction is the same backwards, where every rank sends every block once, after the last of its
 * summands has come in. The tables take O(log^3 p) steps and no communication.
 * Every round has other peers, so rounds are kept: what came early would share the port with what
 * is due. Cost, n blocks: n - 1 + q rounds of m/n, q = ceil(log2 p). Scratch: m off the root
 * and two blocks. Commutative operations only.
 * Use it for Reduce of long vectors: half the bytes of reduce-scatter and gather.
 * Traeff, arXiv 2205.10072 and 2312.11236; the rule for the receive table is ours, checked for all
 * p up to 600. */
#include "config.h"

#include "algorithm.h"

/* ---- tables ---------------------------------------------------------------------------------- */

struct graph {
    int ranks, q, skip[COLLOPT_SKIPS];
};

/* The smallest skip in V as a sum of skips, largest first; q for 0. */
static int base_block(const struct graph *g, int v)
{
    int k = g->q;

    while (v > 0) {
        k--;
        if (v >= g->skip[k])
            v -= g->skip[k];
    }
    return k;
}

/* A set, as bits, of the base blocks of LO .. HI, seen as numbers below LENGTH; 0 is left out. The
 * numbers that have skip[e] as their largest skip are a shifted copy of those below. */
static unsigned long long base_blocks(const struct graph *g, int lo, int hi, int length)
{
    unsigned long long set = 0;

    lo = most(lo, 1);
    hi = least(hi, length - 1);
    for (int e = 0; lo <= hi && e < g->q && g->skip[e] <= hi; e++) {
        int first = g->skip[e], last = least(g->skip[e + 1], length) - 1;

        if (first > last || last < lo)
            continue;
        if (lo <= first)
            set |= 1ULL << e;

        int from = most(lo, first + 1) - first, to = least(hi, last) - first;

        if (from == 1 && to == last - first && from <= to) {    /* all of the copy */
            for (int i = 0; i < e && g->skip[i] <= to; i++)
                set |= 1ULL << i;
        } else if (from <= to) {
            set |= base_blocks(g, from, to, last - first + 1);
        }
    }
    return set;
}

/* The same for ranks LO .. HI mod p, where rank 0 has q. */
static unsigned long long base_blocks_around(const struct graph *g, int lo, int hi)
{
    if (hi < 0)
        return base_blocks(g, lo + g->ranks, hi + g->ranks, g->ranks);

    unsigned long long set = base_blocks(g, lo, hi, g->ranks);

    if (lo <= 0)
        set |= 1ULL << g->q;
    if (lo < 0)
        set |= base_blocks(g, lo + g->ranks, g->ranks - 1, g->ranks);
    return set;
}

static int highest(unsigned long long set)
{
    int i = 0;

    while (set >> (i + 1))
        i++;
    return i;
}

/* In round k: the largest block not yet had that some rank in [v - skip[k+1], v - skip[k]] has, the
 * one furthest down last. */
static void receive_table(const struct graph *g, int v, int table[COLLOPT_SKIPS])
{
    int own = base_block(g, v);
    unsigned long long used = 1ULL << own;

    for (int k = 0; k < g->q; k++) {
        unsigned long long set =
            base_blocks_around(g, v - g->skip[k + 1] + 1, v - g->skip[k]) & ~used;
        int block = set ? highest(set) : base_block(g, modulo(v - g->skip[k + 1], g->ranks));

        used |= 1ULL << block;
        table[k] = block == g->q ? own : block - g->q;
    }
}

/* The block sent to a rank is the one that this rank receives. */
static void send_table(const struct graph *g, int v, int table[COLLOPT_SKIPS])
{
    int theirs[COLLOPT_SKIPS];

    for (int k = 0; k < g->q; k++) {
        receive_table(g, modulo(v + g->skip[k], g->ranks), theirs);
        table[k] = theirs[k];
    }
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* One rank, numbered from the root, and n blocks. */
struct traffic {
    struct graph g;
    int v, blocks, rounds, skipped;     /* rounds without traffic at the start of the first phase */
    int received[COLLOPT_SKIPS], sent[COLLOPT_SKIPS];
};

static struct traffic traffic_of(int ranks, int v, int blocks)
{
    struct traffic t = { .v = v, .blocks = blocks };

    t.g.ranks = ranks;
    t.g.q = collopt_skips(ranks, t.g.skip);
    t.rounds = blocks - 1 + t.g.q;
    t.skipped = modulo(1 - blocks, t.g.q);
    receive_table(&t.g, v, t.received);
    send_table(&t.g, v, t.sent);
    return t;
}

/* Broadcast round I of ROUNDS: the blocks sent up and received from below, -1: none. */
struct round {
    int up, down;               /* peers, numbered from the root */
    int sent, received;
};

static struct round round_of(const struct traffic *t, int i)
{
    int k = (i + t->skipped) % t->g.q, offset = (i + t->skipped) / t->g.q * t->g.q - t->skipped;
    struct round r = { modulo(t->v + t->g.skip[k], t->g.ranks),
                       modulo(t->v - t->g.skip[k], t->g.ranks), -1, -1 };

    if (r.up != 0 && t->sent[k] + offset >= 0)
        r.sent = least(t->sent[k] + offset, t->blocks - 1);
    if (t->v != 0 && t->received[k] + offset >= 0)
        r.received = least(t->received[k] + offset, t->blocks - 1);
    return r;
}

/* The block received in the round before: it is combined while the next block is under way,
 * unless it is that block. */
struct pending {
    int block;                  /* -1: nothing */
    struct collopt_region sum, mine, theirs;
};

static void combine_pending(struct collopt_schedule *s, struct pending *p)
{
    if (p->block >= 0)
        collopt_combine(s, p->sum, p->mine, p->theirs);
    p->block = -1;
}

/* Backwards: what a broadcast sends up is received and combined, what it receives is sent down. */
static void reduce(struct collopt_schedule *s, const struct traffic *t, int root, int partition)
{
    bool combined[COLLOPT_MOST_SEGMENTS] = { false };
    struct turns tmp = { .slots = 2 };
    struct pending pending = { .block = -1 };

    for (int i = t->rounds - 1; i >= 0; i--) {
        struct round r = round_of(t, i);

        collopt_round(s);
        if (r.received >= 0) {
            int from = combined[r.received] ? collopt_accumulator(s) : COLLOPT_IN;

            if (pending.block == r.received)
                combine_pending(s, &pending);
            collopt_send(s, (r.down + root) % t->g.ranks,
                         at(from, block(partition, r.received, 1)));
        }
        if (r.sent >= 0) {
            bool first = !combined[r.sent];
            struct collopt_region sum = at(collopt_accumulator(s), block(partition, r.sent, 1));
            struct collopt_region theirs = first ? sum : at(turn(s, &tmp), sum.block);

            collopt_receive(s, (r.up + root) % t->g.ranks, theirs);
            combine_pending(s, &pending);
            pending = (struct pending){ r.sent, sum, first ? in(sum.block) : sum, theirs };
            combined[r.sent] = true;
        }
    }
    combine_pending(s, &pending);
}

/* One block alone shares no port with others, and two ranks have no other peers. */
static void keep_rounds(struct collopt_schedule *s, const struct collopt_problem *p)
{
    if (p->segments > 1 && p->ranks > 2)
        collopt_keep_rounds(s);
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct traffic t = traffic_of(p->ranks, modulo(rank - p->root, p->ranks), p->segments);

    keep_rounds(s, p);
    reduce(s, &t, p->root, collopt_partition(s, p->segments));
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    int skip[COLLOPT_SKIPS], q = collopt_skips(p->ranks, skip);
    double segment = vector_bytes(p) / p->segments,
           rounds = q > 0 ? (p->segments - 1.0 + q) / q : 0;

    for (int k = 0; k < q; k++) {
        struct collopt_messages m = { .pattern = COLLOPT_SHIFT, .distance = skip[k],
                                      .bytes = segment, .combined = segment,
                                      .lockstep = p->segments > 1 };

        collopt_messages(t, rounds, m);
    }
}

const struct collopt_algorithm collopt_reduce_circulant_pipeline = {
    .name = "circulant_pipeline",
    .summary = "blocks pipelined through a circulant graph, fewest rounds; long vectors",
    .collective = COLLOPT_REDUCE, .order = COLLOPT_COMMUTATIVE,
    .source = "Traeff, arXiv 2205.10072 and 2312.11236; rule for the receive table: collopt",
    .parameter = { COLLOPT_SEGMENT(collopt_preset_segment_tree) }, .segments = collopt_segments,
    .traffic = traffic, .build = build,
};
