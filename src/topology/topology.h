/* The topology of a communicator's ranks: nodes, groups inside and above nodes, grids; found, or
 * stated by COLLOPT_TOPOLOGY. No MPI here. */
#ifndef COLLOPT_TOPOLOGY_TOPOLOGY_H
#define COLLOPT_TOPOLOGY_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum number of sides of a grid, and bits per side in a parameter's value, the first side
 * lowest. */
enum { COLLOPT_SIDES = 6, COLLOPT_SIDE_BITS = 10 };

/* The part of the machine that the ranks of a group share: the values of a parameter "by". */
enum collopt_grouping {
    COLLOPT_BY_NODE = 1, COLLOPT_BY_SWITCH, COLLOPT_BY_NUMA, COLLOPT_BY_CACHE, COLLOPT_BY_CORE,
    COLLOPT_GROUPINGS
};
#define COLLOPT_GROUPING_WORDS "node|switch|numa|cache|core"

struct collopt_topology {       /* of one communicator; the same on all its ranks */
    int nodes;
    const int *node;            /* [ranks] the node of each rank, numbered by first appearance;
                                 * NULL: one node */
    bool oversubscribed;        /* some node has more ranks than usable processors */
    int largest, least;         /* ranks of the largest and of the smallest node; 0: one node */
    int grain;                  /* nodes begin at ranks 0, grain, 2 grain ..., if not scattered; 0:
                                 * one node */
    bool scattered;             /* the ranks of some node are not consecutive */
    size_t dims;                /* the grid of the ranks, as a value of a parameter "dims"; 0:
                                 * unknown */
    unsigned rings;             /* bit d: dimension d wraps around */
    bool wired;                 /* the grid is physical; else the program's (a Cartesian
                                 * communicator) */
    bool inside;                /* all ranks are on one node; NODE numbers the groups within it */
    /* [COLLOPT_GROUPINGS] the same ranks with other groups as nodes; NULL entries: unknown;
     * NULL: all unknown. */
    const struct collopt_topology *const *groups;
};
/* Sets LARGEST, LEAST, GRAIN and SCATTERED from NODES and NODE; false: no memory. */
bool collopt_topology_measure(struct collopt_topology *t, int ranks);
/* The last-level caches of the ranks of a node, as groups in place of nodes; NULL: there is one, or
 * they are unknown, or there is one for each rank. */
const struct collopt_topology *collopt_topology_caches(const struct collopt_topology *t);
/* Sets GROUP[r] to the group of rank r, the ranks with equal KEY; groups are numbered from 0 by
 * their first ranks. Returns the number of groups; 0: no memory. */
int collopt_topology_number(const uint64_t *key, int *group, int ranks);
/* *LEVEL = BASE's ranks grouped by KEY. LEVEL keeps GROUP, which has room for RANKS. False: no
 * memory. */
bool collopt_topology_group(struct collopt_topology *level, const struct collopt_topology *base,
                            const uint64_t *key, int *group, int ranks);
/* 1 if ranks with equal KEY are on several of BASE's nodes, else 0; -1: no memory. */
int collopt_topology_straddled(const struct collopt_topology *base, const uint64_t *key, int ranks);

/* The node, from 0, of a RANK of the world by "3,1,4" (ranks per node, the last number repeated)
 * or "cyclic:4" (ranks dealt to four nodes in turn); -1 if TEXT is invalid. */
int collopt_stated_node(const char *text, int rank);

/* Describes the topology of RANKS: "4 nodes of 16 ranks; 8 NUMA domains; more ranks than
 * processors". */
void collopt_topology_text(const struct collopt_topology *t, int ranks, char *text, size_t size);
enum collopt_shape_kind { COLLOPT_AS_FOUND, COLLOPT_NOTHING, COLLOPT_NODES_OF, COLLOPT_GRID,
                          COLLOPT_CARTESIAN, COLLOPT_HOSTS };

struct collopt_shape {          /* the value of COLLOPT_TOPOLOGY */
    enum collopt_shape_kind kind;
    const char *nodes;          /* COLLOPT_NODES_OF: for collopt_stated_node(); points into the
                                 * text */
    const char *file;           /* COLLOPT_HOSTS: its name; points into the text */
    int sides, side[COLLOPT_SIDES];     /* COLLOPT_GRID: ranks of the world along each dimension,
                                         * the last one consecutive */
    bool rings;                 /* a torus */
};

/* Reads "torus:8x8x4", "mesh:16x16", "nodes:24", "cartesian", "file:hosts", "none"; NULL means
 * as found. False, with a sentence in MESSAGE that says what would be right, if TEXT is invalid.
 * Opens no file. */
bool collopt_parse_shape(const char *text, struct collopt_shape *shape, char *message, size_t size);
/* The number of ranks of a grid; 0: not a grid. */
int collopt_shape_ranks(const struct collopt_shape *shape);
/* Sets DIMS and RINGS, leaving out sides of length one; sets nothing if a side is too long for a
 * parameter "dims". */
void collopt_topology_grid(struct collopt_topology *t, int sides, const int *side, unsigned rings);
/* The same for RANKS ranks that are WORLD[0], WORLD[STRIDE] ... of a machine of this SHAPE: if
 * they form a box of it in its order, the box is their grid, and dimensions of full length wrap
 * around. */
void collopt_topology_box(struct collopt_topology *t, const struct collopt_shape *shape,
                          const int *world, int stride, int ranks);

#endif
