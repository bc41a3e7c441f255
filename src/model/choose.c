/* The choice by the model; see choose.h. */
#include "config.h"

#include <string.h>

#include "model/choose.h"
#include "catalogue/catalogue.h"
#include "model/model.h"
#include "schedule/descriptor.h"
#include "schedule/problem.h"
#include "topology/topology.h"

/* Algorithms for grids are for that of the machine; a program's grid says nothing of links. P's
 * parameters are set. */
static bool suits_grid(const struct collopt_algorithm *a, const struct collopt_problem *p)
{
    int dims = collopt_parameter_named(a, "dims");

    return dims < 0 || (p->topology->wired && p->value[dims] == p->topology->dims);
}

/* Algorithms that combine others need several nodes with several ranks, or a node with several
 * caches. */
static bool has_groups(const struct collopt_topology *t)
{
    return t->nodes > 1 ? t->largest > 1
                        : !t->oversubscribed && !t->wired && collopt_topology_caches(t);
}

static bool suits(const struct collopt_algorithm *a, const struct collopt_problem *p)
{
    return a->collective == p->collective && (!a->grouped || has_groups(p->topology))
        && (a->order != COLLOPT_COMMUTATIVE || p->commutative);
}

/* Order among algorithms of equal predicted time: first those that send and copy least, last
 * compositions. */
static const char *const plain[] = { "sweep", "window_doubling", "binomial", "linear",
                                     "circulant", "recursive_halving", "rabenseifner",
                                     "pairwise", "recursive_doubling", "chain", "ring",
                                     "elimination" };

static const double alike = 0.01;       /* of the time */

static int order_of(const struct collopt_candidate *c)
{
    const struct collopt_algorithm *a = c->choice.algorithm;
    int n = sizeof plain / sizeof *plain;

    for (int i = 0; a && i < n; i++)
        if (strcmp(a->name, plain[i]) == 0)
            return i;
    return a && (a->grouped || a->parameter[0].algorithm) ? n + 1 : n;
}

static bool goes_before(const struct collopt_candidate *a, const struct collopt_candidate *b)
{
    double least = a->seconds < b->seconds ? a->seconds : b->seconds,
           differ = a->seconds - b->seconds;

    if (differ > alike * least || differ < -alike * least)
        return differ < 0;
    return order_of(a) != order_of(b) ? order_of(a) < order_of(b) : differ < 0;
}

static int insert(const struct collopt_candidate *c, int n, int used,
                  struct collopt_candidate *best)
{
    int at = used;

    while (at > 0 && goes_before(c, &best[at - 1]))
        at--;
    if (at >= n)
        return used;
    used = used < n ? used + 1 : n;
    memmove(&best[at + 1], &best[at], (size_t)(used - at - 1) * sizeof *best);
    best[at] = *c;
    return used;
}

/* ---- variants -------------------------------------------------------------------------------- */

/* The preset of "segment" is a formula that knows little of shared links and nothing of handshakes,
 * so a half and a quarter of it are tried too. Longer segments are not tried: those under way
 * together share links, so the first arrives as late as the last, which the model does not know.
 * The model has chosen all other presets itself. */
static const char varied[] = "segment";
static const double variant[] = { 1, 0.5, 0.25 };

enum { VARIANTS = sizeof variant / sizeof *variant };

/* C with all its parameters, and the time predicted for it; false: it cannot serve P. */
static bool predict(const struct collopt_problem *p, struct collopt_candidate *c)
{
    struct collopt_problem with = *p;

    collopt_set_parameters(&with, &c->choice);
    if (!suits_grid(c->choice.algorithm, &with)
        || !collopt_usable(c->choice.algorithm, &with, NULL))
        return false;
    memcpy(c->choice.value, with.value, sizeof c->choice.value);
    c->seconds = collopt_model(c->choice.algorithm, &with);
    return true;
}

/* The best of the variants of C, which is the first of them.  A vector that is no longer than a
 * segment is not cut. */
static void vary(const struct collopt_problem *p, struct collopt_candidate *c)
{
    int at = collopt_parameter_named(c->choice.algorithm, varied);
    size_t preset = at < 0 ? 0 : c->choice.value[at];

    for (int i = 1; i < VARIANTS && preset > 0; i++) {
        struct collopt_candidate other = { .choice = { .algorithm = c->choice.algorithm } };

        other.choice.value[at] = (size_t)(variant[i] * (double)preset);
        if (other.choice.value[at] > 0 && (double)other.choice.value[at] < vector_bytes(p)
            && predict(p, &other)
            && other.seconds < (1 - alike) * c->seconds)
            *c = other;
    }
}

int collopt_choose(const struct collopt_problem *p, int n, struct collopt_candidate *best)
{
    int used = 0;

    for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++) {
        struct collopt_candidate c = { .choice = { .algorithm = *a } };

        if (!suits(*a, p))
            continue;
        if ((*a)->grouped && p->topology->nodes == 1)
            c.choice.value[collopt_parameter_named(*a, "by")] = COLLOPT_BY_CACHE;
        if (!predict(p, &c))
            continue;
        vary(p, &c);
        used = insert(&c, n, used, best);
    }
    return used;
}
