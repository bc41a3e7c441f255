/* Swing: reduce-scatter and allgather or gather between ranks at distances 1, 1, 3, 5, 11 ...,
 * first one way and then the other.
 *
 * The longest messages go to the nearest ranks, and no step reaches farther than a third of
 * 2^(s+2): on rings, tori and wherever near ranks are well connected, links carry a third less than
 * with doubling distances. swing_table.c says which blocks are handed on when, swing_strand.c who
 * exchanges what. In each step half of what is held, rounded down, is sent and the partner's sums
 * for the rest are added. An odd number of ranks swings as one more: the last rank plays two
 * neighbours. They are partners in the first step, so that nothing is sent in it, and each of them
 * has half of the blocks from then on. Allreduce and Reduce are free to number their parts: on a
 * power of two (also one that the last rank makes full) what is held is one window. Elsewhere
 * messages are lists of blocks.
 *
 * swing_torus does this on a torus with even sides: a step is one in one dimension, the dimensions
 * take turns, and a block is handed on in the first step whose dimension says so. The vector is cut
 * into two strands for each dimension, which start in different ones, half of them in the mirror,
 * so that all links are used at the same time.
 *
 * Reduce: the sums are gathered at the root by the same steps in reverse, in which only those ranks
 * send that have what it lacks.
 *
 * Cost: q = ceil(log2 p) rounds, p odd 2 q - 1, and (p-1)/p m, p odd m; Allreduce and Reduce twice
 * that (p odd: p/(p+1) m each way). On one port the strands of swing_torus take turns: 2 D times
 * the rounds. Scratch: 3/8 m (Allreduce), 11/8 m. Sums grow in no order of ranks: commutative
 * operations only. Building takes O(p) time and memory, but for Allreduce and Reduce on a power of
 * two.
 * Use it for medium and long vectors where near ranks are near: swing on a ring or a fat tree,
 * swing_torus on a torus. De Sensi et al., NSDI 2024 (arXiv 2401.09356); as Bine butterfly De Sensi
 * et al., SC 2025 (arXiv 2508.17311). Halving for every even number, and two neighbours in one
 * rank, are collopt's. */
#include "config.h"

#include <stdlib.h>

#include "swing_strand.h"

enum { STRANDS = 2 * COLLOPT_SIDES };

/* ---- the schedule ---------------------------------------------------------------------------- */

static struct collopt_region region(int place, const struct collopt_swing_blocks *b)
{
    return b->n == 1 ? at(place, b->list[0]) : at_list(place, b->n, b->list);
}

static struct collopt_region in_blocks(const struct collopt_swing_blocks *b)
{
    return region(COLLOPT_IN, b);
}

static int rank_of(const struct collopt_swing *w, int node)
{
    return least(node, w->ranks - 1);
}

static bool elsewhere(const struct collopt_swing *w, const struct collopt_swing_role *r, int t)
{
    return rank_of(w, r->exchange[t].peer) != rank_of(w, r->node);
}

struct player {                 /* all of one rank */
    int strands, roles;
    int sums, results;          /* places; RESULTS: of the last step's sums, and of what comes
                                 * back */
    bool back;                  /* is there a way back? */
    struct collopt_swing strand[STRANDS];
    struct collopt_swing_role role[STRANDS][2];
    struct turns tmp[STRANDS];
};

/* Step T: messages, and then what is done with them. */
struct sums {
    struct collopt_region mine, got, to;
    bool first, taken;
};

static struct sums reduce_messages(struct collopt_schedule *s, struct player *m, int i,
                                   const struct collopt_swing_role *r, int t)
{
    const struct collopt_swing *w = &m->strand[i];
    const struct collopt_swing_exchange *x = &r->exchange[t];
    bool first = t == 0 || !elsewhere(w, r, t - 1);
    int mine = first ? COLLOPT_IN : m->sums, to = t == w->steps - 1 ? m->results : m->sums;
    struct sums u = { .mine = region(mine, &x->take), .to = region(to, &x->take), .first = first,
                      .taken = x->take.n > 0 };

    if (x->give.n)
        collopt_send(s, rank_of(w, x->peer), region(mine, &x->give));
    if (u.taken) {
        u.got = first ? u.to : region(turn(s, &m->tmp[i]), &x->take);
        collopt_receive(s, rank_of(w, x->peer), u.got);
    }
    return u;
}

static void reduce_sums(struct collopt_schedule *s, const struct collopt_swing_exchange *x,
                        const struct sums *u)
{
    if (u->taken)
        collopt_combine(s, u->to, u->mine, u->got);
    if (u->first && x->left.n)
        collopt_copy(s, region(u->to.place, &x->left), in_blocks(&x->left));
}

static void gather_step(struct collopt_schedule *s, const struct player *m, int i,
                        const struct collopt_swing_role *r, int t)
{
    const struct collopt_swing_exchange *x = &r->exchange[t];
    int peer = rank_of(&m->strand[i], x->peer);

    if (x->gives_back.n)
        collopt_send(s, peer, region(m->results, &x->gives_back));
    if (x->gets_back.n)
        collopt_receive(s, peer, region(m->results, &x->gets_back));
}

/* One step of one strand, for all that this rank plays. */
static void play_step(struct collopt_schedule *s, struct player *m, int i, int t, bool gather)
{
    const struct collopt_swing *w = &m->strand[i];
    struct sums u[2];

    for (int r = 0; r < m->roles; r++) {
        if (!elsewhere(w, &m->role[i][r], t))
            return;
        if (gather)
            gather_step(s, m, i, &m->role[i][m->roles - 1 - r], t);
        else
            u[r] = reduce_messages(s, m, i, &m->role[i][r], t);
    }
    for (int r = 0; r < m->roles && !gather; r++)
        reduce_sums(s, &m->role[i][r].exchange[t], &u[r]);
}

