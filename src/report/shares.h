/* The share of each rank of MPI_COMM_WORLD: how long it ran, and how much of that was in
 * reductions. For the report; no MPI here.
 *
 * A report stays small however many ranks there are: beyond COLLOPT_SHARES ranks, as many as it
 * takes follow one another in one share. */
#ifndef COLLOPT_REPORT_SHARES_H
#define COLLOPT_REPORT_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COLLOPT_SHARES = 256 };

/* One figure of some ranks. */
struct collopt_spread {
    uint64_t ranks;             /* 0: not known */
    double sum, least, most;
};

struct collopt_share {
    uint64_t from, to;          /* the range of ranks, whether they have reported or not */
    char host[64];              /* of all ranks that have reported; "": several hosts */
    struct collopt_spread seconds, reductions;
    /* of these: waiting for others, and what others waited for these, summed over them */
    struct collopt_spread waiting, made_wait;
    uint64_t calls, last;       /* whose waiting is known, and those that these entered last */
};

struct collopt_shares {
    struct collopt_share *list;
    size_t n;
};

/* Adds what others have. */
void collopt_spread_widen(struct collopt_spread *all, const struct collopt_spread *other);

/* The bounds of RANK's share, among RANKS. */
void collopt_share_bounds(struct collopt_share *s, int rank, int ranks);
/* Room for so many more, so that they can be added; false: no memory. */
bool collopt_shares_room(struct collopt_shares *shares, size_t more);
void collopt_shares_free(struct collopt_shares *shares);
/* Adds S to the share of the same ranks.  There is room. */
void collopt_shares_add(struct collopt_shares *shares, const struct collopt_share *s);
/* In the order of ranks. */
void collopt_shares_sort(struct collopt_shares *shares);
/* Can bytes that came from elsewhere be a share? */
bool collopt_share_good(const struct collopt_share *s);

#endif
