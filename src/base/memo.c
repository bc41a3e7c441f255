/* A hash table that grows with its entries; see memo.h. */
#include "config.h"

#include "base/memo.h"

#include <stdlib.h>

enum { CHAINS = 16 };           /* at first */

static struct collopt_memoized **chain_of(const struct collopt_memo *m, size_t hash)
{
    return &m->chain[hash & (m->chains - 1)];
}

static struct collopt_memoized *with(struct collopt_memoized *one, size_t hash)
{
    while (one && one->hash != hash)
        one = one->next;
    return one;
}

struct collopt_memoized *collopt_memo_first(const struct collopt_memo *m, size_t hash)
{
    return m->chains ? with(*chain_of(m, hash), hash) : NULL;
}

struct collopt_memoized *collopt_memo_next(const struct collopt_memoized *one)
{
    return with(one->next, one->hash);
}

/* Without memory chains stay as they are, and get longer. */
static void grow(struct collopt_memo *m)
{
    struct collopt_memo larger = { .chains = m->chains ? 2 * m->chains : CHAINS, .n = m->n,
                                   .weight = m->weight };

    larger.chain = calloc(larger.chains, sizeof *larger.chain);
    if (!larger.chain)
        return;
    for (size_t i = 0; i < m->chains; i++)
        for (struct collopt_memoized *one = m->chain[i], *next; one; one = next) {
            struct collopt_memoized **chain = chain_of(&larger, one->hash);

            next = one->next;
            one->next = *chain;
            *chain = one;
        }
    free(m->chain);
    *m = larger;
}

bool collopt_memo_add(struct collopt_memo *m, struct collopt_memoized *one, size_t hash,
                      size_t weight)
{
    struct collopt_memoized **chain;

    if (m->n >= m->chains)
        grow(m);
    if (!m->chains)
        return false;
    chain = chain_of(m, hash);
    *one = (struct collopt_memoized){ .next = *chain, .hash = hash, .weight = weight };
    *chain = one;
    m->n++;
    m->weight += weight;
    return true;
}

void collopt_memo_remove(struct collopt_memo *m, struct collopt_memoized *one)
{
    struct collopt_memoized **at = chain_of(m, one->hash);

    while (*at != one)
        at = &(*at)->next;
    *at = one->next;
    m->n--;
    m->weight -= one->weight;
}

/* Removes the oldest entry of a chain first. */
struct collopt_memoized *collopt_memo_excess(struct collopt_memo *m, size_t most, size_t weight)
{
    struct collopt_memoized *one;

    if (m->n == 0 || (m->n <= most && m->weight <= weight))
        return NULL;
    while (!m->chain[m->hand & (m->chains - 1)])
        m->hand++;
    for (one = m->chain[m->hand & (m->chains - 1)]; one->next; one = one->next)
        ;
    m->hand++;
    collopt_memo_remove(m, one);
    return one;
}

void collopt_memo_end(struct collopt_memo *m)
{
    free(m->chain);
    *m = (struct collopt_memo){ 0 };
}
