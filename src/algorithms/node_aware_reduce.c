/* Node-aware Reduce: whole vectors in few rounds between nodes, as the ranks of a node hear of
 * different nodes at once.
 *
 * Each node reduces to one of its ranks. On every level up to f nodes that follow one another
 * become one: its head, which is the root's node or else the first one, hears of the others by as
 * many of its ranks as there are nodes, and a reduce of these ranks inside the node combines them
 * in the order of nodes, to the rank that is to have the sum on the next level, at last to the
 * root. Between nodes that makes ceil(log_f N) rounds for N nodes where a tree of single ranks has
 * ceil(log2 N), or messages that one rank has to take one after the other. A node of fewer than f
 * ranks has ranks that hear of several nodes. The algorithm inside nodes is a parameter:
 * node_aware:group=8,node=(knomial); when not given, that of least cost (for more than 64 KiB
 * binomial), and group, the most that f can be, is the ranks of the smallest node; f is the least
 * that makes no more levels.
 * Cost: one message between nodes on each level, and as many reduces inside nodes as there are
 * levels, and one. Scratch: a few vectors on each level of the root's node. In rank order if the
 * inner one is and the ranks of every node follow one another; else commutative only. For the
 * shortest vectors on many nodes of many ranks. After Bienz, Olson, Gropp, ExaMPI 2019, arXiv
 * 1910.09650, where it is an allreduce: a Reduce is what remains of it for one rank, and any number
 * of nodes. */
#include "config.h"

#include <stdlib.h>

#include "node_aware.h"

enum { GROUP, NODE };           /* parameters */
enum { ROLES = COLLOPT_NODE_AWARE_ROLES };

/* ---- levels ---------------------------------------------------------------------------------- */

struct levels {
    int n, radix;
};

/* Levels of nodes that become one by RADIX; *SPAN = nodes that one stands for after them. */
static int levels_by(int nodes, int radix, int *span)
{
    int n = 0;

    for (*span = 1; *span < nodes; n++)
        *span *= radix;
    return n;
}

static struct levels levels_of(const struct collopt_problem *p)
{
    int nodes = p->topology->nodes, span;
    struct levels l = { .radix = collopt_node_aware_radix(p, p->value[GROUP]) };

    l.n = levels_by(nodes, l.radix, &span);
    while (l.radix > 2 && levels_by(nodes, l.radix - 1, &span) == l.n)
        l.radix--;
    return l;
}

/* ---- parameters ------------------------------------------------------------------------------ */

static struct collopt_task task_of(int ranks, int root)
{
    return (struct collopt_task){ .collective = COLLOPT_REDUCE, .least = least(2, ranks),
                                  .most = ranks, .n = 1, .root = root, .parameter = NODE };
}

static struct collopt_task node_task(const struct collopt_problem *p)
{
    return task_of(collopt_largest_node(p), collopt_local_number(p, p->root));
}

extern const struct collopt_algorithm collopt_reduce_binomial;

static size_t node_preset(const struct collopt_problem *p)
{
    return collopt_node_aware_preset(p, node_task(p), &collopt_reduce_binomial);
}

static int segments(const struct collopt_problem *p)
{
    return collopt_inner_segments(p, node_task(p));
}

static bool usable(const struct collopt_problem *p)
{
    return collopt_groups_serve(p) && collopt_inner_usable(p, node_task(p));
}

/* ---- one rank's view ------------------------------------------------------------------------- */

struct descent {
    struct collopt_schedule *s;
    const struct collopt_problem *p;
    struct collopt_groups g;
    struct collopt_inner node;
    struct levels levels;
    int players;
    int root_node, root;        /* ROOT: its number among its node's ranks */
    int have;                   /* place of the sum so far */
};

/* Nodes that become one on a level: COUNT of them, each standing for SPAN, the first one for those
 * from FIRST on. */
