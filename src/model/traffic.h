/* How an algorithm describes its messages to the model: pattern, distance, number, length. */
#ifndef COLLOPT_MODEL_TRAFFIC_H
#define COLLOPT_MODEL_TRAFFIC_H

#include <stdbool.h>

#include "schedule/problem.h"

struct collopt_traffic;

/* Bytes of one rank's input vector. */
static inline double vector_bytes(const struct collopt_problem *p)
{
    return (double)p->count * (double)p->size;
}

enum collopt_pattern {
    COLLOPT_SHIFT,              /* every rank sends to the one DISTANCE above it (or below),
                                 * cyclically */
    COLLOPT_UPWARDS,            /* the same, not cyclically */
    COLLOPT_PAIRS,              /* ranks exchange with those at DISTANCE, in groups of 2 DISTANCE
                                 * neighbours */
    COLLOPT_SWING,              /* the same, half of them upwards and half downwards */
    COLLOPT_TREE,               /* one rank in 2 DISTANCE sends to the one at DISTANCE, or receives
                                 * from it */
    COLLOPT_ALONG,              /* from neighbour to neighbour, one after the other */
    COLLOPT_AROUND              /* the same, started by all ranks at once */
};

struct collopt_messages {
    enum collopt_pattern pattern;
    int distance;               /* in ranks */
    double bytes;               /* of one message */
    double combined;            /* bytes of result computed after it */
    int fan;                    /* messages that a rank has under way at once, to DISTANCE, 2
                                 * DISTANCE ...; 0: one */
    bool staggered;             /* FAN of a tree: from ever greater distances on one side, not from
                                 * both */
    bool farthest_first;        /* FAN on a line of a grid */
    bool multicast;             /* FAN of one content: written once on a node */
    int blocks;                 /* blocks in each rank's part, one per message; 0: messages carry
                                 * whole parts */
    bool inside;                /* inside a node, whatever the distance */
    int folded;                 /* pairs of the first ranks folded into one each; DISTANCE counts
                                 * the remaining ranks */
    bool astride;               /* pairs begin at odd multiples of the distance: a node of twice the
                                 * distance holds none */
    bool slotted;               /* of a pipeline in time slots: messages are under way while the
                                 * rank handles one */
    bool lockstep;              /* a shift in kept rounds: all ranks send over the same distance at
                                 * any time */
    double uneven;              /* additional port time relative to the bytes, where streams
                                 * collide; 0: none */
    int strands;                /* strands that do this at the same time, on separate links where
                                 * there are any; 0: one */
};

/* Segments under way from a rank to its neighbour in a chain. With two, the link idles during
 * the latency of one. */
enum { COLLOPT_CHAIN_SLOTS = 3 };

/* Adds TIMES such messages in sequence on the critical path. */
void collopt_messages(struct collopt_traffic *t, double times, struct collopt_messages m);
/* Adds TIMES more in a pipeline, in which the busiest rank receives IN and sends OUT for each. */
void collopt_pipeline(struct collopt_traffic *t, double times, int in, int out,
                      struct collopt_messages m);

/* Messages added between these calls belong to one of CHUNKS chunks of the vector. A chunk
 * starts when the one before has passed the first level. */
void collopt_chunks(struct collopt_traffic *t, int chunks);
void collopt_chunks_end(struct collopt_traffic *t);

/* The time that collopt_messages() would add for one message; and the time a rank is busy when
 * it receives IN and sends OUT of them while others are under way. For algorithms whose critical
 * path depends on both. */
double collopt_message_seconds(const struct collopt_traffic *t, struct collopt_messages m);
double collopt_slot_seconds(const struct collopt_traffic *t, int in, int out,
                            struct collopt_messages m);
/* Adds a time predicted elsewhere. */
void collopt_inner_seconds(struct collopt_traffic *t, double seconds);

/* Patterns shared by many algorithms. COMBINE: 1, or 0 on the way back. */

/* Pairs at distances 1, 2, 4 ... of RANKS exchange vectors of BYTES; the same with halves of
 * what each holds. */
void collopt_traffic_doubling(struct collopt_traffic *t, int ranks, double bytes);
void collopt_traffic_halving(struct collopt_traffic *t, int ranks, double bytes, int combine);
/* Shares of BYTES between ranks at the skips of a circulant graph. */
void collopt_traffic_circulant(struct collopt_traffic *t, int ranks, double bytes, int combine);
/* The number of STRANDS that get any elements of each rank's part. */
int collopt_traffic_strands(const struct collopt_problem *p, int strands);
/* Up a tree of RADIX, or down; shares of BYTES gathered in a binomial tree. */
void collopt_traffic_tree(struct collopt_traffic *t, int ranks, int radix, double bytes,
                          int combine);
void collopt_traffic_gather(struct collopt_traffic *t, int ranks, double bytes);
/* Every rank sends a part to every other, at growing distances; COMBINED bytes of result follow. */
void collopt_traffic_exchange(struct collopt_traffic *t, const struct collopt_problem *p,
                              double combined);
/* The extra cost of MESSAGES messages of BYTES that consist of BLOCKS blocks: hosts pack them,
 * and each block is combined separately. */
void collopt_traffic_scattered(struct collopt_traffic *t, const struct collopt_problem *p,
                               int messages, double blocks, double bytes);
/* One segment of BYTES on each level of a binary tree, PASSES times: two messages per level, one
 * at the leaves. */
void collopt_traffic_fill(struct collopt_traffic *t, int ranks, double passes, double bytes);
/* The same for ROUNDS rounds in all. */
void collopt_traffic_fill_rounds(struct collopt_traffic *t, int ranks, double rounds, double bytes);

#endif
