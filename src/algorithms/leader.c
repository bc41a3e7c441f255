/* Leader: one rank of each node combines for its node, and only these leaders talk between nodes.
 *
 * Allreduce: node reduce to the leader, allreduce among leaders, broadcast in the node. Reduce: the
 * root leads its node, so that nothing is forwarded. Reduce_scatter: leaders share the vector out
 * by nodes, then inside. Scan and Exscan: the node's own scan makes its last rank know the node's
 * total; the last ranks do an exscan of totals; what comes out of it is broadcast in the node and
 * combined from the left.
 * The algorithms inside the nodes and between them are parameters:
 * leader:node=(binomial),net=(circulant); when not given, those of least cost. Cost: theirs, one
 * after the other, and the broadcast. Scratch: theirs and up to two vectors. In rank order if the
 * inner ones are and the ranks of every node follow one another; else commutative operations only
 * (Scan and Exscan: not at all). One flow per node and few rounds between nodes: for short vectors
 * on nodes of many ranks. Folklore; the two-level form of MPICH's and Open MPI's hierarchical
 * collectives. */
#include "config.h"

#include <stdlib.h>

#include "groups.h"
#include "model/model.h"

enum { NODE, NET };             /* parameters */

/* ---- parameters ------------------------------------------------------------------------------ */

static struct collopt_task node_task(const struct collopt_problem *p)
{
    bool prefix = collopt_is_prefix(p->collective);
    struct collopt_task task = collopt_node_task(p, prefix ? p->collective : COLLOPT_REDUCE, NODE);

    if (p->collective == COLLOPT_REDUCE)
        task.root = collopt_local_number(p, p->root);
    return task;
}

static struct collopt_task net_task(const struct collopt_problem *p)
{
    int nodes = p->topology->nodes;

    return (struct collopt_task){ .collective = collopt_between(p), .least = nodes, .most = nodes,
                                  .n = 1, .root = collopt_node_of(p, p->root), .abreast = 1,
                                  .parameter = NET, .which = 1 };
}

static size_t node_preset(const struct collopt_problem *p)
{
    return collopt_inner_preset(p, node_task(p));
}

static size_t net_preset(const struct collopt_problem *p)
{
    return collopt_inner_preset(p, net_task(p));
}

static int segments(const struct collopt_problem *p)
{
    return collopt_pack_segments(collopt_inner_segments(p, node_task(p)),
                                 collopt_inner_segments(p, net_task(p)), 1);
}

static bool usable(const struct collopt_problem *p)
{
    return collopt_groups_serve(p) && collopt_inner_usable(p, node_task(p))
        && collopt_inner_usable(p, net_task(p));
}

/* ---- phases ---------------------------------------------------------------------------------- */

struct hierarchy {
    struct collopt_schedule *s;
    const struct collopt_problem *p;
    struct collopt_groups g;
    struct collopt_inner node, net;
    int *leader;                /* [nodes] ranks */
    int lead;                   /* this node's leader among its ranks */
};

/* The leader of a node: the root, the last rank for a prefix, else the first. */
static int leader_of(const struct hierarchy *h, int node)
{
    const struct collopt_problem *p = h->p;

    if (collopt_is_prefix(p->collective))
        return collopt_members(&h->g, node)[collopt_node_ranks(&h->g, node) - 1];
    if (p->collective == COLLOPT_REDUCE && collopt_node_of(p, p->root) == node)
        return p->root;
    return collopt_members(&h->g, node)[0];
}

static bool begin(struct hierarchy *h, struct collopt_schedule *s, const struct collopt_problem *p,
                  int rank)
{
    *h = (struct hierarchy){ .s = s, .p = p };
    if (!collopt_groups(s, p, rank, &h->g))
        return false;
    h->leader = collopt_workspace(s, (size_t)h->g.nodes * sizeof *h->leader);
    if (!h->leader) {
        collopt_groups_free(&h->g);
        return false;
    }
    for (int k = 0; k < h->g.nodes; k++)
        h->leader[k] = leader_of(h, k);
    h->lead = collopt_local_of(&h->g, h->g.node, h->leader[h->g.node]);
    h->node = collopt_inner(p, node_task(p));
    h->net = collopt_inner(p, net_task(p));
    return true;
}