struct group {
    int first, span, count, digit;      /* DIGIT: which of them has the node that was asked for */
    int head;
};

/* The node that speaks for the SPAN nodes from FIRST on. */
static int head_of(const struct descent *x, int first, int span)
{
    return first <= x->root_node && x->root_node < first + span ? x->root_node : first;
}

static struct group group_of(const struct descent *x, int node, int span)
{
    struct group q = { .span = span,
                       .first = node / (span * x->levels.radix) * span * x->levels.radix };

    q.digit = (node - q.first) / span;
    q.count = least(x->levels.radix, (x->g.nodes - q.first + span - 1) / span);
    q.head = head_of(x, q.first, span * x->levels.radix);
    return q;
}

/* The number of ranks of the group's head node that take part in combining what its nodes have. */
static int players_of(const struct descent *x, const struct group *q)
{
    return collopt_node_aware_hearer(q->count - 1, x->players, x->levels.radix) + 1;
}

/* The rank of NODE that is to get the sum of the SPAN nodes for which NODE speaks: the rank that
 * hears of it on the next level, or sends it. */
static int home(const struct descent *x, int node, int span);

/* Player I of the group, as a rank number within the group's head node.  One player is the home of
 * what the players combine. */
static int player(const struct descent *x, const struct group *q, int i)
{
    int wanted = home(x, q->head, q->span * x->levels.radix);

    return i == players_of(x, q) - 1 && wanted > i ? wanted : i;
}

static int home(const struct descent *x, int node, int span)
{
    struct group q;

    if (span >= x->g.nodes)
        return x->root;
    q = group_of(x, node, span);
    if (q.head != node)
        return 0;
    return player(x, &q, collopt_node_aware_hearer(q.digit, x->players, x->levels.radix));
}

