/* Which algorithm serves a problem: the one the user forced, else what the user's rules say, else the first row of the table
 * below that fits.  Where COLLOPT_REPRODUCIBLE matters, another table takes the place of the last two (reproducible.c).
 *
 * The table knows bytes, ranks, whether the operation commutes, whether ranks share processors, and the grid of ranks where the
 * machine is one; all of them are alike on all ranks.  Rows are read from the top. */
#include "config.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "algorithms/algorithm.h"
#include "internal.h"
#include "select/reproducible.h"
#include "select/rules.h"

enum who { ANY, COMMUTATIVE };
/* Crowded: some node has more ranks than processors.  Lopsided: some rank of a Reduce_scatter gets several times the average.
 * The others are machines that are known to be grids: tori, those with even sides only, with more than two sides, and meshes. */
enum where { EVERYWHERE, CROWDED, LOPSIDED, GRID, TORUS, EVEN_TORUS, DEEP_TORUS, MESH };

struct row {
    enum collopt_collective collective;
    int ranks_least, ranks_most;        /* 0: no limit */
    size_t bytes_most;                  /* of one rank's vector; 0: no limit */
    enum who who;
    enum where where;
    const char *algorithm;
};

static const char *const where_names[] = {
    [EVERYWHERE] = "", [CROWDED] = ", more ranks than processors", [LOPSIDED] = ", counts that differ much", [GRID] = ", on a grid",
    [TORUS] = ", on a torus", [EVEN_TORUS] = ", on a torus with even sides", [DEEP_TORUS] = ", on a torus of three dimensions or more",
    [MESH] = ", on a mesh",
};

#define K   * (size_t)1024
#define M   * (size_t)1048576

