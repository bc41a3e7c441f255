/* A cache whose entries are found by a hash; the caller limits its size.  No MPI here.
 *
 * A hash table with chains, which grows with its entries, so that an empty one takes no memory. */
#ifndef COLLOPT_BASE_MEMO_H
#define COLLOPT_BASE_MEMO_H

#include <stdbool.h>
#include <stddef.h>

struct collopt_memoized {       /* an entry */
    struct collopt_memoized *next;
    size_t hash, weight;
};

struct collopt_memo {           /* all zero: an empty cache */
    struct collopt_memoized **chain;
    size_t chains, hand;        /* HAND: the chain from which the next entry is removed */
    size_t n, weight;
};

/* One after the other, the entries with this hash; NULL: no more. */
struct collopt_memoized *collopt_memo_first(const struct collopt_memo *m, size_t hash);
struct collopt_memoized *collopt_memo_next(const struct collopt_memoized *one);

/* Adds ONE; false: no memory. */
bool collopt_memo_add(struct collopt_memo *m, struct collopt_memoized *one, size_t hash,
                      size_t weight);
void collopt_memo_remove(struct collopt_memo *m, struct collopt_memoized *one);
/* Removes and returns an entry if there are more than MOST, or if their weights exceed WEIGHT; else
 * NULL. */
struct collopt_memoized *collopt_memo_excess(struct collopt_memo *m, size_t most, size_t weight);
/* Frees the table of an empty cache. */
void collopt_memo_end(struct collopt_memo *m);

#endif
