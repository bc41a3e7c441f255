/* Strided splitting: a reduce-scatter by groups of several ranks that exchange parts of what they
 * share, neighbours first, whose windows are ranks' parts at a stride.
 *
 * On a level of radix f whose ranks are w apart a rank has the parts of those that are like it
 * modulo w. It keeps those of ranks like it modulo w f and sends each other one of its group that
 * one's, so that on the last level everybody has his own. near_splitting, whose windows are
 * stretches of the vector, has to send these far away in the end; here what is sent and combined
 * lies scattered, and hosts have to pack it. Rank order is kept. Radices as in recursive_splitting.
 * Cost: sum of (f-1) messages, (p-1)/p m sent, packed and combined. Scratch: about 2m.
 * Use it for short and medium vectors on grids, where groups are on lines and the ends of the
 * machine are far apart. With radix 2, and all parts put in bit-reversed order beforehand, MPICH's
 * for operations that do not commute; lists of parts, and radices: collopt. */
#include "config.h"

#include <stdlib.h>

#include "splitting.h"

/* The window of ranks that equal this one modulo WIDTH, as F smaller ones in sequence. */
static void set_out(const struct collopt_window *w, int width, int f, struct collopt_block *list)
{
    int parts = w->parts / f;

    for (int digit = 0; digit < f; digit++)
        for (int i = 0; i < parts; i++)
            list[digit * parts + i] =
                block(w->partition, w->rank % width + digit * width + i * width * f, 1);
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct collopt_levels all = collopt_split_levels(p);
    struct collopt_block *list = collopt_workspace(s, (size_t)p->ranks * sizeof *list);
    struct collopt_window w = collopt_window(s, p, rank, collopt_partition_counts(s), p->ranks);

    w.list = list;
    if (all.levels > 1)
        w.sums = collopt_accumulator(s);
    for (int l = 0, width = 1; list && l < all.levels; width *= all.radix[l++]) {
        set_out(&w, width, all.radix[l], list);
        collopt_split(&w, width, all.radix[l], l == all.levels - 1);
    }
    free(list);
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    struct collopt_levels all = collopt_split_levels(p);
    double bytes = vector_bytes(p), blocks = p->ranks;
    int width = 1;

    for (int l = 0; l < all.levels; width *= all.radix[l++]) {
        int f = all.radix[l];
        struct collopt_messages m = collopt_split_messages(f, width, bytes /= f);

        m.combined = (f - 1) * bytes;
        collopt_messages(t, 1, m);
        collopt_traffic_scattered(t, p, f - 1, blocks /= f, bytes);
    }
}

COLLOPT_SPLIT_LEVEL_PRESETS(reduce_scatter_strided_splitting, false)

COLLOPT_SCATTER_AND_BLOCK(strided_splitting,
    .name = "strided_splitting",
    .summary = "groups exchange parts at a stride, neighbours first; short and medium vectors on "
               "grids",
    .order = COLLOPT_IN_ORDER,
    .source = "radix 2: MPICH; radices: Ruefenacht, Bull and Booth, EuroMPI 2016",
    .parameter = { COLLOPT_SPLIT_LEVELS(reduce_scatter_strided_splitting) },
    .usable = collopt_split_usable, .unfit = COLLOPT_SPLIT_UNFIT, .traffic = traffic,
    .build = build);
