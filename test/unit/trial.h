/* One case for the proofs: an algorithm, a problem, and how the schedules are made and bound.  A
 * trial can be written as words, and read back from them, so that whatever fails can be replayed
 * alone:
 *
 *     test_schedules allreduce ring p 7 root 0 count 13 shape even in_place 1 two_operands 0 cut 0
 *     in_turn 0
 *
 * All functions are in trial.c. */
#ifndef COLLOPT_TEST_UNIT_TRIAL_H
#define COLLOPT_TEST_UNIT_TRIAL_H

#include <stdio.h>

#include "proof.h"
#include "schedule/bound.h"
#include "schedule/descriptor.h"
#include "schedule/problem.h"
#include "topology/topology.h"

/* How Reduce_scatter's vector is shared out. */
enum trial_shape {
    /* all alike (counts NULL); the count is rounded up to a multiple of the ranks */
    TRIAL_EVEN,
    TRIAL_NEARLY,               /* the first ones get one more */
    TRIAL_FIRST,                /* the first rank gets all */
    TRIAL_LAST,
    TRIAL_RAGGED,               /* at random, with zeros */
    TRIAL_SHAPES
};

/* Which ranks share a node, for algorithms that look at it.  Those from TRIAL_LOOSE on have a
 * commutative operation. */
enum trial_nodes {
    TRIAL_ONE_NODE,
    TRIAL_PAIRS,
    TRIAL_FOURS,                /* the last node has what is left */
    TRIAL_UNEVEN,               /* 1, 2, 3, 1, 2, 3, ... ranks */
    TRIAL_FIRST_ALONE,
    TRIAL_LAST_ALONE,
    TRIAL_EACH_ALONE,
    TRIAL_LOOSE,
    TRIAL_LOOSE_FOURS = TRIAL_LOOSE,
    TRIAL_ROUND_ROBIN,          /* on about sqrt(p) nodes */
    TRIAL_ROOT_ALONE,
    TRIAL_SHUFFLED,
    TRIAL_MAPS
};

enum {
    TRIAL_THREE_OPERANDS, TRIAL_TWO_OPERANDS, TRIAL_MIXED /* two on odd ranks */,
    TRIAL_VIA_SCRATCH /* three; nothing is received into OUT */, TRIAL_FORMS
};

struct trial {
    const struct collopt_algorithm *algorithm;
    int ranks, root;
    size_t count;               /* elements in the vector of one rank */
    enum trial_shape shape;
    enum trial_nodes nodes;     /* of grouped algorithms; else one node */
    bool in_place;
    int two_operands;           /* TRIAL_THREE_OPERANDS ... */
    size_t cut;                 /* elements in a message at most; 0: any number */
    bool in_turn;               /* what was cut is received piece by piece */
    int near;                   /* how many ranks share memory; 0: none, 1: all */
    size_t value[COLLOPT_PARAMETERS];   /* 0: the algorithm's preset */
    /* not in words; NULL: as SHAPE and NODES say */
    const size_t *block;        /* [ranks] of a Reduce_scatter; COUNT is their sum */
    const int *place;           /* [ranks] of grouped algorithms: 0 to RANKS, equal on a node */
};

/* bytes of an element; characters that hold any words */
enum { TRIAL_SIZE = 8, TRIAL_WORDS = 400 };

void trial_words(const struct trial *t, char words[TRIAL_WORDS]);
/* False, with a sentence on stderr, if WORDS make no sense. */
bool trial_read(struct trial *t, int words, char *const *word);

/* How many algorithms the registry has. */
int trial_algorithms(void);
/* Which algorithms of the registry, FROM .. TO-1, are meant by WORDS: the one they name; all, if
 * there are none. */
bool trial_range(int words, char *const *word, int *from, int *to);

/* Schedules and programs of all ranks, kept from one trial to the next where only the count has
 * changed. */
struct workshop {
    struct trial t;
    struct collopt_problem problem;
    struct collopt_topology topology;
    int *node;                  /* what topology.node points to */
    size_t *counts;
    unsigned *how;              /* [ranks] */
    int made;                   /* ranks that have a schedule */
    int bound;                  /* ranks that have a program */
    struct collopt_schedule **schedule;
    struct collopt_bound **program;
};

/* Problem, schedules and programs for T.  False with a reason in WHY if the algorithm does not
 * serve it, or memory is out. */
bool workshop_open(struct workshop *w, const struct trial *t, char why[PROOF_WHY]);
/* The problem alone. */
bool workshop_state(struct workshop *w, const struct trial *t, char why[PROOF_WHY]);
void workshop_close(struct workshop *w);
struct proof workshop_proof(const struct workshop *w);

/* Values worth trying for an algorithm's parameters on RANKS: fills VARIANT, returns how many.  The
 * first is all presets, if these can be used.  0: the algorithm has no form for so many ranks, and
 * says so in its descriptor. */
enum { TRIAL_VARIANTS = 32 };
int trial_variants(const struct collopt_algorithm *a, int ranks,
                   size_t variant[TRIAL_VARIANTS][COLLOPT_PARAMETERS]);

/* Every p that is proved: index 0 .. trial_sizes - 1. */
extern const int trial_size_count;
int trial_ranks(int i);

/* Roots worth trying: all for p <= 17; fills ROOT, returns how many. */
enum { TRIAL_ROOTS = 17 };
int trial_roots(const struct collopt_algorithm *a, int ranks, int root[TRIAL_ROOTS]);

/* The actions as they were written. */
void print_schedule(const struct collopt_schedule *s, FILE *to);

#endif
