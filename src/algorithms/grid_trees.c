/* Trees over a mesh of ranks that share no link; each is a pipeline for a part of the vector.
 *
 * There is a tree for each dimension, and there cannot be more, as from a corner lead no more links.  Tree d comes to the root
 * along dimension d.  A rank in line with the root along d first goes one step away from it along d; all others go to the root's
 * coordinate in d+1, then in d+2 and so on (cyclic), along d last.  So a link to the root in dimension e belongs to tree d if
 * d is the first dimension before e, cyclically, in which its rank is not in line with the root, and to tree e if there is none;
 * a link away from it in dimension e, to tree e.
 * Allreduce: the root is in the middle, and segments that are complete go back down the same trees while others come up.  The
 * links of the steps away carry other trees' results, so there are two trees for each dimension, whose steps lead to either side.
 *
 * Cost, S segments in all: the way from the farthest corner, and for each further segment of every tree as many rounds as the
 * busiest rank has neighbours; Allreduce: there and back.  About 2 m received and combined inside, m/D over each link, Allreduce
 * up to 3/2 m/D.  Scratch: four segments from each neighbour in each tree.  In no order of ranks: commutative operations only.
 * Any root.  Use it for long vectors on meshes.
 * Trees without common links: Edmonds, Combinatorial Algorithms (1973); for broadcasts on grids, Faraj et al., Hot Interconnects
 * 2009; these trees for any number of dimensions, and for any root, are collopt's. */
#include "config.h"

#include "algorithm.h"

enum { SEGMENT, DIMS };         /* parameters */
enum { TREES = 2 * COLLOPT_SIDES, NEIGHBOURS = 2 * COLLOPT_SIDES, SLOTS = 4 };

struct trees {
    struct collopt_grid grid;   /* no sides of one */
    int root, trees, segments;  /* SEGMENTS: of each tree */
    bool back;                  /* results go back down */
};

/* ---- who is linked with whom ---------------------------------------------------------------------------------------- */

/* The rank that is STEP further along D; -1: none. */
static int stepped(const struct trees *t, int rank, int d, int step)
{
    int x = collopt_grid_at(&t->grid, rank, d) + step;

    return x < 0 || x >= t->grid.side[d] ? -1 : collopt_grid_moved(&t->grid, rank, d, x);
}

static int away(const struct trees *t, int tree, int rank)
{
    int sides = t->grid.sides, step = tree < sides ? 1 : -1, there = stepped(t, rank, tree % sides, step);

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
    for (int k = sides - 1; k >= 1; k--)        /* the first one after the tree's own, if there is one */
        if (from_root(t, rank, (tree + k) % sides) != 0)
            d = (tree + k) % sides;
    return stepped(t, rank, d, from_root(t, rank, d) > 0 ? -1 : 1);
}

struct links {
    int parent, children, child[NEIGHBOURS];
};

static struct links links(const struct trees *t, int tree, int rank)
{
    struct links l = { .parent = parent(t, tree, rank) };

    for (int d = 0; d < t->grid.sides; d++)
        for (int step = -1; step <= 1; step += 2) {
            int other = stepped(t, rank, d, step);

            if (other >= 0 && parent(t, tree, other) == rank)
                l.child[l.children++] = other;
        }
    return l;
}

static struct trees trees(const struct collopt_problem *p)
{
    struct trees t = { .grid = collopt_grid_proper(p->value[DIMS]), .root = p->root,
                       .back = p->collective == COLLOPT_ALLREDUCE };

    for (int d = 0; d < t.grid.sides && t.back; d++)
        t.root = collopt_grid_moved(&t.grid, t.root, d, t.grid.side[d] / 2);
    t.trees = most(t.back ? 2 * t.grid.sides : t.grid.sides, 1);
    t.segments = (p->segments + t.trees - 1) / t.trees;
    return t;
}

/* ---- the schedule ----------------------------------------------------------------------------------------------------- */

static void up(struct collopt_schedule *s, const struct links *l, struct turns *tmp, struct collopt_block segment)
{
    struct collopt_region operand[NEIGHBOURS + 1], to;
    int n = 0;

    for (; n < l->children; n++) {
        operand[n] = at(turn(s, &tmp[n]), segment);
        collopt_receive(s, l->child[n], operand[n]);
    }
    operand[n++] = in(segment);
    to = l->parent < 0 ? out(segment) : operand[0];
    if (n > 1)
        collopt_fold(s, to, n, operand);
    if (l->parent >= 0)
        collopt_send(s, l->parent, to);
}

static void down(struct collopt_schedule *s, const struct links *l, struct collopt_block segment)
{
    if (l->parent >= 0)
        collopt_receive(s, l->parent, out(segment));
    for (int i = 0; i < l->children; i++)
        collopt_send(s, l->child[i], out(segment));
}

/* All trees and both ways are strands of their own. */
static void play(struct collopt_schedule *s, const struct trees *t, const struct links *l, struct turns (*tmp)[NEIGHBOURS])
{
    int partition = collopt_partition(s, t->trees * t->segments);

    for (int j = 0; j < (t->back ? 2 : 1) * t->segments; j++) {
        collopt_round(s);
        for (int i = 0; i < t->trees; i++) {
            struct collopt_block segment = block(partition, i * t->segments + j % t->segments, 1);

            collopt_strand(s, j < t->segments ? i : t->trees + i);
            if (j < t->segments)
                up(s, &l[i], tmp[i], segment);
            else
                down(s, &l[i], segment);
        }
    }
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct trees t = trees(p);
    struct turns tmp[TREES][NEIGHBOURS];
    struct links l[TREES];

    if (p->ranks == 1) {
        collopt_copy(s, out(whole()), in(whole()));
        return;
    }
    for (int i = 0; i < t.trees; i++) {
        l[i] = links(&t, i, rank);
        for (int k = 0; k < NEIGHBOURS; k++)
            tmp[i][k] = (struct turns){ .slots = SLOTS };
    }
    play(s, &t, l, tmp);
}

