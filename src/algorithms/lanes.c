/* Lanes: several ranks of every node talk between nodes, each with a part of the vector of its own.
 *
 * With L lanes the vector is cut in L parts. A reduce-scatter inside each node leaves every rank
 * with a share of the node's sum; rank number i collects the shares of part i, if there are more
 * ranks than lanes. The ranks with the same number on all nodes are lane i and run the collective
 * on their part; then the parts go back to those who had the shares, and all tell one another.
 * Reduce_scatter cuts by who gets what: lane i has the parts of the ranks number i, i + L, ... of
 * all nodes. Scan and Exscan: the lanes do an exscan of the nodes' sums, and meanwhile the nodes
 * their own scan of whole vectors.
 * The algorithms inside nodes and along lanes are parameters:
 * lanes:count=4,node=(circulant),net=(ring); when not given, those of least cost, and as many lanes
 * as the smallest node has ranks.
 * Cost: theirs, and n-1 messages on nodes of n ranks; between nodes each rank moves 1/L of what one
 * leader would. Scratch: theirs and up to two parts (Reduce_scatter: the hulls of scattered parts,
 * up to two vectors). In rank order if the inner ones are and the ranks of every node follow one
 * another; else commutative operations only (Scan and Exscan: not at all). For long vectors, where
 * a node's network takes more than one rank can send. Bayatpour et al., SC 2017; Traeff and Hunold,
 * arXiv 1910.13373. */
#include "config.h"

#include <stdlib.h>

#include "groups.h"
#include "model/model.h"

enum { COUNT, NODE, NET, OWN }; /* parameters */
enum { MOST_LANES = 64, OWN_STRAND = 16 /* no inner algorithm has more */ };

/* ---- parameters ------------------------------------------------------------------------------ */

/* On one node there is nothing to do between nodes: every rank is a lane. */
static int lanes_of(const struct collopt_problem *p)
{
    return p->topology->nodes == 1 ? p->ranks : (int)p->value[COUNT];
}

static struct collopt_task node_task(const struct collopt_problem *p)
{
    return collopt_node_task(p, COLLOPT_REDUCE_SCATTER, NODE);
}

static struct collopt_task net_task(const struct collopt_problem *p)
{
    int nodes = p->topology->nodes;

    return (struct collopt_task){ .collective = collopt_between(p), .least = nodes, .most = nodes,
                                  .n = lanes_of(p), .root = collopt_node_of(p, p->root),
                                  .abreast = lanes_of(p), .parameter = NET, .which = 1 };
}

/* Whole vectors inside a node: Scan and Exscan. */
static struct collopt_task prefix_task(const struct collopt_problem *p)
{
    struct collopt_task task = collopt_node_task(p, p->collective, OWN);

    task.which = 2;
    return task;
}

static size_t count_preset(const struct collopt_problem *p)
{
    return (size_t)least(collopt_least_node(p), MOST_LANES);
}

static size_t node_preset(const struct collopt_problem *p)
{
    return collopt_inner_preset(p, node_task(p));
}

static size_t net_preset(const struct collopt_problem *p)
{
    return collopt_inner_preset(p, net_task(p));
}

static size_t own_preset(const struct collopt_problem *p)
{
    return collopt_inner_preset(p, prefix_task(p));
}

static int segments(const struct collopt_problem *p)
{
    bool prefix = collopt_is_prefix(p->collective);

    return collopt_pack_segments(collopt_inner_segments(p, node_task(p)),
                                 collopt_inner_segments(p, net_task(p)),
                                 prefix ? collopt_inner_segments(p, prefix_task(p)) : 1);
}

static bool usable(const struct collopt_problem *p)
{
    return collopt_groups_serve(p) && lanes_of(p) <= collopt_least_node(p)
        && collopt_inner_usable(p, node_task(p)) && collopt_inner_usable(p, net_task(p))
        && (!collopt_is_prefix(p->collective) || collopt_inner_usable(p, prefix_task(p)));
}

/* ---- one rank's view ------------------------------------------------------------------------- */

struct lanes {
    struct collopt_schedule *s;
    const struct collopt_problem *p;
    struct collopt_groups g;
    struct collopt_inner node, net, own;
    int count, partition;       /* lanes; of the vector, a part for each (not of Reduce_scatter) */
    int *mate;                  /* [nodes] the ranks of this rank's lane; unused by ranks that have
                                 * none */
    struct collopt_block *list; /* [ranks] lists of blocks, such as the share of each rank of the
                                 * node */
    int *first;                 /* [ranks + 1] where they begin */
};

static struct collopt_block part(const struct lanes *l, int lane)
{
    return block(l->partition, lane, 1);
}

/* Ranks of this node that have shares of a lane's part: its own, number LANE, and every count-th
 * from it on. */
