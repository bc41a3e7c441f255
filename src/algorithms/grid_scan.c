/* Scan and Exscan over a grid of ranks: prefixes along its lines, of ranks, then of rows, then of
 * planes, segment by segment. On one line of all ranks it is a pipelined chain.
 *
 * Along the last dimension, whose ranks are consecutive, sums of the ranks below travel up a line,
 * and sums of those above travel down it, so that all ranks of the line have its total. With that
 * as its own operand each of them does the same along the dimension before, where neighbours are
 * consecutive rows, and so on; along the first dimension nobody needs a total. The sums that a
 * rank has got from below along each dimension, the first dimension's on the left, combine to that
 * of all lower ranks.
 * Cost, D dimensions, S segments: the way from the first to the last corner, where one chain
 * through all ranks has p-1 hops; an inner rank receives 2D - 1 messages of each segment, on a mesh
 * each on a link of its own, and combines 4D - 3 times. From three dimensions on ranks send in
 * slots of time, lest segments share links and all come late. Scratch: up to 2D - 2 vectors, and
 * three segments of each stream. In rank order, neighbours only. Use it on meshes and tori, for
 * vectors of middle length: shorter ones are faster by doubling, and very long ones, where
 * combining counts, in one chain (p-2 + S rounds of m/S, m sent and combined, three segments of
 * scratch). Folklore of meshes (prefixes of rows, then of row sums), and of chains. */
#include "config.h"

#include "algorithm.h"

enum { SEGMENT, DIMS };         /* parameters */
enum { LAG = 2 };               /* slots of time from a neighbour's sending to one's own; meanwhile
                                 * others are under way */
enum { SLOTTED = 3 };           /* from so many dimensions on ranks send in slots of time */

/* The role of a rank along one dimension. */
struct line {
    int below, above;           /* neighbours; -1: none */
    bool total;                 /* the sum of the line is needed: some rank beyond it exists */
    bool keep;                  /* the prefix, until it has been joined with what comes from
                                 * above */
    struct turns from_below, up, down;
    int slot_up, slot_down;     /* slots of time in which the first segment goes up and down */
    int result;                 /* place of the prefix along the dimensions behind this one; -1:
                                 * nothing is below */
    int own, prefix, rest;      /* places: what this rank adds; with all below it; all above it,
                                 * then the total */
};

struct way {
    bool inclusive;
    struct collopt_grid grid;
    struct line line[COLLOPT_SIDES];
};

static void find_neighbours(struct way *w, int rank)
{
    bool last = true;           /* along all dimensions before */

    for (int d = 0; d < w->grid.sides; d++) {
        int x = collopt_grid_at(&w->grid, rank, d), end = w->grid.side[d] - 1;

        w->line[d] = (struct line){
            .below = x > 0 ? rank - w->grid.stride[d] : -1,
            .above = x < end ? rank + w->grid.stride[d] : -1,
            .total = !last, .keep = !last && x > 0,
            .from_below = { .slots = COLLOPT_CHAIN_SLOTS }, .up = { .slots = COLLOPT_CHAIN_SLOTS },
            .down = { .slots = COLLOPT_CHAIN_SLOTS },
        };
        last = last && x == end;
    }
}

/* The last dimension's prefix is the result, unless something comes from below along another one
 * and the prefix is needed until then. */
static bool prefix_is_result(const struct way *w, int d)
{
    bool more = false;

    for (int e = 0; e < d; e++)
        more = more || w->line[e].below >= 0;
    return w->inclusive && d == w->grid.sides - 1 && !(more && w->line[d].keep);
}

static void make_places(struct collopt_schedule *s, struct way *w)
{
    for (int d = w->grid.sides - 1; d >= 0; d--) {
        struct line *l = &w->line[d];

        if (d == w->grid.sides - 1)
            l->own = COLLOPT_IN;
        l->prefix = l->below < 0     ? l->own
            : prefix_is_result(w, d) ? COLLOPT_OUT
            : l->keep                ? collopt_vector_slot(s, whole())
                                     : -1;
        l->rest = l->total && l->above >= 0 ? collopt_vector_slot(s, whole()) : -1;
        if (d > 0)
            w->line[d - 1].own = l->rest >= 0 ? l->rest : l->prefix;
    }
}