/* ---- cost --------------------------------------------------------------------------------------------------------------- */

/* Messages of one segment of every tree. */
struct load {
    int received, combined;     /* by the busiest ranks */
};

/* Nobody has more than some rank that is at most one step from the root's coordinate in each dimension. */
static struct load heaviest(const struct trees *t)
{
    struct load most_ = { 0, 0 };
    int near = 1;

    for (int d = 0; d < t->grid.sides; d++)
        near *= 3;
    for (int n = 0; n < near; n++) {
        int rank = t->root, children = 0;

        for (int d = 0, rest = n; d < t->grid.sides && rank >= 0; d++, rest /= 3)
            rank = stepped(t, rank, d, rest % 3 - 1);
        for (int i = 0; i < t->trees && rank >= 0; i++)
            children += links(t, i, rank).children;
        most_.combined = most(most_.combined, children);
        most_.received = most(most_.received, children + (t->back && rank != t->root ? t->trees : 0));
    }
    return most_;
}

/* Steps of the longest way to the root in any tree. */
static int longest(const struct trees *t)
{
    int all = 0, least_ = 2;

    for (int d = 0; d < t->grid.sides; d++) {
        int x = collopt_grid_at(&t->grid, t->root, d), far = most(x, t->grid.side[d] - 1 - x);

        all += far;
        least_ = least(least_, far);
    }
    return t->grid.sides > 1 ? all + 2 - least_ : all;
}

static void cost(const struct collopt_problem *p, struct collopt_cost *c)
{
    struct trees t = trees(p);
    double part = vector_bytes(p) / t.trees;
    struct load l;

    *c = (struct collopt_cost){ .rounds = 0 };
    if (t.grid.sides == 0)
        return;
    l = heaviest(&t);
    c->rounds = (t.back ? 2 * longest(&t) + l.received : longest(&t) + (t.trees > 1 ? t.trees : l.received - 1))
                + (double)l.received * (t.segments - 1);
    c->bytes = most(l.received, t.back ? 0 : t.trees) * part;
    c->combined = l.combined * part;
    c->scratch = l.combined * least(t.segments, SLOTS) * part / t.segments;
}

static size_t sides(const struct collopt_problem *p)
{
    return collopt_preset_dims(p, 1);
}

/* For two sides, of about the square root of the ranks. */
static size_t segment(const struct collopt_problem *p)
{
    int hops = 2 * collopt_square_side(p->ranks);

    return collopt_preset_segment(p, hops, vector_bytes(p) / (p->collective == COLLOPT_ALLREDUCE ? 4 : 2), true);
}

static bool usable(const struct collopt_problem *p)
{
    return collopt_grid_fits(p, DIMS);
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    struct trees g = trees(p);
    double segment = vector_bytes(p) / g.trees / g.segments;
    struct collopt_messages m = { .pattern = COLLOPT_PAIRS, .distance = 1, .bytes = segment, .combined = segment / 2 };

    if (g.grid.sides == 0)
        return;
    m.strands = (heaviest(&g).received + g.trees) / 2;          /* a processor is busy with the messages of all trees */
    collopt_messages(t, longest(&g), m);
    if (g.back) {
        m.combined = 0;
        collopt_messages(t, longest(&g), m);
        m.bytes = 3 * segment;          /* over the links next to the lines through the root: two up, one down */
        m.combined = segment / 2;
    }
    m.uneven = 0.25;                    /* trees wait for one another's messages at processors */
    collopt_pipeline(t, g.segments - 1, 1, 1, m);
}

#define SOURCE "Edmonds, Combinatorial Algorithms (1973); Faraj et al., Hot Interconnects 2009; for meshes: collopt"

const struct collopt_algorithm collopt_reduce_mesh_trees = {
    .name = "mesh_trees", .summary = "a tree for each dimension of a mesh, no two over one link, pipelined; long vectors",
    .collective = COLLOPT_REDUCE, .order = COLLOPT_COMMUTATIVE, .identical = true,
    .rounds = "about sum d_i + 2 S", .bytes = "up to 2 m",
    .when = "long vectors on meshes", .source = SOURCE,
    .parameter = { COLLOPT_SEGMENT(segment), COLLOPT_DIMS(sides) }, .segments = collopt_segments,
    .usable = usable, .unfit = COLLOPT_GRID_UNFIT, .cost = cost, .traffic = traffic, .build = build,
};

const struct collopt_algorithm collopt_allreduce_mesh_trees = {
    .name = "mesh_trees", .summary = "two trees for each dimension of a mesh, up and back, pipelined; long vectors",
    .collective = COLLOPT_ALLREDUCE, .order = COLLOPT_COMMUTATIVE, .identical = true,
    .rounds = "about sum d_i + 3 S", .bytes = "about 5/2 m",
    .when = "long vectors on meshes", .source = SOURCE,
    .parameter = { COLLOPT_SEGMENT(segment), COLLOPT_DIMS(sides) }, .segments = collopt_segments,
    .usable = usable, .unfit = COLLOPT_GRID_UNFIT, .cost = cost, .traffic = traffic, .build = build,
};