static int sharers(const struct lanes *l, int lane)
{
    return (l->g.ranks - lane + l->count - 1) / l->count;
}

static void share_out(struct lanes *l)
{
    l->partition = collopt_partition(l->s, l->count);
    for (int lane = 0; lane < l->count; lane++) {
        int n = sharers(l, lane),
            cut = n > 1 ? collopt_partition_block(l->s, part(l, lane), n) : -1;

        for (int i = 0; i < n; i++)
            l->list[lane + i * l->count] = n > 1 ? block(cut, i, 1) : part(l, lane);
    }
    for (int i = 0; i <= l->g.ranks; i++)
        l->first[i] = i;
}

static bool begin(struct lanes *l, struct collopt_schedule *s, const struct collopt_problem *p,
                  int rank)
{
    *l = (struct lanes){ .s = s, .p = p, .count = lanes_of(p) };
    if (!collopt_groups(s, p, rank, &l->g))
        return false;
    l->mate = collopt_workspace(s, (size_t)l->g.nodes * sizeof *l->mate);
    l->list = collopt_workspace(s, (size_t)p->ranks * sizeof *l->list);
    l->first = collopt_workspace(s, ((size_t)p->ranks + 1) * sizeof *l->first);
    if (!l->mate || !l->list || !l->first)
        return false;
    for (int k = 0; k < l->g.nodes && l->g.local < l->count; k++)
        l->mate[k] = collopt_members(&l->g, k)[l->g.local];
    if (!collopt_scatters(p->collective))
        share_out(l);
    l->node = collopt_inner(p, node_task(p));
    l->net = collopt_inner(p, net_task(p));
    if (collopt_is_prefix(p->collective))
        l->own = collopt_inner(p, prefix_task(p));
    return true;
}

static void end(struct lanes *l)
{
    collopt_groups_free(&l->g);
    free(l->mate);
    free(l->list);
    free(l->first);
}

static bool in_lane(const struct lanes *l)
{
    return l->g.local < l->count;
}

/* The share of a rank of this node, in PLACE. */
static struct collopt_region share(const struct lanes *l, int place, int local)
{
    return at_list(place, l->first[local + 1] - l->first[local], &l->list[l->first[local]]);
}

/* Inside the node: every rank gets its share of the node's sum. */
static void inside(const struct lanes *l, int to)
{
    struct collopt_phase phase = { .ranks = l->g.ranks, .index = l->g.local, .whole = whole(),
                                   .member = collopt_mates(&l->g), .in = COLLOPT_IN, .out = to,
                                   .part = l->list, .first = l->first };

    collopt_phase(l->s, l->p, &phase, &l->node);
}

/* A lane's rank collects the shares of its part in PLACE, or gives them back. */
static void collect(const struct lanes *l, int place, bool back)
{
    const int *member = collopt_mates(&l->g);
    int lane = l->g.local % l->count;

    collopt_round(l->s);
    for (int i = lane + l->count; i < l->g.ranks; i += l->count)
        if (i == l->g.local || in_lane(l)) {
            int peer = in_lane(l) ? member[i] : member[lane];

            if (in_lane(l) == back)
                collopt_send(l->s, peer, share(l, place, i));
            else
                collopt_receive(l->s, peer, share(l, place, i));
        }
}

static void between(const struct lanes *l, int from, int to)
{
    struct collopt_phase phase = { .ranks = l->g.nodes, .index = l->g.node,
                                   .whole = part(l, l->g.local),
                                   .root = collopt_node_of(l->p, l->p->root),
                                   .member = l->mate, .in = from, .out = to };

    collopt_phase(l->s, l->p, &phase, &l->net);
}

/* The lane's part of the node's sum at its rank; RESULT if there is no other node. Returns where it
 * is. */
static int node_part(struct lanes *l, int result)
{
    if (l->g.ranks == 1)
        return COLLOPT_IN;
    if (l->g.nodes > 1)
        result = collopt_vector_slot(l->s, part(l, l->g.local % l->count));
    inside(l, result);
    collect(l, result, false);
    return result;
}

/* The ranks of the node tell one another their shares of what is in PLACE, the next ones first. */
static void gather_all(const struct lanes *l, int place)
{
    const int *member = collopt_mates(&l->g);
    int n = l->g.ranks, me = l->g.local;

    collect(l, place, true);
    for (int k = 1; k < n; k++) {
        int from = modulo(me - k, n);

        collopt_round(l->s);
        collopt_send(l->s, member[(me + k) % n], share(l, place, me));
        collopt_receive(l->s, member[from], share(l, place, from));
    }
}

