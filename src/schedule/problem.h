/* Problems: what is to be done, as all ranks know it. */
#ifndef COLLOPT_SCHEDULE_PROBLEM_H
#define COLLOPT_SCHEDULE_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>

struct collopt_machine;
struct collopt_topology;

enum collopt_collective {
    COLLOPT_REDUCE,
    COLLOPT_ALLREDUCE,
    COLLOPT_REDUCE_SCATTER,
    COLLOPT_REDUCE_SCATTER_BLOCK,
    COLLOPT_SCAN,
    COLLOPT_EXSCAN,
    COLLOPT_COLLECTIVES
};

static inline bool collopt_scatters(enum collopt_collective c)
{
    return c == COLLOPT_REDUCE_SCATTER || c == COLLOPT_REDUCE_SCATTER_BLOCK;
}

static inline bool collopt_is_prefix(enum collopt_collective c)
{
    return c == COLLOPT_SCAN || c == COLLOPT_EXSCAN;
}

/* "allreduce", "reduce_scatter_block", ... */
extern const char *const collopt_collective_names[COLLOPT_COLLECTIVES];

enum { COLLOPT_PARAMETERS = 5, COLLOPT_FOLD_OPERANDS = 8 };

/* The task, which is the same on all ranks. A decision may look at this and at nothing else. */
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
    bool users;                 /* the operation is a function of the program's */
    bool once;                  /* all that goes into a result must be combined in one fold (sums
                                 * that are rounded once) */
    size_t row;                 /* of such a sum: bytes in which one element may travel instead, as
                                 * a row of words that are added (kernels/exact_words.h); 0: it may
                                 * not */
    bool rows;                  /* the elements are such rows, which the host does not know */
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

/* How its schedule will be run; part of the cache's key. */
enum {
    COLLOPT_IN_PLACE = 1,       /* IN and OUT are the same memory (Reduce_scatter: OUT overlays the
                                 * first blocks of IN) */
    COLLOPT_TWO_OPERANDS = 2,   /* combines can only do right = left op right */
    COLLOPT_VIA_SCRATCH = 4     /* nothing is received into OUT: messages carry what may not be
                                 * written there */
};

/* The COUNTS of a Reduce_scatter of COUNT elements, as even as can be: the first ranks get one
 * more. */
static inline void collopt_even_counts(size_t count, int ranks, size_t *counts)
{
    for (size_t r = 0; r < (size_t)ranks; r++)
        counts[r] = count / (size_t)ranks + (r < count % (size_t)ranks);
}

/* Bytes of one rank's input vector. */
static inline double vector_bytes(const struct collopt_problem *p)
{
    return (double)p->count * (double)p->size;
}

/* Sets ROWS to P, a sum that is rounded once, with rows for elements: any algorithm adds those.
 * False: they may not travel, or would be too long. */
bool collopt_problem_in_rows(const struct collopt_problem *p, struct collopt_problem *rows);

/* Does RANK have a result? */
bool collopt_has_result(const struct collopt_problem *p, int rank);

#endif
