/* Levels on which several ranks do something together: what the number of ranks is a product of. */
#include "config.h"

#include <limits.h>
#include <math.h>

#include "algorithm.h"

static const struct collopt_parameter radices = COLLOPT_RADICES(NULL);

struct collopt_levels collopt_listed_levels(size_t list)
{
    size_t ranks = collopt_list_product(&radices, list);
    struct collopt_levels f = { .ranks = ranks < INT_MAX ? (int)ranks : INT_MAX,
                                .levels = collopt_list_length(&radices, list) };

    for (int l = 0; l < f.levels; l++)
        f.radix[l] = (int)collopt_list_at(&radices, list, l);
    return f;
}

struct collopt_levels collopt_factors(int ranks, int radix)
{
    struct collopt_levels f = { .levels = 0, .ranks = ranks };
    int left = ranks;

    while (left > 1) {
        int take = least(radix, left);

        while (take > 1 && left % take)
            take--;
        if (take == 1)
            return (struct collopt_levels){ .levels = 0 };
        f.radix[f.levels++] = take;
        left /= take;
    }
    return f;
}

int collopt_widest_level(struct collopt_levels f)
{
    int radix = 2;

    for (int l = 0; l < f.levels; l++)
        radix = most(radix, f.radix[l]);
    return radix;
}

/* ---- levels along the sides of a grid -------------------------------------------------------- */

enum { MOST_LISTED = 8 * (int)sizeof(size_t) / COLLOPT_RADIX_BITS };

/* One way to go along each side: by groups of up to RADIX, the large ones first or last. */
struct ways {
    const struct collopt_grid *grid;
    int radix[COLLOPT_SIDES];
    bool small_first[COLLOPT_SIDES], outermost_first;
};

/* 0: it has too many levels, or a side has a larger prime factor. */
static size_t list_of(const struct ways *w)
{
    size_t list = 0;
    int n = 0;

    for (int i = 0; i < w->grid->sides; i++) {
        int d = w->outermost_first ? i : w->grid->sides - 1 - i;
        struct collopt_levels f = collopt_factors(w->grid->side[d], w->radix[d]);

        if (f.levels == 0 || n + f.levels > MOST_LISTED)
            return 0;
        for (int l = 0; l < f.levels; l++)
            list |= (size_t)f.radix[w->small_first[d] ? f.levels - 1 - l : l]
                << COLLOPT_RADIX_BITS * n++;
    }
    return list;
}

/* The best of the ways along side D while the others go on as they do: W has it then. Returns its
 * list, or BEST as it was. */
static size_t try_side(const struct collopt_algorithm *a, const struct collopt_problem *p,
                       struct ways *w, int d, size_t best, double *least_time,
                       collopt_levels_seconds *seconds)
{
    struct ways fastest = *w;
    int before = 0;

    for (int radix = COLLOPT_FOLD_OPERANDS; radix >= 2; radix--) {
        struct collopt_levels f = collopt_factors(w->grid->side[d], radix);

        if (f.levels == 0 || f.radix[0] == before)      /* as with a larger one */
            continue;
        before = f.radix[0];
        for (int small_first = 0; small_first <= (f.radix[0] != f.radix[f.levels - 1]);
             small_first++) {
            size_t list;
            double time;

            w->radix[d] = radix;
            w->small_first[d] = small_first;
            if ((list = list_of(w)) == 0
                || (time = seconds(a, p, list)) >= *least_time * (1 - 1e-9))
                continue;
            *least_time = time;
            best = list;
            fastest = *w;
        }
    }
    *w = fastest;
    return best;
}

size_t collopt_preset_radices(const struct collopt_algorithm *a, const struct collopt_problem *p,
                              bool outermost_first, double least_time,
                              collopt_levels_seconds *seconds)
{
    struct collopt_grid g = collopt_grid_proper(p->topology->dims);
    struct ways w = { .grid = &g, .outermost_first = outermost_first };
    double time = HUGE_VAL;
    size_t best = 0;

    if (!p->topology->wired || p->abreast > 0)
        return 0;
    for (int d = 0; d < g.sides; d++)
        w.radix[d] = COLLOPT_FOLD_OPERANDS;
    for (int d = 0; d < g.sides; d++)
        best = try_side(a, p, &w, d, best, &time, seconds);
    return time < least_time * (1 - 1e-9) ? best : 0;
}
