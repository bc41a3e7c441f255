/* Common parts of the node-aware algorithms: groups of nodes become one, and every rank of a node
 * hears from a part of the group. */
#ifndef COLLOPT_ALGORITHMS_NODE_AWARE_H
#define COLLOPT_ALGORITHMS_NODE_AWARE_H

#include "groups.h"

enum {
    COLLOPT_NODE_AWARE_RADIX = 64,
    COLLOPT_NODE_AWARE_ROLES = 16 /* nodes of a group that one rank hears of */
};

/* As many nodes as the smallest one has ranks. */
static inline size_t collopt_node_aware_group(const struct collopt_problem *p)
{
    return (size_t)least(most(collopt_least_node(p), 2), COLLOPT_NODE_AWARE_RADIX);
}

/* How many nodes can become one at a time, if it may be GROUP. */
static inline int collopt_node_aware_radix(const struct collopt_problem *p, size_t group)
{
    return least((int)group, COLLOPT_NODE_AWARE_ROLES * collopt_least_node(p));
}

/* Ranks of every node that hear of others, where RADIX nodes become one. */
static inline int collopt_node_aware_players(const struct collopt_problem *p, int radix)
{
    return least(collopt_least_node(p), radix);
}

/* Of the nodes 0 .. RADIX-1 of a group player number I of N hears of these up to those of the next;
 * and who hears of NODE. */
static inline int collopt_node_aware_first(int i, int n, int radix)
{
    return (i * radix + n - 1) / n;
}

static inline int collopt_node_aware_hearer(int node, int n, int radix)
{
    return node * n / radix;
}

/* The algorithm inside nodes, if none was said; for long vectors, which others serve better, the
 * SIMPLE one, so that a choice need not wait until the best one is found. */
static inline size_t collopt_node_aware_preset(const struct collopt_problem *p,
                                               struct collopt_task task,
                                               const struct collopt_algorithm *simple)
{
    static const double too_long = 64 << 10;

    return p->value[task.parameter] == 0 && vector_bytes(p) > too_long
        ? collopt_inner_value(p, task, (struct collopt_choice){ .algorithm = simple })
        : collopt_inner_preset(p, task);
}

#define COLLOPT_NODE_AWARE_PARAMETERS(of_, node_preset_) \
    { .name = "group", .least = 2, .most = COLLOPT_NODE_AWARE_RADIX, \
      .help = "nodes that become one on each level", .preset = collopt_node_aware_group }, \
    COLLOPT_INNER("node", of_, node_preset_, "the algorithm inside nodes"), COLLOPT_BY

#endif
