/* Which algorithm serves a problem under COLLOPT_REPRODUCIBLE, where the order of combination must depend on the call alone.
 *
 * The table below knows collective, ranks, bytes and whether the operation commutes.  It is not to be tuned: whoever changes a
 * row changes results.  A parameter that the order depends on is written out, so that presets may learn from machines. */
#include "config.h"

#include <stdio.h>

#include "internal.h"
#include "select/reproducible.h"

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

static bool fits(const struct row *r, const struct collopt_problem *p)
{
    return r->collective == p->collective && p->ranks >= r->ranks_least && (r->ranks_most == 0 || p->ranks <= r->ranks_most)
        && (r->bytes_most == 0 || p->count * p->size <= r->bytes_most) && (!r->commutative || p->commutative);
}

bool collopt_select_reproducible(const struct collopt_problem *p, struct collopt_decision *d)
{
    char message[256];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct collopt_choice choice;

        if (!fits(&rows[i], p) || !collopt_parse_choice(rows[i].choice, p->collective, &choice, message, sizeof message)
            || !collopt_choice_usable(&choice, p, NULL))
            continue;
        d->choice = choice;
        snprintf(d->why, sizeof d->why, "fixed table, COLLOPT_REPRODUCIBLE");
        return true;
    }
    return false;
}
