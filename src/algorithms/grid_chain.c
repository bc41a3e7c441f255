/* Chains over a grid of ranks: along its rows to the root's column, and along the column to the
 * root, segment by segment.
 *
 * Dimensions are reduced one after the other, the last one first. Along a dimension a rank receives
 * from its neighbour farther from the root and sends to the one nearer; the ranks that are in line
 * with the root there hold the sums, and reduce them along the dimension before. Ranks of the last
 * dimension are consecutive, those of the one before are consecutive rows, and so on; so on a mesh
 * every sum is of consecutive ranks: below, own, above. On a torus the half beyond the opposite
 * rank comes the other way round, which halves the hops and loses the order.
 * Cost, S segments: the way from the farthest corner, and for each further segment as many rounds
 * as the root has neighbours (2 D inside); as many m received and combined. Scratch: two segments
 * from each neighbour. Any root. mesh keeps rank order; torus is for commutative operations only.
 * Use it for long vectors on tori and meshes, the root in a corner if it may be; where p is large
 * and vectors are not, it has far fewer hops than one chain. Folklore ("vertically, then
 * horizontally"). */
#include "config.h"

#include "algorithm.h"

enum { SEGMENT, DIMS };         /* parameters */

struct links {                  /* of one rank; children in the order in which their sums are
                                 * folded, one's own after FIRST */
    int parent, children, before, child[2 * COLLOPT_SIDES];
};

/* The signed distance of a coordinate from the root's along a dimension; negative below. */
static int away(const struct collopt_grid *g, int d, int x, int root, bool around)
{
    int up = modulo(x - root, g->side[d]);

    if (!around)
        return x - root;
    return up <= g->side[d] / 2 ? up : up - g->side[d];
}

/* The neighbour that is FAR away from ROOT along D; -1 if there is none. */
static int neighbour(const struct collopt_grid *g, int rank, int d, int root, int far, bool around)
{
    int side = g->side[d], x = around ? modulo(root + far, side) : root + far;

    if (x < 0 || x >= side || away(g, d, x, root, around) != far)
        return -1;
    return collopt_grid_moved(g, rank, d, x);
}

static void add_before(struct links *l, int child)
{
    if (child < 0)
        return;
    for (int i = l->children++; i > 0; i--)
        l->child[i] = l->child[i - 1];
    l->child[0] = child;
    l->before++;
}

static void add_after(struct links *l, int child)
{
    if (child >= 0)
        l->child[l->children++] = child;
}

static struct links links(const struct collopt_grid *g, int rank, int root, bool around)
{
    struct links l = { .parent = -1 };

    for (int d = g->sides - 1; d >= 0 && l.parent < 0; d--) {
        int to = collopt_grid_at(g, root, d),
            far = away(g, d, collopt_grid_at(g, rank, d), to, around);

        if (far <= 0)
            add_before(&l, neighbour(g, rank, d, to, far - 1, around));
        if (far >= 0)
            add_after(&l, neighbour(g, rank, d, to, far + 1, around));
        if (far != 0)
            l.parent = neighbour(g, rank, d, to, far < 0 ? far + 1 : far - 1, around);
    }
    return l;
}

static void pass_segment(struct collopt_schedule *s, const struct links *l, struct turns *tmp,
                         struct collopt_block segment)
{
    struct collopt_region operand[2 * COLLOPT_SIDES + 1], to = in(segment);
    int n = 0;

    for (int i = 0; i <= l->children; i++) {
        if (i == l->before)
            operand[n++] = in(segment);
        if (i == l->children)
            break;
        operand[n] = at(turn(s, &tmp[i]), segment);
        collopt_receive(s, l->child[i], operand[n++]);
    }
    if (l->children)
        to = l->before ? operand[0] : operand[1];
    if (l->parent < 0)
        to = out(segment);
    if (n > 1)
        collopt_fold(s, to, n, operand);
    else if (l->parent < 0)
        collopt_copy(s, to, operand[0]);
    if (l->parent >= 0)
        collopt_send(s, l->parent, to);
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank,
                  bool around)
{
    struct collopt_grid g;
    struct turns tmp[2 * COLLOPT_SIDES];
    int segments = collopt_partition(s, p->segments);

    if (!collopt_grid(&g, p->value[DIMS]))
        return;

    struct links l = links(&g, rank, p->root, around);

    for (int i = 0; i < l.children; i++)
        tmp[i] = (struct turns){ .slots = 2 };
    for (int j = 0; j < p->segments; j++) {
        collopt_round(s);
        pass_segment(s, &l, tmp, block(segments, j, 1));
    }
}