static void end(struct hierarchy *h)
{
    collopt_groups_free(&h->g);
    free(h->leader);
}

static bool leads(const struct hierarchy *h)
{
    return h->g.local == h->lead;
}

static void inside(const struct hierarchy *h, int from, int to)
{
    struct collopt_phase phase = { .ranks = h->g.ranks, .index = h->g.local, .root = h->lead,
                                   .whole = whole(), .member = collopt_mates(&h->g), .in = from,
                                   .out = to };

    collopt_phase(h->s, h->p, &phase, &h->node);
}

static void between(const struct hierarchy *h, int from, int to)
{
    struct collopt_phase phase = { .ranks = h->g.nodes, .index = h->g.node, .whole = whole(),
                                   .root = collopt_node_of(h->p, h->p->root), .member = h->leader,
                                   .in = from, .out = to };

    collopt_phase(h->s, h->p, &phase, &h->net);
}

static void broadcast(const struct hierarchy *h, int place)
{
    collopt_broadcast(h->s, collopt_mates(&h->g), h->g.ranks, h->g.local, h->lead,
                      at(place, whole()));
}

/* The node's sum, at its leader; RESULT if there is no other node.  Returns where it is. */
static int node_sum(const struct hierarchy *h, int result)
{
    int sum = result;

    if (h->g.ranks == 1)
        return COLLOPT_IN;
    if (leads(h) && h->g.nodes > 1)
        sum = collopt_vector_slot(h->s, whole());
    inside(h, COLLOPT_IN, sum);
    return sum;
}

/* From the node's sum to the sum of all, in OUT of leaders that have one. */
static void total(const struct hierarchy *h)
{
    int sum = node_sum(h, COLLOPT_OUT);

    if (leads(h) && h->g.nodes > 1)
        between(h, sum, COLLOPT_OUT);
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct hierarchy h;

    if (!begin(&h, s, p, rank))
        return;
    total(&h);
    if (p->collective == COLLOPT_ALLREDUCE)
        broadcast(&h, COLLOPT_OUT);
    end(&h);
}

/* ---- Reduce_scatter -------------------------------------------------------------------------- */

/* Reduce_scatter among the leaders: each gets the sums for the ranks of its node.  LIST has the
 * blocks that go to RESULT, those of node k from g.start[k] on. */
static void share_between(const struct hierarchy *h, int sum, int result,
                          const struct collopt_block *list)
{
    struct collopt_phase phase = { .ranks = h->g.nodes, .index = h->g.node,
                                   .whole = whole(), .member = h->leader, .in = sum, .out = result,
                                   .part = list, .first = h->g.start };

    collopt_phase(h->s, h->p, &phase, &h->net);
}

/* A node's parts: in one block where its ranks follow one another. */
static int slot_for_node(const struct hierarchy *h, int parts)
{
    int first = collopt_mates(&h->g)[0];

    return collopt_vector_slot(h->s,
                               h->p->topology->scattered ? whole()
                                                         : block(parts, first, h->g.ranks));
}

static void build_reduce_scatter(struct collopt_schedule *s, const struct collopt_problem *p,
                                 int rank)
{
    struct collopt_block *list = collopt_workspace(s, (size_t)p->ranks * sizeof *list);
    int parts = collopt_partition_counts(s), have;
    struct hierarchy h;

    if (list && begin(&h, s, p, rank)) {
        for (int i = 0; i < p->ranks; i++)
            list[i] = block(parts, h.g.member[i], 1);
        have =
            node_sum(&h,
                     leads(&h) && h.g.ranks > 1 && h.g.nodes == 1 ? collopt_vector_slot(s, whole())
                                                                  : COLLOPT_OUT);
        if (leads(&h) && h.g.nodes > 1) {
            int shared = h.g.ranks == 1 ? COLLOPT_OUT : slot_for_node(&h, parts);

            share_between(&h, have, shared, list);
            have = shared;
        }
        collopt_hand_out(s, &h.g, 1, parts, have);
        end(&h);
    }
    free(list);
}

/* ---- Scan and Exscan ------------------------------------------------------------------------- */

