/* Swing: reduce-scatter and allgather between ranks at distances 1, 1, 3, 5, 11 ..., first one way and then the other.
 *
 * The longest messages go to the nearest ranks, and no step reaches farther than a third of 2^(s+2): on rings, tori and
 * wherever near ranks are well connected, links carry a third less than with doubling distances.  swing_table.c says which blocks
 * are handed on when.  In each step half of what is held, rounded down, is sent and the partner's sums for the rest are added.
 * An odd number of ranks swings as one more: the last rank plays two neighbours.  They are partners in the first step, so that
 * nothing is sent in it, and each of them has half of the blocks from then on.  Allreduce is free to number its parts: on a power of
 * two (also one that the last rank makes full) what is held is one window.  Elsewhere messages are lists of blocks.
 *
 * swing_torus does this on a torus with even sides: a step is one in one dimension, the dimensions take turns, and a block is
 * handed on in the first step whose dimension says so.  The vector is cut into two strands for each dimension, which
 * start in different ones, half of them in the mirror, so that all links are used at the same time.
 *
 * Cost: q = ceil(log2 p) rounds, p odd 2 q - 1, and (p-1)/p m, p odd m; Allreduce twice that (p odd: p/(p+1) m each way).  On one port the
 * strands of swing_torus take turns: 2 D times the rounds.  Scratch: 3/8 m (Allreduce), 11/8 m (Reduce_scatter).  Sums grow in
 * no order of ranks: commutative operations only.  Building takes O(p) time and memory, but for Allreduce on a power of two.
 * Use it for medium and long vectors where near ranks are near: swing on a ring or a fat tree, swing_torus on a torus.
 * De Sensi et al., NSDI 2024 (arXiv 2401.09356); as Bine butterfly De Sensi et al., SC 2025 (arXiv 2508.17311).  Halving for
 * every even number, and two neighbours in one rank, are collopt's. */
#include "config.h"

#include <stdlib.h>

#include "algorithm.h"

enum { STEPS = 32, STRANDS = 2 * COLLOPT_SIDES };

/* ---- one strand ------------------------------------------------------------------------------------------------ */

struct swing {
    int ranks, nodes, strand, strands;
    struct collopt_grid grid;
    bool mirrored, scatters, windows;
    int steps, dimension[STEPS], step[STEPS];           /* each step of all is a step in a dimension */
    int when[COLLOPT_SIDES][STEPS];                     /* and back */
    unsigned char *table[COLLOPT_SIDES];
};

static bool power_of_two(int n)
{
    return (n & (n - 1)) == 0;
}

/* Dimensions take turns, those with steps left, from FIRST on. */
static void order_steps(struct swing *w, int first)
{
    int used[COLLOPT_SIDES] = { 0 }, all = 0;

    for (int i = 0; i < w->grid.sides; i++)
        all += log2_ceil(w->grid.side[i]);
    for (int d = first; w->steps < all; d = (d + 1) % w->grid.sides) {
        if (used[d] == log2_ceil(w->grid.side[d]))
            continue;
        w->when[d][used[d]] = w->steps;
        w->dimension[w->steps] = d;
        w->step[w->steps++] = used[d]++;
    }
}

/* Blocks held before STEP. */
static int held(const struct swing *w, int step)
{
    int n = 1, used[COLLOPT_SIDES] = { 0 };

    for (int t = 0; t < step; t++)
        used[w->dimension[t]]++;
    for (int d = 0; d < w->grid.sides; d++)
        n *= collopt_swing_held(w->grid.side[d], used[d]);
    return n;
}

static struct swing strand(const struct collopt_problem *p, const struct collopt_grid *g, int strand, int strands)
{
    struct swing w = { .ranks = p->ranks, .nodes = 1, .strand = strand, .strands = strands, .grid = *g,
                       .mirrored = strand >= g->sides, .scatters = p->collective != COLLOPT_ALLREDUCE };