/* The place of the prefix along dimension D and those behind it. */
static int result_after(const struct way *w, int d)
{
    const struct line *l = &w->line[d];

    if (l->below < 0)
        return l->result;
    return w->inclusive && d == w->grid.sides - 1 && !prefix_is_result(w, d) ? l->prefix
                                                                             : COLLOPT_OUT;
}

/* Streams of three dimensions and more, five at the least, come late if each sends when it can. On
 * two, whose three streams seldom meet, slots of time gain a little for vectors of middle length
 * and lose as much for long ones. */
static bool in_slots(const struct collopt_grid *g)
{
    int sides = 0;

    for (int d = 0; d < g->sides; d++)
        sides += g->side[d] > 1;
    return sides >= SLOTTED;
}

/* A rank sends LAG slots after the neighbour that it waits for, and the dimension before begins
 * when both ways have come. So no link has many segments of a stream at a time, which would all
 * come late. */
static void find_slots(struct way *w, int rank)
{
    int begin = 0, result = w->inclusive ? COLLOPT_IN : -1;

    for (int d = w->grid.sides - 1; d >= 0; d--) {
        struct line *l = &w->line[d];
        int x = collopt_grid_at(&w->grid, rank, d);

        l->slot_up = begin + LAG * x;
        l->slot_down = begin + LAG * (w->grid.side[d] - 1 - x);
        begin = most(l->slot_up, l->slot_down);
        l->result = result;
        result = result_after(w, d);
    }
}

static void pass_up(struct collopt_schedule *s, const struct way *w, int d, struct line *l,
                    struct collopt_block segment)
{
    struct collopt_region below = { .blocks = 0 }, sum = at(l->own, segment);
    bool result = l->below >= 0 && prefix_is_result(w, d);

    if (l->below >= 0) {
        below = l->result < 0 ? out(segment) : at(turn(s, &l->from_below), segment);
        collopt_receive(s, l->below, below);
        if (l->above >= 0 || l->keep || result) {
            sum = at(l->prefix >= 0 ? l->prefix : turn(s, &l->up), segment);
            collopt_combine(s, sum, below, at(l->own, segment));
        }
    }
    if (l->above >= 0)
        collopt_send(s, l->above, sum);
    if (l->below >= 0 && !(w->inclusive && d == w->grid.sides - 1) && l->result >= 0)
        collopt_combine(s, out(segment), below, at(l->result, segment));
}

static void pass_down(struct collopt_schedule *s, struct line *l, struct collopt_block segment)
{
    struct collopt_region sum = at(l->own, segment), above = at(l->rest, segment);

    if (l->above >= 0)
        collopt_receive(s, l->above, above);
    if (l->below < 0)
        return;
    if (l->above >= 0) {
        sum = at(turn(s, &l->down), segment);
        collopt_combine(s, sum, at(l->own, segment), above);
    }
    collopt_send(s, l->below, sum);
}

/* The segment that is due in SLOT, where the first one is in BEGIN; no parts: none. */
static struct collopt_block due(int partition, int segments, int slot, int begin)
{
    int j = slot - begin;

    return block(partition, j, j >= 0 && j < segments);
}

static void pass_slot(struct collopt_schedule *s, struct way *w, int partition, int segments,
                      int slot)
{
    for (int d = w->grid.sides - 1; d >= 0; d--) {
        struct line *l = &w->line[d];
        struct collopt_block up = due(partition, segments, slot, l->slot_up),
                             down = due(partition, segments, slot, l->slot_down);
        struct collopt_block both = due(partition, segments, slot, most(l->slot_up, l->slot_down));

        if (up.parts)
            pass_up(s, w, d, l, up);
        if (l->total && down.parts)
            pass_down(s, l, down);
        if (l->total && l->above >= 0 && both.parts)
            collopt_combine(s, at(l->rest, both), at(l->prefix, both), at(l->rest, both));
    }
}

