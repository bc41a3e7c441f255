/* Ring: a reduce-scatter round the ring of ranks, and for Allreduce an allgather round it, for
 * Reduce a gather.
 *
 * Part b starts at rank b+1 and travels up the ring, combined at every stop; after p-1 rounds it is
 * complete at rank b. p-1 more rounds bring it to everyone; to the root of a Reduce every rank
 * sends its part itself. Segmented, the pieces of a part follow one another, so that one is
 * combined while the next is on its way. Bidirectional, the second half of every part travels down
 * the ring instead, as a strand of its own.
 * Cost: p-1 rounds, (p-1)/p m sent and combined; Allreduce and Reduce twice the rounds and bytes.
 * Scratch: two parts (segmented: two pieces). Messages go to neighbours only, but for the gather.
 * Cyclic order: commutative operations only.
 * Use it for very long vectors, above all where links are shared; segmented where p has large prime
 * factors; in both directions where links are, or where half a part needs no handshake. Patarasuk
 * and Yuan, J. Parallel Distrib. Comput. 69 (2009). */
#include "config.h"

#include "algorithm.h"

enum { MOST_WAYS = 2, MOST_PIECES = 64 };

/* One direction; every part is cut into EACH pieces, and this direction takes N from FIRST on. */
struct ring {
    int ranks, rank, way;       /* WAY: 1 up, -1 down */
    int partition, each, first, n;
    struct turns tmp;
    struct collopt_region sum[MOST_PIECES];     /* what is passed on next */
};

static struct ring ring(const struct collopt_problem *p, int rank, int partition, int each)
{
    return (struct ring){ .ranks = p->ranks, .rank = rank, .way = 1, .partition = partition,
                          .each = each, .n = each, .tmp = { .slots = 2 } };
}

static int peer(const struct ring *g, int away)
{
    return modulo(g->rank + g->way * away, g->ranks);
}

/* Piece I of the part that belongs to the rank AWAY. */
static struct collopt_block piece(const struct ring *g, int away, int i)
{
    return block(g->partition, peer(g, away) * g->each + g->first + i, 1);
}

enum keep { NOTHING, OWN_PART, ALL_PARTS };     /* what this rank may put into OUT */

/* Round K of p-1. The last one completes the rank's own part. */
static void reduce_round(struct collopt_schedule *s, struct ring *g, int k, enum keep keep)
{
    bool kept = keep == ALL_PARTS || (keep == OWN_PART && k == g->ranks - 2);

    for (int i = 0; i < g->n; i++) {
        struct collopt_block take = piece(g, -k - 2, i);
        struct collopt_region got = at(turn(s, &g->tmp), take);

        collopt_send(s, peer(g, 1), k == 0 ? in(piece(g, -1, i)) : g->sum[i]);
        collopt_receive(s, peer(g, -1), got);
        g->sum[i] = kept ? out(take) : got;
        collopt_combine(s, g->sum[i], got, in(take));
    }
}

static void gather_round(struct collopt_schedule *s, const struct ring *g, int k)
{
    for (int i = 0; i < g->n; i++) {
        collopt_send(s, peer(g, 1), out(piece(g, -k, i)));
        collopt_receive(s, peer(g, -1), out(piece(g, -k - 1, i)));
    }
}

/* The parts in EACH pieces, which go one way, or one each way. */
static void go_round(struct collopt_schedule *s, const struct collopt_problem *p, int rank,
                     int each, int ways)
{
    bool back = p->collective == COLLOPT_ALLREDUCE;
    int parts = back ? collopt_partition(s, p->ranks) : collopt_partition_counts(s),
        pieces = each > 1 ? collopt_partition_each(s, parts, each) : parts;
    struct ring g[MOST_WAYS] = { ring(p, rank, pieces, each), ring(p, rank, pieces, each) };

    if (ways > 1) {
        g[0].n = g[1].n = g[1].first = 1;
        g[1].way = -1;
    }
    for (int k = 0; k < (back ? 2 : 1) * (p->ranks - 1); k++) {
        collopt_round(s);
        for (int w = 0; w < ways; w++) {
            collopt_strand(s, w);
            if (k < p->ranks - 1)
                reduce_round(s, &g[w], k, back ? ALL_PARTS : OWN_PART);
            else
                gather_round(s, &g[w], k - (p->ranks - 1));
        }
    }
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    go_round(s, p, rank, p->segments, 1);
}