    w.windows = !w.scatters;
    for (int d = 0; d < g->sides; d++) {
        w.nodes *= g->side[d];
        w.windows &= power_of_two(g->side[d]);
    }
    order_steps(&w, strand % g->sides);
    return w;
}

static bool toward(const struct swing *w, int coordinate)
{
    return (coordinate % 2 == 0) != w->mirrored;
}

static int partner(const struct swing *w, int node, int t)
{
    int d = w->dimension[t], x = collopt_grid_at(&w->grid, node, d), distance = collopt_swing_distance(w->step[t]);

    return collopt_grid_moved(&w->grid, node, d, modulo(toward(w, x) ? x + distance : x - distance, w->grid.side[d]));
}

/* The step in which NODE hands on BLOCK; all steps for its own. */
static int handed_on(const struct swing *w, int node, int block_)
{
    int first = w->steps;

    for (int d = 0; d < w->grid.sides; d++) {
        int x = collopt_grid_at(&w->grid, node, d), y = collopt_grid_at(&w->grid, block_, d), side = w->grid.side[d];
        int step = side > 1 ? w->table[d][modulo(toward(w, x) ? y - x : x - y, side)] : 0;

        if (side > 1 && step < log2_ceil(side))
            first = least(first, w->when[d][step]);
    }
    return first;
}

/* ---- what a node exchanges in each step --------------------------------------------------------------------------- */

struct blocks {
    int n;
    struct collopt_block *list;
};

struct exchange {
    int peer;                   /* node */
    struct blocks give, take;
    struct blocks left;         /* held, and neither given nor taken */
};

struct role {                   /* of this rank: a node */
    int node, partition;
    struct exchange exchange[STEPS];
    int *held;                  /* the nodes whose blocks are held, in their order */
    struct collopt_block *list;
};

/* Adds the part of NODE to those of B; neighbours become one block. */
static void add(const struct swing *w, const struct role *r, struct blocks *b, int node)
{
    int part = w->scatters ? node * w->strands + w->strand : w->strand * w->nodes + node;
    struct collopt_block *last = b->n ? &b->list[b->n - 1] : NULL;

    if (w->scatters && node >= w->ranks)        /* the second neighbour that the last rank plays gets nothing */
        return;
    if (last && last->first + last->parts == part)
        last->parts++;
    else
        b->list[b->n++] = block(r->partition, part, 1);
}

/* Which half of the window is kept in step T? */
static bool upper(const struct swing *w, int node, int t)
{
    int d = w->dimension[t], side = w->grid.side[d], x = collopt_grid_at(&w->grid, node, d);

    return collopt_swing_position(side, w->mirrored ? modulo(-x, side) : x) >> (log2_ceil(side) - 1 - w->step[t]) & 1;
}

static void plan_windows(const struct swing *w, struct role *r)
{
    int first = w->strand * w->nodes, n = w->nodes;

    for (int t = 0; t < w->steps; t++) {
        struct exchange *x = &r->exchange[t];
        bool up = upper(w, r->node, t);

        n /= 2;
        *x = (struct exchange){ .peer = partner(w, r->node, t), .give = { 1, r->list }, .take = { 1, r->list + 1 } };
        *r->list++ = block(r->partition, first + (up ? 0 : n), n);
        first += up ? n : 0;
        *r->list++ = block(r->partition, first, n);
    }
}

static void plan_lists(const struct swing *w, struct role *r)
{
    int n = w->nodes, kept;

    for (int i = 0; i < n; i++)
        r->held[i] = i;
    for (int t = 0; t < w->steps; t++, n = kept) {
        struct exchange *x = &r->exchange[t];

        *x = (struct exchange){ .peer = partner(w, r->node, t), .give.list = r->list, .take.list = r->list + n,
                                .left.list = r->list + 2 * n };
        kept = 0;
        for (int i = 0; i < n; i++) {
            if (handed_on(w, r->node, r->held[i]) == t) {
                add(w, r, &x->give, r->held[i]);
                continue;
            }
            add(w, r, handed_on(w, x->peer, r->held[i]) == t ? &x->take : &x->left, r->held[i]);
            r->held[kept++] = r->held[i];
        }
        r->list += 3 * n;
    }
}

