/* Trees over a mesh or torus of ranks that share no link; each is a pipeline for a part of the
 * vector.
 *
 * mesh_trees: there is a tree for each dimension. There cannot be more, since a corner has no more
 * links. Tree d comes to the root along dimension d. A rank in line with the root along d
 * first goes one step away from it along d; all others go to the root's coordinate in d+1, then in
 * d+2 and so on (cyclic), along d last. So a link to the root in dimension e belongs to tree d if d
 * is the first dimension before e, cyclically, in which its rank is not in line with the root, and
 * to tree e if there is none; a link away from it in dimension e, to tree e.
 * torus_trees: the same with rings for lines, and with every step in one direction, round the ring
 * to the root's coordinate or off it; once for each direction. So there are two trees for each
 * dimension, and their links are all but those from the root. Allreduce, on meshes: the root is in
 * the middle, and segments that are complete go back down the same trees while others come up. The
 * links of the steps away carry other trees' results, so there are two trees for each dimension,
 * whose steps lead to either side.
 *
 * Cost, S segments in all: the way from the farthest corner, round whole rings on a torus, and for
 * each further segment of every tree as many rounds as the busiest rank has neighbours; Allreduce:
 * there and back. About 2 m received and combined inside, m/D over each link, Allreduce up to 3/2
 * m/D; on a torus m, and m/2D over each link. Scratch: four segments from each neighbour in each
 * tree. In no order of ranks: commutative operations only.
 * Any root.  Use them for long vectors.
 * Trees without common links: Edmonds, Combinatorial Algorithms (1973); for broadcasts on grids,
 * Faraj et al., Hot Interconnects 2009; these trees for any number of dimensions, and on meshes for
 * any root, are collopt's. */
#include "config.h"

#include <stdlib.h>

#include "algorithm.h"

enum { SEGMENT, DIMS };         /* parameters */
enum { TREES = 2 * COLLOPT_SIDES, SLOTS = 4 };
enum { LAG = 2 };               /* slots of time from a child's sending to one's own; meanwhile
                                 * others are under way */

struct trees {
    struct collopt_grid grid;   /* no sides of one */
    int root, trees, segments;  /* SEGMENTS: of each tree */
    bool back;                  /* results go back down */
    bool around;                /* sides are rings; the first half of the trees goes up, the other
                                 * down */
};

/* ---- who is linked with whom ----------------------------------------------------------------- */

/* The rank that is STEP further along D; -1: none. */
static int stepped(const struct trees *t, int rank, int d, int step)
{
    int x = collopt_grid_at(&t->grid, rank, d) + step;

    if (t->around)
        x = modulo(x, t->grid.side[d]);
    return x < 0 || x >= t->grid.side[d] ? -1 : collopt_grid_moved(&t->grid, rank, d, x);
}

static int direction(const struct trees *t, int tree)
{
    return tree < t->grid.sides ? 1 : -1;
}

static int away(const struct trees *t, int tree, int rank)
{
    int sides = t->grid.sides, step = direction(t, tree),
        there = stepped(t, rank, tree % sides, step);

    return there >= 0 ? there : stepped(t, rank, tree % sides, -step);
}

static int from_root(const struct trees *t, int rank, int d)
{
    return collopt_grid_at(&t->grid, rank, d) - collopt_grid_at(&t->grid, t->root, d);
}

static int parent(const struct trees *t, int tree, int rank)
{
    int sides = t->grid.sides, d = tree % sides;

    if (rank == t->root)
        return -1;
    if (from_root(t, rank, d) == 0)
        return away(t, tree, rank);
    for (int k = sides - 1; k >= 1; k--)        /* the first one after the tree's own, if there is
                                                 * one */
        if (from_root(t, rank, (tree + k) % sides) != 0)
            d = (tree + k) % sides;
    return stepped(t, rank, d, t->around ? direction(t, tree) : from_root(t, rank, d) > 0 ? -1 : 1);
}

static struct collopt_links links(const struct trees *t, int tree, int rank)
{
    struct collopt_links l = { .parent = parent(t, tree, rank) };

    for (int d = 0; d < t->grid.sides; d++)
        for (int step = -1; step <= 1; step += 2) {
            int other = t->around && step == direction(t, tree) ? -1 : stepped(t, rank, d, step);

            if (other >= 0 && parent(t, tree, other) == rank)
                l.child[l.children++] = other;
        }
    l.before = l.children;      /* in no order */
    return l;
}