/* The lanes end on the root's node, whose ranks give their parts to the root. */
static void gather_to_root(const struct lanes *l, int place)
{
    const int *member = collopt_mates(&l->g);
    int root = l->p->root, me = member[l->g.local];

    if (l->g.node != collopt_node_of(l->p, root))
        return;
    collopt_round(l->s);
    if (me != root && in_lane(l))
        collopt_send(l->s, root, at(place, part(l, l->g.local)));
    for (int i = 0; i < l->count && me == root; i++)
        if (member[i] != root)
            collopt_receive(l->s, member[i], out(part(l, i)));
}

/* Allreduce and Reduce. */
static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    bool reduce = p->collective == COLLOPT_REDUCE;
    struct lanes l;

    if (begin(&l, s, p, rank)) {
        bool ends_here = l.g.node == collopt_node_of(p, p->root);
        int result = COLLOPT_OUT, sum;

        if (reduce && in_lane(&l) && rank != p->root && ends_here)
            result = collopt_vector_slot(s, part(&l, l.g.local));
        sum = node_part(&l, result);
        if (in_lane(&l) && l.g.nodes > 1)
            between(&l, sum, result);
        (reduce ? gather_to_root : gather_all)(&l, result);
    }
    end(&l);
}

/* ---- Scan and Exscan ------------------------------------------------------------------------- */

static void scan_inside(const struct lanes *l)
{
    struct collopt_phase phase = { .ranks = l->g.ranks, .index = l->g.local, .whole = whole(),
                                   .member = collopt_mates(&l->g), .in = COLLOPT_IN,
                                   .out = COLLOPT_OUT };

    if (l->g.ranks == 1)
        return;
    collopt_strand(l->s, OWN_STRAND);
    collopt_phase(l->s, l->p, &phase, &l->own);
    collopt_strand(l->s, 0);
}

/* The total of all nodes before this one, in PLACE on every rank of the node; the lanes compute
 * its parts. */
static void prefix_of_nodes(struct lanes *l, int place)
{
    int sum;

    if (l->g.nodes == 1)
        return;
    sum = node_part(l, COLLOPT_OUT);
    if (in_lane(l))
        between(l, sum, place);
    if (l->g.node > 0)
        gather_all(l, place);
}

static void build_prefix(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct lanes l;

    if (begin(&l, s, p, rank)) {
        int before = collopt_place_before(s, p, &l.g);

        scan_inside(&l);
        prefix_of_nodes(&l, before);
        collopt_add_before(s, p, &l.g, before);
    }
    end(&l);
}

/* ---- Reduce_scatter -------------------------------------------------------------------------- */

/* Appends the parts of the ranks of NODE that LANE serves, if their numbers are FROM .. TO-1; *SEEN
 * numbers them. */
static int add_served(const struct lanes *l, int parts, int node, int lane, int from, int to,
                      int *seen, int n)
{
    const int *member = collopt_members(&l->g, node);

    for (int i = lane; i < collopt_node_ranks(&l->g, node); i += l->count, ++*seen)
        if (from <= *seen && *seen < to)
            l->list[n++] = block(parts, member[i], 1);
    return n;
}

/* Ranks that LANE serves on all nodes. */
static int served(const struct lanes *l, int lane)
{
    int n = 0;

    for (int k = 0; k < l->g.nodes; k++)
        n += (collopt_node_ranks(&l->g, k) - lane + l->count - 1) / l->count;
    return n;
}

/* Inside the node a lane's sharers are to get the parts that it serves on all nodes, each as
 * many. */
static void list_by_lanes(struct lanes *l, int parts)
{
    int n = 0;

    for (int i = 0; i < l->g.ranks; i++) {
        int lane = i % l->count, all = served(l, lane), of = sharers(l, lane), seen = 0;

        l->first[i] = n;
        for (int k = 0; k < l->g.nodes; k++)
            n = add_served(l, parts, k, lane, all * (i / l->count) / of,
                           all * (i / l->count + 1) / of, &seen, n);
    }
    l->first[l->g.ranks] = n;
}

/* Along the lane a node's rank is to get those of its node. */
static void list_by_nodes(struct lanes *l, int parts)
{
    int n = 0;

    for (int k = 0; k < l->g.nodes; k++) {
        int seen = 0;

        l->first[k] = n;
        n = add_served(l, parts, k, l->g.local, 0, l->p->ranks, &seen, n);
    }
    l->first[l->g.nodes] = n;
}