/* ---- the schedule --------------------------------------------------------------------------------------------------- */

static struct collopt_region region(int place, const struct blocks *b)
{
    return b->n == 1 ? at(place, b->list[0]) : at_list(place, b->n, b->list);
}

static struct collopt_region in_blocks(const struct blocks *b)
{
    return region(COLLOPT_IN, b);
}

static int rank_of(const struct swing *w, int node)
{
    return least(node, w->ranks - 1);
}

static bool elsewhere(const struct swing *w, const struct role *r, int t)
{
    return rank_of(w, r->exchange[t].peer) != rank_of(w, r->node);
}

/* Step T: messages, and then what is done with them.  Sums lie in SUM, those of the last step in OUT. */
struct sums {
    struct collopt_region mine, got, to;
    bool first, taken;
};

static struct sums reduce_messages(struct collopt_schedule *s, const struct swing *w, const struct role *r, int t, int sum,
                                   struct turns *tmp)
{
    const struct exchange *x = &r->exchange[t];
    bool first = t == 0 || !elsewhere(w, r, t - 1);
    int mine = first ? COLLOPT_IN : sum, to = t == w->steps - 1 ? COLLOPT_OUT : sum;
    struct sums u = { .mine = region(mine, &x->take), .to = region(to, &x->take), .first = first, .taken = x->take.n > 0 };

    if (x->give.n)
        collopt_send(s, rank_of(w, x->peer), region(mine, &x->give));
    if (u.taken) {
        u.got = first ? u.to : region(turn(s, tmp), &x->take);
        collopt_receive(s, rank_of(w, x->peer), u.got);
    }
    return u;
}

static void reduce_sums(struct collopt_schedule *s, const struct exchange *x, const struct sums *u)
{
    if (u->taken)
        collopt_combine(s, u->to, u->mine, u->got);
    if (u->first && x->left.n)
        collopt_copy(s, region(u->to.place, &x->left), in_blocks(&x->left));
}

static void gather_step(struct collopt_schedule *s, const struct swing *w, const struct role *r, int t)
{
    const struct exchange *x = &r->exchange[t];

    collopt_send(s, rank_of(w, x->peer), region(COLLOPT_OUT, &x->take));
    collopt_receive(s, rank_of(w, x->peer), region(COLLOPT_OUT, &x->give));
}

struct player {                 /* all of one rank */
    int strands, roles;
    struct swing strand[STRANDS];
    struct role role[STRANDS][2];
    struct turns tmp[STRANDS];
};

/* One step of one strand, for all that this rank plays. */
static void play_step(struct collopt_schedule *s, struct player *m, int i, int t, int sum, bool gather)
{
    const struct swing *w = &m->strand[i];
    struct sums u[2];

    for (int r = 0; r < m->roles; r++) {
        if (!elsewhere(w, &m->role[i][r], t))
            return;
        if (gather)
            gather_step(s, w, &m->role[i][m->roles - 1 - r], t);
        else
            u[r] = reduce_messages(s, w, &m->role[i][r], t, sum, &m->tmp[i]);
    }
    for (int r = 0; r < m->roles && !gather; r++)
        reduce_sums(s, &m->role[i][r].exchange[t], &u[r]);
}

static void play(struct collopt_schedule *s, struct player *m, int sum, bool back)
{
    int steps = m->strand[0].steps;

    for (int k = 0; k < (back ? 2 : 1) * steps; k++) {
        collopt_round(s);
        for (int i = 0; i < m->strands; i++) {
            collopt_strand(s, i);
            play_step(s, m, i, k < steps ? k : 2 * steps - 1 - k, sum, k >= steps);
        }
    }
}