static struct trees trees(const struct collopt_problem *p, bool around)
{
    struct trees t = { .grid = collopt_grid_proper(p->value[DIMS]), .root = p->root,
                       .back = p->collective == COLLOPT_ALLREDUCE, .around = around };

    for (int d = 0; d < t.grid.sides && t.back; d++)
        t.root = collopt_grid_moved(&t.grid, t.root, d, t.grid.side[d] / 2);
    t.trees = most(t.back || around ? 2 * t.grid.sides : t.grid.sides, 1);
    t.segments = (p->segments + t.trees - 1) / t.trees;
    return t;
}

static int depth(const struct trees *t, int tree, int rank)
{
    int hops = 0;

    for (int at_rank = rank; at_rank != t->root; hops++)
        at_rank = parent(t, tree, at_rank);
    return hops;
}

/* Steps of the longest way to the root in any tree. */
static int longest(const struct trees *t)
{
    int all = 0, least_ = 2;

    for (int d = 0; d < t->grid.sides; d++) {
        int x = t->around ? 0 : collopt_grid_at(&t->grid, t->root, d),
            far = most(x, t->grid.side[d] - 1 - x);

        all += far;
        least_ = least(least_, far);
    }
    if (t->grid.sides < 2)
        return all;
    return t->around ? all + 1 : all + 2 - least_;
}

/* ---- the schedule ---------------------------------------------------------------------------- */

static void down(struct collopt_schedule *s, const struct collopt_links *l,
                 struct collopt_block segment)
{
    if (l->parent >= 0)
        collopt_receive(s, l->parent, out(segment));
    for (int i = 0; i < l->children; i++)
        collopt_send(s, l->child[i], out(segment));
}

/* The role of a rank in all trees. */
struct place {
    struct collopt_links links[TREES];
    int depth[TREES];           /* hops to the root */
    struct turns tmp[TREES][COLLOPT_NEIGHBOURS];
};

static struct collopt_block segment_of(const struct trees *t, int partition, int tree, int j)
{
    return block(partition, tree * t->segments + j, 1);
}

/* Reduce: a rank sends a segment on LAG slots of time after its children sent it. So no link has
 * many segments of a tree at a time, which would all come late, and what is due next never waits
 * behind what is due later. */
static void reduce(struct collopt_schedule *s, const struct trees *t, struct place *w)
{
    int partition = collopt_partition(s, t->trees * t->segments), hops = longest(t);

    for (int slot = 0; slot < LAG * hops + t->segments; slot++) {
        collopt_round(s);
        for (int i = 0; i < t->trees; i++) {
            int j = slot - LAG * (hops - w->depth[i]);

            if (j >= 0 && j < t->segments)
                collopt_links_up(s, &w->links[i], w->tmp[i], segment_of(t, partition, i, j));
        }
    }
}

/* Allreduce: all trees and both ways are strands of their own. */
static void reduce_and_back(struct collopt_schedule *s, const struct trees *t, struct place *w)
{
    int partition = collopt_partition(s, t->trees * t->segments);

    for (int j = 0; j < 2 * t->segments; j++) {
        collopt_round(s);
        for (int i = 0; i < t->trees; i++) {
            collopt_strand(s, j < t->segments ? i : t->trees + i);
            if (j < t->segments)
                collopt_links_up(s, &w->links[i], w->tmp[i], segment_of(t, partition, i, j));
            else
                down(s, &w->links[i], segment_of(t, partition, i, j - t->segments));
        }
    }
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank,
                  bool around)
{
    struct trees t = trees(p, around);
    struct place *w;

    if (!(w = collopt_workspace(s, sizeof *w)))         /* long for the stack of a thread */
        return;
    for (int i = 0; i < t.trees; i++) {
        w->links[i] = links(&t, i, rank);
        w->depth[i] = depth(&t, i, rank);
        for (int k = 0; k < COLLOPT_NEIGHBOURS; k++)
            w->tmp[i][k] = (struct turns){ .slots = SLOTS };
    }
    (t.back ? reduce_and_back : reduce)(s, &t, w);
    free(w);
}

static void build_mesh(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    build(s, p, rank, false);
}

static void build_torus(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    build(s, p, rank, true);
}

/* ---- traffic --------------------------------------------------------------------------------- */

/* Messages of one segment of every tree. */
struct load {
    int received, combined;     /* by the busiest ranks */
};

/* Nobody has more than some rank that is at most one step from the root's coordinate in each
 * dimension; on a torus the root gets a message over each link. */
