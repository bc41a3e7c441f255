/* The vocabulary of algorithms: the calls of write.h under short names, and shared
 * arithmetic. */
#ifndef COLLOPT_ALGORITHMS_ALGORITHM_H
#define COLLOPT_ALGORITHMS_ALGORITHM_H

#include "base/numbers.h"
#include "base/skips.h"
#include "catalogue/catalogue.h"
#include "model/grid.h"
#include "model/model.h"
#include "model/traffic.h"
#include "schedule/block.h"
#include "schedule/descriptor.h"
#include "schedule/memory.h"
#include "schedule/phase.h"
#include "schedule/problem.h"
#include "schedule/write.h"
#include "topology/topology.h"

static inline struct collopt_block block(int partition, int first, int parts)
{
    return (struct collopt_block){ partition, first, parts };
}

static inline struct collopt_block whole(void)
{
    return block(COLLOPT_WHOLE, 0, 1);
}

static inline struct collopt_region at(int place, struct collopt_block b)
{
    return (struct collopt_region){ .place = place, .blocks = 1, .block = b };
}

static inline struct collopt_region at_list(int place, int blocks, const struct collopt_block *list)
{
    return (struct collopt_region){ .place = place, .blocks = blocks, .list = list };
}

static inline struct collopt_region in(struct collopt_block b)
{
    return at(COLLOPT_IN, b);
}

static inline struct collopt_region out(struct collopt_block b)
{
    return at(COLLOPT_OUT, b);
}

/* TO = MINE and THEIRS combined, the lower ranks on the left. */
static inline void merge(struct collopt_schedule *s, struct collopt_region to,
                         struct collopt_region mine, struct collopt_region theirs,
                         bool theirs_is_lower)
{
    if (theirs_is_lower)
        collopt_combine(s, to, theirs, mine);
    else
        collopt_combine(s, to, mine, theirs);
}

/* Rotating packed slots: one is filled while the one before is still read. */
struct turns {
    int slots, used, slot[64];
};

static inline int turn(struct collopt_schedule *s, struct turns *t)
{
    int i = t->used++ % t->slots;

    if (t->used <= t->slots)
        t->slot[i] = collopt_packed_slot(s);
    return t->slot[i];
}

/* ---- one statement for several collectives --------------------------------------------------- */

/* Descriptors that differ only in their collective: collopt_reduce_scatter_ring and
 * collopt_reduce_scatter_block_ring. */
#define COLLOPT_FOR_BOTH(one_, one_name_, other_, other_name_, ...) \
    const struct collopt_algorithm one_name_ = { .collective = one_, __VA_ARGS__ }; \
    const struct collopt_algorithm other_name_ = { .collective = other_, __VA_ARGS__ }
#define COLLOPT_SCATTER_AND_BLOCK(name_, ...) \
    COLLOPT_FOR_BOTH(COLLOPT_REDUCE_SCATTER, collopt_reduce_scatter_##name_, \
                     COLLOPT_REDUCE_SCATTER_BLOCK, collopt_reduce_scatter_block_##name_, \
                     __VA_ARGS__)
#define COLLOPT_SCAN_AND_EXSCAN(name_, ...) \
    COLLOPT_FOR_BOTH(COLLOPT_SCAN, collopt_scan_##name_, COLLOPT_EXSCAN, collopt_exscan_##name_, \
                     __VA_ARGS__)

#define COLLOPT_REDUCE_AND_ALLREDUCE(name_, ...) \
    COLLOPT_FOR_BOTH(COLLOPT_REDUCE, collopt_reduce_##name_, \
                     COLLOPT_ALLREDUCE, collopt_allreduce_##name_, __VA_ARGS__)
#define COLLOPT_ALLREDUCE_AND_SCATTER(name_, ...) \
    const struct collopt_algorithm collopt_allreduce_##name_ = { \
        .collective = COLLOPT_ALLREDUCE, __VA_ARGS__ }; \
    COLLOPT_SCATTER_AND_BLOCK(name_, __VA_ARGS__)
