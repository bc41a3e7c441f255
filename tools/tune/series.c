/* From measured cells to choices.
 *
 * Every size that was asked for stands for the sizes around it, as far as the geometric middle to
 * its neighbours. At each size some choices are as good as any: the fastest algorithm, and those
 * that are hardly slower and whose intervals overlap with its; or the host's own collective alone,
 * where no interval is above 1.  Sizes go into one range as long as one choice is good for all of
 * them, from the smallest on, which gives as few ranges as there can be.  Of choices that are good
 * for the same range, the one with the fewest messages is taken. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune/series.h"
#include "schedule/problem.h"
#include "tune/cells.h"
#include "tune/options.h"
#include "tune/text.h"

static const double hardly = 0.95;      /* of the best ratio */
/* a smallest size up to this stands for all that are smaller */
static const size_t tiny = 64;

/* ---- a series: what was measured for one collective and one kind of operation ---------------- */

static const struct tune_cell *cell_at(const struct tune_cells *all, const struct tune_series *s,
                                       size_t bytes, int operation)
{
    for (int i = 0; i < all->n; i++)
        if (all->cell[i].collective == s->collective && all->cell[i].operation == operation
            && all->cell[i].bytes == bytes)
            return &all->cell[i];
    return NULL;
}

/* Geometric means over the operations of the kind; false: NAME was not measured with one of
 * them. */
static bool mean(const struct tune_cells *all, const struct tune_series *s, size_t bytes,
                 const char *name, struct tune_choice *sum)
{
    double logs[3] = { 0 };
    int n = 0;

    for (int o = 0; o < TUNE_OPERATIONS; o++) {
        const struct tune_cell *c = strcmp(tune_operations[o].kind, s->kind) == 0
            ? cell_at(all, s, bytes, o)
            : NULL;
        const struct tune_candidate *k = NULL;

        for (int i = 0; c && i < c->candidates; i++)
            if (c->candidate[i].state == TUNE_MEASURED && strcmp(c->candidate[i].name, name) == 0)
                k = &c->candidate[i];
        if (!c)
            continue;
        if (!k)
            return false;
        logs[0] += log(k->ratio);
        logs[1] += log(k->low);
        logs[2] += log(k->high);
        n++;
    }
    if (n == 0)
        return false;
    *sum = (struct tune_choice){ name, exp(logs[0] / n), exp(logs[1] / n), exp(logs[2] / n), 0 };
    return true;
}

static int by_ratio(const void *x, const void *y)
{
    const struct tune_choice *a = x, *b = y;

    return (a->ratio < b->ratio) - (a->ratio > b->ratio);
}

static void find_good_ones(struct tune_point *p)
{
    qsort(p->choice, (size_t)p->choices, sizeof *p->choice, by_ratio);
    p->best = p->choices ? p->choice[0] : (struct tune_choice){ .name = "" };
    if (p->choices == 0 || p->best.low <= 1) {
        p->choice[0] = (struct tune_choice){ "host", 1, 1, 1, 0 };
        p->choices = p->good = 1;
        return;
    }
    for (p->good = 1; p->good < p->choices; p->good++) {
        const struct tune_choice *c = &p->choice[p->good];

        if (c->low <= 1 || c->high < p->best.low || c->ratio < hardly * p->best.ratio)
            break;
    }
}

static bool is_cell(const struct tune_cells *all, const struct tune_series *s, size_t bytes)
{
    for (int o = 0; o < TUNE_OPERATIONS; o++)
        if (strcmp(tune_operations[o].kind, s->kind) == 0 && cell_at(all, s, bytes, o))
            return true;
    return false;
}

/* False: nothing was measured there, or not all. */
static bool take_point(const struct tune_cells *all, const struct tune_series *s, size_t bytes,
                       struct tune_point *p)
{
    const struct tune_cell *first = NULL;
    struct tune_choice built_in;
    bool worse = false, some_wide = false;

    p->bytes = bytes;
    p->choices = p->good = 0;
    for (int o = 0; o < TUNE_OPERATIONS; o++) {
        const struct tune_cell *c = strcmp(tune_operations[o].kind, s->kind) == 0
            ? cell_at(all, s, bytes, o)
            : NULL;

        if (c && tune_cell_open(c))
            return false;
        first = first ? first : c;
        worse = worse || (c && c->worse);
    }
    for (int i = 0; first && i < first->candidates; i++) {
        struct tune_choice *c = &p->choice[p->choices];
        bool measured = mean(all, s, bytes, first->candidate[i].name, c),
             wide = measured && c->high > TUNE_FAR * c->low;

        p->choices += measured && !wide;
        some_wide = some_wide || wide;
    }
    built_in = (struct tune_choice){ "host", 1, 1, 1, 0 };
    if (first && first->built_in)
        mean(all, s, bytes, first->candidate[0].name, &built_in);
    p->plain = built_in.name;
    p->built_in = built_in.ratio;
    find_good_ones(p);
    for (int i = 0; first && i < p->good; i++)
        p->choice[i].messages = tune_messages(&all->machine, first, p->choice[i].name);
    /* noise is no reason to leave what is chosen without rules */
    if (worse || (some_wide && strcmp(p->choice[0].name, "host") == 0)) {
        p->choice[0] = built_in;
        p->choices = p->good = 1;
    }
    return first != NULL;
}