static const struct row rows[] = {
    /* collective                 ranks     bytes   who          where       algorithm */
    { COLLOPT_ALLREDUCE,            0, 16,   4 K,   ANY,         CROWDED,    "linear" },
    { COLLOPT_ALLREDUCE,            2, 2,    1 M,   ANY,         EVERYWHERE, "recursive_doubling" },
    { COLLOPT_ALLREDUCE,            0, 0,    8 K,   ANY,         EVERYWHERE, "recursive_doubling" },
    { COLLOPT_ALLREDUCE,            0, 0,   32 K,   COMMUTATIVE, DEEP_TORUS, "rabenseifner" },
    { COLLOPT_ALLREDUCE,            0, 0,   64 K,   COMMUTATIVE, MESH,       "rabenseifner" },
    { COLLOPT_ALLREDUCE,            0, 0,    0,     COMMUTATIVE, EVEN_TORUS, "swing_torus" },
    { COLLOPT_ALLREDUCE,            0, 0,    0,     COMMUTATIVE, TORUS,      "bucket" },
    { COLLOPT_ALLREDUCE,            0, 0,    0,     COMMUTATIVE, MESH,       "mesh" },
    { COLLOPT_ALLREDUCE,            0, 0,   16 M,   COMMUTATIVE, EVERYWHERE, "circulant" },
    { COLLOPT_ALLREDUCE,            0, 8,    0,     COMMUTATIVE, EVERYWHERE, "circulant" },
    { COLLOPT_ALLREDUCE,            0, 0,    0,     COMMUTATIVE, EVERYWHERE, "ring" },
    { COLLOPT_ALLREDUCE,            0, 0,    0,     ANY,         EVERYWHERE, "elimination" },

    { COLLOPT_REDUCE,               0, 16,   4 K,   ANY,         CROWDED,    "linear" },
    { COLLOPT_REDUCE,               2, 2,    0,     ANY,         EVERYWHERE, "linear" },
    { COLLOPT_REDUCE,               0, 0,   16 K,   ANY,         EVERYWHERE, "binomial" },
    { COLLOPT_REDUCE,               0, 0,    0,     COMMUTATIVE, TORUS,      "torus" },
    { COLLOPT_REDUCE,               0, 0,    0,     ANY,         GRID,       "mesh" },
    { COLLOPT_REDUCE,               0, 0,    4 M,   COMMUTATIVE, EVERYWHERE, "circulant" },
    { COLLOPT_REDUCE,               0, 0,    4 M,   ANY,         EVERYWHERE, "elimination" },
    { COLLOPT_REDUCE,               0, 0,    0,     COMMUTATIVE, EVERYWHERE, "circulant_pipeline" },
    { COLLOPT_REDUCE,               0, 4,    0,     ANY,         EVERYWHERE, "chain" },
    { COLLOPT_REDUCE,               0, 0,    0,     ANY,         EVERYWHERE, "two_tree" },

    { COLLOPT_REDUCE_SCATTER,       0, 0,   64 K,   COMMUTATIVE, EVERYWHERE, "circulant" },
    { COLLOPT_REDUCE_SCATTER,       3, 0,    0,     COMMUTATIVE, LOPSIDED,   "circulant_pipeline" },
    { COLLOPT_REDUCE_SCATTER,       0, 0,    0,     COMMUTATIVE, EVEN_TORUS, "swing_torus" },
    { COLLOPT_REDUCE_SCATTER,       0, 0,    0,     COMMUTATIVE, TORUS,      "bucket" },
    { COLLOPT_REDUCE_SCATTER,       0, 0,    0,     COMMUTATIVE, MESH,       "mesh" },
    { COLLOPT_REDUCE_SCATTER,       0, 0,   16 M,   COMMUTATIVE, EVERYWHERE, "circulant" },
    { COLLOPT_REDUCE_SCATTER,       0, 0,    0,     COMMUTATIVE, EVERYWHERE, "ring" },
    { COLLOPT_REDUCE_SCATTER,       0, 0,    0,     ANY,         EVERYWHERE, "pairwise" },
    { COLLOPT_REDUCE_SCATTER_BLOCK, 0, 0,    4 K,   COMMUTATIVE, GRID,       "recursive_halving" },
    { COLLOPT_REDUCE_SCATTER_BLOCK, 0, 0,   32 K,   COMMUTATIVE, DEEP_TORUS, "recursive_halving" },
    { COLLOPT_REDUCE_SCATTER_BLOCK, 0, 0,   32 K,   COMMUTATIVE, MESH,       "recursive_halving" },
    { COLLOPT_REDUCE_SCATTER_BLOCK, 0, 0,    0,     COMMUTATIVE, EVEN_TORUS, "swing_torus" },
    { COLLOPT_REDUCE_SCATTER_BLOCK, 0, 0,    0,     COMMUTATIVE, TORUS,      "bucket" },
    { COLLOPT_REDUCE_SCATTER_BLOCK, 0, 0,    0,     COMMUTATIVE, MESH,       "mesh" },
    { COLLOPT_REDUCE_SCATTER_BLOCK, 0, 0,   16 M,   COMMUTATIVE, EVERYWHERE, "circulant" },
    { COLLOPT_REDUCE_SCATTER_BLOCK, 0, 0,    0,     COMMUTATIVE, EVERYWHERE, "ring" },
    { COLLOPT_REDUCE_SCATTER_BLOCK, 0, 0,    0,     ANY,         EVERYWHERE, "pairwise" },

    { COLLOPT_SCAN,                 0, 0,   64 K,   ANY,         EVERYWHERE, "recursive_doubling" },
    { COLLOPT_SCAN,                 0, 3,    0,     ANY,         EVERYWHERE, "recursive_doubling" },
    { COLLOPT_SCAN,                 64, 0,   1 M,   ANY,         EVERYWHERE, "two_tree" },
    { COLLOPT_SCAN,                 512, 0,  0,     ANY,         EVERYWHERE, "two_tree" },
    { COLLOPT_SCAN,                 0, 0,    0,     ANY,         EVERYWHERE, "chain" },
    { COLLOPT_EXSCAN,               0, 0,   64 K,   ANY,         EVERYWHERE, "window_doubling" },
    { COLLOPT_EXSCAN,               0, 3,    0,     ANY,         EVERYWHERE, "window_doubling" },
    { COLLOPT_EXSCAN,               64, 0,   1 M,   ANY,         EVERYWHERE, "two_tree" },
    { COLLOPT_EXSCAN,               512, 0,  0,     ANY,         EVERYWHERE, "two_tree" },
    { COLLOPT_EXSCAN,               0, 0,    0,     ANY,         EVERYWHERE, "chain" },
};

static bool lopsided(const struct collopt_problem *p)
{
    for (int r = 0; r < p->ranks && p->counts; r++)
        if (p->counts[r] / 4 > p->count / (size_t)p->ranks)
            return true;
    return false;
}

/* Along two ranks it makes no difference whether there are links around. */
static bool is_torus(const struct collopt_grid *g, unsigned rings)
{
    for (int d = 0; d < g->sides; d++)
        if (g->side[d] > 2 && !(rings >> d & 1))
            return false;
    return true;
}

static bool sides_are_even(const struct collopt_grid *g)
{
    for (int d = 0; d < g->sides; d++)
        if (g->side[d] % 2)
            return false;
    return true;
}

static bool is_grid(enum where where, const struct collopt_topology *t)
{
    struct collopt_grid g;
    bool torus;

    if (!t->wired || !collopt_grid(&g, t->dims))
        return false;
    torus = is_torus(&g, t->rings);
    return where == GRID || (where == MESH && !torus) || (where == TORUS && torus)
        || (where == EVEN_TORUS && torus && sides_are_even(&g)) || (where == DEEP_TORUS && torus && g.sides > 2);
}

