/* Node-aware exchange: whole vectors in few rounds between nodes, as every rank of a node talks to
 * another node.
 *
 * After an allreduce inside each node all its ranks hold the node's sum, so each can exchange with
 * a different node. Nodes are numbered by digits in mixed radix. On a level of radix f the nodes
 * that differ in one digit only exchange: local rank l of each gets the sum of the node whose digit
 * is l, and an allreduce of these f ranks inside the node combines them in the order of digits.
 * Between nodes that makes ceil(log_f N) rounds for N nodes instead of ceil(log2 N). Where N is no
 * product of radices, pairs of nodes are combined first, and one of each pair gets the result at
 * the end. Ranks without a partner get the result, or their part of a Reduce_scatter, from those of
 * their node that have it. In a node of fewer than f ranks each rank receives from several nodes.
 * Where nodes have different numbers of ranks all behave as the smallest does, so that all ranks
 * end with the same bits.
 * The algorithm inside nodes is a parameter: node_aware:group=8,node=(recursive_doubling); when not
 * given, that of least cost (for more than 64 KiB, which others serve better anyhow,
 * recursive_doubling), and group, the most that a radix can be, is the ranks of the smallest node.
 * Cost: one message between nodes on each level, and as many allreduces inside nodes as there are
 * levels, and one. Scratch: a few vectors. In rank order if the inner one is and the ranks of every
 * node follow one another; else commutative only. For the shortest vectors on many nodes of many
 * ranks. Bienz, Olson, Gropp, ExaMPI 2019, arXiv 1910.09650. */
#include "config.h"

#include <stdlib.h>

#include "node_aware.h"

enum { GROUP, NODE };           /* parameters */
enum { ROLES = COLLOPT_NODE_AWARE_ROLES, LEVELS = 32 };

/* ---- levels ---------------------------------------------------------------------------------- */

struct levels {
    int n, nodes;               /* NODES: what the radices multiply to */
    int radix[LEVELS];          /* the largest first */
};

/* As many of NODES as a product of few radices makes up: more than half. */
static struct levels most_nodes(int nodes, int radix)
{
    struct levels l = { .nodes = 1 };

    while (2 * l.nodes <= nodes) {
        l.radix[l.n] = least(radix, nodes / l.nodes);
        l.nodes *= l.radix[l.n++];
    }
    return l;
}

/* All of them; false if their number has too large a factor. */
static bool all_nodes(int nodes, int radix, struct levels *l)
{
    *l = (struct levels){ .nodes = nodes };
    while (nodes > 1) {
        int f = least(radix, nodes);

        while (nodes % f)
            f--;
        if (f == 1)
            return false;
        l->radix[l->n++] = f;
        nodes /= f;
    }
    return true;
}

/* Folding takes a round before and one afterwards. */
static struct levels levels_of(const struct collopt_problem *p)
{
    int nodes = p->topology->nodes, radix = collopt_node_aware_radix(p, p->value[GROUP]);
    struct levels some = most_nodes(nodes, radix), all;

    return all_nodes(nodes, radix, &all) && all.n <= some.n + (some.nodes < nodes ? 2 : 0) ? all
                                                                                           : some;
}

/* ---- parameters ------------------------------------------------------------------------------ */

static struct collopt_task node_task(const struct collopt_problem *p)
{
    int largest = collopt_largest_node(p);

    return (struct collopt_task){ .collective = COLLOPT_ALLREDUCE, .least = least(2, largest),
                                  .most = largest, .n = 1, .parameter = NODE };
}

extern const struct collopt_algorithm collopt_allreduce_recursive_doubling;

