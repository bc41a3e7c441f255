/* Schedules: what one rank receives, sends, combines and copies, as data.
 *
 * An algorithm is a pure function (problem, rank) -> schedule. This header has the three nouns of
 * that sentence, the calls an algorithm writes its schedule with, and what becomes of a finished
 * schedule: it is compiled once (in-place pass, two-operand lowering, order of posting and waiting)
 * and bound to element offsets for a given count. Nothing here knows of addresses, datatypes,
 * operations or MPI.
 *
 * schedule.c builds, partition.c cuts vectors, compile.c turns actions into steps, bind.c gives
 * them offsets. */
#ifndef COLLOPT_SCHEDULE_H
#define COLLOPT_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "topology/topology.h"


enum collopt_collective {
    COLLOPT_REDUCE,
    COLLOPT_ALLREDUCE,
    COLLOPT_REDUCE_SCATTER,
    COLLOPT_REDUCE_SCATTER_BLOCK,
    COLLOPT_SCAN,
    COLLOPT_EXSCAN,
    COLLOPT_COLLECTIVES
};

/* "allreduce", "reduce_scatter_block", ... */
extern const char *const collopt_collective_names[COLLOPT_COLLECTIVES];

enum { COLLOPT_PARAMETERS = 5, COLLOPT_FOLD_OPERANDS = 8 };

struct collopt_machine;

/* What is to be done, as all ranks know it alike. A decision may look at this and at nothing
 * else. */
struct collopt_problem {
    enum collopt_collective collective;
    int ranks;
    int root;                   /* Reduce; 0 elsewhere */
    size_t count;               /* elements in one rank's input vector (Reduce_scatter: the sum of
                                 * the counts) */
    size_t size;                /* bytes of data in one element */
    const size_t *counts;       /* Reduce_scatter: elements for each rank; NULL where all have count
                                 * / ranks */
    bool commutative;
    bool exact;                 /* any bracketing and any order give the same bits (integer sums,
                                 * MIN, AND ...) */
    bool once;                  /* all that goes into a result must be combined in one fold (sums
                                 * that are rounded once) */
    bool anywhere;              /* COLLOPT_REPRODUCIBLE: the order of combination must be the same
                                 * wherever the ranks are */
    size_t value[COLLOPT_PARAMETERS];   /* the algorithm's parameters, in its descriptor's order */
    int segments;               /* what the algorithm's segments() answered; 1 where it has none */
    const struct collopt_topology *topology;    /* never NULL */
    const struct collopt_machine *machine;      /* model/machine.h; NULL: a generic one */
    int abreast;                /* a phase between nodes: so many ranks of each node run one at the
                                 * same time; 0: it is none */
    int beside;                 /* a phase inside a last-level cache: so many run at the same time;
                                 * 0: it is none */
};

/* The COUNTS of a Reduce_scatter of COUNT elements, as even as can be: the first ranks get one
 * more. */
