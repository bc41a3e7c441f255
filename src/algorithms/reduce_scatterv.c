/* Reduce_scatter as a Reduce to rank 0, which then gives the others their parts.
 *
 * Parts that are empty are no messages, so a vector of fewer elements than there are ranks costs
 * little more than its Reduce; and one of which rank 0 gets everything, nothing more: a
 * Reduce_scatter of one element. The algorithm of the Reduce is a parameter:
 * reduce_scatterv:reduce=(two_tree); when not given, that of least cost, or postal_tree where many
 * ranks get something and so another algorithm will serve better anyhow. Cost: the Reduce's, and
 * one message from rank 0 for each other rank that gets something. Scratch: the Reduce's and a
 * vector on rank 0. In rank order if the Reduce is. Folklore; the "nonoverlapping" algorithm of
 * Open MPI. That Reduce_scatter should be no slower than this: Traff, Gropp, Thakur,
 * Self-consistent MPI performance guidelines, IEEE TPDS 21, 2010. */
#include "config.h"

#include "mockup.h"
#include "catalogue/choice.h"
#include "model/choose.h"

enum { REDUCE, FEW = 4, LOOKED_AT = 8 };        /* the parameter; ranks that get something; of the
                                                 * algorithms of least cost */

/* Ranks other than 0 that get something. */
static int receivers(const struct collopt_problem *p)
{
    int n = 0;

    if (!p->counts)
        return p->ranks - 1;
    for (int r = 1; r < p->ranks; r++)
        n += p->counts[r] > 0;
    return n;
}

/* The longest part but that of rank 0, in bytes. */
static double longest(const struct collopt_problem *p)
{
    size_t most = p->counts ? 0 : p->count / (size_t)p->ranks;

    for (int r = 1; r < p->ranks && p->counts; r++)
        most = p->counts[r] > most ? p->counts[r] : most;
    return (double)most * (double)p->size;
}

/* ---- the algorithm of the Reduce ------------------------------------------------------------- */

extern const struct collopt_algorithm collopt_reduce_postal_tree;

static struct collopt_choice cheapest(const struct collopt_problem *reduce)
{
    struct collopt_candidate best[LOOKED_AT];
    int n = collopt_choose(reduce, LOOKED_AT, best);

    for (int i = 0; i < n; i++)
        if (!best[i].choice.algorithm->grouped)
            return best[i].choice;
    return (struct collopt_choice){ .algorithm = &collopt_reduce_postal_tree };
}

static size_t preset(const struct collopt_problem *p)
{
    const struct collopt_choice *said = collopt_choice_numbered(p->value[REDUCE]);
    struct collopt_choice choice = { .algorithm = &collopt_reduce_postal_tree };
    struct collopt_problem reduce = collopt_mockup(p, COLLOPT_REDUCE);

    if (said)
        choice = *said;
    else if (receivers(p) < FEW)
        choice = cheapest(&reduce);
    return collopt_mockup_value(p, choice);
}

static bool usable(const struct collopt_problem *p)
{
    return collopt_mockup_usable(p, p->value[REDUCE]);
}

static int segments(const struct collopt_problem *p)
{
    return collopt_mockup_segments(p, p->value[REDUCE]);
}

/* ---- the schedule ---------------------------------------------------------------------------- */

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    int parts = collopt_partition_counts(s), sum = COLLOPT_OUT;

    if (rank == 0)
        sum = collopt_vector_slot(s, whole());
    collopt_mockup_build(s, p, rank, p->value[REDUCE], sum);
    collopt_round(s);
    if (rank > 0) {
        collopt_receive(s, 0, out(block(parts, rank, 1)));
        return;
    }
    for (int r = 1; r < p->ranks; r++)
        collopt_send(s, r, at(sum, block(parts, r, 1)));
    collopt_copy(s, out(block(parts, 0, 1)), at(sum, block(parts, 0, 1)));
}

/* ---- traffic --------------------------------------------------------------------------------- */

/* To the ranks that get something, as if they were the same distance apart. */
static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    int n = receivers(p), last = p->ranks - 1;

    while (p->counts && last > 0 && p->counts[last] == 0)
        last--;
    collopt_mockup_traffic(p, p->value[REDUCE], t);
    if (n > 0)
        collopt_messages(t, 1, (struct collopt_messages){ .pattern = COLLOPT_TREE,
                                                          .distance = most(last / n, 1),
                                                          .bytes = longest(p), .fan = n,
                                                          .staggered = true });
}

COLLOPT_SCATTER_AND_BLOCK(reduce_scatterv,
    .name = "reduce_scatterv",
    .summary = "Reduce to rank 0, which gives the others their parts; where few ranks get anything",
    .order = COLLOPT_IN_ORDER, .source = "folklore; as in Open MPI (nonoverlapping)",
    .parameter = { COLLOPT_INNER("reduce", COLLOPT_REDUCE, preset, "the algorithm of the Reduce") },
    .usable = usable, .unfit = "the algorithm of its Reduce cannot serve", .segments = segments,
    .traffic = traffic, .build = build);
