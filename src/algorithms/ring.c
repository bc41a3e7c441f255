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
 * Use it for very long vectors, above all where links are shared; in both directions where links
 * are. Patarasuk and Yuan, J. Parallel Distrib. Comput. 69 (2009). */
#include "config.h"

#include "algorithm.h"

/* One direction; every part is cut into EACH pieces, of which this takes N from FIRST on. */
struct ring {
    int ranks, rank, way;       /* WAY: 1 up, -1 down */
    int partition, each, first, n;
    struct turns tmp;
};

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

/* Round K of p-1. The last one completes the rank's own part. SUM[i] is where sums lie: in scratch
 * unless KEEP says OUT. */
static void reduce_round(struct collopt_schedule *s, struct ring *g, int k, enum keep keep,
                         struct collopt_region *sum)
{
    bool last = k == g->ranks - 2;

    for (int i = 0; i < g->n; i++) {
        struct collopt_block take = piece(g, -k - 2, i);
        struct collopt_region got = at(turn(s, &g->tmp), take);

        collopt_send(s, peer(g, 1), k == 0 ? in(piece(g, -1, i)) : sum[i]);
        collopt_receive(s, peer(g, -1), got);
        sum[i] = keep == ALL_PARTS || (keep == OWN_PART && last) ? out(take) : got;
        collopt_combine(s, sum[i], got, in(take));
    }
}

static void gather_round(struct collopt_schedule *s, const struct ring *g, int k)
{
    for (int i = 0; i < g->n; i++) {
        collopt_send(s, peer(g, 1), out(piece(g, -k, i)));
        collopt_receive(s, peer(g, -1), out(piece(g, -k - 1, i)));
    }
}

enum { MOST_PIECES = 64, WAYS = 2 };

/* All rings in WAYS directions at once; Allreduce if BACK. */
static void go_round(struct collopt_schedule *s, int ways, struct ring *g, bool back)
{
    struct collopt_region sum[WAYS][MOST_PIECES];

    for (int k = 0; k < g->ranks - 1; k++) {
        collopt_round(s);
        for (int w = 0; w < ways; w++) {
            collopt_strand(s, w);
            reduce_round(s, &g[w], k, back ? ALL_PARTS : OWN_PART, sum[w]);
        }
    }
    for (int k = 0; k < g->ranks - 1 && back; k++) {
        collopt_round(s);
        for (int w = 0; w < ways; w++) {
            collopt_strand(s, w);
            gather_round(s, &g[w], k);
        }
    }
    if (g->ranks == 1)
        collopt_copy(s, out(whole()), in(whole()));
}

static void build_allreduce(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct ring g = { p->ranks, rank, 1, collopt_partition(s, p->ranks), 1, 0, 1, { .slots = 2 } };

    go_round(s, 1, &g, true);
}

static void build_reduce_scatter(struct collopt_schedule *s, const struct collopt_problem *p,
                                 int rank)
{
    struct ring g = { p->ranks, rank, 1, collopt_partition_counts(s), 1, 0, 1, { .slots = 2 } };

    go_round(s, 1, &g, false);
}

static void build_reduce(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct ring g = { p->ranks, rank, 1, collopt_partition(s, p->ranks), 1, 0, 1, { .slots = 2 } };
    struct collopt_region sum;

    for (int k = 0; k < p->ranks - 1; k++) {
        collopt_round(s);
        reduce_round(s, &g, k, rank == p->root ? OWN_PART : NOTHING, &sum);
    }
    if (p->ranks == 1) {
        collopt_copy(s, out(whole()), in(whole()));
        return;
    }
    collopt_round(s);
    if (rank != p->root)
        collopt_send(s, p->root, sum);
    for (int k = 1; k < p->ranks && rank == p->root; k++)
        collopt_receive(s, peer(&g, k), out(piece(&g, k, 0)));
}

static void build_segmented(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    int pieces = p->segments;
    struct ring g = { p->ranks, rank, 1, collopt_partition_each(s, collopt_partition(s, p->ranks),
                                                                pieces), pieces, 0, pieces,
                      { .slots = 2 } };

    go_round(s, 1, &g, true);
}

static void both_ways(struct collopt_schedule *s, const struct collopt_problem *p, int rank,
                      int parts, bool back)
{
    int halves = collopt_partition_each(s, parts, 2);
    struct ring g[WAYS] = { { p->ranks, rank, 1, halves, 2, 0, 1, { .slots = 2 } },
                            { p->ranks, rank, -1, halves, 2, 1, 1, { .slots = 2 } } };

    go_round(s, WAYS, g, back);
}

static void build_allreduce_both(struct collopt_schedule *s, const struct collopt_problem *p,
                                 int rank)
{
    both_ways(s, p, rank, collopt_partition(s, p->ranks), true);
}

