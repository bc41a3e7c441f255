/* Near splitting: a reduce-scatter by groups of several ranks that exchange parts of what they
 * share, neighbours first.
 *
 * As recursive_splitting, but that the order of the levels is that of its Allreduce, which keeps
 * rank order, and by which the longest messages stay near where networks are wide. On the last
 * level the windows are those of others, whose digits are in reverse: each of these gets its part
 * from all ranks of the group, which takes no round of its own. Cost: 1 + sum of (f-1) messages, m;
 * (p-1)/p m combined. Scratch: about m.
 * Use it for medium and long vectors on many ranks, any operation.
 * Levels and parts as in recursive_splitting; the last level: collopt. */
#include "config.h"

#include "splitting.h"

/* The lowest rank of those that share a window in which PART is, when all levels but the last have
 * been split: the digits of the part in reverse. */
static int sharer_of(const struct collopt_levels *all, int ranks, int part)
{
    int sharer = 0, width = 1;

    for (int l = 0; l < all->levels - 1; width *= all->radix[l++]) {
        ranks /= all->radix[l];
        sharer += part / ranks * width;
        part %= ranks;
    }
    return sharer;
}

/* The last level: F ranks, WIDTH apart, share a window of the parts of F others, and send each of
 * these its own. */
static void give(struct collopt_window *w, const struct collopt_levels *all, int ranks, int width,
                 int f)
{
    int digit = w->rank / width, sharer = sharer_of(all, ranks, w->rank), number = w->rank % f;
    struct collopt_block own = block(w->partition, w->rank, 1);
    struct collopt_region operand[COLLOPT_FOLD_OPERANDS];

    collopt_round(w->s);
    for (int j = 0; j < f; j++) {
        int to = w->first + (digit + j) % f, from = modulo(number - j, f);

        if (to != w->rank)
            collopt_send(w->s, to, at(w->mine, block(w->partition, to, 1)));
        operand[from] = at(w->mine, own);
        if (sharer + from * width != w->rank) {
            operand[from] = at(collopt_packed_slot(w->s), own);
            collopt_receive(w->s, sharer + from * width, operand[from]);
        }
    }
    collopt_fold(w->s, out(own), f, operand);
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct collopt_levels all = collopt_split_levels(p);
    struct collopt_window w = collopt_window(s, p, rank, collopt_partition_counts(s), p->ranks);
    int last = all.levels - 1, f = all.levels ? all.radix[0] : 1, width = 1;

    if (last > 0)
        w.sums =
            collopt_vector_slot(s, block(w.partition, p->ranks / f * (rank % f), p->ranks / f));
    for (int l = 0; l < last; width *= all.radix[l++])
        collopt_split(&w, width, all.radix[l], false);
    if (last == 0)
        collopt_split(&w, 1, p->ranks, true);
    if (last > 0)
        give(&w, &all, p->ranks, width, all.radix[last]);
}

/* How far apart the ends of the machine's longest way are; or WIDTH. */
static int farthest(const struct collopt_problem *p, int width)
{
    struct collopt_grid g;
    int distance = 0;

    if (p->abreast > 0 || !p->topology->wired || !collopt_grid(&g, p->topology->dims))
        return width;
    for (int d = 0; d < g.sides; d++)
        distance += g.stride[d] * (p->topology->rings >> d & 1 ? g.side[d] / 2 : g.side[d] - 1);
    return distance;
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    struct collopt_levels all = collopt_split_levels(p);
    double bytes = vector_bytes(p);
    int width = 1;

    for (int l = 0; l < all.levels; width *= all.radix[l++]) {
        bool gives = l > 0 && l == all.levels - 1;
        int far = gives ? farthest(p, width) : width;
        struct collopt_messages m =
            collopt_split_messages(all.radix[l] + gives, far, bytes /= all.radix[l]);

        m.combined = (all.radix[l] - 1) * bytes;
        m.farthest_first = !gives;
        collopt_messages(t, 1, m);
    }
}

COLLOPT_SPLIT_LEVEL_PRESETS(reduce_scatter_near_splitting, false)

COLLOPT_SCATTER_AND_BLOCK(near_splitting,
    .name = "near_splitting",
    .summary = "neighbours exchange parts first, each group sends ranks their own last; medium and "
               "long vectors",
    .order = COLLOPT_IN_ORDER,
    .source = "parts: Rabenseifner, ICCS 2004; radices: Ruefenacht, Bull and Booth, EuroMPI 2016; "
              "in MPICH",
    .parameter = { COLLOPT_SPLIT_LEVELS(reduce_scatter_near_splitting) },
    .usable = collopt_split_usable, .unfit = COLLOPT_SPLIT_UNFIT, .traffic = traffic,
    .build = build);