#define COLLOPT_ALL_REDUCTIONS(name_, ...) \
    const struct collopt_algorithm collopt_reduce_##name_ = { \
        .collective = COLLOPT_REDUCE, __VA_ARGS__ }; \
    COLLOPT_ALLREDUCE_AND_SCATTER(name_, __VA_ARGS__)

/* ---- row.c: folds many operands into one buffer, from left to right, several in one pass ---- */

struct collopt_row {
    struct collopt_region to, operand[COLLOPT_FOLD_OPERANDS];
    int operands;
};

void collopt_row_add(struct collopt_schedule *s, struct collopt_row *row,
                     struct collopt_region operand);
/* Combines the operands added so far in TO, which frees their buffers; a single one stays where it
 * is. */
void collopt_row_flush(struct collopt_schedule *s, struct collopt_row *row);

/* ---- postal.c: the postal model -------------------------------------------------------------- */

/* A rank receives one message per time slot, LAMBDA slots after it was sent.
 * COLLOPT_POSTAL_SLOTS suffice for INT_MAX ranks with the largest LAMBDA. */
enum { COLLOPT_MOST_LAMBDA = 16, COLLOPT_POSTAL_SLOTS = 256 };

/* reach[t]: the number of ranks whose contributions can be combined by slot T, for T from 0 to
 * the first that reaches RANKS, which is returned. */
int collopt_postal_reach(int ranks, int lambda, int64_t reach[COLLOPT_POSTAL_SLOTS]);

/* ---- swing_table.c: partners at distances 1, -1, 3, -5 ... on a ring ------------------------ */

/* 1, -1, 3, -5, 11 ...: the distance from an even node to its partner in STEP; from an odd node,
 * in the other direction. */
int collopt_swing_distance(int step);
/* The number of blocks that a node holds before STEP of the ceil(log2 nodes) steps: ceil(nodes /
 * 2^step). NODES is even. */
int collopt_swing_held(int nodes, int step);
/* step[c]: the step in which a node sends the block at distance C (block - node for even nodes,
 * node - block for odd ones, mod NODES); its own block, C = 0, after the last. STEP has room for
 * NODES, WORK for 2 NODES. */
void collopt_swing_table(int nodes, unsigned char *step, int *work);
/* For NODES a power of two: a numbering of blocks in which the blocks held form one window,
 * halved in each step. A node keeps the half with its own block. */
int collopt_swing_position(int nodes, int node);

/* ---- fold.c: folding p ranks to fewer, such as a power of two -------------------------------- */

struct collopt_fold_pairs {
    int index;                  /* among the remaining ranks; -1: this rank gave its vector to rank
                                 * + 1 */
    bool folded;                /* member of such a pair */
};

struct collopt_fold_pairs collopt_fold_pairs(int ranks, int goal, int rank);
/* The rank that has INDEX. */
int collopt_fold_rank(int ranks, int goal, int index);

/* ---- radices.c: factors of the number of ranks ---------------------------------------------- */

enum { COLLOPT_MOST_LEVELS = 32 };

struct collopt_levels {
    int levels, radix[COLLOPT_MOST_LEVELS];
    int ranks;                  /* their product */
};

/* Products of prime factors up to RADIX, the largest first; no levels if a prime is larger. */
struct collopt_levels collopt_factors(int ranks, int radix);
/* The levels that a parameter "radices" lists. */
struct collopt_levels collopt_listed_levels(size_t list);
/* The largest of their radices, at least 2. */
int collopt_widest_level(struct collopt_levels f);

/* Predicted seconds of A for P with LIST as its radices. */
typedef double collopt_levels_seconds(const struct collopt_algorithm *a,
                                      const struct collopt_problem *p, size_t list);
/* Radices along the sides of the machine's grid, starting with the last or the outermost side,
 * if that is faster than LEAST_TIME; else 0. */
size_t collopt_preset_radices(const struct collopt_algorithm *a, const struct collopt_problem *p,
                              bool outermost_first, double least_time,
                              collopt_levels_seconds *seconds);

/* ---- scan_multiplying.c: an Exscan by rounds of several messages, as part of other algorithms */

