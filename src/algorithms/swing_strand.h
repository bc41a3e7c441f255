/* One strand of swing: a reduce-scatter of a share of the vector, step by step, and the way back.
 * swing.c writes it down. */
#ifndef COLLOPT_ALGORITHMS_SWING_STRAND_H
#define COLLOPT_ALGORITHMS_SWING_STRAND_H

#include "algorithm.h"

enum { COLLOPT_SWING_STEPS = 32 };

struct collopt_swing {
    int ranks, nodes, strand, strands;
    struct collopt_grid grid;
    bool mirrored, scatters, windows;
    int root;                   /* the only node that gets results; -1: the way back leads to all,
                                 * or there is none */
    /* each step of all is a step in a dimension */
    int steps, dimension[COLLOPT_SWING_STEPS], step[COLLOPT_SWING_STEPS];
    int when[COLLOPT_SIDES][COLLOPT_SWING_STEPS];       /* and back */
    unsigned char *table[COLLOPT_SIDES];
};

/* The tables are not made. */
struct collopt_swing collopt_swing_strand(const struct collopt_problem *p,
                                          const struct collopt_grid *g, int number, int strands);

struct collopt_swing_blocks {
    int n;
    struct collopt_block *list;
};

struct collopt_swing_exchange {         /* of a node in one step */
    int peer;                           /* node */
    struct collopt_swing_blocks give, take;
    struct collopt_swing_blocks left;   /* held, and neither given nor taken */
    struct collopt_swing_blocks gives_back, gets_back;  /* of what was taken, what was given */
};

struct collopt_swing_role {             /* of this rank: a node */
    int node, partition;
    struct collopt_swing_exchange exchange[COLLOPT_SWING_STEPS];
    struct collopt_block *room;         /* for all lists */
};

/* W's tables, where they are needed, and all of ROLE but NODE and PARTITION, which are given.
 * False: out of memory, and the schedule knows; all are to be forgotten anyway. */
bool collopt_swing_tables(struct collopt_schedule *s, struct collopt_swing *w);
bool collopt_swing_plan(struct collopt_schedule *s, const struct collopt_swing *w,
                        struct collopt_swing_role *role);
void collopt_swing_forget(struct collopt_swing *w);

#endif
