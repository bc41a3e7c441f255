/* What an algorithm's file is written with: the calls of schedule.h under short names, and the arithmetic that many share. */
#ifndef COLLOPT_ALGORITHM_H
#define COLLOPT_ALGORITHM_H

#include "schedule.h"

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

/* The largest power of two not above N, and its exponent; ceil(log2(n)). */
static inline int log2_floor(int n)
{
    int e = 0;

    while (n >> (e + 1))
        e++;
    return e;
}

static inline int log2_ceil(int n)
{
    return n <= 1 ? 0 : log2_floor(n - 1) + 1;
}

/* A mod N in 0 .. N-1, also for negative A. */
static inline int modulo(int a, int n)
{
    return (a % n + n) % n;
}

static inline int least(int a, int b)
{
    return a < b ? a : b;
}

static inline int most(int a, int b)
{
    return a > b ? a : b;
}

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Bytes of one rank's input vector. */
static inline double vector_bytes(const struct collopt_problem *p)
{
    return (double)p->count * (double)p->size;
}

/* TO = MINE and THEIRS combined, the lower ranks on the left. */
static inline void merge(struct collopt_schedule *s, struct collopt_region to, struct collopt_region mine,
                         struct collopt_region theirs, bool theirs_is_lower)
{
    if (theirs_is_lower)
        collopt_combine(s, to, theirs, mine);
    else
        collopt_combine(s, to, mine, theirs);
}

/* Packed slots that take turns, so that one is filled while the one before is still read. */
struct turns {
    int slots, used, slot[64];
};

/* Segments that may be under way to a rank from its neighbour in a chain: with two, their link rests while one is on
 * its last way. */
enum { COLLOPT_CHAIN_SLOTS = 3 };

static inline int turn(struct collopt_schedule *s, struct turns *t)
{
    int i = t->used++ % t->slots;

    if (t->used <= t->slots)
        t->slot[i] = collopt_packed_slot(s);
    return t->slot[i];
}

/* ---- one statement for two collectives ---------------------------------------------------------------------------------- */

/* Descriptors that differ in their collective alone: collopt_reduce_scatter_ring and collopt_reduce_scatter_block_ring. */
#define COLLOPT_FOR_BOTH(one_, one_name_, other_, other_name_, ...) \
    const struct collopt_algorithm one_name_ = { .collective = one_, __VA_ARGS__ }; \
    const struct collopt_algorithm other_name_ = { .collective = other_, __VA_ARGS__ }
