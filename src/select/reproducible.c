/* Which algorithm serves a problem under COLLOPT_REPRODUCIBLE, where the order of combination must
 * depend on the call alone.
 *
 * The first table below knows collective, ranks, bytes and whether the operation commutes. It is
 * not to be tuned: another row means other results. A parameter that the order depends on is
 * written out, so that presets may learn from machines. */
#include "config.h"

#include <stdio.h>

#include "select/reproducible.h"
#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "catalogue/expression.h"
#include "schedule/problem.h"
#include "select/decision.h"
#include "settings/settings.h"
#include "topology/topology.h"

struct row {
    enum collopt_collective collective;
    int ranks_least, ranks_most;        /* 0: no limit */
    size_t bytes_most;                  /* of one rank's vector; 0: no limit */
    bool commutative;                   /* for such operations only */
    const char *choice;
};

#define K   * (size_t)1024
#define M   * (size_t)1048576

static const struct row rows[] = {
    /* collective                 ranks     bytes   commutative  choice */
    { COLLOPT_ALLREDUCE,            0, 2,    1 M,   false,       "recursive_doubling" },
    { COLLOPT_ALLREDUCE,            0, 0,    8 K,   false,       "recursive_doubling" },
    { COLLOPT_ALLREDUCE,            0, 0,    0,     true,        "circulant" },
    { COLLOPT_ALLREDUCE,            0, 0,    0,     false,       "elimination" },
    { COLLOPT_REDUCE,               0, 0,   16 K,   false,       "binomial" },
    { COLLOPT_REDUCE,               0, 0,    0,     true,        "circulant" },
    { COLLOPT_REDUCE,               0, 0,    0,     false,       "elimination" },
    { COLLOPT_REDUCE_SCATTER,       0, 0,    0,     true,        "circulant" },
    { COLLOPT_REDUCE_SCATTER,       0, 0,    0,     false,       "pairwise" },
    { COLLOPT_REDUCE_SCATTER_BLOCK, 0, 0,    0,     true,        "circulant" },
    { COLLOPT_REDUCE_SCATTER_BLOCK, 0, 0,    0,     false,       "pairwise" },
    { COLLOPT_SCAN,                 0, 0,   64 K,   false,       "recursive_doubling" },
    { COLLOPT_SCAN,                 0, 3,    0,     false,       "recursive_doubling" },
    { COLLOPT_SCAN,                64, 0,    0,     false,       "two_tree:segment=32K" },
    { COLLOPT_SCAN,                 0, 0,    0,     false,       "chain" },
    { COLLOPT_EXSCAN,               0, 0,   64 K,   false,       "window_doubling" },
    { COLLOPT_EXSCAN,               0, 3,    0,     false,       "window_doubling" },
    { COLLOPT_EXSCAN,              64, 0,    0,     false,       "two_tree:segment=32K" },
    { COLLOPT_EXSCAN,               0, 0,    0,     false,       "chain" },
};

/* Sums that are rounded once, and do not travel in rows, need algorithms that combine in one fold.
 * Gathering takes as many
 * vectors of scratch as there are ranks, so it serves vectors of at most 1 MiB. It does not serve
 * more than some thousand ranks, since the last rank has to post a message from each (0.2 s on
 * 4096). The results of all these algorithms are the same. */
static const struct row rounded_once[] = {
    { COLLOPT_ALLREDUCE,            0, 2,    1 M,   false,       "gather" },
    { COLLOPT_ALLREDUCE,            0, 256,  4 K,   false,       "gather" },
    { COLLOPT_ALLREDUCE,            0, 1024, 1 K,   false,       "gather" },
    { COLLOPT_ALLREDUCE,            0, 0,    0,     false,       "alltoall" },
    { COLLOPT_REDUCE,               0, 2,    1 M,   false,       "gather" },
    { COLLOPT_REDUCE,               0, 256,  4 K,   false,       "gather" },
    { COLLOPT_REDUCE,               0, 1024, 1 K,   false,       "gather" },
    { COLLOPT_REDUCE,               0, 4096, 256,   false,       "gather" },
    { COLLOPT_REDUCE,               0, 0,    0,     false,       "alltoall" },
    { COLLOPT_REDUCE_SCATTER,       0, 0,    0,     false,       "alltoall" },
    { COLLOPT_REDUCE_SCATTER_BLOCK, 0, 0,    0,     false,       "alltoall" },
    { COLLOPT_SCAN,                 0, 3,  256 K,   false,       "gather" },
    { COLLOPT_SCAN,                 0, 256,  4 K,   false,       "gather" },
    { COLLOPT_SCAN,                 0, 1024, 1 K,   false,       "gather" },
    { COLLOPT_SCAN,                 0, 4096, 256,   false,       "gather" },
    { COLLOPT_SCAN,                 0, 0,    0,     false,       "alltoall" },
    { COLLOPT_EXSCAN,               0, 3,  256 K,   false,       "gather" },
    { COLLOPT_EXSCAN,               0, 256,  4 K,   false,       "gather" },
    { COLLOPT_EXSCAN,               0, 1024, 1 K,   false,       "gather" },
    { COLLOPT_EXSCAN,               0, 4096, 256,   false,       "gather" },
    { COLLOPT_EXSCAN,               0, 0,    0,     false,       "alltoall" },
};

void collopt_hide_placement(struct collopt_problem *p)
{
    static const struct collopt_topology nowhere = { .nodes = 1 };

    p->anywhere = collopt_settings()->reproducible != COLLOPT_NOT_REPRODUCIBLE && !p->exact
        && !p->once;
    if (!p->anywhere)
        return;
    p->topology = &nowhere;
    p->machine = NULL;
}

static bool fits(const struct row *r, const struct collopt_problem *p)
{
    return r->collective == p->collective && p->ranks >= r->ranks_least
        && (r->ranks_most == 0 || p->ranks <= r->ranks_most)
        && (r->bytes_most == 0 || p->count * p->size <= r->bytes_most)
        && (!r->commutative || p->commutative);
}

static bool by_table(const struct row *table, size_t n, const struct collopt_problem *p,
                     struct collopt_decision *d)
{
    char message[256];

    for (size_t i = 0; i < n; i++) {
        struct collopt_choice choice;

        if (!fits(&table[i], p)
            || !collopt_parse_choice(table[i].choice, p->collective, &choice, message,
                                     sizeof message)
            || !collopt_choice_usable(&choice, p, NULL))
            continue;
        d->choice = choice;
        return true;
    }
    return false;
}

static const char *by_placement(void)
{
    if (collopt_settings()->reproducible == COLLOPT_EXACTLY)
        return "fixed table, COLLOPT_REPRODUCIBLE=exact is for sums of float, double and complex: "
               "as under placement";
    return "fixed table, COLLOPT_REPRODUCIBLE=placement";
}

bool collopt_select_reproducible(const struct collopt_problem *p, struct collopt_decision *d)
{
    if (p->once) {
        snprintf(d->why, sizeof d->why, "fixed table, COLLOPT_REPRODUCIBLE=exact");
        return by_table(rounded_once, sizeof rounded_once / sizeof *rounded_once, p, d);
    }
    snprintf(d->why, sizeof d->why, "%s", by_placement());
    return by_table(rows, sizeof rows / sizeof *rows, p, d);
}