/* Vectors of BYTES between RANKS that are so far APART. */
void collopt_traffic_scan_multiplying(struct collopt_traffic *t, int ranks, int radix, int apart,
                                      double bytes);

/* ---- tree.c: in-order trees, and the pipelines through them ---------------------------------- */

/* One rank in a tree over consecutive ranks: everything below LEFT has lower ranks, below RIGHT
 * higher ones; -1: none. */
struct collopt_tree {
    int parent, left, right;
};

/* A balanced tree over ranks LO .. HI-1 whose root is ROOT. */
struct collopt_tree collopt_binary_tree(int lo, int hi, int root, int rank);
/* Rounds of a short message up such a tree, whose root has BELOW and ABOVE ranks under it. */
int collopt_binary_tree_rounds(int below, int above);
/* One of two trees over LO .. HI-1; every rank has two children in at most one of them. */
struct collopt_tree collopt_two_tree(int lo, int hi, bool second, int rank);

/* The edges of both trees are coloured so that the edges from a rank's two children differ in
 * colour, and so do the edges to its two parents. In a time slot only edges of the slot's colour
 * (its number modulo 2) carry a message, so no rank sends or receives two. A stream has one
 * segment in every second slot. */
struct collopt_two_tree_slots {
    int left, right;            /* first slot of the streams from the children, if any */
    int up;                     /* first slot of the stream to the parent, or to the rank on top */
    int end;                    /* last slot, up and down, with a single segment */
};

/* LAG: slots between a child's send and its parent's, an even number. With two, ranks wait for
 * segments under way; with four, segments have arrived earlier, and early messages seldom
 * collide with due ones. */
struct collopt_two_tree_slots collopt_two_tree_slots(int lo, int hi, bool second, int rank,
                                                     int lag);
/* The first slot downwards of the edge that is used from SLOT on upwards. */
int collopt_two_tree_down(const struct collopt_two_tree_slots *slots, int slot);
/* The length of the longest path to the ranks on top of both trees, which have everything after
 * LAG times as many slots, or one more. */
int collopt_two_tree_height(int ranks);
/* The segment due in slot T of a stream of SEGMENTS that starts in slot START; -1: none. */
int collopt_two_tree_due(int t, int start, int segments);

/* Scratch of a rank in a pipeline through a tree, for messages from its children. */
struct collopt_tree_turns {
    struct turns left, right;
};

/* Moves segment NUMBER towards the root: receives from the children, combines, sends up; at the
 * root the result is in OUT. To be called in segment order. */
void collopt_tree_up(struct collopt_schedule *s, struct collopt_tree t,
                     struct collopt_tree_turns *tmp, int number, struct collopt_block segment);
/* collopt_tree_up() in two steps: the receive from CHILD; then, after both children, combining and
 * sending up. */
void collopt_tree_take(struct collopt_schedule *s, int child, struct turns *tmp,
                       struct collopt_block segment);
void collopt_tree_give(struct collopt_schedule *s, struct collopt_tree t,
                       const struct collopt_tree_turns *tmp, int number,
                       struct collopt_block segment);
/* Back from the root, from OUT to OUT. */
void collopt_tree_down(struct collopt_schedule *s, struct collopt_tree t,
                       struct collopt_block segment);

/* The links of a rank in a tree over a grid: CHILD has those whose sums go before its own, then
 * those whose sums go behind. */
enum { COLLOPT_NEIGHBOURS = 2 * COLLOPT_SIDES };
struct collopt_links {
    int parent, children, before, child[COLLOPT_NEIGHBOURS];
};

/* Moves a segment towards the root, as collopt_tree_up(). */
void collopt_links_up(struct collopt_schedule *s, const struct collopt_links *l,
                      struct turns tmp[COLLOPT_NEIGHBOURS], struct collopt_block segment);

/* ---- preset.c: defaults of parameters --------------------------------- */

enum { COLLOPT_MOST_SEGMENTS = 256 };

/* The segment that minimizes (hops + S) (alpha + PER_BYTE * BYTES / S), in bytes, a power of
 * two. */