#define COLLOPT_SCATTER_AND_BLOCK(name_, ...) \
    COLLOPT_FOR_BOTH(COLLOPT_REDUCE_SCATTER, collopt_reduce_scatter_##name_, \
                     COLLOPT_REDUCE_SCATTER_BLOCK, collopt_reduce_scatter_block_##name_, __VA_ARGS__)
#define COLLOPT_SCAN_AND_EXSCAN(name_, ...) \
    COLLOPT_FOR_BOTH(COLLOPT_SCAN, collopt_scan_##name_, COLLOPT_EXSCAN, collopt_exscan_##name_, __VA_ARGS__)

/* ---- row.c: many operands onto one place, from left to right, several in one pass ---------------------------- */

struct collopt_row {
    struct collopt_region to, operand[COLLOPT_FOLD_OPERANDS];
    int operands;
};

void collopt_row_add(struct collopt_schedule *s, struct collopt_row *row, struct collopt_region operand);
/* Combines what was added so far, so that the operands' places are free again (not the first, if it is the only one). */
void collopt_row_flush(struct collopt_schedule *s, struct collopt_row *row);
/* Afterwards the result is in its place. */
void collopt_row_finish(struct collopt_schedule *s, struct collopt_row *row);

/* ---- workspace.c: memory while a schedule is being built ----------------------------------------------------- */

/* At least BYTES bytes, to be freed by the caller; NULL: out of memory, and the schedule knows. */
void *collopt_workspace(struct collopt_schedule *s, size_t bytes);

/* ---- skips.c: circulant graphs ------------------------------------------------------------------------------ */

enum { COLLOPT_SKIPS = 33 };

/* skip[0] = 1, ... skip[q] = ranks, each half of the next rounded up; returns q = ceil(log2(ranks)). */
int collopt_skips(int ranks, int skip[COLLOPT_SKIPS]);

/* ---- postal.c: the postal model ------------------------------------------------------------------------------------------ */

/* A rank takes in one message in each slot of time, and a message comes LAMBDA slots after it is sent.  With the largest LAMBDA
 * as many ranks as an int can count come together in fewer than so many slots. */
enum { COLLOPT_MOST_LAMBDA = 16, COLLOPT_POSTAL_SLOTS = 256 };

/* reach[t]: ranks whose contributions can have come together by slot T, for T from 0 to the first that reaches RANKS, which is
 * returned. */
int collopt_postal_reach(int ranks, int lambda, int64_t reach[COLLOPT_POSTAL_SLOTS]);

/* ---- swing_table.c: rings on which distances grow by -2 and one ------------------------------------------------- */

/* 1, -1, 3, -5, 11 ...: how far from an even node its partner of STEP is; from an odd one as far the other way. */
int collopt_swing_distance(int step);
/* Blocks that a node still holds before STEP of the ceil(log2 nodes): ceil(nodes / 2^step).  NODES is even. */
int collopt_swing_held(int nodes, int step);
/* In which step a node hands on the block that is at C from it (block - node for even nodes, node - block for odd ones, mod
 * NODES); its own, C = 0, after the last.  STEP has room for NODES, WORK for twice as many. */
void collopt_swing_table(int nodes, unsigned char *step, int *work);
/* NODES a power of two: places for the blocks by which all that is held is one window, halved in each step.  A node keeps the
 * half that has its own block. */
int collopt_swing_position(int nodes, int node);

/* ---- grid.c: ranks along several dimensions ------------------------------------------------------------------------ */

struct collopt_grid {
    int sides, side[COLLOPT_SIDES], stride[COLLOPT_SIDES];      /* STRIDE: from one rank to the next along it */
};

/* VALUE of a parameter "dims"; false where there is none. */
bool collopt_grid(struct collopt_grid *g, size_t value);
/* The same without its dimensions of one rank; no sides where there is none. */
struct collopt_grid collopt_grid_proper(size_t value);
/* The square root of RANKS, rounded up: what presets go by, before the dims are known. */
int collopt_square_side(int ranks);
/* Do the dims of value[PARAMETER] make up the ranks?  With it goes COLLOPT_GRID_UNFIT. */
bool collopt_grid_fits(const struct collopt_problem *p, int parameter);
#define COLLOPT_GRID_UNFIT "its dims do not multiply to the number of ranks"
/* RANK's coordinate; the rank whose coordinate is TO and which is like RANK otherwise. */
int collopt_grid_at(const struct collopt_grid *g, int rank, int dimension);
int collopt_grid_moved(const struct collopt_grid *g, int rank, int dimension, int to);
/* Do groups of N ranks, WIDTH apart, lie on lines of the machine's grid?  RING: and their ends are neighbours. */
bool collopt_on_lines(const struct collopt_topology *t, int width, int n, bool *ring);
/* In which order the one at place OWN of such a group sends to the others: those behind it and around, or, on lines, the farthest
 * first. */
void collopt_farthest_first(const struct collopt_topology *t, int width, int n, int own, int others[]);
/* The grid that the ranks form, if one is known and all its sides are multiples of EACH.  Else two sides as nearly equal as can
 * be, the longer first, both multiples of EACH; one side where there are no two; 0: none. */
size_t collopt_preset_dims(const struct collopt_problem *p, int each);

#define COLLOPT_DIMS(preset_) \
    { .name = "dims", .list_bits = COLLOPT_SIDE_BITS, .least = 1, .most = (1 << COLLOPT_SIDE_BITS) - 1, \
      .help = "ranks along each dimension, the last one consecutive", .preset = preset_ }

/* ---- fold.c: folding p ranks to fewer, such as a power of two -------------------------------------------------------------- */

struct collopt_fold_pairs {
    int index;                  /* among the ranks that go on; -1: this one gave its vector to rank + 1 */
    bool folded;                /* one of such a pair */
};

struct collopt_fold_pairs collopt_fold_pairs(int ranks, int goal, int rank);
/* The rank that has INDEX. */
int collopt_fold_rank(int ranks, int goal, int index);

/* ---- radices.c: what the number of ranks is a product of ------------------------------------------------------------------- */

enum { COLLOPT_MOST_LEVELS = 32 };

struct collopt_levels {
    int levels, radix[COLLOPT_MOST_LEVELS];
    int ranks;                  /* their product */
};

/* Prime factors multiplied up to RADIX, the largest first; no levels if there is a larger prime. */
struct collopt_levels collopt_factors(int ranks, int radix);
/* Those that a parameter "radices" lists. */
struct collopt_levels collopt_listed_levels(size_t list);
/* The largest of their radices, at least 2. */
int collopt_widest_level(struct collopt_levels f);

/* What P takes by A with LIST as its radices. */
typedef double collopt_levels_seconds(const struct collopt_algorithm *a, const struct collopt_problem *p, size_t list);
/* Radices that go along the sides of the machine's grid one after the other, the last side first or the outermost, if that is
 * faster than LEAST_TIME; 0: it isn't. */
size_t collopt_preset_radices(const struct collopt_algorithm *a, const struct collopt_problem *p, bool outermost_first,
                              double least_time, collopt_levels_seconds *seconds);

/* ---- scan_multiplying.c: an Exscan by rounds of several messages, inside others ------------------------------------------ */

/* Vectors of BYTES between RANKS that are so far APART. */
void collopt_traffic_scan_multiplying(struct collopt_traffic *t, int ranks, int radix, int apart, double bytes);

/* ---- tree.c: in-order trees, and the pipelines through them -------------------------------------------------- */

/* One rank in a tree over consecutive ranks: everything below LEFT has lower ranks, below RIGHT higher ones; -1: none. */
struct collopt_tree {
    int parent, left, right;
};

/* A balanced tree over ranks LO .. HI-1 whose root is ROOT. */
struct collopt_tree collopt_binary_tree(int lo, int hi, int root, int rank);
/* Rounds until something small has come up such a tree, whose root has BELOW and ABOVE under it, and down again.  Subtrees of
 * an even number of ranks have one child with one more; LARGER_FIRST: what goes down goes to that one first. */
struct collopt_tree_rounds {
    int up, down;
};
struct collopt_tree_rounds collopt_binary_tree_rounds(int below, int above, bool larger_first);
/* One of two trees over LO .. HI-1 in which every rank has children in one tree at most (where there are two of them). */
struct collopt_tree collopt_two_tree(int lo, int hi, bool second, int rank);

/* Edges of both trees are coloured so that what a rank's two children send it differs in colour, and what it sends to its two
 * parents.  So in a slot of time where only edges of the slot's colour, its number modulo 2, carry a message, no rank sends or
 * receives two.  A stream of segments has one in every second slot from the first one on. */
struct collopt_two_tree_slots {
    int left, right;            /* what comes from the children, if they are there, begins */
    int up;                     /* what goes to the parent, or to somebody on top */
    int end;                    /* all up and back down, were there one segment only */
};

/* LAG: slots from a child's sending to its parent's, an even number.  With two, ranks wait for segments that are on their way;
 * with four these have been there for a while, and what is early seldom meets what is due. */
struct collopt_two_tree_slots collopt_two_tree_slots(int lo, int hi, bool second, int rank, int lag);
/* The slot in which the way back down begins on the edge that is used from SLOT on, on the way up. */
int collopt_two_tree_down(const struct collopt_two_tree_slots *slots, int slot);
/* Steps of the longest way to the ranks on top of both trees; after LAG times as many slots, or one more, they have all. */
int collopt_two_tree_height(int ranks);
/* Which of so many SEGMENTS of a stream that begins in slot START is due in slot T; -1: none. */
int collopt_two_tree_due(int t, int start, int segments);

/* Scratch of a rank in a pipeline through a tree: what comes from its children. */
struct collopt_tree_turns {
    struct turns left, right;
};

/* Segment NUMBER on its way to the root: receives from the children, combines, sends up; at the root it ends in OUT.  They
 * come in their order. */
void collopt_tree_up(struct collopt_schedule *s, struct collopt_tree t, struct collopt_tree_turns *tmp, int number,
                     struct collopt_block segment);
/* The same in two steps: the receive from one child, and what follows when both have come. */
void collopt_tree_take(struct collopt_schedule *s, int child, struct turns *tmp, struct collopt_block segment);
void collopt_tree_give(struct collopt_schedule *s, struct collopt_tree t, const struct collopt_tree_turns *tmp, int number,
                       struct collopt_block segment);
/* And back out from the root, from OUT to OUT. */
void collopt_tree_down(struct collopt_schedule *s, struct collopt_tree t, struct collopt_block segment);

/* ---- select/model.c: messages as the model sees them ------------------------------------------------------------------ */

enum collopt_pattern {
    COLLOPT_SHIFT,              /* every rank sends to the one DISTANCE above it (or below), around the ends */
    COLLOPT_UPWARDS,            /* the same but around the ends */
    COLLOPT_PAIRS,              /* ranks exchange with those at DISTANCE, in groups of 2 DISTANCE neighbours */
    COLLOPT_SWING,              /* the same, one half of them upwards and the other downwards */
    COLLOPT_TREE,               /* one rank in 2 DISTANCE sends to one at DISTANCE, or gets from it */
    COLLOPT_ALONG,              /* from neighbour to neighbour: what one has got the next gets after it */
    COLLOPT_AROUND              /* the same, begun by all ranks at once */
};

struct collopt_messages {
    enum collopt_pattern pattern;
    int distance;               /* in ranks */
    double bytes;               /* of one message */
    double combined;            /* bytes of results that follow from it */
    int fan;                    /* messages that a rank has under way at once, to DISTANCE, 2 DISTANCE ...; 0: one */
    bool staggered;             /* FAN of a tree: really from ever farther, not from both sides */
    bool farthest_first;        /* FAN on a line of a grid */
    int blocks;                 /* that each rank's part is cut into, one of which a message has; 0: messages have whole parts */
    bool inside;                /* in a node, whatever the distance */
    int folded;                 /* so many pairs of the first ranks have become one each: DISTANCE is among those that go on */
    bool astride;               /* pairs begin at odd multiples of the distance: a node of twice the distance holds none */
    bool slotted;               /* of a pipeline, in slots of time: messages are on their way while the rank is busy with one */
    bool lockstep;              /* a shift in rounds that are kept, one after another: all ranks send as far at any time */
    double uneven;              /* how much longer a port is busy than its bytes say, as streams meet there; 0: no longer */
    int strands;                /* that do this at the same time, on links of their own where there are some; 0: one */
};

/* So many of them, one behind the other on the critical path. */
void collopt_messages(struct collopt_traffic *t, double times, struct collopt_messages m);
/* TIMES more of them in a pipeline, in which the busiest rank receives IN and sends OUT for each. */
void collopt_pipeline(struct collopt_traffic *t, double times, int in, int out, struct collopt_messages m);

/* What is told by collopt_messages() between the two is of one of so many CHUNKS of the vector, which go through it one behind
 * the other, each as soon as the one before is through the first level. */
void collopt_chunks(struct collopt_traffic *t, int chunks);
void collopt_chunks_end(struct collopt_traffic *t);

/* What collopt_messages() would add for one of them; and how long a rank is busy that receives IN and sends OUT of them while
 * others are under way.  For algorithms whose critical path depends on both. */
double collopt_message_seconds(const struct collopt_traffic *t, struct collopt_messages m);
double collopt_slot_seconds(const struct collopt_traffic *t, int in, int out, struct collopt_messages m);
/* Adds a time that was predicted by itself. */
void collopt_inner_seconds(struct collopt_traffic *t, double seconds);

/* traffic.c: what many have in common.  COMBINE: 1 or, of a way back, 0. */

/* Whole vectors of BYTES between pairs at 1, 2, 4 ... of RANKS; halves of what there is, likewise. */
void collopt_traffic_doubling(struct collopt_traffic *t, int ranks, double bytes);
void collopt_traffic_halving(struct collopt_traffic *t, int ranks, double bytes, int combine);
/* Shares of BYTES between ranks that are the skips of a circulant graph apart. */
void collopt_traffic_circulant(struct collopt_traffic *t, int ranks, double bytes, int combine);
/* How many of so many STRANDS, which share every rank's part of the vector, have anything in it. */
int collopt_traffic_strands(const struct collopt_problem *p, int strands);
/* Up a tree of RADIX, or down; shares of BYTES gathered in a binomial tree. */
void collopt_traffic_tree(struct collopt_traffic *t, int ranks, int radix, double bytes, int combine);
void collopt_traffic_gather(struct collopt_traffic *t, int ranks, double bytes);
/* Part by part from every rank to every other, ever further away; COMBINED follows. */
void collopt_traffic_exchange(struct collopt_traffic *t, const struct collopt_problem *p, double combined);
/* What it takes a rank more that each of so many MESSAGES of BYTES lies in so many BLOCKS: hosts pack these, and each is combined
 * by itself. */
void collopt_traffic_scattered(struct collopt_traffic *t, const struct collopt_problem *p, int messages, double blocks,
                               double bytes);
/* One segment of BYTES on each level of a binary tree, PASSES times: two messages, one where there are leaves. */
void collopt_traffic_fill(struct collopt_traffic *t, int ranks, double passes, double bytes);
/* The same, so many ROUNDS in all. */
void collopt_traffic_fill_rounds(struct collopt_traffic *t, int ranks, double rounds, double bytes);

/* ---- preset.c: defaults of parameters, and the machine they are computed for --------------------------------- */

enum { COLLOPT_MOST_SEGMENTS = 256 };

/* The segment that makes (hops + S) (alpha + PER_BYTE * BYTES / S) least, in bytes, a power of two. */
size_t collopt_preset_segment(const struct collopt_problem *p, double hops, double bytes, bool combined);
/* LEAST to MOST for value[PARAMETER] of A, by the model the fastest, the smallest of those. */
size_t collopt_preset_by_model(const struct collopt_algorithm *a, const struct collopt_problem *p, int parameter, int least,
                               int most);
/* For value[PARAMETER] of A, chunks, unless it is set: a power of two, by the model the fastest, the fewer the better where it
 * hardly matters; and the time that it takes.  1 where all levels use the same: in a node, or on a grid, whose links are not
 * told apart; and over TCP, where messages of one rank at the same time hinder one another. */
size_t collopt_preset_chunks(const struct collopt_algorithm *a, const struct collopt_problem *p, int parameter, double *seconds);
/* A number of slots near what one message of so many BYTES takes, value[PARAMETER] of A, by the model the fastest. */
size_t collopt_preset_lambda(const struct collopt_algorithm *a, const struct collopt_problem *p, int parameter, double bytes);
/* How many segments of value[0] bytes the vector has: the segments() of all algorithms whose first parameter it is. */
int collopt_segments(const struct collopt_problem *p);
/* How many whole vectors of BYTES a rank may hold to have receives under way: value of a parameter "window". */
size_t collopt_preset_window(double bytes);

#define COLLOPT_RADIX(preset_) \
    { .name = "radix", .least = 2, .most = COLLOPT_FOLD_OPERANDS, .help = "ranks that become one on each level", \
      .preset = preset_ }
enum { COLLOPT_RADIX_BITS = 4 };
#define COLLOPT_RADICES(preset_) \
    { .name = "radices", .list_bits = COLLOPT_RADIX_BITS, .least = 2, .most = COLLOPT_FOLD_OPERANDS, \
      .help = "ranks that become one, level by level", .preset = preset_ }
#define COLLOPT_SPLITS(preset_) \
    { .name = "splits", .least = 1, .most = COLLOPT_MOST_LEVELS, .help = "levels on which vectors are split", .preset = preset_ }
enum { COLLOPT_MOST_CHUNKS = 16, COLLOPT_CHUNKS_TRIED = 4, COLLOPT_CHUNKS_FROM = 64 << 10 };   /* bytes */
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
    { .name = "segment", .bytes = true, .least = 1, .most = (size_t)1 << 40, .help = "bytes in one piece of the pipeline", \
      .preset = preset_ }
#define COLLOPT_INNER(name_, of_, preset_, help_) \
    { .name = name_, .algorithm = true, .of = of_, .help = help_, .preset = preset_ }
#define COLLOPT_WINDOW(preset_) \
    { .name = "window", .least = 1, .most = 64, .help = "receives under way at the same time", .preset = preset_ }

#endif