static void build_torus(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    build(s, p, rank, true);
}

static void build_mesh(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    build(s, p, rank, false);
}

/* Rounds of one segment: the longer side of each dimension, and one more where both end at the same
 * time. */
static int longest(const struct collopt_grid *g, int root, bool around)
{
    int n = 0;

    for (int d = 0; d < g->sides; d++) {
        int x = collopt_grid_at(g, root, d), above = around ? g->side[d] / 2 : g->side[d] - 1 - x;
        int below = g->side[d] - 1 - above;

        n += most(below, above) + (below == above && below > 0);
    }
    return n;
}

static size_t sides(const struct collopt_problem *p)
{
    return collopt_preset_dims(p, 1);
}

/* For grids of the preset sides: about the square root of the ranks along each. */
static size_t segment(const struct collopt_problem *p)
{
    return collopt_preset_segment(p, collopt_square_side(p->ranks), vector_bytes(p), true);
}

static bool usable(const struct collopt_problem *p)
{
    return collopt_grid_fits(p, DIMS);
}

static void traffic(const struct collopt_problem *p, bool around, struct collopt_traffic *t)
{
    struct collopt_grid g;
    double segment = vector_bytes(p) / p->segments;
    struct collopt_messages m = { .pattern = COLLOPT_PAIRS, .distance = 1, .bytes = segment,
                                  .combined = segment / 2 };    /* several operands in one pass */

    if (!collopt_grid(&g, p->value[DIMS]) || p->ranks == 1)
        return;
    for (int d = 0; d < g.sides && around && p->topology->dims == p->value[DIMS]; d++)
        if (!(p->topology->rings >> d & 1)
            && g.side[d] > 2) /* the way round leads back all along the line */
            m.distance = g.side[d] / 2 * g.stride[d];
    /* from both sides where there are two */
    collopt_messages(t, (around ? 1.2 : 1) * longest(&g, p->root, around), m);
    m.strands = links(&g, p->root, p->root, around).children;       /* which all send to the root */
    collopt_pipeline(t, p->segments - 1, 1, 0, m);
}

static void traffic_torus(const struct collopt_problem *p, struct collopt_traffic *t)
{
    traffic(p, true, t);
}

static void traffic_mesh(const struct collopt_problem *p, struct collopt_traffic *t)
{
    traffic(p, false, t);
}

static const char source[] = "folklore";

const struct collopt_algorithm collopt_reduce_torus = {
    .name = "torus",
    .summary = "pipelined chains along every dimension of a torus, both ways round; long vectors",
    .collective = COLLOPT_REDUCE, .order = COLLOPT_COMMUTATIVE, .identical = true,
    .rounds = "up to sum floor(d_i/2) + 2 D S; 2 D neighbours of the root", .bytes = "up to 2 D m",
    .when = "long vectors on tori, many ranks", .source = source,
    .parameter = { COLLOPT_SEGMENT(segment), COLLOPT_DIMS(sides) }, .segments = collopt_segments,
    .usable = usable, .unfit = COLLOPT_GRID_UNFIT, .traffic = traffic_torus, .build = build_torus,
};

const struct collopt_algorithm collopt_reduce_mesh = {
    .name = "mesh",
    .summary = "pipelined chains along every dimension of a mesh, in rank order; long vectors",
    .collective = COLLOPT_REDUCE, .order = COLLOPT_IN_ORDER, .identical = true,
    .rounds = "up to sum (d_i - 1) + 2 D (S-1); 2 D neighbours of the root", .bytes = "up to 2 D m",
    .when = "long vectors on meshes, many ranks", .source = source,
    .parameter = { COLLOPT_SEGMENT(segment), COLLOPT_DIMS(sides) }, .segments = collopt_segments,
    .usable = usable, .unfit = COLLOPT_GRID_UNFIT, .traffic = traffic_mesh, .build = build_mesh,
};