size_t collopt_preset_segment(const struct collopt_problem *p, double hops, double bytes);
/* Of whole vectors, along all ranks and up a tree. */
size_t collopt_preset_segment_chain(const struct collopt_problem *p);
size_t collopt_preset_segment_tree(const struct collopt_problem *p);
/* The value from LEAST to MOST for value[PARAMETER] of A that is fastest by the model; of
 * equals, the smallest. */
size_t collopt_preset_by_model(const struct collopt_algorithm *a, const struct collopt_problem *p,
                               int parameter, int least, int most);
/* The same of a radix: from 2 to the ranks, or to what one combining can take. */
size_t collopt_preset_radix(const struct collopt_algorithm *a, const struct collopt_problem *p,
                            int parameter);
/* The default of value[PARAMETER] of A, chunks: a power of two, the fastest by the model,
 * preferring fewer chunks on small differences; *SECONDS, unless NULL, is its time. 1 where all
 * levels share links (in a node, or on a grid, whose links the model does not distinguish), and
 * over TCP, where concurrent messages of a rank slow each other. */
size_t collopt_preset_chunks(const struct collopt_algorithm *a, const struct collopt_problem *p,
                             int parameter, double *seconds);
/* The default of value[PARAMETER] of A, lambda: near the slots that a message of BYTES takes,
 * the fastest by the model. */
size_t collopt_preset_lambda(const struct collopt_algorithm *a, const struct collopt_problem *p,
                             int parameter, double bytes);
/* The number of segments of value[0] bytes: the segments() of all algorithms whose first
 * parameter is segment. */
int collopt_segments(const struct collopt_problem *p);
/* The number of whole vectors of BYTES that a rank may hold for receives under way: default of
 * "window". */
size_t collopt_preset_window(double bytes);

#define COLLOPT_RADIX(preset_) \
    { .name = "radix", .least = 2, .most = COLLOPT_FOLD_OPERANDS, \
      .help = "ranks that become one on each level", \
      .preset = preset_ }
enum { COLLOPT_RADIX_BITS = 4 };
#define COLLOPT_RADICES(preset_) \
    { .name = "radices", .list_bits = COLLOPT_RADIX_BITS, .least = 2, \
      .most = COLLOPT_FOLD_OPERANDS, \
      .help = "ranks that become one, level by level", .preset = preset_ }
#define COLLOPT_SPLITS(preset_) \
    { .name = "splits", .least = 1, .most = COLLOPT_MOST_LEVELS, \
      .help = "levels on which vectors are split", .preset = preset_ }
/* bytes */
enum { COLLOPT_MOST_CHUNKS = 16, COLLOPT_CHUNKS_TRIED = 4, COLLOPT_CHUNKS_FROM = 64 << 10 };
#define COLLOPT_CHUNKS(preset_) \
    { .name = "chunks", .least = 1, .most = COLLOPT_MOST_CHUNKS, .preset = preset_, \
      .help = "parts of the vector that go through the levels one behind the other" }
#define COLLOPT_STRANDS(preset_) \
    { .name = "strands", .least = 1, .most = COLLOPT_SIDES, .preset = preset_, \
      .help = "parts of the vector that begin together, each on a level of its own" }
#define COLLOPT_LAMBDA(preset_) \
    { .name = "lambda", .least = 1, .most = COLLOPT_MOST_LAMBDA, \
      .help = "messages that a rank takes in while one is on its way", .preset = preset_ }
#define COLLOPT_SEGMENT(preset_) \
    { .name = "segment", .bytes = true, .least = 1, .most = (size_t)1 << 40, \
      .help = "bytes in one piece of the pipeline", \
      .preset = preset_ }
#define COLLOPT_INNER(name_, of_, preset_, help_) \
    { .name = name_, .algorithm = true, .of = of_, .help = help_, .preset = preset_ }
#define COLLOPT_WINDOW(preset_) \
    { .name = "window", .least = 1, .most = 64, .help = "receives under way at the same time", \
      .preset = preset_ }

#endif
