/* Bucket: reduce-scatter along one dimension of a grid of ranks after the other, and for Allreduce
 * allgather the way back.
 *
 * bucket, on a torus: the vector is cut into two strands for each dimension, which start with
 * different ones and go round their rings in both directions, so that all links are used at the
 * same time. Along each dimension what a rank holds is cut into a part for every rank of the ring,
 * as ring.c does; the next dimension goes on with what is left.
 * mesh, where there are no links from the last rank of a line to the first: one strand for each
 * dimension, and on a line the sums for part b come from both ends. Rank x passes up the parts
 * above it, the farthest first, and down those below; d - 1 rounds, and no link has more than it
 * must, as every part that has to cross it does so once and combined.
 * mesh_in_order is one strand, along the last dimension first: there neighbours are consecutive
 * ranks, then consecutive rows, and sums from below, one's own and those from above are folded in
 * this order: any operation.
 *
 * Cost, D dimensions d_1 ... d_D: sum (d_i - 1) rounds in every strand, which take turns on one
 * port; (p-1)/p m sent and combined, on lines up to (d_i + 1) instead of (d_i - 1) shares of d_i
 * received. Allreduce: twice that. Scratch: two parts in each strand, four on lines; Reduce_scatter
 * m more where there are several dimensions. bucket and mesh: commutative operations only.
 * Use it for very long vectors on tori and meshes; messages go to neighbours only.
 * Jain and Sabharwal, ICS 2010, for tori; on lines two pipelines against one another are
 * folklore. */
#include "config.h"

#include <stdlib.h>

#include "algorithm.h"

enum { STRANDS = 2 * COLLOPT_SIDES, LINE = 0, LISTS = 8 };

struct strand {
    struct collopt_grid grid;   /* no sides of one */
    int rank, number, strands, partition;
    int way;                    /* round rings 1 or -1; LINE: along lines, both ways */
    int order[COLLOPT_SIDES];   /* of dimensions */
    bool scatters;
    int sums;                   /* place of what is held between dimensions */
    struct turns tmp;
    struct collopt_region passed[2];    /* a sum on its way: from below (or round the ring), and
                                         * from above */
    struct collopt_block *room;         /* for the lists of the regions at hand */
    int lists;
};

static int side(const struct strand *w, int stage)
{
    return w->grid.side[w->order[stage]];
}

static int coordinate(const struct strand *w, int stage)
{
    return collopt_grid_at(&w->grid, w->rank, w->order[stage]);
}