static bool make_tables(struct collopt_schedule *s, struct swing *w)
{
    for (int d = 0; d < w->grid.sides && !w->windows; d++) {
        size_t side = (size_t)w->grid.side[d];
        int *work = side > 1 ? collopt_workspace(s, 2 * side * sizeof *work) : NULL;

        w->table[d] = work ? collopt_workspace(s, side) : NULL;
        if (w->table[d])
            collopt_swing_table((int)side, w->table[d], work);
        free(work);
        if (side > 1 && !w->table[d])
            return false;
    }
    return true;
}

/* Every list in front of the next: what is held becomes about half in each step. */
static bool plan(struct collopt_schedule *s, const struct swing *w, struct role *r)
{
    size_t nodes = w->windows ? STEPS : (size_t)w->nodes;
    struct collopt_block *list = collopt_workspace(s, 3 * (3 * nodes + STEPS) * sizeof *list);

    r->held = collopt_workspace(s, nodes * sizeof *r->held);
    r->list = list;
    if (!list || !r->held) {
        free(list);
        r->list = NULL;
        return false;
    }
    if (w->windows)
        plan_windows(w, r);
    else
        plan_lists(w, r);
    r->list = list;
    return true;
}

static bool prepare(struct collopt_schedule *s, struct player *m, int rank, int partition)
{
    for (int i = 0; i < m->strands; i++) {
        if (!make_tables(s, &m->strand[i]))
            return false;
        for (int r = 0; r < m->roles; r++) {
            m->role[i][r] = (struct role){ .node = rank + r, .partition = partition };
            if (!plan(s, &m->strand[i], &m->role[i][r]))
                return false;
        }
        m->tmp[i].slots = 2 * m->roles;
    }
    return true;
}

static void forget(struct player *m)
{
    for (int i = 0; i < m->strands; i++) {
        for (int d = 0; d < m->strand[i].grid.sides; d++)
            free(m->strand[i].table[d]);
        for (int r = 0; r < m->roles; r++) {
            free(m->role[i][r].held);
            free(m->role[i][r].list);
        }
    }
}

static void build_on(struct collopt_schedule *s, const struct collopt_problem *p, const struct collopt_grid *g, int strands,
                     int rank)
{
    struct player *m = p->ranks > 1 ? collopt_workspace(s, sizeof *m) : NULL;
    bool back = p->collective == COLLOPT_ALLREDUCE;
    int nodes = p->ranks + p->ranks % 2, partition;

    if (p->ranks == 1)
        collopt_copy(s, out(whole()), in(whole()));
    if (!m)
        return;
    *m = (struct player){ .strands = strands, .roles = rank == p->ranks - 1 && p->ranks % 2 ? 2 : 1 };
    for (int i = 0; i < strands; i++)
        m->strand[i] = strand(p, g, i, strands);
    if (back) {
        partition = strands > 1 ? collopt_partition_each(s, collopt_partition(s, strands), nodes) : collopt_partition(s, nodes);
    } else {
        partition = collopt_partition_counts(s);
        if (strands > 1)
            partition = collopt_partition_each(s, partition, strands);
    }
    if (prepare(s, m, rank, partition))
        play(s, m, !back && m->strand[0].steps > 1 ? collopt_accumulator(s) : COLLOPT_OUT, back);
    forget(m);
    free(m);
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    int nodes = p->ranks + p->ranks % 2;
    struct collopt_grid ring = { .sides = 1, .side = { nodes }, .stride = { 1 } };

    build_on(s, p, &ring, 1, rank);
}

static void build_torus(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct collopt_grid g;

    if (collopt_grid(&g, p->value[0]))
        build_on(s, p, &g, 2 * g.sides, rank);
}

/* ---- cost ------------------------------------------------------------------------------------------------------------- */

/* In parts: two slots that take turns, from step FIRST on. */
static int slots(const struct swing *w, int first)
{
    int slot[2] = { 0, 0 };

    for (int t = first; t < w->steps; t++)
        slot[t % 2] = most(slot[t % 2], held(w, t) - held(w, t + 1));
    return slot[0] + slot[1];
}