static inline void collopt_even_counts(size_t count, int ranks, size_t *counts)
{
    for (size_t r = 0; r < (size_t)ranks; r++)
        counts[r] = count / (size_t)ranks + (r < count % (size_t)ranks);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Parts FIRST .. FIRST+PARTS-1 of a partition of the vector. Offsets in elements are known only
 * when bound. */
struct collopt_block {
    int partition, first, parts;
};

enum { COLLOPT_WHOLE = 0 };     /* the partition every schedule has: the vector as one part */

/* ---- places ---------------------------------------------------------------------------------- */

enum {
    COLLOPT_IN,                 /* what this rank contributes: never written */
    COLLOPT_OUT,                /* the result, where this rank has one */
    COLLOPT_FIRST_SLOT          /* and upwards: scratch */
};

/* One or several blocks in a place. In a vector-like place (IN, OUT, a slot made by vector_slot) a
 * block lies at its own offset; in a packed slot the blocks of a region lie one behind the other
 * from the slot's start. */
struct collopt_region {
    int place, blocks;
    struct collopt_block block;             /* when there is one */
    const struct collopt_block *list;       /* when there are more; copied by the call it is given
                                             * to */
};

/* ---- writing a schedule ---------------------------------------------------------------------- */

struct collopt_schedule;

/* At least BYTES bytes, to be freed by the caller; NULL: out of memory, and the schedule knows. */
void *collopt_workspace(struct collopt_schedule *s, size_t bytes);

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
/* What follows on the present strand begins when STRAND has done its actions of rounds up to ROUND,
 * so that one is ahead of the other. STRAND must not wait for this one. */
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
 * a call sends at most COLLOPT_MULTICAST_PIECES messages in one strand to the same members (the
 * proof counts them). */
enum { COLLOPT_MULTICAST_PIECES = 7,
       COLLOPT_MULTICAST_STRANDS = 64 };        /* with more strands there are no multicasts */
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
/* The same as one step, however many they are: for operations that want all operands at once. TO
 * may be any of them. */
void collopt_fold_once(struct collopt_schedule *s, struct collopt_region to, int operands,
                       const struct collopt_region *operand);
/* Every operand becomes the fold of all up to it, from left to right, as one step: operand[k] =
 * operand[0] op ... op operand[k]. They are different regions of scratch. */
void collopt_prefixes(struct collopt_schedule *s, int operands,
                      const struct collopt_region *operand);

/* ---- phases: another algorithm among some of the ranks --------------------------------------- */

/* An algorithm with all its parameters. */
struct collopt_inner {
    const struct collopt_algorithm *algorithm;
    size_t value[COLLOPT_PARAMETERS];
    int segments;
};

/* What is the whole problem to the inner algorithm: some ranks, a block of the vector, two
 * places. */
struct collopt_phase {
    int ranks, index;           /* how many take part, and which of them this rank is */
    const int *member;          /* [ranks] who they are, lower ranks first */
    int root;                   /* its index; Reduce */
    const struct collopt_topology *topology;        /* of the members; NULL: nothing is known of
                                                     * them, or is to be looked at */
    struct collopt_block whole; /* the vector; of a Reduce_scatter all its parts together */
    int in, out;                /* two different places that hold it; OUT is not used where there is
                                 * no result */
    bool again;                 /* other phases are among the same ranks or some of them: so it has
                                 * no multicasts */
    /* Reduce_scatter: what member i is to get is PART[first[i]] ... PART[first[i+1] - 1], blocks in
     * ascending order. */
    const struct collopt_block *part;
    const int *first;           /* [ranks + 1] */
};

/* Writes the inner algorithm's schedule into S, at the present strand and behind what is there. */
void collopt_phase(struct collopt_schedule *s, const struct collopt_problem *p,
                   const struct collopt_phase *phase, const struct collopt_inner *inner);

/* ---- algorithms ------------------------------------------------------------------------------ */

enum collopt_order {
    COLLOPT_IN_ORDER,           /* operands are combined in rank order: any operation */
    COLLOPT_COMMUTATIVE         /* for commutative operations only */
};

struct collopt_traffic;         /* model/traffic.h */

struct collopt_parameter {
    const char *name;           /* "segment" */
    bool bytes;                 /* takes K, M, G, T; else a plain number */
    const char *words;          /* "node|switch": takes one of these, whose value is its number from
                                 * 1 on */
    bool algorithm;             /* an algorithm in parentheses, of collective OF; the value is
                                 * collopt_choice_number's */
    enum collopt_collective of;
    int list_bits;              /* not 0: a list such as 4x4x2, whose elements are this wide in the
                                 * value, the first lowest */
    size_t least, most;         /* of the value or of one element */
    const char *help;
    /* Used when not given. Of an algorithm always: it completes what is given (p->value of this
     * parameter) or chooses. */
    size_t (*preset)(const struct collopt_problem *p);
};

struct collopt_algorithm {
    bool grouped;               /* looks at the nodes of the topology; combines by other
                                 * algorithms */
    const char *name;           /* as in COLLOPT_ALLREDUCE=name */
    const char *summary;        /* one line */
    const char *rounds, *bytes; /* formulas, as formula.h reads them, in the letters of
                                 * doc/algorithms.md */
    const char *when, *source;  /* what it is good for; who published it ("folklore"; what is our
                                 * own: "collopt") */
    enum collopt_collective collective;
    enum collopt_order order;
    bool identical;             /* all ranks end with the same bits also where the operation
                                 * rounds */
    bool once;                  /* folds have nothing but input as operands: nothing is combined
                                 * twice */
    struct collopt_parameter parameter[COLLOPT_PARAMETERS];
    /* Refuses only for a reason in doc/algorithms.md; NULL: always usable (order and identical are
     * checked by the caller). */
    bool (*usable)(const struct collopt_problem *p);
    const char *unfit;          /* what it refuses for, as the end of a sentence */
    int (*segments)(const struct collopt_problem *p);       /* NULL: 1 */
    /* Tells the model where messages go, by collopt_messages() and its like. */
    void (*traffic)(const struct collopt_problem *p, struct collopt_traffic *t);
    void (*build)(struct collopt_schedule *s, const struct collopt_problem *p, int rank);
};

/* Element I of a parameter that is a list; 0 behind the last one. How many there are; what they
 * multiply to. */
size_t collopt_list_at(const struct collopt_parameter *q, size_t value, int i);
int collopt_list_length(const struct collopt_parameter *q, size_t value);
size_t collopt_list_product(const struct collopt_parameter *q, size_t value);

/* ---- a finished schedule --------------------------------------------------------------------- */

enum {                          /* how it will be run; part of the cache's key */
    COLLOPT_IN_PLACE = 1,       /* IN and OUT are the same memory (Reduce_scatter: OUT overlays the
                                 * first blocks of IN) */
    COLLOPT_TWO_OPERANDS = 2,   /* combines can only do right = left op right */
    COLLOPT_VIA_SCRATCH = 4     /* nothing is received into OUT: messages carry what may not be
                                 * written there */
};

/* Builds and compiles the schedule of one rank. P->segments and P->value must be set. NULL: out of
 * memory. */
struct collopt_schedule *collopt_schedule_new(const struct collopt_algorithm *a,
                                              const struct collopt_problem *p, int rank,
                                              unsigned how);
void collopt_schedule_free(struct collopt_schedule *s);
/* The actions as they were written; for the proofs. */
void collopt_schedule_print(const struct collopt_schedule *s, FILE *to);

/* ---- bound to a count ------------------------------------------------------------------------ */

/* N elements at element offset AT of a place. */
struct collopt_run {
    int place;
    size_t at, n;
    bool last;                  /* of a view: nobody reads it after this step */
};

enum collopt_step_kind {
    COLLOPT_POST_RECEIVE,       /* start message M */
    COLLOPT_POST_SEND,
    COLLOPT_WAIT,               /* until message M is complete */
    COLLOPT_RECEIVE,            /* post and wait in one */
    COLLOPT_SEND,
    COLLOPT_FOLD,               /* run[0] = run[1] op ... op run[runs-1] */
    COLLOPT_COPY,               /* run[0] = run[1] */
    COLLOPT_PREFIXES,           /* run[k] = run[0] op ... op run[k], for all k */
    COLLOPT_AWAIT,              /* until strand STRAND has done its steps before STEP */
    COLLOPT_END
};

struct collopt_step {
    enum collopt_step_kind kind;
    int message;                /* POST_*, WAIT, RECEIVE, SEND: index of the message; else -1 */
    int strand, step;           /* AWAIT */
    bool last;                  /* of some view among its runs */
    int runs;
    const struct collopt_run *run;
};

/* One message on the wire: its runs one behind the other. */
struct collopt_message {
    int peer, tag;              /* the tag is the strand */
    bool send;
    int runs;
    const struct collopt_run *run;
    size_t n;                   /* elements in all */
    /* of its multicast among near ranks, in the same order on all; 0: it belongs to none */
    int members;
    const int *member;
    bool repeats;               /* a send with the data of the first one of its multicast */
};

/* A place that stands for what one message brings: scratch, or where the sender has put it. */
struct collopt_view {
    int message;
    int slot;                   /* place and first element of the scratch that it stands for */
    size_t at;
};

struct collopt_bound {
    int strands, messages, slots;
    int views;                  /* so many of SLOTS, the last ones */
    const struct collopt_view *view;    /* [views] */
    const struct collopt_step *const *strand;       /* [strands] each ends with COLLOPT_END */
    const struct collopt_message *message;          /* [messages] */
    const size_t *slot;         /* [slots] capacity in elements of place COLLOPT_FIRST_SLOT + i */
    size_t steps;               /* in all */
};

/* A message of more than ABOVE elements becomes pieces of at most PIECE. Where IN_TURN, a piece is
 * received when those before it are combined, if that is what the message is for. All ranks must
 * have the same cuts but for IN_TURN. */
struct collopt_cut {
    size_t above, piece;
    bool in_turn;
};

enum { COLLOPT_CUTS = 8 };      /* in a list, with its end */

/* P->count and P->counts give the offsets. CUTS are in ascending order and end with a PIECE of 0;
 * of those whose ABOVE is less than the message's length the last one applies; NULL: there are
 * none. Returns NULL if memory is out. */
struct collopt_bound *collopt_bind(const struct collopt_schedule *s,
                                   const struct collopt_problem *p, const struct collopt_cut *cuts);

/* Ranks whose messages lie in memory that this rank can read (src/shm). */
struct collopt_nearby {
    const bool *rank;           /* [ranks] */
    const struct collopt_cut *cuts;     /* of their messages, in place of the others ... */
    const struct collopt_cut *multicast;        /* ... and of those of multicasts among them */
    bool views;                 /* such messages may be read where they are */
};

/* The same where some ranks are near: of their messages those that are only read are not copied to
 * scratch first. */
struct collopt_bound *collopt_bind_near(const struct collopt_schedule *s,
                                        const struct collopt_problem *p,
                                        const struct collopt_cut *cuts,
                                        const struct collopt_nearby *nearby);
/* That last pass of it, views.c; false: no memory. */
bool collopt_bound_near(struct collopt_bound *b, const struct collopt_nearby *nearby,
                        bool two_operands);
void collopt_bound_free(struct collopt_bound *b);

#endif