static int neighbour(const struct strand *w, int stage, int away)
{
    return collopt_grid_moved(&w->grid, w->rank, w->order[stage],
                              modulo(coordinate(w, stage) + away, side(w, stage)));
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Ranks whose parts are cut off at once in STAGE. */
static int fellows(const struct strand *w, int stage)
{
    int n = 1;

    for (int j = stage + 1; j < w->grid.sides; j++)
        n *= side(w, j);
    return n;
}

/* Number I of the ranks that have this one's coordinates in the dimensions before STAGE, and X in
 * this one. */
static int fellow(const struct strand *w, int stage, int x, int i)
{
    int rank = collopt_grid_moved(&w->grid, w->rank, w->order[stage], x);
    bool fixed[COLLOPT_SIDES] = { false };

    for (int j = 0; j <= stage; j++)
        fixed[w->order[j]] = true;
    for (int d = w->grid.sides - 1; d >= 0; d--)
        if (!fixed[d]) {
            rank = collopt_grid_moved(&w->grid, rank, d, i % w->grid.side[d]);
            i /= w->grid.side[d];
        }
    return rank;
}

/* The blocks of coordinate X in STAGE.  Parts of an Allreduce are numbered so that it is one
 * block. */
static struct collopt_region share(struct strand *w, int place, int stage, int x)
{
    int n = fellows(w, stage), first = 0;

    if (w->scatters) {
        struct collopt_block *list = w->room + w->lists++ % LISTS * fellows(w, 0);

        for (int i = 0; i < n; i++)
            list[i] = block(w->partition, fellow(w, stage, x, i) * w->strands + w->number, 1);
        return n == 1 ? at(place, list[0]) : at_list(place, n, list);
    }
    for (int j = 0; j <= stage; j++)
        first += fellows(w, j) * (j < stage ? coordinate(w, j) : x);
    return at(place, block(w->partition, w->number * fellows(w, -1) + first, n));
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static int held_in(const struct strand *w, int stage)
{
    return stage == 0 ? COLLOPT_IN : w->sums;
}

static int left_in(const struct strand *w, int stage)
{
    return stage == w->grid.sides - 1 ? COLLOPT_OUT : w->sums;
}

static void ring_reduce(struct collopt_schedule *s, struct strand *w, int stage, int k)
{
    int d = side(w, stage), me = coordinate(w, stage), take = modulo(me - w->way * (k + 2), d);
    struct collopt_region got = share(w, turn(s, &w->tmp), stage, take),
                          mine = share(w, held_in(w, stage), stage, take);

    if (k == 0)
        w->passed[0] = share(w, held_in(w, stage), stage, modulo(me - w->way, d));
    collopt_send(s, neighbour(w, stage, w->way), w->passed[0]);
    collopt_receive(s, neighbour(w, stage, -w->way), got);
    w->passed[0] = got;
    if (k == d - 2)
        w->passed[0] = share(w, left_in(w, stage), stage, me);
    collopt_combine(s, w->passed[0], got, mine);
}

static void ring_gather(struct collopt_schedule *s, struct strand *w, int stage, int k)
{
    int d = side(w, stage), me = coordinate(w, stage);

    collopt_send(s, neighbour(w, stage, w->way),
                 share(w, COLLOPT_OUT, stage, modulo(me - w->way * k, d)));
    collopt_receive(s, neighbour(w, stage, -w->way),
                    share(w, COLLOPT_OUT, stage, modulo(me - w->way * (k + 1), d)));
}

/* The part that goes from X up in round K, and comes to X + 1; down, X counts from the other end.
 * -1: none. */
static int part_up(int d, int x, int k)
{
    return x >= 0 && x < d - 1 && k >= x ? d - 1 - k + x : -1;
}

/* One direction of a line, UP or down: true if a sum came, in *GOT. */
static bool line_messages(struct collopt_schedule *s, struct strand *w, int stage, int k, bool up,
                          struct collopt_region *got)
{
    int d = side(w, stage), me = coordinate(w, stage), x = up ? me : d - 1 - me;
    int give = part_up(d, x, k), take = part_up(d, x - 1, k);

    if (give >= 0)
        collopt_send(s, neighbour(w, stage, up ? 1 : -1),
                     x == 0 ? share(w, held_in(w, stage), stage, up ? give : d - 1 - give)
                            : w->passed[!up]);
    if (take < 0)
        return false;
    *got = share(w, turn(s, &w->tmp), stage, up ? take : d - 1 - take);
    collopt_receive(s, neighbour(w, stage, up ? -1 : 1), *got);
    return true;
}

static void line_reduce(struct collopt_schedule *s, struct strand *w, int stage, int k)
{
    int d = side(w, stage), me = coordinate(w, stage), n = 0;
    struct collopt_region got[2], operand[3];
    bool below = line_messages(s, w, stage, k, true, &got[0]),
         above = line_messages(s, w, stage, k, false, &got[1]);

    if (k == d - 2) {           /* what comes last is one's own */
        if (below)
            operand[n++] = got[0];
        operand[n++] = share(w, held_in(w, stage), stage, me);
        if (above)
            operand[n++] = got[1];
        collopt_fold(s, share(w, left_in(w, stage), stage, me), n, operand);
        return;
    }
    if (below)
        collopt_combine(s, got[0], got[0],
                        share(w, held_in(w, stage), stage, part_up(d, me - 1, k)));
    if (above)
        collopt_combine(s, got[1],
                        share(w, held_in(w, stage), stage, d - 1 - part_up(d, d - 2 - me, k)),
                        got[1]);
    w->passed[0] = got[0];
    w->passed[1] = got[1];
}

static void line_gather(struct collopt_schedule *s, struct strand *w, int stage, int k)
{
    int d = side(w, stage), me = coordinate(w, stage);

    if (me < d - 1 && me - k >= 0)
        collopt_send(s, neighbour(w, stage, 1), share(w, COLLOPT_OUT, stage, me - k));
    if (me > 0 && me + k < d)
        collopt_send(s, neighbour(w, stage, -1), share(w, COLLOPT_OUT, stage, me + k));
    if (me - 1 - k >= 0)
        collopt_receive(s, neighbour(w, stage, -1), share(w, COLLOPT_OUT, stage, me - 1 - k));
    if (me + 1 + k < d)
        collopt_receive(s, neighbour(w, stage, 1), share(w, COLLOPT_OUT, stage, me + 1 + k));
}

/* Round T of all: round K of a stage. */
static void reduce_round(struct collopt_schedule *s, struct strand *w, int t)
{
    int stage = 0;

    for (; t >= side(w, stage) - 1; stage++)
        t -= side(w, stage) - 1;
    (w->way == LINE ? line_reduce : ring_reduce)(s, w, stage, t);
}

static void gather_round(struct collopt_schedule *s, struct strand *w, int t)
{
    int stage = w->grid.sides - 1;

    for (; t >= side(w, stage) - 1; stage--)
        t -= side(w, stage) - 1;
    (w->way == LINE ? line_gather : ring_gather)(s, w, stage, t);
}

/* ---- the schedule ---------------------------------------------------------------------------- */

enum form { TORUS, MESH, MESH_IN_ORDER };

static int strands_of(const struct collopt_grid *g, enum form form)
{
    return form == TORUS ? 2 * g->sides : form == MESH ? g->sides : 1;
}

static struct strand strand(const struct collopt_problem *p, const struct collopt_grid *g,
                            enum form form, int rank, int number)
{
    struct strand w = { .grid = *g, .rank = rank, .number = number, .strands = strands_of(g, form),
                        .way = form != TORUS ? LINE : number < g->sides ? 1 : -1,
                        .scatters = p->collective != COLLOPT_ALLREDUCE,
                        .tmp = { .slots = form == TORUS ? 2 : 4 } };

    for (int j = 0; j < g->sides; j++)
        w.order[j] = form == MESH_IN_ORDER ? g->sides - 1 - j : (number + j) % g->sides;
    return w;
}

static void go(struct collopt_schedule *s, const struct collopt_grid *g, int strands,
               struct strand *w, bool back)
{
    int n = collopt_grid_hops(g);

    for (int t = 0; t < (back ? 2 * n : n); t++) {
        collopt_round(s);
        for (int i = 0; i < strands; i++) {
            collopt_strand(s, i);
            if (t < n)
                reduce_round(s, &w[i], t);
            else
                gather_round(s, &w[i], t - n);
        }
    }
}

static int partition_for(struct collopt_schedule *s, const struct collopt_problem *p, int strands)
{
    if (p->collective == COLLOPT_ALLREDUCE)
        return collopt_partition_each(s, collopt_partition(s, strands), p->ranks);
    return strands > 1 ? collopt_partition_each(s, collopt_partition_counts(s), strands)
                       : collopt_partition_counts(s);
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank,
                  enum form form)
{
    struct collopt_grid g = collopt_grid_proper(p->value[0]);
    int strands = strands_of(&g, form), partition = partition_for(s, p, strands);
    bool back = p->collective == COLLOPT_ALLREDUCE, good = true;
    struct strand w[STRANDS];

    for (int i = 0; i < strands; i++) {
        w[i] = strand(p, &g, form, rank, i);
        w[i].partition = partition;
        w[i].sums = back || g.sides == 1 ? COLLOPT_OUT : collopt_accumulator(s);
        w[i].room = w[i].scatters
            ? collopt_workspace(s, LISTS * (size_t)fellows(&w[i], 0) * sizeof *w[i].room)
            : NULL;
        good &= w[i].room || !w[i].scatters;
    }
    if (good)
        go(s, &g, strands, w, back);
    for (int i = 0; i < strands; i++)
        free(w[i].room);
}

static void build_torus(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    build(s, p, rank, TORUS);
}

static void build_mesh(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    build(s, p, rank, MESH);
}

static void build_mesh_in_order(struct collopt_schedule *s, const struct collopt_problem *p,
                                int rank)
{
    build(s, p, rank, MESH_IN_ORDER);
}

/* ---- traffic --------------------------------------------------------------------------------- */

/* Round a ring that is none the last one sends to the first all along the line. */
static void traffic(const struct collopt_problem *p, enum form form, struct collopt_traffic *t)
{
    struct collopt_grid g = collopt_grid_proper(p->value[0]);
    int strands = collopt_traffic_strands(p, strands_of(&g, form));
    struct strand w = strand(p, &g, form, 0, 0);
    double m = vector_bytes(p) / strands;

    for (int stage = 0; stage < g.sides; stage++) {
        int d = w.order[stage];
        bool open = form == TORUS && p->topology->dims == p->value[0]
            && !(p->topology->rings >> d & 1) && g.side[d] > 2;
        struct collopt_messages each = { .pattern = open ? COLLOPT_SHIFT : COLLOPT_PAIRS,
                                         .distance = g.stride[d], .bytes = m / g.side[d],
                                         .combined = m / g.side[d], .strands = strands };

        /* along a line some wait for both neighbours */
        double rounds = (g.side[d] - 1) * (form == TORUS ? 1 : 1.3);

        collopt_messages(t, rounds, each);
        each.combined = 0;
        if (p->collective == COLLOPT_ALLREDUCE)
            collopt_messages(t, rounds, each);
        m /= g.side[d];
    }
}

static void traffic_torus(const struct collopt_problem *p, struct collopt_traffic *t)
{
    traffic(p, TORUS, t);
}

static void traffic_mesh(const struct collopt_problem *p, struct collopt_traffic *t)
{
    traffic(p, MESH, t);
}

static void traffic_mesh_in_order(const struct collopt_problem *p, struct collopt_traffic *t)
{
    traffic(p, MESH_IN_ORDER, t);
}

#define ON_GRID \
    .parameter = { COLLOPT_DIMS(collopt_preset_sides) }, .usable = collopt_grid_fits, \
    .unfit = COLLOPT_GRID_UNFIT

COLLOPT_ALLREDUCE_AND_SCATTER(bucket,
    ON_GRID, .name = "bucket", .source = "Jain and Sabharwal, ICS 2010",
    .summary = "rings along every dimension of a torus; very long vectors",
    .order = COLLOPT_COMMUTATIVE, .traffic = traffic_torus, .build = build_torus);

COLLOPT_ALLREDUCE_AND_SCATTER(mesh,
    ON_GRID, .name = "mesh", .source = "folklore",
    .summary = "lines along every dimension of a mesh, from both ends; very long vectors",
    .order = COLLOPT_COMMUTATIVE, .traffic = traffic_mesh, .build = build_mesh);

COLLOPT_ALLREDUCE_AND_SCATTER(mesh_in_order,
    ON_GRID, .name = "mesh_in_order", .source = "folklore",
    .summary = "lines along one dimension of a mesh after the other, in rank order; very long "
               "vectors",
    .order = COLLOPT_IN_ORDER, .traffic = traffic_mesh_in_order, .build = build_mesh_in_order);
