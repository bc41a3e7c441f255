/* The common part of algorithms that split windows among groups of ranks. See splitting.h. */
#include "config.h"

#include <math.h>

#include "splitting.h"
#include "model/model.h"

struct collopt_levels collopt_split_levels(const struct collopt_problem *p)
{
    struct collopt_levels none = { .levels = 0 }, listed;

    if (p->value[COLLOPT_SPLIT_RADICES] == 0)
        return collopt_factors(p->ranks, (int)p->value[COLLOPT_SPLIT_RADIX]);
    listed = collopt_listed_levels(p->value[COLLOPT_SPLIT_RADICES]);
    return listed.ranks == p->ranks ? listed : none;
}

bool collopt_split_usable(const struct collopt_problem *p)
{
    return collopt_split_levels(p).ranks == p->ranks;
}

int collopt_split_chunks(const struct collopt_problem *p)
{
    return most((int)p->value[COLLOPT_SPLIT_CHUNKS], 1);
}

int collopt_split_strands(const struct collopt_problem *p)
{
    return most((int)p->value[COLLOPT_SPLIT_STRANDS], 1);
}

struct collopt_course collopt_split_course(const struct collopt_problem *p, int strand)
{
    struct collopt_levels all = collopt_split_levels(p);
    size_t splits = p->value[COLLOPT_SPLIT_SPLITS];
    struct collopt_course c = { .levels = all.levels, .windows = 1 };
    int begin = all.levels * strand / collopt_split_strands(p);

    c.splits = splits > 0 && splits < (size_t)all.levels ? (int)splits : all.levels;
    for (int l = 0, width = 1; l < all.levels; width *= all.radix[l++]) {
        int at = modulo(l - begin, all.levels);

        c.radix[at] = all.radix[l];
        c.width[at] = width;
        c.windows *= at < c.splits ? all.radix[l] : 1;
    }
    return c;
}

struct collopt_block collopt_window_part(const struct collopt_window *w, int f, int digit)
{
    return block(w->partition, w->first + w->parts / f * digit, w->parts / f);
}

static struct collopt_region part_at(const struct collopt_window *w, int place, int f, int digit)
{
    int n = w->parts / f;

    return w->list ? at_list(place, n, w->list + digit * n)
                   : at(place, collopt_window_part(w, f, digit));
}

void collopt_split(struct collopt_window *w, int width, int f, bool last)
{
    int digit = collopt_digit(w->rank, width, f), others[COLLOPT_FOLD_OPERANDS];
    struct collopt_block own = collopt_window_part(w, f, digit);
    struct collopt_region operand[COLLOPT_FOLD_OPERANDS];

    collopt_farthest_first(w->topology, width, f, digit, others);
    collopt_round(w->s);
    for (int j = 1; j < f; j++) {
        int to = others[j - 1], from = modulo(digit - j, f);
        /* nothing is there yet */
        bool straight = w->mine == COLLOPT_IN && j == 1 && !w->list;

        operand[from] = part_at(w, straight ? w->sums : collopt_packed_slot(w->s), f, digit);
        collopt_send(w->s, w->rank + (to - digit) * width, part_at(w, w->mine, f, to));
        collopt_receive(w->s, w->rank + (from - digit) * width, operand[from]);
    }
    operand[digit] = part_at(w, w->mine, f, digit);
    collopt_fold(w->s, part_at(w, last ? COLLOPT_OUT : w->sums, f, digit), f, operand);
    w->first = own.first;
    w->parts = own.parts;
    w->mine = w->sums;
}

/* ---- traffic --------------------------------------------------------------------------------- */

struct collopt_messages collopt_split_messages(int f, int width, double bytes)
{
    return (struct collopt_messages){ .pattern = COLLOPT_PAIRS, .distance = width, .bytes = bytes,
                                      .fan = f - 1, .farthest_first = true };
}

/* ---- presets --------------------------------------------------------------------------------- */

/* Larger groups reach farther, and share links with all that they send at once. Simulated,
 * Allreduce of 512 KiB on 64 ranks, radix 2, 4, 8: on a dragonfly 148, 108, 195 us, on a fat tree
 * 96, 90, 88. On a grid it is known what they share. */
static int most_preset(const struct collopt_problem *p)
{
    return p->topology->wired && p->abreast == 0 ? COLLOPT_FOLD_OPERANDS : 4;
}

/* Are all levels on lines of the machine's grid, and does each strand begin on another side? */
static bool on_sides(const struct collopt_problem *p)
{
    struct collopt_grid g = collopt_grid_proper(p->topology->dims);
    bool begun[COLLOPT_SIDES] = { false }, ring;

    for (int i = 0; i < collopt_split_strands(p); i++) {
        struct collopt_course c = collopt_split_course(p, i);
        int side = 0;

        for (int l = 0; l < c.levels; l++)
            if (!collopt_on_lines(p->topology, c.width[l], c.radix[l], &ring))
                return false;
        while (side < g.sides && g.stride[side] != c.width[0])
            side++;
        if (side == g.sides || begun[side])
            return false;
        begun[side] = true;
    }
    return true;
}

/* On a grid strands that begin on different sides are on links of their own; and the time that this
 * takes, in as many chunks as are best. Of shorter vectors more messages take longer than links do.
 * Strands are to be faster by so much, whatever else differs: a Reduce of 64 KiB on a torus of
 * 16x8x8 is predicted to take 41.2 us in one strand and 38.5 in three, and simulated 32.7 and
 * 37.6. */
