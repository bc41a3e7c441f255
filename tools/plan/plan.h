/* A plan: what all ranks of a collective do, round by round, with the meaning of what they send.
 *
 * The programs of all ranks are replayed where a message takes one round and all else nothing.
 * Every stretch of memory carries with it which part of the vector it is and the operands of which
 * ranks are summed up in it, so a message is told by what is in it and not by where it lay.
 *
 * plan.c replays; text.c, svg.c, html.c and json.c write. */
#ifndef COLLOPT_TOOLS_PLAN_PLAN_H
#define COLLOPT_TOOLS_PLAN_PLAN_H

#include <stdio.h>

#include "catalogue/choice.h"
#include "shared/replay.h"
#include "schedule/bound.h"
#include "schedule/problem.h"
#include "topology/topology.h"

/* N elements of the vector from AT on, summed up over the ranks of SET. */
struct plan_piece {
    size_t at, n;
    int set;
};

struct plan_pieces {
    struct plan_piece *list;
    size_t n, room;
};

struct plan_transfer {
    int round, from, to;        /* rounds count from 1 */
    size_t n;                   /* elements */
    struct plan_pieces what;
};

/* One fold, or one copy (of one operand), at the end of a round; 0: before the first. */
struct plan_work {
    int round, rank, operands, order;
    struct plan_pieces what;                            /* the result */
    /* [operands] each in as many pieces as the result */
    struct plan_pieces *operand;
};

struct plan_totals {            /* of the rank that has most of it, but for MESSAGES; in elements */
    int rounds;
    size_t messages, moved, combined, scratch, copied;
    double seconds;             /* until the last rank is done */
};

struct plan {
    struct collopt_problem problem;
    struct collopt_choice choice;
    struct collopt_topology topology;
    unsigned how;               /* COLLOPT_IN_PLACE */
    struct collopt_clock machine;     /* the costs, per byte, with which SECONDS are predicted */
    struct collopt_bound **program;     /* [ranks] */
    struct plan_transfer *transfer;     /* by rounds and senders */
    size_t transfers, transfer_room;
    struct plan_work *work;             /* by rounds and ranks */
    size_t works, work_room;
    struct plan_pieces *result;         /* [ranks] nothing where there is none */
    /* The vector in blocks: every transfer and result is of whole ones.  Block i is start[i] ..
     * start[i+1] - 1. */
    size_t *start;
    size_t blocks;
    struct plan_totals totals;
    struct plan_sets *sets;
};

/* PROBLEM (with what it points to), CHOICE, TOPOLOGY, HOW and MACHINE must be set.  False, after a
 * message on stderr, if there is no plan. */
bool plan_make(struct plan *plan);
void plan_free(struct plan *plan);

bool plan_has(const struct plan *plan, int set, int rank);
int plan_size(const struct plan *plan, int set);
/* "0-3,7"; cut short with "..." where it does not fit. */
void plan_set_text(const struct plan *plan, int set, char *text, size_t size);
/* Which blocks a piece has: FIRST .. FIRST+n-1; returns n. */
size_t plan_blocks(const struct plan *plan, const struct plan_piece *piece, size_t *first);
/* "Allreduce by ring:segment=64K, 8 ranks, 1000 elements of 8 bytes". */
void plan_title(const struct plan *plan, char *text, size_t size);
/* "12.5 us". */
void plan_seconds_text(double seconds, char *text, size_t size);

#endif
