/* Levels on which groups of several ranks exchange parts of what they share: recursive_splitting.c,
 * near_splitting.c and strided_splitting.c. */
#ifndef COLLOPT_ALGORITHMS_SPLITTING_H
#define COLLOPT_ALGORITHMS_SPLITTING_H

#include "algorithm.h"

/* Parameters; Reduce_scatter lacks the last three. */
enum { COLLOPT_SPLIT_RADICES, COLLOPT_SPLIT_RADIX, COLLOPT_SPLIT_SPLITS, COLLOPT_SPLIT_CHUNKS,
       COLLOPT_SPLIT_STRANDS };

/* The levels of P; none where they do not make up the ranks: presets look at what has not been
 * found usable yet. */
struct collopt_levels collopt_split_levels(const struct collopt_problem *p);
bool collopt_split_usable(const struct collopt_problem *p);
#define COLLOPT_SPLIT_UNFIT \
    "the number of ranks has a prime factor above its radix, or its radices do not multiply to it"
int collopt_split_chunks(const struct collopt_problem *p);
int collopt_split_strands(const struct collopt_problem *p);

/* The levels as a strand of the vector goes through them, neighbours first; strand i of n begins
 * with level i L / n of all L and goes round. */
struct collopt_course {
    int levels, splits;         /* on the first SPLITS of them windows are split */
    /* WIDTH: how far apart the ranks of a group are */
    int radix[COLLOPT_MOST_LEVELS], width[COLLOPT_MOST_LEVELS];
    int windows;                /* that a vector becomes */
};

struct collopt_course collopt_split_course(const struct collopt_problem *p, int strand);

/* One rank on its way through the levels. */
struct collopt_window {
    struct collopt_schedule *s;
    const struct collopt_topology *topology;
    int rank, partition;
    int first, parts;           /* the window */
    int mine, sums;             /* where the window lies: IN until it has been combined; and where
                                 * it is from then on */
    const struct collopt_block *list;   /* of a level: its parts, where they are not consecutive */
};

/* At first it is all PARTS of PARTITION. */
static inline struct collopt_window collopt_window(struct collopt_schedule *s,
                                                   const struct collopt_problem *p, int rank,
                                                   int partition, int parts)
{
    return (struct collopt_window){ .s = s, .topology = p->topology, .rank = rank,
                                    .partition = partition, .parts = parts, .mine = COLLOPT_IN,
                                    .sums = COLLOPT_OUT };
}

/* RANK's digit on a level whose ranks are WIDTH apart. */
static inline int collopt_digit(int rank, int width, int f)
{
    return rank / width % f;
}

/* The part of the window for the rank at DIGIT, where it is split among F. */
struct collopt_block collopt_window_part(const struct collopt_window *w, int f, int digit);
/* F ranks, WIDTH apart, exchange parts of the window, which becomes this rank's. LAST: what is
 * combined goes to OUT. */
void collopt_split(struct collopt_window *w, int width, int f, bool last);

/* One level between ranks WIDTH apart, of parts of BYTES. */
struct collopt_messages collopt_split_messages(int f, int width, double bytes);

/* Defaults of A's parameters, by the model. FAR: the first level is of ranks that are far apart. */
size_t collopt_split_preset_radices(const struct collopt_algorithm *a,
                                    const struct collopt_problem *p, bool far);
size_t collopt_split_preset_radix(const struct collopt_algorithm *a,
                                  const struct collopt_problem *p);
size_t collopt_split_preset_splits(const struct collopt_algorithm *a,
                                   const struct collopt_problem *p);
size_t collopt_split_preset_chunks(const struct collopt_algorithm *a,
                                   const struct collopt_problem *p);
size_t collopt_split_preset_strands(const struct collopt_algorithm *a,
                                    const struct collopt_problem *p);

/* The same as functions of one algorithm; and its parameters. */
#define COLLOPT_SPLIT_LEVEL_PRESETS(which, far) \
    extern const struct collopt_algorithm collopt_##which; \
    static size_t radices_##which(const struct collopt_problem *p) \
    { \
        return collopt_split_preset_radices(&collopt_##which, p, far); \
    } \
    static size_t radix_##which(const struct collopt_problem *p) \
    { return collopt_split_preset_radix(&collopt_##which, p); }
#define COLLOPT_SPLIT_LEVELS(which)     COLLOPT_RADICES(radices_##which), \
    COLLOPT_RADIX(radix_##which)

#endif