static void play(struct collopt_schedule *s, struct player *m)
{
    int steps = m->strand[0].steps;

    for (int k = 0; k < (m->back ? 2 : 1) * steps; k++) {
        collopt_round(s);
        for (int i = 0; i < m->strands; i++) {
            collopt_strand(s, i);
            play_step(s, m, i, k < steps ? k : 2 * steps - 1 - k, k >= steps);
        }
    }
}

static bool prepare(struct collopt_schedule *s, struct player *m, int rank, int partition)
{
    for (int i = 0; i < m->strands; i++) {
        if (!collopt_swing_tables(s, &m->strand[i]))
            return false;
        for (int r = 0; r < m->roles; r++) {
            m->role[i][r] = (struct collopt_swing_role){ .node = rank + r, .partition = partition };
            if (!collopt_swing_plan(s, &m->strand[i], &m->role[i][r]))
                return false;
        }
        m->tmp[i].slots = 2 * m->roles;
    }
    return true;
}

static void forget(struct player *m)
{
    for (int i = 0; i < m->strands; i++) {
        collopt_swing_forget(&m->strand[i]);
        for (int r = 0; r < m->roles; r++)
            free(m->role[i][r].room);
    }
}

static int cut(struct collopt_schedule *s, const struct collopt_swing *w)
{
    int strands = w->strands, partition;

    if (!w->scatters)
        return strands > 1 ? collopt_partition_each(s, collopt_partition(s, strands), w->nodes)
                           : collopt_partition(s, w->nodes);
    partition = collopt_partition_counts(s);
    return strands > 1 ? collopt_partition_each(s, partition, strands) : partition;
}

static void build_on(struct collopt_schedule *s, const struct collopt_problem *p,
                     const struct collopt_grid *g, int strands, int rank)
{
    struct player *m = collopt_workspace(s, sizeof *m);

    if (!m)
        return;
    *m = (struct player){ .strands = strands, .roles = rank == p->ranks - 1 && p->ranks % 2 ? 2 : 1,
                          .sums = COLLOPT_OUT, .results = COLLOPT_OUT };
    for (int i = 0; i < strands; i++)
        m->strand[i] = collopt_swing_strand(p, g, i, strands);
    m->back = !m->strand[0].scatters;
    if (p->collective != COLLOPT_ALLREDUCE && (m->back || m->strand[0].steps > 1))
        m->sums = collopt_accumulator(s);
    if (m->back)
        m->results = m->sums;
    if (prepare(s, m, rank, cut(s, &m->strand[0])))
        play(s, m);
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

/* ---- traffic --------------------------------------------------------------------------------- */

static bool comes_back(const struct collopt_problem *p)
{
    return p->collective == COLLOPT_ALLREDUCE || p->collective == COLLOPT_REDUCE;
}

/* Halves of what is held, in every strand. */
static void traffic_on(const struct collopt_problem *p, const struct collopt_grid *g, int strands,
                       struct collopt_traffic *t)
{
    struct collopt_swing w = collopt_swing_strand(p, g, 0, strands);
    bool wired = strands > 1 && p->topology->dims == p->value[0];
    double held;

    strands = collopt_traffic_strands(p, strands);
    held = vector_bytes(p) / strands;
    for (int s = 0; s < w.steps; s++) {
        double twice = p->ranks % 2 && s > 0 ? 2 : 1,
               back = twice > 1 && p->collective == COLLOPT_REDUCE ? 1.2 : twice;
        int d = w.dimension[s],
            far = least(abs(collopt_swing_distance(w.step[s])), most(g->side[d] / 2, 1));
        struct collopt_messages m = { .pattern = COLLOPT_SWING, .distance = far * g->stride[d],
                                      .bytes = held / 2, .combined = held / 2,
                                      .astride = w.step[s] > 0, .strands = strands };

        collopt_messages(t, twice, m);
        m.combined = 0;
        if (p->collective == COLLOPT_REDUCE)
            m.pattern = COLLOPT_TREE;
        else if (wired && !(p->topology->rings >> d & 1) && g->side[d] > 2)
            m.uneven = 0.5;     /* on lines strands share links, and they are not abreast any
                                 * more */
        if (comes_back(p))
            collopt_messages(t, back, m);
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

#define SOURCE \
    "De Sensi et al., NSDI 2024 (arXiv 2401.09356) and SC 2025 (arXiv 2508.17311); any p: collopt"

COLLOPT_ALL_REDUCTIONS(swing,
    .name = "swing",
    .summary = "halves exchanged, the longest with near ranks; medium and long vectors on tori and "
               "rings",
    .order = COLLOPT_COMMUTATIVE, .source = SOURCE, .traffic = traffic, .build = build);

static size_t even_sides(const struct collopt_problem *p)
{
    return collopt_preset_dims(p, 2);
}

static bool sides_are_even(const struct collopt_problem *p)
{
    struct collopt_grid g;

    if (!collopt_grid(&g, p->value[0]) || !collopt_grid_fits(p))
        return false;
    for (int d = 0; d < g.sides; d++)
        if (g.side[d] % 2 && g.side[d] > 1)
            return false;
    return true;
}

#define UNEVEN COLLOPT_GRID_UNFIT ", or one of them is odd"

COLLOPT_ALL_REDUCTIONS(swing_torus,
    .name = "swing_torus",
    .summary = "swing along every dimension of a torus at once; medium and long vectors",
    .order = COLLOPT_COMMUTATIVE, .source = SOURCE, .parameter = { COLLOPT_DIMS(even_sides) },
    .usable = sides_are_even, .unfit = UNEVEN, .traffic = traffic_torus, .build = build_torus);