static int rank_at(const struct descent *x, int node, int local)
{
    return collopt_members(&x->g, node)[local];
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* The ranks of MEMBER combine the vectors that each has in FROM to TO of number ROOT; this rank is
 * number INDEX. */
static void inside(const struct descent *x, const int *member, int ranks, int index, int root,
                   int from, int to)
{
    struct collopt_phase phase = { .ranks = ranks, .index = index, .root = root, .whole = whole(),
                                   .member = member, .in = from, .out = to, .again = true };

    collopt_phase(x->s, x->p, &phase, &x->node);
}

/* Where rank LOCAL of this node is to put what it combines as the home of what SPAN nodes have. */
static int place_for(const struct descent *x, int local, int span)
{
    if (local != home(x, x->g.node, span))
        return x->have;
    return span >= x->g.nodes ? COLLOPT_OUT : collopt_vector_slot(x->s, whole());
}

static void sum_of_node(struct descent *x)
{
    int to = place_for(x, x->g.local, 1);

    inside(x, collopt_mates(&x->g), x->g.ranks, x->g.local, home(x, x->g.node, 1),
           COLLOPT_IN, to);
    x->have = to;
}

/* This node's sum, to the head of its group. */
static void tell(const struct descent *x, const struct group *q)
{
    int hearer = collopt_node_aware_hearer(q->digit, x->players, x->levels.radix);

    if (x->g.local != home(x, x->g.node, q->span))
        return;
    collopt_round(x->s);
    collopt_send(x->s, rank_at(x, q->head, player(x, q, hearer)), at(x->have, whole()));
}

/* Player I hears of its part of the group, and combines it. Returns where, which is RESULT unless
 * it is one vector only. */
static int hear(struct descent *x, const struct group *q, int i, int result)
{
    int from = collopt_node_aware_first(i, x->players, x->levels.radix), place[ROLES];
    int to = least(collopt_node_aware_first(i + 1, x->players, x->levels.radix), q->count);
    struct collopt_row row = { .operands = 0 };

    collopt_round(x->s);
    for (int d = from; d < to; d++) {
        int first = q->first + d * q->span, node = head_of(x, first, q->span);

        place[d - from] = node == x->g.node ? x->have : collopt_vector_slot(x->s, whole());
        if (node != x->g.node)
            collopt_receive(x->s, rank_at(x, node, home(x, node, q->span)),
                            at(place[d - from], whole()));
    }
    if (to - from == 1)
        return place[0];
    row.to = at(result >= 0 ? result : collopt_vector_slot(x->s, whole()), whole());
    for (int d = from; d < to; d++)
        collopt_row_add(x->s, &row, at(place[d - from], whole()));
    collopt_row_flush(x->s, &row);
    return row.to.place;
}

/* The players of this node, the head of the group, and what they make of it. */
static void combine(struct descent *x, const struct group *q)
{
    int n = players_of(x, q), index = -1, above = q->span * x->levels.radix, root = 0, to;
    int *member = collopt_workspace(x->s, (size_t)n * sizeof *member);

    for (int i = 0; member && i < n; i++) {
        int local = player(x, q, i);

        member[i] = rank_at(x, x->g.node, local);
        if (local == x->g.local)
            index = i;
        if (local == home(x, x->g.node, above))
            root = i;
    }
    if (member && index >= 0) {
        to = place_for(x, x->g.local, above);
        x->have = hear(x, q, index, n == 1 ? to : -1);
        if (n > 1)
            inside(x, member, n, index, root, x->have, to);
        x->have = to;
    }
    free(member);
}

static void between(struct descent *x)
{
    int span = 1;

    for (int i = 0; i < x->levels.n; i++, span *= x->levels.radix) {
        struct group q = group_of(x, x->g.node, span);

        if (q.count == 1)
            continue;
        if (q.head != x->g.node) {
            tell(x, &q);
            return;
        }
        combine(x, &q);
    }
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct descent x = { .s = s, .p = p, .have = COLLOPT_IN };

    if (!collopt_groups(s, p, rank, &x.g))
        return;
    x.levels = levels_of(p);
    x.players = collopt_node_aware_players(p, x.levels.radix);
    x.node = collopt_inner(p, node_task(p));
    x.root_node = collopt_node_of(p, p->root);
    x.root = collopt_local_of(&x.g, x.root_node, p->root);
    if (x.g.ranks > 1)
        sum_of_node(&x);
    between(&x);
    collopt_groups_free(&x.g);
}

/* ---- traffic --------------------------------------------------------------------------------- */

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    struct levels l = levels_of(p);
    int n = collopt_node_aware_players(p, l.radix), heard = (l.radix + n - 1) / n,
        fan = n == 1 ? heard - 1 : heard;
    struct collopt_task node = node_task(p), players = task_of(n, 0);
    struct collopt_messages m = { .pattern = COLLOPT_TREE, .distance = collopt_largest_node(p),
                                  .bytes = vector_bytes(p), .fan = fan,
                                  .combined = (heard - 1) * vector_bytes(p) };

    m.uneven = (double)(l.radix - 1) / fan - 1;         /* what all players hear comes through one
                                                         * port */
    collopt_inner_traffic(p, node, t);
    collopt_messages(t, l.n, m);
    for (int i = 0; i < l.n; i++)
        collopt_inner_traffic(p, players, t);
}

const struct collopt_algorithm collopt_reduce_node_aware = {
    .grouped = true, .name = "node_aware",
    .summary = "every rank of the root's node hears of another node; the shortest vectors on many "
               "nodes",
    .collective = COLLOPT_REDUCE, .order = COLLOPT_IN_ORDER,
    .source = "after Bienz, Olson, Gropp, ExaMPI 2019, arXiv 1910.09650 (there of Allreduce)",
    .parameter = { COLLOPT_NODE_AWARE_PARAMETERS(COLLOPT_REDUCE, node_preset) }, .usable = usable,
    .unfit = COLLOPT_GROUPS_UNFIT, .segments = segments, .traffic = traffic, .build = build,
};
