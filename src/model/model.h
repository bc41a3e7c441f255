/* Predicts the time of an algorithm on a machine from its communication pattern.
 *
 * An algorithm's traffic() states number, length and distance (in ranks) of its messages. Nodes
 * and grid determine how far they travel in the machine and what shares their links. The time
 * runs from the moment all ranks start until the last one has its result. No MPI here.
 *
 * Patterns are stated, not counted. To count what build() writes takes 0.8 ms for one rank of 1024
 * and all candidates of an Allreduce. But critical paths need all ranks: 0.6 ms on 16 ranks, 850 on
 * 1024; and the replay, which knows what waits for what, takes 18 ms on 16. Stated patterns take
 * 0.01 to 0.03 ms and choose as well: test_model compares them with the replay. */
#ifndef COLLOPT_MODEL_MODEL_H
#define COLLOPT_MODEL_MODEL_H

#include "model/machine.h"

#include <stdbool.h>

struct collopt_algorithm;
struct collopt_problem;
struct collopt_traffic;

/* Predicted seconds of A for P, whose parameters are set. */
double collopt_model(const struct collopt_algorithm *a, const struct collopt_problem *p);
/* The machine of P, or a generic one. */
const struct collopt_machine *collopt_machine_of(const struct collopt_problem *p);

/* The cost of messages of P's topology: inside its groups and between them, be they nodes or the
 * caches of one. */
enum collopt_level { COLLOPT_INSIDE, COLLOPT_BETWEEN };
const struct collopt_way *collopt_way(const struct collopt_problem *p, enum collopt_level level);

/* True if messages between nodes use TCP or a network as slow. */
bool collopt_over_tcp(const struct collopt_problem *p);

/* ---- how an algorithm describes its messages: pattern, distance, number, length -------------- */

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
    bool multicast;             /* FAN that sends all the same data: written once on a node */
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

#endif