static size_t best_strands(const struct collopt_algorithm *a, struct collopt_problem with,
                           double *seconds)
{
    static const double differs = 0.9;
    size_t given = with.value[COLLOPT_SPLIT_STRANDS], best = given ? given : 1;
    bool grid = with.topology->wired && with.abreast == 0 && !with.anywhere;
    int sides = grid ? collopt_grid_proper(with.topology->dims).sides : 1;
    bool tried = given == 0 && with.commutative && sides > 1
        && vector_bytes(&with) >= COLLOPT_CHUNKS_FROM;
    double only;

    if (!seconds && !tried)
        return best;
    seconds = seconds ? seconds : &only;
    collopt_preset_chunks(a, &with, COLLOPT_SPLIT_CHUNKS, seconds);
    for (int strands = 2; strands <= sides && tried; strands++) {
        double time;

        with.value[COLLOPT_SPLIT_STRANDS] = (size_t)strands;
        if (!on_sides(&with))
            continue;
        collopt_preset_chunks(a, &with, COLLOPT_SPLIT_CHUNKS, &time);
        if (time / differs < *seconds) {
            best = (size_t)strands;
            *seconds = time / differs;
        }
    }
    return best;
}

/* How many of WITH's levels are best split, where it doesn't say; and the time that this takes, in
 * the best chunks and strands. Where there are several, what is hardly faster by the model need not
 * be so, and more splits send less. */
static size_t best_splits(const struct collopt_algorithm *a, struct collopt_problem with,
                          double *seconds)
{
    int levels = collopt_split_levels(&with).levels, given = (int)with.value[COLLOPT_SPLIT_SPLITS];
    double differs =
        with.topology->wired || vector_bytes(&with) < COLLOPT_CHUNKS_FROM ? 1 - 1e-9 : 0.98;
    size_t best = 0;
    double only;

    if (!a->parameter[COLLOPT_SPLIT_SPLITS].name) {
        if (seconds)
            *seconds = collopt_model(a, &with);
        return 1;
    }
    if (given > 0 || levels < 2) {
        if (seconds)
            best_strands(a, with, seconds);
        return given > 0 ? (size_t)given : 1;
    }
    seconds = seconds ? seconds : &only;
    for (int splits = levels; splits >= 1; splits--) {
        double time;

        with.value[COLLOPT_SPLIT_SPLITS] = (size_t)splits;
        best_strands(a, with, &time);
        if (best == 0 || time < *seconds * differs) {
            best = (size_t)splits;
            *seconds = time;
        }
    }
    return best;
}

/* The radix whose levels are fastest, and the time that they take; 2 where none serves. */
static size_t best_radix(const struct collopt_algorithm *a, struct collopt_problem with,
                         double *seconds)
{
    size_t best = 0;
    int most_tried = most_preset(&with);

    *seconds = HUGE_VAL;
    for (int radix = 2; radix <= most_tried || (best == 0 && radix <= COLLOPT_FOLD_OPERANDS);
         radix++) {
        struct collopt_levels f = collopt_factors(with.ranks, radix);
        double time;

        if (f.ranks != with.ranks || collopt_widest_level(f) < radix)   /* as with a smaller one */
            continue;
        with.value[COLLOPT_SPLIT_RADIX] = (size_t)radix;
        best_splits(a, with, &time);
        if (time < *seconds * (1 - 1e-9)) {
            best = (size_t)radix;
            *seconds = time;
        }
    }
    return best ? best : 2;
}

size_t collopt_split_preset_radix(const struct collopt_algorithm *a,
                                  const struct collopt_problem *p)
{
    double seconds;

    return p->value[COLLOPT_SPLIT_RADICES] ? (size_t)collopt_widest_level(collopt_split_levels(p))
                                           : best_radix(a, *p, &seconds);
}

static double seconds_with(const struct collopt_algorithm *a, const struct collopt_problem *p,
                           size_t list)
{
    struct collopt_problem with = *p;
    double seconds;

    with.value[COLLOPT_SPLIT_RADICES] = list;
    best_splits(a, with, &seconds);
    return seconds;
}

/* FAR: the first level is of ranks that are far apart. Where not all levels need be split lists
 * have more to choose from than the model can tell apart: on a mesh of 8x8 an Allreduce of 128 KiB
 * is predicted to take 51.4 us with radices 8x2x4 and 53.5 with radix 4, and is simulated to take
 * 57.5 and 50.8. */
size_t collopt_split_preset_radices(const struct collopt_algorithm *a,
                                    const struct collopt_problem *p, bool far)
{
    static const double differs = 0.9;
    double least_time;

    if (p->value[COLLOPT_SPLIT_RADIX] > 0 || !p->topology->wired)
        return 0;
    best_radix(a, *p, &least_time);
    return collopt_preset_radices(a, p, far,
                                  least_time
                                      * (a->parameter[COLLOPT_SPLIT_SPLITS].name ? differs : 1),
                                  seconds_with);
}

size_t collopt_split_preset_splits(const struct collopt_algorithm *a,
                                   const struct collopt_problem *p)
{
    return best_splits(a, *p, NULL);
}

size_t collopt_split_preset_chunks(const struct collopt_algorithm *a,
                                   const struct collopt_problem *p)
{
    return collopt_preset_chunks(a, p, COLLOPT_SPLIT_CHUNKS, NULL);
}

size_t collopt_split_preset_strands(const struct collopt_algorithm *a,
                                    const struct collopt_problem *p)
{
    return best_strands(a, *p, NULL);
}
