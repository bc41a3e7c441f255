/* Nodes as groups of ranks, for compositions: one algorithm inside nodes, one between them. */
#ifndef COLLOPT_ALGORITHMS_GROUPS_H
#define COLLOPT_ALGORITHMS_GROUPS_H

#include "algorithm.h"
#include "catalogue/choice.h"

/* Statements on nodes hold for other groups, too, if an algorithm is to go by them: P->topology
 * has them in place of nodes. */
size_t collopt_preset_by(const struct collopt_problem *p);
#define COLLOPT_BY \
    { .name = "by", .words = COLLOPT_GROUPING_WORDS, .least = 1, .most = COLLOPT_GROUPINGS - 1, \
      .help = "what the ranks of a group share; a node if not given", .preset = collopt_preset_by }

#define COLLOPT_GROUPS_UNFIT \
    "an inner algorithm cannot serve, or the ranks of a node do not follow one another"

/* Who is on which node, as one rank sees it. */
struct collopt_groups {
    int nodes, node;            /* how many; this rank's */
    int ranks, local;           /* of this rank's node; this rank among them */
    int *member;                /* [all ranks] node by node, lower ranks first */
    int *start;                 /* [nodes + 1] where a node's begin */
};

/* False: out of memory, and the schedule knows. */
bool collopt_groups(struct collopt_schedule *s, const struct collopt_problem *p, int rank,
                    struct collopt_groups *g);
void collopt_groups_free(struct collopt_groups *g);

static inline const int *collopt_members(const struct collopt_groups *g, int node)
{
    return g->member + g->start[node];
}

/* Those of this rank's node. */
static inline const int *collopt_mates(const struct collopt_groups *g)
{
    return collopt_members(g, g->node);
}

static inline int collopt_node_ranks(const struct collopt_groups *g, int node)
{
    return g->start[node + 1] - g->start[node];
}

/* Can what combines node by node serve P? In order, and for a prefix, nodes must be of
 * neighbours. */
static inline bool collopt_groups_serve(const struct collopt_problem *p)
{
    return !p->topology->scattered || (p->commutative && !collopt_is_prefix(p->collective));
}

/* The collective that combines the results of the groups into that of P. */
enum collopt_collective collopt_between(const struct collopt_problem *p);

/* The node of RANK, and its number among the node's. */
int collopt_node_of(const struct collopt_problem *p, int rank);
int collopt_local_of(const struct collopt_groups *g, int node, int rank);
/* the same without groups */
int collopt_local_number(const struct collopt_problem *p, int rank);

/* Ranks of the largest and of the smallest node. */
static inline int collopt_largest_node(const struct collopt_problem *p)
{
    return p->topology->nodes == 1 ? p->ranks : p->topology->largest;
}

static inline int collopt_least_node(const struct collopt_problem *p)
{
    return p->topology->nodes == 1 ? p->ranks : p->topology->least;
}

/* ---- the algorithms inside ------------------------------------------------------------------- */

/* A group's problem: COLLECTIVE of LEAST to MOST ranks on the N-th part of the vector. */
struct collopt_task {
    enum collopt_collective collective;
    int least, most, n;
    int root;                   /* Reduce: in one of the groups; elsewhere it is 0 */
    int abreast;                /* as in struct collopt_problem */
    bool all;                   /* of all ranks, where they are, on the whole vector */
    int parameter;              /* whose value says by which algorithm */
    int which;                  /* its number of segments among those that are packed */
};

/* The task of the nodes, which do C on whole vectors. */
static inline struct collopt_task collopt_node_task(const struct collopt_problem *p,
                                                    enum collopt_collective c, int parameter)
{
    return (struct collopt_task){ .collective = c, .least = collopt_least_node(p),
                                  .most = collopt_largest_node(p), .n = 1,
                                  .parameter = parameter };
}

/* The problem of a group of RANKS, without parameters.  Of a task for all ranks it is P's. */
struct collopt_problem collopt_inner_problem(const struct collopt_problem *p,
                                             struct collopt_task task, int ranks);

/* The value of a parameter that takes an algorithm: CHOICE, completed. */
size_t collopt_inner_value(const struct collopt_problem *p, struct collopt_task task,
                           struct collopt_choice choice);
/* The same: what was given, completed; or what costs least. */
size_t collopt_inner_preset(const struct collopt_problem *p, struct collopt_task task);
/* The algorithm's segments, and whether it can be used. */
int collopt_inner_segments(const struct collopt_problem *p, struct collopt_task task);
bool collopt_inner_usable(const struct collopt_problem *p, struct collopt_task task);
/* Its predicted time; and added to T. */
double collopt_inner_time(const struct collopt_problem *p, struct collopt_task task);
void collopt_inner_traffic(const struct collopt_problem *p, struct collopt_task task,
                           struct collopt_traffic *t);
struct collopt_inner collopt_inner(const struct collopt_problem *p, struct collopt_task task);

/* Up to three numbers of segments as one; there are at most COLLOPT_MOST_SEGMENTS of them. */
enum { COLLOPT_PACK = 1 << 10 };

static inline int collopt_pack_segments(int first, int second, int third)
{
    int most_of = COLLOPT_PACK - 1;

    return (least(third, most_of) * COLLOPT_PACK + least(second, most_of)) * COLLOPT_PACK
        + least(first, most_of);
}

static inline int collopt_packed_segments(int packed, int which)
{
    for (; which > 0; which--)
        packed /= COLLOPT_PACK;
    return packed % COLLOPT_PACK;
}

/* ---- moving data inside a node --------------------------------------------------------------- */

/* Binomial tree from member ROOT: where[index] of the others is filled from what the root has
 * there. */
void collopt_broadcast(struct collopt_schedule *s, const int *member, int ranks, int index,
                       int root, struct collopt_region what);
/* The first N ranks of the node have in PLACE the parts of PARTS that every N-th rank from them on
 * is to get, and give them theirs. */
void collopt_hand_out(struct collopt_schedule *s, const struct collopt_groups *g, int n, int parts,
                      int place);

/* Scan and Exscan: where the total of all nodes before this one is to be: OUT, if that is the
 * result, or there is none. */
int collopt_place_before(struct collopt_schedule *s, const struct collopt_problem *p,
                         const struct collopt_groups *g);
/* The result from that total, in PLACE, and from the prefix in the node, which is in OUT on nodes
 * of several ranks. */
void collopt_add_before(struct collopt_schedule *s, const struct collopt_problem *p,
                        const struct collopt_groups *g, int place);

#endif
