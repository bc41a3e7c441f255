/* Decisions that were made for the problems of one communicator. A prediction of all algorithms
 * takes microseconds, on grids and nodes hundreds of them. */
#include "config.h"

#include <stdlib.h>

#include "select/prediction_cache.h"
#include "base/hash.h"
#include "base/numbers.h"
#include "schedule/problem.h"
#include "select/decision.h"

enum { PLACES = 256 };

struct memory {
    struct collopt_problem p;
    struct collopt_decision d;
};

struct collopt_remembered {
    struct memory *place[PLACES];       /* by hash; a new entry replaces the old one */
};

struct collopt_remembered *collopt_remembered_new(void)
{
    return calloc(1, sizeof(struct collopt_remembered));
}

void collopt_remembered_free(struct collopt_remembered *r)
{
    for (int i = 0; r && i < PLACES; i++)
        free(r->place[i]);
    free(r);
}

static size_t round_up(size_t n)
{
    enum { DIGITS = 4 };
    int digits = n ? 64 - __builtin_clzll(n) : 0, cut = digits - DIGITS;
    size_t step = cut > 0 ? (size_t)1 << cut : 1;

    return n > SIZE_MAX - step ? n : rounded_up(n, step);
}

size_t collopt_rounded(const struct collopt_problem *p)
{
    size_t parts = p->collective == COLLOPT_REDUCE_SCATTER_BLOCK ? (size_t)p->ranks : 1;

    return p->counts || p->count > SIZE_MAX / 2 ? p->count : round_up(p->count / parts) * parts;
}

/* The place of P by a hash.  The topology is left out, since it is always the communicator's; the
 * machine is not, since the communicator has several. */
static size_t place_of(const struct collopt_problem *p)
{
    uint64_t h = COLLOPT_HASH_START;
    const uint64_t part[] = { (uint64_t)p->collective, p->count, p->size, (uint64_t)p->root,
                              (uint64_t)(uintptr_t)p->machine };

    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        h = (h ^ part[i]) * COLLOPT_HASH_PRIME;
    return (size_t)(h >> 56) % PLACES;
}

static bool same(const struct collopt_problem *a, const struct collopt_problem *b)
{
    return a->collective == b->collective && a->count == b->count && a->size == b->size
        && a->root == b->root && a->machine == b->machine && a->commutative == b->commutative
        && a->exact == b->exact && a->once == b->once && a->row == b->row
        && a->anywhere == b->anywhere;
}

const struct collopt_decision *collopt_recall(const struct collopt_remembered *r,
                                              const struct collopt_problem *p)
{
    const struct memory *m = r && !p->counts ? r->place[place_of(p)] : NULL;

    return m && same(&m->p, p) ? &m->d : NULL;
}

void collopt_remember(struct collopt_remembered *r, const struct collopt_problem *p,
                      const struct collopt_decision *d)
{
    struct memory **place = r && !p->counts ? &r->place[place_of(p)] : NULL;

    if (place && (*place || (*place = malloc(sizeof **place)) != NULL))
        **place = (struct memory){ *p, *d };
}
