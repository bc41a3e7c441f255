/* The inside of a schedule, shared by the files that make one. */
#ifndef COLLOPT_SCHEDULE_PARTS_H
#define COLLOPT_SCHEDULE_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "schedule/block.h"
#include "schedule/bound.h"
#include "schedule/problem.h"
#include "schedule/scope.h"

struct collopt_algorithm;

enum partition_kind {
    PARTITION_WHOLE,
    PARTITION_BLOCK,            /* PARTS even parts of block BASE */
    PARTITION_COUNTS,           /* one part per rank, lengths from the caller's counts */
    PARTITION_EACH,             /* every part of BASE.partition in PARTS_EACH even parts */
    PARTITION_LISTED            /* every part is a list of blocks of other partitions; never in a
                                 * finished schedule */
};

struct partition {
    enum partition_kind kind;
    int parts, parts_each;
    struct collopt_block base;
    int listed;                 /* LISTED: part i is s->lists.block[s->lists.start[LISTED + i]] up
                                 * to where part i + 1 begins */
};

enum place_kind { PLACE_VECTOR, PLACE_PACKED, PLACE_NONE };

struct place {
    enum place_kind kind;
    struct collopt_block cover; /* vector: the block whose start lies at offset 0 */
};

/* One block in one place; the blocks of an action's regions lie in one pool. */
struct piece {
    int place;
    struct collopt_block block;
};

struct span {                   /* pieces FIRST .. FIRST+N-1 of the pool */
    int first, n;
};

struct follow {                 /* STRAND begins ROUND when the strand AHEAD has done its rounds up
                                 * to DONE */
    int strand, round, ahead, done;
};

enum action_kind { ACTION_SEND, ACTION_RECEIVE, ACTION_FOLD, ACTION_COPY, ACTION_PREFIXES };

enum { ACTION_REGIONS = 1 + COLLOPT_FOLD_OPERANDS };

struct action {
    enum action_kind kind;
    int round, strand, peer;
    int regions;                /* SEND, RECEIVE: 1; COPY: to, from; FOLD: to, then from left to
                                 * right; PREFIXES: the same without */
    int region;                 /* index of the first one in s->region */
    bool in_round;              /* messages: posted and waited for in their round */
    int members, member;        /* of its multicast, from s->member[member] on; 0: of none */
    bool repeats;               /* a send that is not the first one of its multicast */
};

/* An action as compile.c writes it: in the words of bound steps, still without offsets. */
struct instruction {
    enum collopt_step_kind kind;
    int action;                 /* POST_*, WAIT, RECEIVE: the message; FOLD, COPY: itself */
    int strand, instruction;    /* AWAIT */
};

struct program {
    struct instruction *list;
    size_t n;
};

struct collopt_schedule {
    const struct collopt_algorithm *algorithm;
    enum collopt_collective collective;
    int ranks, rank;
    unsigned how;
    bool failed;                /* memory ran out; everything after is a no-op */
    bool either_order;          /* left and right operands may be exchanged: no other rank has to
                                 * come to the same bits */

    struct partition *partition;
    size_t partitions;
    struct place *place;
    size_t places;
    struct piece *piece;
    size_t pieces;
    struct span *region;
    size_t regions;
    struct action *action;
    size_t actions;
    struct {                    /* the blocks of partitions of the kind LISTED */
        struct collopt_block *block;
        size_t n;
        int *start;             /* where their parts begin */
        size_t starts;
    } lists;
    struct follow *follow;      /* in the order in which they were written */
    size_t follows;

    int round, strands;
    int *member;                /* of all multicasts */
    size_t members;
    struct {                    /* the one that is being written */
        int members;            /* 0: there is none */
        bool sends;             /* it has sent something */
    } multicast;
    const struct scope *scope;  /* the phase that is being written; NULL: none */
    struct frame at;
    struct program *program;    /* [strands] */
};

static inline const struct span *collopt_region_of(const struct collopt_schedule *s,
                                                   const struct action *a, int i)
{
    return &s->region[a->region + i];
}

/* Does A give a region a new value that has nothing to do with its old one? It may be an operand
 * too, as another region. */
static inline bool collopt_fills(const struct action *a, int region)
{
    return region == 0 && a->kind != ACTION_SEND && a->kind != ACTION_PREFIXES;
}

static inline bool collopt_writes(const struct action *a, int region)
{
    return collopt_fills(a, region) || (a->kind == ACTION_PREFIXES && region > 0);
}

static inline bool collopt_blocks_equal(struct collopt_block a, struct collopt_block b)
{
    return a.partition == b.partition && a.first == b.first && a.parts == b.parts;
}

#endif