/* Brings the total of all nodes before this one, from the totals of their last ranks, to PLACE
 * on the whole node. */
static void prefix_of_nodes(const struct hierarchy *h, int total, int place)
{
    if (leads(h) && h->g.nodes > 1)
        between(h, total, place);
    if (h->g.node > 0)
        broadcast(h, place);
}

/* An Exscan's total has the last rank's own vector in it. */
static void build_prefix(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct hierarchy h;
    int sum, before;

    if (!begin(&h, s, p, rank))
        return;
    sum = h.g.ranks > 1 ? COLLOPT_OUT : COLLOPT_IN;
    if (h.g.ranks > 1)
        inside(&h, COLLOPT_IN, COLLOPT_OUT);
    before = collopt_place_before(s, p, &h.g);
    if (p->collective == COLLOPT_EXSCAN && leads(&h) && h.g.ranks > 1 && h.g.nodes > 1) {
        sum = collopt_vector_slot(s, whole());
        collopt_combine(s, at(sum, whole()), out(whole()), in(whole()));
    }
    prefix_of_nodes(&h, sum, before);
    collopt_add_before(s, p, &h.g, before);
    end(&h);
}

/* ---- traffic --------------------------------------------------------------------------------- */

/* A broadcast, or what each member is to get, from the leader. */
static void tell_node(const struct collopt_problem *p, bool scatters, struct collopt_traffic *t)
{
    double m = vector_bytes(p);
    int n = collopt_largest_node(p);
    struct collopt_messages each = { .pattern = COLLOPT_TREE, .inside = true, .distance = 1,
                                     .bytes = m };

    if (scatters) {
        each.bytes = m / p->ranks;
        each.fan = n - 1;
    }
    if (n > 1)
        collopt_messages(t, scatters ? 1 : log2_ceil(n), each);
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    bool prefix = collopt_is_prefix(p->collective), several = p->topology->nodes > 1;

    collopt_inner_traffic(p, node_task(p), t);
    collopt_inner_traffic(p, net_task(p), t);
    if (p->collective != COLLOPT_REDUCE && (several || !prefix))
        tell_node(p, collopt_scatters(p->collective), t);
    if (prefix && several)
        collopt_inner_seconds(t, collopt_machine_of(p)->combine * vector_bytes(p));
}

/* The fields that all descriptors of this file share. */
#define LEADER(build_) \
    .grouped = true, .name = "leader", \
    .summary = "one rank of each node for its node; short vectors on several nodes", \
    .order = COLLOPT_IN_ORDER, .source = "folklore; as in MPICH and Open MPI", .usable = usable, \
    .unfit = COLLOPT_GROUPS_UNFIT, .segments = segments, .traffic = traffic, .build = build_
#define PARAMETERS(node_, net_) \
    COLLOPT_INNER("node", node_, node_preset, "the algorithm inside nodes"), \
    COLLOPT_INNER("net", net_, net_preset, "the algorithm between their leaders"), COLLOPT_BY

const struct collopt_algorithm collopt_reduce_leader = {
    LEADER(build), .collective = COLLOPT_REDUCE,
    .parameter = { PARAMETERS(COLLOPT_REDUCE, COLLOPT_REDUCE) },
};

const struct collopt_algorithm collopt_allreduce_leader = {
    LEADER(build), .collective = COLLOPT_ALLREDUCE,
    .parameter = { PARAMETERS(COLLOPT_REDUCE, COLLOPT_ALLREDUCE) },
};

COLLOPT_SCATTER_AND_BLOCK(leader,
    LEADER(build_reduce_scatter),
    .parameter = { PARAMETERS(COLLOPT_REDUCE, COLLOPT_REDUCE_SCATTER) });

const struct collopt_algorithm collopt_scan_leader = {
    LEADER(build_prefix), .collective = COLLOPT_SCAN,
    .parameter = { PARAMETERS(COLLOPT_SCAN, COLLOPT_EXSCAN) },
};

const struct collopt_algorithm collopt_exscan_leader = {
    LEADER(build_prefix), .collective = COLLOPT_EXSCAN,
    .parameter = { PARAMETERS(COLLOPT_EXSCAN, COLLOPT_EXSCAN) },
};