/* The rank that plays two neighbours has their slots, after a step in which it needs none; what is nobody's lacks in them. */
static int slots_of_two(const struct swing *w)
{
    return 2 * slots(w, 2) - (w->scatters ? least(most(w->steps - 2, 0), 2) : 0);
}

static void cost_on(const struct collopt_problem *p, const struct collopt_grid *g, int strands, struct collopt_cost *c)
{
    bool back = p->collective == COLLOPT_ALLREDUCE, odd = p->ranks % 2;
    double m = vector_bytes(p), part = m / (back && odd ? p->ranks + 1 : p->ranks);

    *c = (struct collopt_cost){ .rounds = 0 };
    if (p->ranks == 1)
        return;
    for (int i = 0; i < strands; i++) {
        struct swing w = strand(p, g, i, strands);

        c->scratch += (odd ? most(slots(&w, 1), slots_of_two(&w)) : slots(&w, 1)) * part / strands;
        c->rounds += (back ? 2 : 1) * (odd ? 2 * w.steps - 1 : w.steps);
    }
    c->combined = (odd ? p->ranks : p->ranks - 1) * part;
    c->bytes = (back ? 2 : 1) * c->combined;
    c->scratch += !back && p->ranks > 2 ? m : 0;
}

static void cost(const struct collopt_problem *p, struct collopt_cost *c)
{
    struct collopt_grid ring = { .sides = 1, .side = { p->ranks + p->ranks % 2 }, .stride = { 1 } };

    cost_on(p, &ring, 1, c);
}

static void cost_torus(const struct collopt_problem *p, struct collopt_cost *c)
{
    struct collopt_grid g;

    *c = (struct collopt_cost){ .rounds = 0 };
    if (collopt_grid(&g, p->value[0]))
        cost_on(p, &g, 2 * g.sides, c);
}

/* Halves of what is held, in every strand. */
static void traffic_on(const struct collopt_problem *p, const struct collopt_grid *g, int strands, struct collopt_traffic *t)
{
    struct swing w = strand(p, g, 0, strands);
    bool back = p->collective == COLLOPT_ALLREDUCE, wired = strands > 1 && p->topology->dims == p->value[0];
    double held;

    strands = collopt_traffic_strands(p, strands);
    held = vector_bytes(p) / strands;
    for (int s = 0; s < w.steps; s++) {
        int d = w.dimension[s], far = least(abs(collopt_swing_distance(w.step[s])), most(g->side[d] / 2, 1));
        struct collopt_messages m = { .pattern = COLLOPT_SWING, .distance = far * g->stride[d], .bytes = held / 2,
                                      .combined = held / 2, .strands = strands };

        collopt_messages(t, p->ranks % 2 && s > 0 ? 2 : 1, m);
        m.combined = 0;
        if (wired && !(p->topology->rings >> d & 1) && g->side[d] > 2)
            m.uneven = 0.5;     /* on lines strands share links, and they are not abreast any more */
        collopt_messages(t, !back ? 0 : p->ranks % 2 && s > 0 ? 2 : 1, m);
        held /= 2;
    }
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    struct collopt_grid ring = { .sides = 1, .side = { p->ranks + p->ranks % 2 }, .stride = { 1 } };

    if (p->ranks > 1)
        traffic_on(p, &ring, 1, t);
}

static void traffic_torus(const struct collopt_problem *p, struct collopt_traffic *t)
{
    struct collopt_grid g;

    if (p->ranks > 1 && collopt_grid(&g, p->value[0]))
        traffic_on(p, &g, 2 * g.sides, t);
}

static const char source[] =
    "De Sensi et al., NSDI 2024 (arXiv 2401.09356) and SC 2025 (arXiv 2508.17311); any p: collopt";