static void build_both(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    go_round(s, p, rank, 2, 2);
}

static void build_reduce(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct ring g = ring(p, rank, collopt_partition(s, p->ranks), 1);

    for (int k = 0; k < p->ranks - 1; k++) {
        collopt_round(s);
        reduce_round(s, &g, k, rank == p->root ? OWN_PART : NOTHING);
    }
    collopt_round(s);
    if (rank != p->root)
        collopt_send(s, p->root, g.sum[0]);
    for (int k = 1; k < p->ranks && rank == p->root; k++)
        collopt_receive(s, peer(&g, k), out(piece(&g, k, 0)));
}

static void round_ring(const struct collopt_problem *p, int ways, struct collopt_traffic *t)
{
    bool back = p->collective == COLLOPT_ALLREDUCE || p->collective == COLLOPT_REDUCE;
    double part = vector_bytes(p) / p->ranks / ways;
    struct collopt_messages m = { .pattern = COLLOPT_AROUND, .distance = 1, .bytes = part,
                                  .combined = part, .strands = ways };

    collopt_messages(t, p->ranks - 1, m);
    m.combined = 0;
    collopt_messages(t, back ? p->ranks - 1 : 0, m);
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    round_ring(p, 1, t);
}

static void traffic_both(const struct collopt_problem *p, struct collopt_traffic *t)
{
    round_ring(p, 2, t);
}

/* Pieces that stay in a cache, of one rank's part. */
static size_t segment(const struct collopt_problem *p)
{
    (void)p;
    return 64 << 10;
}

static int pieces(const struct collopt_problem *p)
{
    struct collopt_problem part = *p;

    part.count = p->count / (size_t)p->ranks;
    return least(collopt_segments(&part), MOST_PIECES);
}

static void traffic_segmented(const struct collopt_problem *p, struct collopt_traffic *t)
{
    double segment = vector_bytes(p) / p->ranks / p->segments;
    struct collopt_messages m = { .pattern = COLLOPT_AROUND, .distance = 1, .bytes = segment,
                                  .combined = segment };

    if (p->segments == 1) {
        round_ring(p, 1, t);
        return;
    }
    collopt_messages(t, 1, m);
    collopt_pipeline(t, (p->ranks - 1.0) * p->segments, 1, 1, m);
    m.combined = 0;
    collopt_pipeline(t, (p->ranks - 1.0) * p->segments, 1, 1, m);
}

#define SOURCE "Patarasuk and Yuan, J. Parallel Distrib. Comput. 69 (2009)"
#define RING \
    .name = "ring", .order = COLLOPT_COMMUTATIVE, .source = SOURCE, .traffic = traffic
COLLOPT_ALLREDUCE_AND_SCATTER(ring,
    RING, .summary = "parts travel round a ring, and once more as results; very long vectors",
    .build = build);

const struct collopt_algorithm collopt_reduce_ring = {
    RING, .summary = "parts travel round a ring and are gathered; very long vectors",
    .collective = COLLOPT_REDUCE, .build = build_reduce,
};

const struct collopt_algorithm collopt_allreduce_segmented_ring = {
    .name = "segmented_ring",
    .summary = "ring in which pieces of a part follow one another; very long vectors",
    .collective = COLLOPT_ALLREDUCE, .order = COLLOPT_COMMUTATIVE, .source = SOURCE,
    .parameter = { COLLOPT_SEGMENT(segment) }, .segments = pieces, .traffic = traffic_segmented,
    .build = build,
};

COLLOPT_ALLREDUCE_AND_SCATTER(bidirectional_ring,
    .name = "bidirectional_ring", .order = COLLOPT_COMMUTATIVE, .source = SOURCE,
    .summary = "half of every part travels up the ring, half down; very long vectors",
    .traffic = traffic_both, .build = build_both);
