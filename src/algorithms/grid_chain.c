/* Chains over a mesh of ranks: along its rows to the root's column, and along the column to the
 * root, segment by segment.
 *
 * Dimensions are reduced one after the other, the last one first. Along a dimension a rank receives
 * from its neighbour farther from the root and sends to the one nearer; the ranks that are in line
 * with the root there hold the sums, and reduce them along the dimension before. Ranks of the last
 * dimension are consecutive, those of the one before are consecutive rows, and so on; so every sum
 * is of consecutive ranks: below, own, above.
 * Cost, S segments: the way from the farthest corner, and for each further segment as many rounds
 * as the root has neighbours (2 D inside); as many m received and combined. Scratch: two segments
 * from each neighbour. Any root, in rank order.
 * Use it for long vectors on tori and meshes, the root in a corner if it may be; where p is large
 * and vectors are not, it has far fewer hops than one chain. Folklore ("vertically, then
 * horizontally"). */
#include "config.h"

#include "algorithm.h"

enum { SEGMENT, DIMS };         /* parameters */

/* The neighbour that is BY away along D; -1 if there is none. */
static int neighbour(const struct collopt_grid *g, int rank, int d, int by)
{
    int x = collopt_grid_at(g, rank, d) + by;

    return x < 0 || x >= g->side[d] ? -1 : collopt_grid_moved(g, rank, d, x);
}

/* The ranks of the last dimension are consecutive, so their blocks lie next to the rank's own. */
static struct collopt_links links(const struct collopt_grid *g, int rank, int root)
{
    struct collopt_links l = { .parent = -1 };
    int below[COLLOPT_SIDES], above[COLLOPT_SIDES], n = 0;

    for (int d = g->sides - 1; d >= 0 && l.parent < 0; d--) {
        int far = collopt_grid_at(g, rank, d) - collopt_grid_at(g, root, d);

        below[n] = far <= 0 ? neighbour(g, rank, d, -1) : -1;
        above[n++] = far >= 0 ? neighbour(g, rank, d, 1) : -1;
        if (far != 0)
            l.parent = neighbour(g, rank, d, far < 0 ? 1 : -1);
    }
    for (int i = n - 1; i >= 0; i--)
        if (below[i] >= 0)
            l.child[l.before++] = below[i];
    l.children = l.before;
    for (int i = 0; i < n; i++)
        if (above[i] >= 0)
            l.child[l.children++] = above[i];
    return l;
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct collopt_grid g;
    struct turns tmp[COLLOPT_NEIGHBOURS];
    int segments = collopt_partition(s, p->segments);

    if (!collopt_grid(&g, p->value[DIMS]))
        return;

    struct collopt_links l = links(&g, rank, p->root);

    for (int i = 0; i < COLLOPT_NEIGHBOURS; i++)
        tmp[i] = (struct turns){ .slots = 2 };
    for (int j = 0; j < p->segments; j++) {
        collopt_round(s);
        collopt_links_up(s, &l, tmp, block(segments, j, 1));
    }
}

/* Rounds of one segment: the longer side of each dimension, and one more where both end at the same
 * time. */
static int longest(const struct collopt_grid *g, int root)
{
    int n = 0;

    for (int d = 0; d < g->sides; d++) {
        int below = collopt_grid_at(g, root, d), above = g->side[d] - 1 - below;

        n += most(below, above) + (below == above && below > 0);
    }
    return n;
}

/* For grids of the preset sides: about the square root of the ranks along each. */
static size_t segment(const struct collopt_problem *p)
{
    return collopt_preset_segment(p, collopt_square_side(p->ranks), vector_bytes(p));
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    struct collopt_grid g;
    double segment = vector_bytes(p) / p->segments;
    struct collopt_messages m = { .pattern = COLLOPT_PAIRS, .distance = 1, .bytes = segment,
                                  .combined = segment / 2 };    /* several operands in one pass */
    struct collopt_links root;

    if (!collopt_grid(&g, p->value[DIMS]) || p->ranks == 1)
        return;
    root = links(&g, p->root, p->root);
    collopt_messages(t, longest(&g, p->root), m);
    m.strands = root.children;        /* which all send to the root */
    collopt_pipeline(t, p->segments - 1, 1, 0, m);
}

const struct collopt_algorithm collopt_reduce_mesh = {
    .name = "mesh",
    .summary = "pipelined chains along every dimension of a mesh, in rank order; long vectors",
    .collective = COLLOPT_REDUCE, .order = COLLOPT_IN_ORDER, .source = "folklore",
    .parameter = { COLLOPT_SEGMENT(segment), COLLOPT_DIMS(collopt_preset_sides) },
    .segments = collopt_segments, .usable = collopt_grid_fits_second,
    .unfit = COLLOPT_GRID_UNFIT, .traffic = traffic, .build = build,
};