/* Between two sizes in the geometric sense, a power of two if there is one: LEAST or more, but less
 * than MOST. */
static size_t middle(double least, double most)
{
    double power = 1;

    while (2 * power * power < least * most)            /* to the nearest power, by ratio */
        power *= 2;
    return power < least ? (size_t)least : power >= most ? (size_t)most - 1 : (size_t)power;
}

/* The I-th size of O.  Beyond the last one: as far from it as it is from its neighbour. */
static double size_at(const struct tune_options *o, int i)
{
    int last = o->sizes - 1;

    if (i >= 0 && i <= last)
        return (double)o->size[i];
    if (last == 0)
        return i < 0 ? (double)o->size[0] / 4 : (double)o->size[0] * 4;
    return i < 0 ? (double)o->size[0] * (double)o->size[0] / (double)o->size[1]
                 : (double)o->size[last] * (double)o->size[last] / (double)o->size[last - 1];
}

static void take_points(const struct tune_cells *all, const struct tune_options *o,
                        struct tune_series *s)
{
    bool first = true;                  /* nothing shorter is a cell */

    for (int i = 0; i < o->sizes; i++) {
        struct tune_point *p = &s->point[s->points];
        bool cell = is_cell(all, s, o->size[i]);

        p->least = first && (i > 0 || o->size[0] <= tiny)
            ? 0
            : middle(size_at(o, i - 1), size_at(o, i));
        p->most = middle(size_at(o, i), size_at(o, i + 1));
        s->points += cell && take_point(all, s, o->size[i], p);
        first = first && !cell;
    }
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static const struct tune_choice *good_at(const struct tune_point *p, const char *name)
{
    for (int i = 0; i < p->good; i++)
        if (strcmp(p->choice[i].name, name) == 0)
            return &p->choice[i];
    return NULL;
}

/* The number of points from FROM on for which NAME is good; *MESSAGES: how many it sends there. */
static int reach(const struct tune_series *s, int from, const char *name, size_t *messages)
{
    int n = 0;
    const struct tune_choice *c;

    *messages = 0;
    while (from + n < s->points
           && (n == 0 || s->point[from + n].least == s->point[from + n - 1].most)
           && (c = good_at(&s->point[from + n], name))) {
        *messages += c->messages;
        n++;
    }
    return n;
}

/* The choice that is good for most points from FROM on; *POINTS: how many.  Of several: the one
 * that is taken without rules, else the one with the fewest messages, which takes least time from
 * the program, else the fastest. */
static const char *farthest(const struct tune_series *s, int from, int *points)
{
    const struct tune_point *p = &s->point[from];
    const char *best = p->choice[0].name;
    size_t fewest = 0, messages;

    *points = 0;
    for (int i = 0; i < p->good; i++) {
        int n = reach(s, from, p->choice[i].name, &messages);

        if (strcmp(p->choice[i].name, p->plain) == 0)
            messages = 0;
        if (n > *points || (n == *points && messages < fewest)) {
            *points = n;
            fewest = messages;
            best = p->choice[i].name;
        }
    }
    return best;
}

static void take_ranges(struct tune_series *s)
{
    for (int from = 0, points; from < s->points; from += points) {
        const char *name = farthest(s, from, &points);

        for (int i = from; i < from + points; i++) {
            s->point[i].chosen = *good_at(&s->point[i], name);
            s->point[i].last = from + points - 1;
        }
    }
}

struct tune_series *tune_series(const struct tune_cells *all, const struct tune_options *o, int *n)
{
    /* the narrower one first */
    static const char *const kinds[] = { "exact", "commutative", "noncommutative" };
    enum { KINDS = sizeof kinds / sizeof *kinds };
    struct tune_series *list = tune_must(calloc(COLLOPT_COLLECTIVES * KINDS, sizeof *list));

    *n = 0;
    for (int i = 0; i < COLLOPT_COLLECTIVES * KINDS; i++) {
        struct tune_series *s = &list[*n];

        s->collective = (enum collopt_collective)(i / KINDS);
        s->kind = kinds[i % KINDS];
        take_points(all, o, s);
        take_ranges(s);
        *n += s->points > 0;
    }
    return list;
}