static bool is_there(enum where where, const struct collopt_problem *p)
{
    return where == EVERYWHERE || (where == CROWDED && p->topology->oversubscribed) || (where == LOPSIDED && lopsided(p))
        || (where >= GRID && is_grid(where, p->topology));
}

static bool fits(const struct row *r, const struct collopt_problem *p)
{
    return r->collective == p->collective && p->ranks >= r->ranks_least && (r->ranks_most == 0 || p->ranks <= r->ranks_most)
        && (r->bytes_most == 0 || p->count * p->size <= r->bytes_most) && (r->who == ANY || p->commutative)
        && is_there(r->where, p);
}

static bool built_in(const struct collopt_problem *p, struct collopt_decision *d)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct collopt_algorithm *a = fits(&rows[i], p)
            ? collopt_algorithm_named(p->collective, rows[i].algorithm, strlen(rows[i].algorithm)) : NULL;

        if (!a || !collopt_choice_usable(&(struct collopt_choice){ .algorithm = a }, p, NULL))
            continue;
        d->choice = (struct collopt_choice){ .algorithm = a };
        snprintf(d->why, sizeof d->why, "built-in table%s", where_names[rows[i].where]);
        return true;
    }
    return false;
}

/* ---- what the user forced ------------------------------------------------------------------------------------------- */

struct forced {
    bool given;
    struct collopt_choice choice;
    atomic_bool refused_once;
};

static struct forced forced[COLLOPT_COLLECTIVES];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* settings.c has warned of what cannot be parsed. */
static void read_forced(void)
{
    char message[256];

    for (int c = 0; c < COLLOPT_COLLECTIVES; c++) {
        const char *text = collopt_settings()->force[c];

        forced[c].given = text && collopt_parse_choice(text, (enum collopt_collective)c, &forced[c].choice, message,
                                                       sizeof message);
    }
}

static void name_variable(enum collopt_collective c, char *name, size_t size)
{
    snprintf(name, size, "COLLOPT_%s", collopt_collective_names[c]);
    for (char *s = name; *s; s++)
        if (*s >= 'a' && *s <= 'z')
            *s += 'A' - 'a';
}

static bool as_forced(const struct collopt_problem *p, struct collopt_decision *d)
{
    struct forced *f = &forced[p->collective];
    char variable[48];
    const char *why;

    if (!f->given)
        return false;
    name_variable(p->collective, variable, sizeof variable);
    if (!collopt_choice_usable(&f->choice, p, &why)) {
        if (!atomic_exchange(&f->refused_once, true))
            collopt_warn("%s=%s cannot serve %d ranks, %zu bytes: %s; the next choice is used", variable,
                         collopt_settings()->force[p->collective], p->ranks, p->count * p->size, why);
        return false;
    }
    d->choice = f->choice;
    snprintf(d->why, sizeof d->why, "forced by %s", variable);
    return true;
}

/* ---- what the user's rules say -------------------------------------------------------------------------------------- */

/* Of a long name the end, which says more. */
static void name_rule(const struct collopt_rules *rules, const struct collopt_rule *r, char *text, size_t size)
{
    enum { SHOWN = 100 };
    size_t n = strlen(rules->file);

    snprintf(text, size, "rule %s%s:%d", n > SHOWN ? "..." : "", rules->file + (n > SHOWN ? n - SHOWN : 0), r->line);
}

static bool by_rules(const struct collopt_problem *p, struct collopt_decision *d)
{
    const struct collopt_rules *rules = collopt_settings()->rules;
    const struct collopt_rule *r = NULL;
    char name[160];
    const char *why;

    while (rules && (r = collopt_rules_next(rules, p, r)) != NULL) {
        if (r->automatic)
            return false;
        if (!r->choice.algorithm || collopt_choice_usable(&r->choice, p, &why)) {
            d->choice = r->choice;
            name_rule(rules, r, d->why, sizeof d->why);
            return true;
        }
        name_rule(rules, r, name, sizeof name);
        collopt_say(COLLOPT_LOG_DECIDE, "%s, %s, cannot serve %s of %d ranks, %zu bytes: %s; the next line that matches is used",
                    name, r->choice.algorithm->name, collopt_collective_names[p->collective], p->ranks, p->count * p->size, why);
    }
    return false;
}

void collopt_select(const struct collopt_problem *p, struct collopt_decision *d)
{
    pthread_once(&once, read_forced);
    d->open = false;
    if (as_forced(p, d) || (p->anywhere ? collopt_select_reproducible(p, d) : by_rules(p, d)))
        return;
    d->open = !p->anywhere;
    if (!p->anywhere && built_in(p, d))
        return;
    d->choice = (struct collopt_choice){ 0 };
    snprintf(d->why, sizeof d->why, "no algorithm here can serve this");
}
