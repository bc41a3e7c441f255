/* One strand of swing: who works with whom in each step, and on which blocks.
 *
 * The way back to all takes the steps in reverse: what was given comes back. To one root a block
 * goes along one path, the one by which the root's contribution to it came: from the root to a
 * partner in one step, from that one to another in a later step, until it is at home. So a rank
 * sends a block once at most. On powers of two all that a rank has goes with its own block. */
#include "config.h"

#include <stdlib.h>

#include "swing_strand.h"

/* ---- steps ----------------------------------------------------------------------------------- */

static bool power_of_two(int n)
{
    return (n & (n - 1)) == 0;
}

/* Dimensions take turns, those with steps left, from FIRST on. */
static void order_steps(struct collopt_swing *w, int first)
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

struct collopt_swing collopt_swing_strand(const struct collopt_problem *p,
                                          const struct collopt_grid *g, int number, int strands)
{
    bool reduces = p->collective == COLLOPT_REDUCE;
    struct collopt_swing w = { .ranks = p->ranks, .nodes = 1, .strand = number, .strands = strands,
                               .grid = *g, .mirrored = number >= g->sides,
                               .scatters = p->collective != COLLOPT_ALLREDUCE && !reduces,
                               .root = reduces ? p->root : -1 };

    w.windows = !w.scatters;
    for (int d = 0; d < g->sides; d++) {
        w.nodes *= g->side[d];
        w.windows &= power_of_two(g->side[d]);
    }
    order_steps(&w, number % g->sides);
    return w;
}

static bool toward(const struct collopt_swing *w, int coordinate)
{
    return (coordinate % 2 == 0) != w->mirrored;
}

static int partner(const struct collopt_swing *w, int node, int t)
{
    int d = w->dimension[t], x = collopt_grid_at(&w->grid, node, d),
        distance = collopt_swing_distance(w->step[t]);

    return collopt_grid_moved(&w->grid, node, d,
                              modulo(toward(w, x) ? x + distance : x - distance, w->grid.side[d]));
}

/* ---- when a block is handed on --------------------------------------------------------------- */

/* Which half of the window is kept in step T? */
static bool upper(const struct collopt_swing *w, int node, int t)
{
    int d = w->dimension[t], side = w->grid.side[d], x = collopt_grid_at(&w->grid, node, d);

    return collopt_swing_position(side, w->mirrored ? modulo(-x, side) : x)
        >> (log2_ceil(side) - 1 - w->step[t])
        & 1;
}

/* The step in which NODE hands on BLOCK; all steps for its own. */
static int handed_on(const struct collopt_swing *w, int node, int block_)
{
    int first = w->windows ? 0 : w->steps;

    while (w->windows && first < w->steps && upper(w, node, first) == upper(w, block_, first))
        first++;
    for (int d = 0; d < w->grid.sides && !w->windows; d++) {
        int x = collopt_grid_at(&w->grid, node, d), y = collopt_grid_at(&w->grid, block_, d),
            side = w->grid.side[d];
        int step = side > 1 ? w->table[d][modulo(toward(w, x) ? y - x : x - y, side)] : 0;

        if (side > 1 && step < log2_ceil(side))
            first = least(first, w->when[d][step]);
    }
    return first;
}

/* Is NODE where BLOCK passes on its way to the root, before it is there? */
static bool passes(const struct collopt_swing *w, int node, int block_)
{
    int at = w->root;

    while (at != node && at != block_)
        at = partner(w, at, handed_on(w, at, block_));
    return at != block_;
}

/* The step in which NODE sends its own block on that way; -1 for the root. */
static int leaves(const struct collopt_swing *w, int node)
{
    int step = -1;

    for (int at = w->root; at >= 0 && at != node; at = partner(w, at, step))
        step = handed_on(w, at, node);
    return step;
}

/* ---- what a node exchanges in each step ------------------------------------------------------ */

