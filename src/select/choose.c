/* The choice by the model; see choose.h. */
#include "config.h"

#include <string.h>

#include "select/choose.h"
#include "select/model.h"

/* Algorithms for grids are for that of the machine; a program's grid says nothing of links.  P's parameters are set. */
static bool suits_grid(const struct collopt_algorithm *a, const struct collopt_problem *p)
{
    int dims = collopt_parameter_named(a, "dims");

    return dims < 0 || (p->topology->wired && p->value[dims] == p->topology->dims);
}

/* Those made of others are for several nodes of several ranks. */
static bool suits(const struct collopt_algorithm *a, const struct collopt_problem *p)
{
    const struct collopt_topology *t = p->topology;

    return a->collective == p->collective && (!a->grouped || (t->nodes > 1 && t->largest > 1))
        && (a->order != COLLOPT_COMMUTATIVE || p->commutative) && (a->identical || p->exact);
}

/* Of those between which the model sees no difference, these first: they have been run most. */
static const char *const plain[] = { "recursive_doubling", "window_doubling", "circulant", "recursive_halving", "binomial",
                                     "linear",
                                     "rabenseifner", "pairwise", "chain", "ring" };

static const double alike = 0.02;       /* of the time */

static int order_of(const struct collopt_candidate *c)
{
    int n = sizeof plain / sizeof *plain;

    for (int i = 0; c->choice.algorithm && i < n; i++)
        if (strcmp(c->choice.algorithm->name, plain[i]) == 0)
            return i;
    return n;
}

static bool goes_before(const struct collopt_candidate *a, const struct collopt_candidate *b)
{
    double least = a->seconds < b->seconds ? a->seconds : b->seconds, differ = a->seconds - b->seconds;

    if (differ > alike * least || differ < -alike * least)
        return differ < 0;
    return order_of(a) < order_of(b);
}

static int insert(const struct collopt_candidate *c, int n, int used, struct collopt_candidate *best)
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

int collopt_choose(const struct collopt_problem *p, int n, struct collopt_candidate *best)
{
    int used = 0;

    for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++) {
        struct collopt_candidate c = { .choice = { .algorithm = *a } };
        struct collopt_problem with = *p;

        if (!suits(*a, p))
            continue;
        collopt_set_parameters(&with, &c.choice);
        if (!suits_grid(*a, &with) || !collopt_usable(*a, &with, NULL))
            continue;
        memcpy(c.choice.value, with.value, sizeof c.choice.value);
        c.seconds = collopt_model(*a, &with);
        used = insert(&c, n, used, best);
    }
    return used;
}