const struct collopt_algorithm collopt_allreduce_swing = {
    .name = "swing", .summary = "reduce-scatter and allgather over near ranks first; medium and long vectors on tori and rings",
    .collective = COLLOPT_ALLREDUCE, .order = COLLOPT_COMMUTATIVE, .identical = true,
    .rounds = "2 q, p odd about 4 q - 2", .bytes = "2 (p-1)/p m",
    .when = "medium and long vectors where near ranks are near", .source = source,
    .cost = cost, .traffic = traffic, .build = build,
};

const struct collopt_algorithm collopt_reduce_scatter_swing = {
    .name = "swing", .summary = "halves exchanged, the longest with near ranks; medium and long vectors on tori and rings",
    .collective = COLLOPT_REDUCE_SCATTER, .order = COLLOPT_COMMUTATIVE, .identical = true,
    .rounds = "q, p odd 2 q - 1", .bytes = "(p-1)/p m, p odd m",
    .when = "medium and long vectors where near ranks are near", .source = source,
    .cost = cost, .traffic = traffic, .build = build,
};

const struct collopt_algorithm collopt_reduce_scatter_block_swing = {
    .name = "swing", .summary = "halves exchanged, the longest with near ranks; medium and long vectors on tori and rings",
    .collective = COLLOPT_REDUCE_SCATTER_BLOCK, .order = COLLOPT_COMMUTATIVE, .identical = true,
    .rounds = "q, p odd 2 q - 1", .bytes = "(p-1)/p m, p odd m",
    .when = "medium and long vectors where near ranks are near", .source = source,
    .cost = cost, .traffic = traffic, .build = build,
};

static size_t even_sides(const struct collopt_problem *p)
{
    return collopt_preset_dims(p, 2);
}

static bool sides_are_even(const struct collopt_problem *p)
{
    struct collopt_grid g;

    if (!collopt_grid(&g, p->value[0]) || !collopt_grid_fits(p, 0))
        return false;
    for (int d = 0; d < g.sides; d++)
        if (g.side[d] % 2 && g.side[d] > 1)
            return false;
    return true;
}

#define UNEVEN COLLOPT_GRID_UNFIT ", or one of them is odd"

const struct collopt_algorithm collopt_allreduce_swing_torus = {
    .name = "swing_torus", .summary = "swing along every dimension of a torus at once; medium and long vectors",
    .collective = COLLOPT_ALLREDUCE, .order = COLLOPT_COMMUTATIVE, .identical = true,
    .rounds = "2 q in each of 2 D strands", .bytes = "2 (p-1)/p m",
    .when = "medium and long vectors on tori with even sides", .source = source,
    .parameter = { COLLOPT_DIMS(even_sides) }, .usable = sides_are_even, .unfit = UNEVEN,
    .cost = cost_torus, .traffic = traffic_torus, .build = build_torus,
};

const struct collopt_algorithm collopt_reduce_scatter_swing_torus = {
    .name = "swing_torus", .summary = "swing along every dimension of a torus at once; medium and long vectors",
    .collective = COLLOPT_REDUCE_SCATTER, .order = COLLOPT_COMMUTATIVE, .identical = true,
    .rounds = "q in each of 2 D strands", .bytes = "(p-1)/p m",
    .when = "medium and long vectors on tori with even sides", .source = source,
    .parameter = { COLLOPT_DIMS(even_sides) }, .usable = sides_are_even, .unfit = UNEVEN,
    .cost = cost_torus, .traffic = traffic_torus, .build = build_torus,
};

const struct collopt_algorithm collopt_reduce_scatter_block_swing_torus = {
    .name = "swing_torus", .summary = "swing along every dimension of a torus at once; medium and long vectors",
    .collective = COLLOPT_REDUCE_SCATTER_BLOCK, .order = COLLOPT_COMMUTATIVE, .identical = true,
    .rounds = "q in each of 2 D strands", .bytes = "(p-1)/p m",
    .when = "medium and long vectors on tori with even sides", .source = source,
    .parameter = { COLLOPT_DIMS(even_sides) }, .usable = sides_are_even, .unfit = UNEVEN,
    .cost = cost_torus, .traffic = traffic_torus, .build = build_torus,
};