static void plan_windows(const struct collopt_swing *w, struct collopt_swing_role *r)
{
    int first = w->strand * w->nodes, n = w->nodes, last = leaves(w, r->node);
    struct collopt_block *list = r->room;

    for (int t = 0; t < w->steps; t++, list += 2) {
        struct collopt_swing_exchange *x = &r->exchange[t];
        bool up = upper(w, r->node, t);

        n /= 2;
        *x = (struct collopt_swing_exchange){ .peer = partner(w, r->node, t), .give = { 1, list },
                                              .take = { 1, list + 1 } };
        list[0] = block(r->partition, first + (up ? 0 : n), n);
        first += up ? n : 0;
        list[1] = block(r->partition, first, n);
        if (w->root < 0 || t == last)
            x->gives_back = x->take;
        if (t > last)
            x->gets_back = x->give;
    }
}

/* Adds the part of NODE to those of B; neighbours become one block. */
static void add(const struct collopt_swing *w, const struct collopt_swing_role *r,
                struct collopt_swing_blocks *b, int node)
{
    int part = w->scatters ? node * w->strands + w->strand : w->strand * w->nodes + node;
    struct collopt_block *last = b->n ? &b->list[b->n - 1] : NULL;

    if (w->scatters && node >= w->ranks)        /* the second neighbour that the last rank plays
                                                 * gets nothing */
        return;
    if (last && last->first + last->parts == part)
        last->parts++;
    else
        b->list[b->n++] = block(r->partition, part, 1);
}

enum { LISTS = 5 };             /* of one exchange */

/* The fate of node B's block, which is held before step T. True: it is still held after it. */
static bool plan_block(const struct collopt_swing *w, struct collopt_swing_role *r, int t, int b)
{
    struct collopt_swing_exchange *x = &r->exchange[t];

    if (handed_on(w, r->node, b) == t) {
        add(w, r, &x->give, b);
        if (w->root < 0 || passes(w, r->node, b))
            add(w, r, &x->gets_back, b);
        return false;
    }
    if (handed_on(w, x->peer, b) != t) {
        add(w, r, &x->left, b);
        return true;
    }
    add(w, r, &x->take, b);
    if (w->root < 0 || passes(w, x->peer, b))
        add(w, r, &x->gives_back, b);
    return true;
}

/* Every list in front of the next: what is held becomes about half in each step. HELD: the nodes
 * whose blocks are, in their order. */
static void plan_lists(const struct collopt_swing *w, struct collopt_swing_role *r, int *held)
{
    int n = w->nodes, kept;
    struct collopt_block *list = r->room;

    for (int i = 0; i < n; i++)
        held[i] = i;
    for (int t = 0; t < w->steps; t++, n = kept) {
        r->exchange[t] = (struct collopt_swing_exchange){
            .peer = partner(w, r->node, t), .give.list = list, .take.list = list + n,
            .left.list = list + 2 * n, .gives_back.list = list + 3 * n,
            .gets_back.list = list + 4 * n };
        kept = 0;
        for (int i = 0; i < n; i++)
            if (plan_block(w, r, t, held[i]))
                held[kept++] = held[i];
        list += LISTS * n;
    }
}

bool collopt_swing_plan(struct collopt_schedule *s, const struct collopt_swing *w,
                        struct collopt_swing_role *r)
{
    size_t nodes = w->windows ? COLLOPT_SWING_STEPS : (size_t)w->nodes;
    int *held = collopt_workspace(s, nodes * sizeof *held);

    r->room = collopt_workspace(s, LISTS * (3 * nodes + COLLOPT_SWING_STEPS) * sizeof *r->room);
    if (held && r->room && w->windows)
        plan_windows(w, r);
    else if (held && r->room)
        plan_lists(w, r, held);
    free(held);
    return held && r->room;
}

/* ---- tables ---------------------------------------------------------------------------------- */

bool collopt_swing_tables(struct collopt_schedule *s, struct collopt_swing *w)
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

void collopt_swing_forget(struct collopt_swing *w)
{
    for (int d = 0; d < w->grid.sides; d++)
        free(w->table[d]);
}