static size_t node_preset(const struct collopt_problem *p)
{
    return collopt_node_aware_preset(p, node_task(p), &collopt_allreduce_recursive_doubling);
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

struct exchange {
    struct collopt_schedule *s;
    const struct collopt_problem *p;
    struct collopt_groups g;
    struct collopt_inner node;
    struct levels levels;
    int number;                 /* of this rank's node, or of the node that stands for it too */
    int have;                   /* place of the sum so far */
    int result;                 /* the place of what all have: OUT, or scratch where this rank is to
                                 * get a part of it */
    int parts;                  /* Reduce_scatter: the partition of what ranks are to get */
    int slot[2 * (ROLES + 2)], used;    /* vectors that take turns: enough for two levels */
};

static int vector(struct exchange *x)
{
    int i = x->used++ % (int)(sizeof x->slot / sizeof *x->slot);

    if (x->used <= (int)(sizeof x->slot / sizeof *x->slot))
        x->slot[i] = collopt_vector_slot(x->s, whole());
    return x->slot[i];
}

/* The first nodes form pairs; the lower one of each goes on. */
static int pairs(const struct exchange *x)
{
    return x->g.nodes - x->levels.nodes;
}

static bool goes_on(const struct exchange *x)
{
    return x->g.node >= 2 * pairs(x) || x->g.node % 2 == 0;
}

static int node_numbered(const struct exchange *x, int number)
{
    return number + least(number, pairs(x));
}

static int rank_at(const struct exchange *x, int node, int local)
{
    return collopt_members(&x->g, node)[local];
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* The first RANKS ranks of the node combine what each has in FROM. */
static void inside(const struct exchange *x, int ranks, int from, int to)
{
    struct collopt_phase phase = { .ranks = ranks, .index = x->g.local, .whole = whole(),
                                   .member = collopt_mates(&x->g), .in = from, .out = to,
                                   .again = true };

    collopt_phase(x->s, x->p, &phase, &x->node);
}

static void sum_of_node(struct exchange *x)
{
    bool plays =
        x->levels.n > 0 && x->g.local < collopt_node_aware_players(x->p, x->levels.radix[0]);
    int to = plays ? vector(x) : x->result;

    inside(x, x->g.ranks, COLLOPT_IN, to);
    x->have = to;
}

/* The other node of a pair tells the one that goes on. */
static void fold(struct exchange *x)
{
    if (x->g.node >= 2 * pairs(x)
        || x->g.local >= collopt_node_aware_players(x->p, x->levels.radix[0]))
        return;
    collopt_round(x->s);
    if (goes_on(x)) {
        int sum = vector(x);

        collopt_receive(x->s, rank_at(x, x->g.node + 1, x->g.local), at(sum, whole()));
        collopt_combine(x->s, at(sum, whole()), at(x->have, whole()), at(sum, whole()));
        x->have = sum;
    } else {
        collopt_send(x->s, rank_at(x, x->g.node - 1, x->g.local), at(x->have, whole()));
    }
}

static void unfold(const struct exchange *x, int players)
{
    if (x->g.node >= 2 * pairs(x) || x->g.local >= players)
        return;
    collopt_round(x->s);
    if (goes_on(x))
        collopt_send(x->s, rank_at(x, x->g.node + 1, x->g.local), at(x->result, whole()));
    else
        collopt_receive(x->s, rank_at(x, x->g.node - 1, x->g.local), at(x->result, whole()));
}

/* The role of one rank on a level: it hears from the digits FROM .. TO-1, and the others hear from
 * it. */
struct part {
    int radix, stride, digit, from, to, teller;
    int place[ROLES];           /* vectors by digit, from FROM on */
};

static struct part part_of(const struct exchange *x, int radix, int stride, int n)
{
    struct part q = { .radix = radix, .stride = stride, .digit = x->number / stride % radix };

    q.from = collopt_node_aware_first(x->g.local, n, radix);
    q.to = collopt_node_aware_first(x->g.local + 1, n, radix);
    q.teller = collopt_node_aware_hearer(q.digit, n, radix);
    return q;
}

static bool hears_of(const struct part *q, int digit)
{
    return q->from <= digit && digit < q->to && digit != q->digit;
}

/* The rank that hears of this node from this rank, on the node with DIGIT. */
static int peer(const struct exchange *x, const struct part *q, int digit)
{
    return rank_at(x, node_numbered(x, x->number + (digit - q->digit) * q->stride), q->teller);
}

/* The next digits first, so that no rank is sent several messages at once. */
static void hear(struct exchange *x, struct part *q)
{
    for (int d = q->from; d < q->to; d++)
        q->place[d - q->from] = d == q->digit ? x->have : vector(x);
    collopt_round(x->s);
    for (int k = 1; k < q->radix; k++) {
        int above = (q->digit + k) % q->radix, below = modulo(q->digit - k, q->radix);

        if (hears_of(q, above))
            collopt_send(x->s, peer(x, q, above), at(x->have, whole()));
        if (hears_of(q, below))
            collopt_receive(x->s, peer(x, q, below), at(q->place[below - q->from], whole()));
    }
}

/* Combines the vectors that came to this rank in RESULT, unless there is one only. Returns where
 * the result is. */
static int combine(struct exchange *x, const struct part *q, int result)
{
    struct collopt_row row = { .to = at(result, whole()) };

    if (q->to - q->from == 1)
        return q->place[0];
    for (int d = q->from; d < q->to; d++)
        collopt_row_add(x->s, &row, at(q->place[d - q->from], whole()));
    collopt_row_flush(x->s, &row);
    return result;
}

static void level(struct exchange *x, int i, int stride)
{
    int radix = x->levels.radix[i], n = collopt_node_aware_players(x->p, radix), result;
    struct part q;

    if (x->g.local >= n)
        return;
    q = part_of(x, radix, stride, n);
    hear(x, &q);
    result = i == x->levels.n - 1 ? x->result : vector(x);
    if (n > 1)
        inside(x, n, combine(x, &q, q.to - q.from > 1 ? vector(x) : result), result);
    else
        combine(x, &q, result);
    x->have = result;
}

/* The first N ranks of the node know the result, and each tells every N-th from it on. */
static void hand_out(const struct exchange *x, int n)
{
    int first = x->g.local % n, ranks = (x->g.ranks - first + n - 1) / n;
    int *member = collopt_workspace(x->s, (size_t)ranks * sizeof *member);

    if (!member)
        return;
    for (int i = 0; i < ranks; i++)
        member[i] = rank_at(x, x->g.node, first + i * n);
    collopt_broadcast(x->s, member, ranks, x->g.local / n, 0, out(whole()));
    free(member);
}

static void between(struct exchange *x)
{
    const struct levels *l = &x->levels;
    int last = collopt_node_aware_players(x->p, l->radix[l->n - 1]), stride = 1;

    fold(x);
    for (int i = 0; i < l->n && goes_on(x); i++) {
        level(x, i, stride);
        stride *= l->radix[i];
    }
    unfold(x, last);
    if (!collopt_scatters(x->p->collective))
        hand_out(x, last);
    else
        collopt_hand_out(x->s, &x->g, last, x->parts, x->result);
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct exchange x = { .s = s, .p = p, .have = COLLOPT_IN, .result = COLLOPT_OUT };

    if (!collopt_groups(s, p, rank, &x.g))
        return;
    x.levels = levels_of(p);
    x.node = collopt_inner(p, node_task(p));
    x.number = x.g.node < 2 * pairs(&x) ? x.g.node / 2 : x.g.node - pairs(&x);
    if (collopt_scatters(p->collective)) {
        x.parts = collopt_partition_counts(s);
        x.result = collopt_vector_slot(s, whole());
    }
    if (x.g.ranks > 1)
        sum_of_node(&x);
    if (x.g.nodes > 1)
        between(&x);
    else if (collopt_scatters(p->collective))
        collopt_hand_out(s, &x.g, x.g.ranks, x.parts, x.result);
    collopt_groups_free(&x.g);
}

/* ---- traffic --------------------------------------------------------------------------------- */

/* To how many others one of LAST ranks of a node gives their parts. */
static int handed_out(const struct collopt_problem *p, int last)
{
    return (collopt_largest_node(p) + last - 1) / last - 1;
}

static void tell_inside(const struct collopt_problem *p, int ranks, struct collopt_traffic *t)
{
    struct collopt_task task = { .collective = COLLOPT_ALLREDUCE, .least = ranks, .most = ranks,
                                 .n = 1, .parameter = NODE };

    collopt_inner_traffic(p, task, t);
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    struct levels l = levels_of(p);
    int last = l.n ? collopt_node_aware_players(p, l.radix[l.n - 1]) : 1;
    struct collopt_messages m = { .pattern = COLLOPT_PAIRS, .distance = collopt_largest_node(p),
                                  .bytes = vector_bytes(p) };

    tell_inside(p, collopt_largest_node(p), t);
    collopt_messages(t, l.n > 0 && l.nodes < p->topology->nodes ? 2 : 0, m);
    for (int i = 0; i < l.n; i++) {
        int n = collopt_node_aware_players(p, l.radix[i]), digits = (l.radix[i] + n - 1) / n;

        m.fan = n == 1 ? digits - 1 : digits;
        m.combined = (digits - 1) * vector_bytes(p);
        collopt_messages(t, 1, m);
        tell_inside(p, n, t);
    }
    m = (struct collopt_messages){ .pattern = COLLOPT_TREE, .inside = true, .distance = 1,
                                   .bytes = vector_bytes(p) };
    if (l.n > 0 && collopt_scatters(p->collective)) {
        m.bytes /= p->ranks;
        m.fan = handed_out(p, last);
        collopt_messages(t, m.fan > 0, m);
    } else if (l.n > 0) {
        collopt_messages(t, log2_ceil((collopt_largest_node(p) + last - 1) / last), m);
    }
}

COLLOPT_ALLREDUCE_AND_SCATTER(node_aware,
    .grouped = true, .name = "node_aware", .order = COLLOPT_IN_ORDER,
    .summary = "every rank of a node talks to another node; the shortest vectors on many nodes",
    .source = "Bienz, Olson, Gropp, ExaMPI 2019, arXiv 1910.09650; Reduce_scatter: collopt",
    .parameter = { COLLOPT_NODE_AWARE_PARAMETERS(COLLOPT_ALLREDUCE, node_preset) },
    .usable = usable, .unfit = COLLOPT_GROUPS_UNFIT, .segments = segments, .traffic = traffic,
    .build = build);