static void build_reduce_scatter(struct collopt_schedule *s, const struct collopt_problem *p,
                                 int rank)
{
    struct lanes l;

    if (begin(&l, s, p, rank)) {
        int parts = collopt_partition_counts(s), have = COLLOPT_IN;
        /* this lane serves no other rank of the node */
        bool alone = l.g.local + l.count >= l.g.ranks;

        list_by_lanes(&l, parts);
        if (l.g.ranks > 1) {
            have = l.g.nodes > 1 ? collopt_vector_slot(s, whole()) : COLLOPT_OUT;
            inside(&l, have);
            collect(&l, have, false);
        }
        if (in_lane(&l) && l.g.nodes > 1) {
            struct collopt_phase phase = { .ranks = l.g.nodes, .index = l.g.node,
                                           .whole = whole(), .member = l.mate, .in = have,
                                           .part = l.list, .first = l.first };

            list_by_nodes(&l, parts);
            have = alone ? COLLOPT_OUT : collopt_vector_slot(s, whole());
            phase.out = have;
            collopt_phase(s, p, &phase, &l.net);
        }
        collopt_hand_out(s, &l.g, l.count, parts, have);
    }
    end(&l);
}

/* ---- traffic --------------------------------------------------------------------------------- */

/* The longest share, on nodes of LEAST to MOST ranks, as a part of the vector, where shares of all
 * ranks alike would be 1 / MOST. */
static double longest_share(const struct collopt_problem *p)
{
    double longest = 0;

    for (int n = collopt_least_node(p); n <= collopt_largest_node(p); n++) {
        int even = n / lanes_of(p) * lanes_of(p);
        double share = 1.0 / even;

        longest = share > longest ? share : longest;
    }
    return longest;
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    double lanes = collopt_inner_time(p, node_task(p)) + collopt_inner_time(p, net_task(p));
    double prefix = collopt_is_prefix(p->collective) ? collopt_inner_time(p, prefix_task(p)) : 0;
    double m = vector_bytes(p), share = m * longest_share(p);
    int n = collopt_largest_node(p), others = (n - 1) / lanes_of(p);
    struct collopt_messages each = { .pattern = COLLOPT_SHIFT, .inside = true, .distance = 1,
                                     .bytes = share };

    /* they run beside one another */
    collopt_inner_seconds(t, lanes > prefix ? lanes : prefix);
    collopt_messages(t, 2 * others, each);
    if (p->collective == COLLOPT_REDUCE) {
        each.bytes = m / lanes_of(p);
        each.fan = lanes_of(p);
        each.pattern = COLLOPT_TREE;
        collopt_messages(t, 1, each);
    } else if (!collopt_scatters(p->collective)) {
        collopt_pipeline(t, n - 1, 1, 1, each);
    }
    if (collopt_is_prefix(p->collective))
        collopt_inner_seconds(t, collopt_machine_of(p)->combine * m);
}

/* The fields that all descriptors of this file share. */
#define LANES(build_) \
    .grouped = true, .name = "lanes", \
    .summary = "several ranks of each node with a part each; long vectors on several nodes", \
    .order = COLLOPT_IN_ORDER, \
    .source = "Bayatpour et al., SC 2017; Traeff and Hunold, arXiv 1910.13373", \
    .usable = usable, \
    .unfit = "its nodes have fewer ranks than lanes, or ranks that do not follow one another", \
    .segments = segments, .traffic = traffic, .build = build_
#define PARAMETERS(net_) \
    { .name = "count", .least = 1, .most = MOST_LANES, \
      .help = "lanes; no more than ranks on any node", .preset = count_preset }, \
    COLLOPT_INNER("node", COLLOPT_REDUCE_SCATTER, node_preset, "the algorithm inside nodes"), \
    COLLOPT_INNER("net", net_, net_preset, "the algorithm along lanes")
#define OWN(collective_) \
    COLLOPT_INNER("own", collective_, own_preset, "the algorithm of whole vectors inside nodes")

const struct collopt_algorithm collopt_reduce_lanes = {
    LANES(build), .collective = COLLOPT_REDUCE,
    .parameter = { PARAMETERS(COLLOPT_REDUCE), COLLOPT_BY },
};

const struct collopt_algorithm collopt_allreduce_lanes = {
    LANES(build), .collective = COLLOPT_ALLREDUCE,
    .parameter = { PARAMETERS(COLLOPT_ALLREDUCE), COLLOPT_BY },
};

COLLOPT_SCATTER_AND_BLOCK(lanes,
    LANES(build_reduce_scatter), .parameter = { PARAMETERS(COLLOPT_REDUCE_SCATTER), COLLOPT_BY });

const struct collopt_algorithm collopt_scan_lanes = {
    LANES(build_prefix), .collective = COLLOPT_SCAN,
    .parameter = { PARAMETERS(COLLOPT_EXSCAN), OWN(COLLOPT_SCAN), COLLOPT_BY },
};

const struct collopt_algorithm collopt_exscan_lanes = {
    LANES(build_prefix), .collective = COLLOPT_EXSCAN,
    .parameter = { PARAMETERS(COLLOPT_EXSCAN), OWN(COLLOPT_EXSCAN), COLLOPT_BY },
};
