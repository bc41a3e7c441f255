/* Things that are remembered by a hash, as many as there is room for.  No MPI here.
 *
 * A table of chains that grows with what is in it, so that an empty one takes no memory. */
#ifndef COLLOPT_BASE_MEMO_H
#define COLLOPT_BASE_MEMO_H

#include <stdbool.h>
#include <stddef.h>

struct collopt_memoized {       /* a part of what is remembered */
    struct collopt_memoized *next;
    size_t hash, weight;
};

struct collopt_memo {           /* all zero: nothing is remembered */
    struct collopt_memoized **chain;
    size_t chains, hand;        /* HAND: the chain from which something goes next */
    size_t n, weight;
};

/* One after the other all that have this hash; NULL: no more. */
struct collopt_memoized *collopt_memo_first(const struct collopt_memo *m, size_t hash);
struct collopt_memoized *collopt_memo_next(const struct collopt_memoized *one);

/* Remembers ONE; false: no memory. */
bool collopt_memo_add(struct collopt_memo *m, struct collopt_memoized *one, size_t hash,
                      size_t weight);
void collopt_memo_remove(struct collopt_memo *m, struct collopt_memoized *one);
/* Removes one, if there are more than MOST or they weigh more than WEIGHT; NULL: there are not. */
struct collopt_memoized *collopt_memo_excess(struct collopt_memo *m, size_t most, size_t weight);
/* Of an empty one: gives back its memory. */
void collopt_memo_end(struct collopt_memo *m);

#endif