/* All ways along all dimensions are strands of their own. */
static void pass_segment(struct collopt_schedule *s, const struct way *w, struct line *line,
                         struct collopt_block segment)
{
    for (int d = w->grid.sides - 1; d >= 0; d--) {
        struct line *l = &line[d];
        int strand = 2 * (w->grid.sides - 1 - d);

        collopt_strand(s, strand);
        pass_up(s, w, d, l, segment);
        if (!l->total)
            continue;
        collopt_strand(s, strand + 1);
        pass_down(s, l, segment);
        if (l->above < 0)
            continue;
        collopt_strand(s, strand + 2);
        collopt_combine(s, at(l->rest, segment), at(l->prefix, segment), at(l->rest, segment));
    }
}

static void build_on(struct collopt_schedule *s, const struct collopt_problem *p, int rank,
                     const struct collopt_grid *g)
{
    struct way w = { .inclusive = p->collective == COLLOPT_SCAN, .grid = *g };
    int partition = collopt_partition(s, p->segments), slots;
    bool slotted;

    find_neighbours(&w, rank);
    make_places(s, &w);
    find_slots(&w, rank);
    slotted = in_slots(&w.grid);
    slots = !slotted ? p->segments : most(w.line[0].slot_up, w.line[0].slot_down) + p->segments;
    for (int slot = 0; slot < slots; slot++) {
        collopt_round(s);
        if (slotted)
            pass_slot(s, &w, partition, p->segments, slot);
        else
            pass_segment(s, &w, w.line, block(partition, slot, 1));
    }
    if (result_after(&w, 0) == COLLOPT_IN)
        collopt_copy(s, out(whole()), in(whole()));
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct collopt_grid g;

    if (collopt_grid(&g, p->value[DIMS]))
        build_on(s, p, rank, &g);
}

static void build_chain(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    build_on(s, p, rank, &(struct collopt_grid){ 1, { p->ranks }, { 1 } });
}

/* ---- traffic --------------------------------------------------------------------------------- */

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    double segment = vector_bytes(p) / p->segments;
    struct collopt_messages m = { .pattern = COLLOPT_PAIRS, .bytes = segment, .combined = segment };
    struct collopt_grid g;
    int streams = 0;

    if (!collopt_grid(&g, p->value[DIMS]) || p->ranks == 1)
        return;
    for (int d = 0; d < g.sides; d++) {
        if (g.side[d] == 1)
            continue;
        m.distance = g.stride[d];
        collopt_messages(t, g.side[d] - 1, m);
        streams += streams > 0 ? 2 : 1;         /* up and down, but for the first */
    }
    m.strands = streams;
    collopt_pipeline(t, p->segments - 1, 1, 1, m);
}

static void traffic_chain(const struct collopt_problem *p, struct collopt_traffic *t)
{
    double segment = vector_bytes(p) / p->segments;
    struct collopt_messages m = { .pattern = COLLOPT_ALONG, .distance = 1, .bytes = segment,
                                  .combined = segment };

    collopt_messages(t, p->ranks - 1, m);
    collopt_pipeline(t, p->segments - 1, 1, 1, m);
}

/* ---- parameters ------------------------------------------------------------------------------ */

/* With so many under way each pays for that part of its latency, which is as if there were so many
 * times the hops. */
static size_t segment(const struct collopt_problem *p)
{
    struct collopt_grid g;
    int hops = collopt_grid(&g, collopt_preset_dims(p, 1)) ? collopt_grid_hops(&g) : p->ranks;

    return collopt_preset_segment(p, COLLOPT_CHAIN_SLOTS * hops, vector_bytes(p));
}

COLLOPT_SCAN_AND_EXSCAN(chain,
    .name = "chain", .summary = "pipelined chain up the ranks; very long vectors, few ranks",
    .order = COLLOPT_IN_ORDER, .source = "folklore",
    .parameter = { COLLOPT_SEGMENT(collopt_preset_segment_chain) }, .segments = collopt_segments,
    .traffic = traffic_chain, .build = build_chain);

COLLOPT_SCAN_AND_EXSCAN(mesh,
    .name = "mesh",
    .summary = "prefixes along every dimension of a mesh, pipelined; vectors of middle length",
    .order = COLLOPT_IN_ORDER, .source = "folklore",
    .parameter = { COLLOPT_SEGMENT(segment), COLLOPT_DIMS(collopt_preset_sides) },
    .segments = collopt_segments, .usable = collopt_grid_fits_second,
    .unfit = COLLOPT_GRID_UNFIT, .traffic = traffic, .build = build);
