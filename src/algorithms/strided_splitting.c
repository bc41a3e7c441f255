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

/* One rank on its way through the levels. */
struct strides {
    const struct collopt_problem *p;
    int rank, partition, have;  /* HAVE: where the sums are; IN at first */
    struct collopt_block *list; /* of a level: the parts of its first rank's window, then of the
                                 * second's ... */
    int blocks;                 /* of each of these */
};

/* The window of ranks that equal this one modulo WIDTH, cut in F smaller ones in sequence. */
static void set_out(struct strides *w, int width, int f)
{
    w->blocks = w->p->ranks / (width * f);
    for (int digit = 0; digit < f; digit++)
        for (int i = 0; i < w->blocks; i++)
            w->list[digit * w->blocks + i] =
                block(w->partition, w->rank % width + digit * width + i * width * f, 1);
}

static struct collopt_region window(const struct strides *w, int place, int digit)
{
    return at_list(place, w->blocks, w->list + digit * w->blocks);
}

static void exchange(struct collopt_schedule *s, struct strides *w, int width, int f, int sum)
{
    int digit = collopt_digit(w->rank, width, f), others[COLLOPT_FOLD_OPERANDS];
    struct collopt_region operand[COLLOPT_FOLD_OPERANDS];

    set_out(w, width, f);
    collopt_farthest_first(w->p->topology, width, f, digit, others);
    collopt_round(s);
    for (int j = 1; j < f; j++) {
        int to = others[j - 1], from = modulo(digit - j, f);

        operand[from] = window(w, collopt_packed_slot(s), digit);
        collopt_send(s, w->rank + (to - digit) * width, window(w, w->have, to));
        collopt_receive(s, w->rank + (from - digit) * width, operand[from]);
    }
    operand[digit] = window(w, w->have, digit);
    collopt_fold(s, window(w, sum, digit), f, operand);
    w->have = sum;
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct collopt_levels all = collopt_split_levels(p);
    struct strides w = { .p = p, .rank = rank, .partition = collopt_partition_counts(s),
                         .have = COLLOPT_IN };
    int width = 1;

    w.list = collopt_workspace(s, (size_t)p->ranks * sizeof *w.list);
    for (int l = 0; w.list && l < all.levels; width *= all.radix[l++])
        exchange(s, &w, width, all.radix[l],
                 l == all.levels - 1 ? COLLOPT_OUT : collopt_accumulator(s));
    free(w.list);
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
