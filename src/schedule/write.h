/* Writing a schedule down: the calls that an algorithm's build() makes. */
#ifndef COLLOPT_SCHEDULE_WRITE_H
#define COLLOPT_SCHEDULE_WRITE_H


#include "schedule/block.h"

struct collopt_problem;
struct collopt_schedule;

/* Partitions. All return the partition's number. Parts differ by one element at most; the first
 * ones are longer. */
/* of the whole vector */
int collopt_partition(struct collopt_schedule *s, int parts);
/* Reduce_scatter: part r is what rank r is to get */
int collopt_partition_counts(struct collopt_schedule *s);
int collopt_partition_block(struct collopt_schedule *s, struct collopt_block whole, int parts);
/* part i becomes i*parts ... */
int collopt_partition_each(struct collopt_schedule *s, int partition, int parts);

/* Scratch. A vector slot holds COVER, each block at its offset in it; a packed slot holds one
 * region at a time. */
int collopt_vector_slot(struct collopt_schedule *s, struct collopt_block cover);
int collopt_packed_slot(struct collopt_schedule *s);
/* OUT where this rank has the whole vector as its result, else a vector slot over the whole vector
 * (one per schedule). */
int collopt_accumulator(struct collopt_schedule *s);

/* Rounds are notation: messages of one round are under way together. Strands are sequences of
 * actions that do not wait for one another except where one touches what the other does (two trees,
 * two directions of a ring). */
void collopt_round(struct collopt_schedule *s);
/* of the actions that follow; 0 at first */
void collopt_strand(struct collopt_schedule *s, int strand);
/* Later actions of the present strand begin when STRAND has done its actions of rounds up to ROUND,
 * so that STRAND is ahead. STRAND must not wait for the present one. */
void collopt_follow(struct collopt_schedule *s, int strand, int round);
int collopt_round_number(const struct collopt_schedule *s);             /* the present round */
/* From here on to the end of the phase rounds are kept: no receive is posted before its own, and no
 * message is under way when its rank begins the next. For schedules whose peers change every round:
 * what is early would share a port with what is due. */
void collopt_keep_rounds(struct collopt_schedule *s);

/* Begins a multicast: each of these MEMBERS, or some of them, sends one region to all others, who
 * read one copy on a node. All list the members in the same order; MEMBER NULL: ranks 0 to MEMBERS
 * - 1. This rank's sends and receives follow. A call with 0 members ends it. A sender that finds no
 * room waits for its slowest receiver, which may wait for others in turn. So there is always room:
 * a call sends at most COLLOPT_MULTICAST_PIECES messages (bound.h) in one strand to the same
 * members; the proof counts them. */
void collopt_multicast(struct collopt_schedule *s, int members, const int *member);

void collopt_send(struct collopt_schedule *s, int peer, struct collopt_region from);
void collopt_receive(struct collopt_schedule *s, int peer, struct collopt_region to);
void collopt_copy(struct collopt_schedule *s, struct collopt_region to, struct collopt_region from);
/* to = left op right; TO may be equal to either. All regions have the same blocks. LEFT holds the
 * lower ranks. */
void collopt_combine(struct collopt_schedule *s, struct collopt_region to,
                     struct collopt_region left, struct collopt_region right);
/* to = operand[0] op operand[1] op ... from left to right, 2 or more, in one pass where a kernel
 * can. */
void collopt_fold(struct collopt_schedule *s, struct collopt_region to, int operands,
                  const struct collopt_region *operand);
/* The same as one step, for any number of operands: for operations that want all operands at once.
 * TO may be any of them. */
void collopt_fold_once(struct collopt_schedule *s, struct collopt_region to, int operands,
                       const struct collopt_region *operand);
/* Every operand becomes the fold of all up to it, from left to right, as one step: operand[k] =
 * operand[0] op ... op operand[k]. They are different regions of scratch. */
void collopt_prefixes(struct collopt_schedule *s, int operands,
                      const struct collopt_region *operand);

/* Begins the empty schedule of P; collopt_schedule_new() does, before build(). */
void collopt_write_start(struct collopt_schedule *s, const struct collopt_problem *p);

#endif