static void build_reduce_scatter_both(struct collopt_schedule *s, const struct collopt_problem *p,
                                      int rank)
{
    both_ways(s, p, rank, collopt_partition_counts(s), false);
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

/* In DIRECTIONS at once, PARTS of them on the way out and as many back. */
static void round_ring(const struct collopt_problem *p, int directions, bool back,
                       struct collopt_traffic *t)
{
    double part = vector_bytes(p) / p->ranks / directions;
    struct collopt_messages m = { .pattern = COLLOPT_AROUND, .distance = 1, .bytes = part,
                                  .combined = part, .strands = directions };

    collopt_messages(t, p->ranks - 1, m);
    m.combined = 0;
    collopt_messages(t, back ? p->ranks - 1 : 0, m);
}

static void traffic_reduce_scatter(const struct collopt_problem *p, struct collopt_traffic *t)
{
    round_ring(p, 1, false, t);
}

static void traffic_allreduce(const struct collopt_problem *p, struct collopt_traffic *t)
{
    round_ring(p, 1, true, t);
}

static void traffic_allreduce_both(const struct collopt_problem *p, struct collopt_traffic *t)
{
    round_ring(p, 2, true, t);
}

static void traffic_reduce_scatter_both(const struct collopt_problem *p, struct collopt_traffic *t)
{
    round_ring(p, 2, false, t);
}

static void traffic_segmented(const struct collopt_problem *p, struct collopt_traffic *t)
{
    double segment = vector_bytes(p) / p->ranks / p->segments;
    struct collopt_messages m = { .pattern = COLLOPT_AROUND, .distance = 1, .bytes = segment,
                                  .combined = segment };

    if (p->segments == 1) {
        round_ring(p, 1, true, t);
        return;
    }
    collopt_messages(t, 1, m);
    collopt_pipeline(t, (p->ranks - 1.0) * p->segments, 1, 1, m);
    m.combined = 0;
    collopt_pipeline(t, (p->ranks - 1.0) * p->segments, 1, 1, m);
}

static const char source[] = "Patarasuk and Yuan, J. Parallel Distrib. Comput. 69 (2009)";

const struct collopt_algorithm collopt_allreduce_ring = {
    .name = "ring", .summary = "reduce-scatter and allgather round a ring; very long vectors",
    .collective = COLLOPT_ALLREDUCE, .order = COLLOPT_COMMUTATIVE, .identical = true,
    .rounds = "2 (p-1)", .bytes = "2 (p-1)/p m",
    .when = "very long vectors", .source = source,
    .traffic = traffic_allreduce, .build = build_allreduce,
};

const struct collopt_algorithm collopt_reduce_ring = {
    .name = "ring",
    .summary = "parts travel round a ring and are gathered; very long vectors, little scratch",
    .collective = COLLOPT_REDUCE, .order = COLLOPT_COMMUTATIVE, .identical = true,
    .rounds = "2 (p-1)", .bytes = "2 (p-1)/p m", .when = "very long vectors, little scratch",
    .source = source, .traffic = traffic_allreduce, .build = build_reduce,
};

COLLOPT_SCATTER_AND_BLOCK(ring,
    .name = "ring", .summary = "parts travel round a ring; very long vectors",
    .order = COLLOPT_COMMUTATIVE, .identical = true,
    .rounds = "p-1", .bytes = "(p-1)/p m",
    .when = "very long vectors, neighbours only", .source = source,
    .traffic = traffic_reduce_scatter, .build = build_reduce_scatter);

const struct collopt_algorithm collopt_allreduce_segmented_ring = {
    .name = "segmented_ring",
    .summary = "ring in which pieces of a part follow one another; very long vectors",
    .collective = COLLOPT_ALLREDUCE, .order = COLLOPT_COMMUTATIVE, .identical = true,
    .rounds = "2 (p-1) S", .bytes = "2 (p-1)/p m",
    .when = "very long vectors, combined in the cache", .source = source,
    .parameter = { COLLOPT_SEGMENT(segment) }, .segments = pieces, .traffic = traffic_segmented,
    .build = build_segmented,
};

const struct collopt_algorithm collopt_allreduce_bidirectional_ring = {
    .name = "bidirectional_ring",
    .summary = "half of every part travels up the ring, half down; very long vectors",
    .collective = COLLOPT_ALLREDUCE, .order = COLLOPT_COMMUTATIVE, .identical = true,
    .rounds = "4 (p-1); of half the length", .bytes = "2 (p-1)/p m",
    .when = "very long vectors, links in both directions", .source = source,
    .traffic = traffic_allreduce_both, .build = build_allreduce_both,
};

COLLOPT_SCATTER_AND_BLOCK(bidirectional_ring,
    .name = "bidirectional_ring",
    .summary = "half of every part travels up the ring, half down; very long vectors",
    .order = COLLOPT_COMMUTATIVE, .identical = true, .rounds = "2 (p-1); of half the length",
    .bytes = "(p-1)/p m", .when = "very long vectors, links in both directions", .source = source,
    .traffic = traffic_reduce_scatter_both, .build = build_reduce_scatter_both);