static struct load heaviest(const struct trees *t)
{
    struct load most_ = { 0, 0 };
    int near = 1;

    if (t->around)
        return (struct load){ t->trees, t->trees };
    for (int d = 0; d < t->grid.sides; d++)
        near *= 3;
    for (int n = 0; n < near; n++) {
        int rank = t->root, children = 0;

        for (int d = 0, rest = n; d < t->grid.sides && rank >= 0; d++, rest /= 3)
            rank = stepped(t, rank, d, rest % 3 - 1);
        for (int i = 0; i < t->trees && rank >= 0; i++)
            children += links(t, i, rank).children;
        most_.combined = most(most_.combined, children);
        most_.received =
            most(most_.received, children + (t->back && rank != t->root ? t->trees : 0));
    }
    return most_;
}

/* For two sides, of about the square root of the ranks. */
static size_t segment(const struct collopt_problem *p)
{
    int hops = 2 * collopt_square_side(p->ranks);

    return collopt_preset_segment(p, hops,
                                  vector_bytes(p) / (p->collective == COLLOPT_ALLREDUCE ? 4 : 2));
}

/* For the preset sides; each tree carries a share of the vector. */
static size_t segment_torus(const struct collopt_problem *p)
{
    struct collopt_grid g = collopt_grid_proper(collopt_preset_dims(p, 1));
    int trees = most(2 * g.sides, 1);

    return collopt_preset_segment(p, collopt_grid_hops(&g) + 1, vector_bytes(p) / trees);
}

static void traffic(const struct collopt_problem *p, bool around, struct collopt_traffic *t)
{
    struct trees g = trees(p, around);
    double segment = vector_bytes(p) / g.trees / g.segments;
    struct collopt_messages m = { .pattern = COLLOPT_PAIRS, .distance = 1, .bytes = segment,
                                  .combined = segment / 2 };

    if (g.grid.sides == 0)
        return;
    for (int d = 0; d < g.grid.sides && around && p->topology->dims == p->value[DIMS]; d++)
        if (!(p->topology->rings >> d & 1)
            && g.grid.side[d] > 2) /* the way round leads back all along the line */
            m.distance = g.grid.side[d] / 2 * g.grid.stride[d];
    /* a processor is busy with the messages of all trees */
    m.strands = (heaviest(&g).received + g.trees) / 2;
    collopt_messages(t, longest(&g), m);
    if (g.back) {
        m.combined = 0;
        collopt_messages(t, longest(&g), m);
        m.bytes = 3 * segment;          /* over the links next to the lines through the root: two
                                         * up, one down */
        m.combined = segment / 2;
    }
    m.uneven = 0.25;                    /* trees wait for one another's messages at processors */
    /* Where ranks have many trees' messages in a slot, hops take as long as LAG of them. */
    collopt_pipeline(t, g.segments - 1 + (around ? (LAG - 1) * longest(&g) : 0), 1, 1, m);
}

static void traffic_mesh(const struct collopt_problem *p, struct collopt_traffic *t)
{
    traffic(p, false, t);
}

static void traffic_torus(const struct collopt_problem *p, struct collopt_traffic *t)
{
    traffic(p, true, t);
}

#define TREES_ON_GRID \
    .order = COLLOPT_COMMUTATIVE, .segments = collopt_segments, \
    .usable = collopt_grid_fits_second, .unfit = COLLOPT_GRID_UNFIT, \
    .source = "Edmonds, Combinatorial Algorithms (1973); Faraj et al., Hot Interconnects 2009; " \
              "for meshes: collopt"

COLLOPT_REDUCE_AND_ALLREDUCE(mesh_trees,
    TREES_ON_GRID, .name = "mesh_trees",
    .summary = "trees for each dimension of a mesh, no two over one link, pipelined; long vectors",
    .parameter = { COLLOPT_SEGMENT(segment), COLLOPT_DIMS(collopt_preset_sides) },
    .traffic = traffic_mesh, .build = build_mesh);

const struct collopt_algorithm collopt_reduce_torus_trees = {
    TREES_ON_GRID, .name = "torus_trees", .collective = COLLOPT_REDUCE,
    .summary = "two trees for each dimension of a torus, no two over one link, pipelined; long "
               "vectors",
    .parameter = { COLLOPT_SEGMENT(segment_torus), COLLOPT_DIMS(collopt_preset_sides) },
    .traffic = traffic_torus, .build = build_torus,
};
