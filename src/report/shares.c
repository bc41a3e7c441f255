/* The shares of ranks, summed up on the way up the tree by which a report comes together. */
#include "config.h"

#include "report/shares.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

void collopt_spread_widen(struct collopt_spread *all, const struct collopt_spread *other)
{
    if (other->ranks == 0)
        return;
    if (all->ranks == 0 || other->least < all->least)
        all->least = other->least;
    if (all->ranks == 0 || other->most > all->most)
        all->most = other->most;
    all->sum += other->sum;
    all->ranks += other->ranks;
}

void collopt_share_bounds(struct collopt_share *s, int rank, int ranks)
{
    uint64_t together = ((uint64_t)ranks + COLLOPT_SHARES - 1) / COLLOPT_SHARES;
    uint64_t end = ((uint64_t)rank / together + 1) * together;

    s->from = end - together;
    s->to = (end < (uint64_t)ranks ? end : (uint64_t)ranks) - 1;
}

bool collopt_shares_room(struct collopt_shares *shares, size_t more)
{
    return collopt_room_for(shares->list, shares->n, more);
}

void collopt_shares_free(struct collopt_shares *shares)
{
    free(shares->list);
}

void collopt_shares_add(struct collopt_shares *shares, const struct collopt_share *s)
{
    size_t i = 0;

    while (i < shares->n && shares->list[i].from != s->from)
        i++;
    if (i == shares->n) {
        shares->list[shares->n++] = *s;
        return;
    }
    if (strcmp(shares->list[i].host, s->host) != 0)
        shares->list[i].host[0] = '\0';
    collopt_spread_widen(&shares->list[i].seconds, &s->seconds);
    collopt_spread_widen(&shares->list[i].reductions, &s->reductions);
    collopt_spread_widen(&shares->list[i].waiting, &s->waiting);
    collopt_spread_widen(&shares->list[i].made_wait, &s->made_wait);
    shares->list[i].calls += s->calls;
    shares->list[i].last += s->last;
}

static int by_ranks(const void *a, const void *b)
{
    const struct collopt_share *x = a, *y = b;

    return (x->from > y->from) - (x->from < y->from);
}

void collopt_shares_sort(struct collopt_shares *shares)
{
    if (shares->n > 0)
        qsort(shares->list, shares->n, sizeof *shares->list, by_ranks);
}

bool collopt_share_good(const struct collopt_share *s)
{
    return memchr(s->host, '\0', sizeof s->host) && s->from <= s->to && s->to <= INT32_MAX;
}
