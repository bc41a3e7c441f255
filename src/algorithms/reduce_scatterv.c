/* Reduce_scatter as a Reduce to rank 0, which then gives the others their parts.
 *
 * Parts that are empty are no messages, so a vector of fewer elements than there are ranks costs little more than its Reduce; and
 * one of which rank 0 gets everything, nothing more: a Reduce_scatter of one element.  The algorithm of the Reduce is a parameter:
 * reduce_scatterv:reduce=(two_tree); when not given, that of least cost, or postal_tree where many ranks get something and so
 * another algorithm will serve better anyhow.  Cost: the Reduce's, and one message from rank 0 for each other rank that gets
 * something.  Scratch: the Reduce's and a vector on rank 0.  In rank order if the Reduce is.
 * Folklore; the "nonoverlapping" algorithm of Open MPI.  That Reduce_scatter should be no slower than this: Traff, Gropp, Thakur,
 * Self-consistent MPI performance guidelines, IEEE TPDS 21, 2010. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "algorithm.h"
#include "internal.h"
#include "select/choose.h"
#include "select/model.h"

enum { REDUCE, FEW = 4, LOOKED_AT = 8 };        /* the parameter; ranks that get something; of the algorithms of least cost */

static struct collopt_problem reduce_of(const struct collopt_problem *p)
{
    struct collopt_problem reduce = *p;

    reduce.collective = COLLOPT_REDUCE;
    reduce.counts = NULL;
    reduce.segments = 1;
    memset(reduce.value, 0, sizeof reduce.value);
    return reduce;
}

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

/* ---- the algorithm of the Reduce -------------------------------------------------------------------------------------- */

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
    struct collopt_problem reduce = reduce_of(p);

    if (said)
        choice = *said;
    else if (receivers(p) < FEW)
        choice = cheapest(&reduce);
    collopt_set_parameters(&reduce, &choice);
    memcpy(choice.value, reduce.value, sizeof choice.value);
    return collopt_choice_number(&choice);
}

/* P's Reduce with all its parameters. */
static struct collopt_problem complete(const struct collopt_problem *p, const struct collopt_choice *choice)
{
    struct collopt_problem reduce = reduce_of(p);

    memcpy(reduce.value, choice->value, sizeof reduce.value);
    reduce.segments = p->segments;
    return reduce;
}

static bool usable(const struct collopt_problem *p)
{
    const struct collopt_choice *choice = collopt_choice_numbered(p->value[REDUCE]);
    struct collopt_problem reduce;

    if (!choice || choice->algorithm->grouped)
        return false;
    reduce = complete(p, choice);
    return collopt_usable(choice->algorithm, &reduce, NULL);
}

static int segments(const struct collopt_problem *p)
{
    const struct collopt_choice *choice = collopt_choice_numbered(p->value[REDUCE]);
    struct collopt_problem reduce;

    if (!choice || !choice->algorithm->segments)
        return 1;
    reduce = complete(p, choice);
    return choice->algorithm->segments(&reduce);
}

/* ---- the schedule ------------------------------------------------------------------------------------------------------ */

/* To RESULT of rank 0. */
static void reduce_all(struct collopt_schedule *s, const struct collopt_problem *p, int rank, int result)
{
    const struct collopt_choice *choice = collopt_choice_numbered(p->value[REDUCE]);
    struct collopt_inner inner = { .algorithm = choice->algorithm, .segments = p->segments };
    int *member = collopt_workspace(s, (size_t)p->ranks * sizeof *member);
    struct collopt_phase phase = { .name = "reduce", .ranks = p->ranks, .index = rank, .member = member, .whole = whole(),
                                   .in = COLLOPT_IN, .out = result, .topology = p->topology };

    memcpy(inner.value, choice->value, sizeof inner.value);
    for (int r = 0; member && r < p->ranks; r++)
        member[r] = r;
    if (member)
        collopt_phase(s, p, &phase, &inner);
    free(member);
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    int parts = collopt_partition_counts(s), sum = COLLOPT_OUT;

    if (rank == 0)
        sum = collopt_vector_slot(s, whole());
    reduce_all(s, p, rank, sum);
    collopt_round(s);
    if (rank > 0) {
        collopt_receive(s, 0, out(block(parts, rank, 1)));
        return;
    }
    for (int r = 1; r < p->ranks; r++)
        collopt_send(s, r, at(sum, block(parts, r, 1)));
    collopt_copy(s, out(block(parts, 0, 1)), at(sum, block(parts, 0, 1)));
}

/* ---- costs ---------------------------------------------------------------------------------------------------------------- */

static void cost(const struct collopt_problem *p, struct collopt_cost *c)
{
    const struct collopt_choice *choice = collopt_choice_numbered(p->value[REDUCE]);
    struct collopt_problem reduce = complete(p, choice);
    size_t kept = p->counts ? p->counts[0] : p->count / (size_t)p->ranks;

    choice->algorithm->cost(&reduce, c);
    c->rounds += receivers(p);
    c->bytes += (double)(p->count - kept) * (double)p->size;
    c->scratch += vector_bytes(p);
}

/* To the ranks that get something, as if they were the same distance apart. */
static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    const struct collopt_choice *choice = collopt_choice_numbered(p->value[REDUCE]);
    struct collopt_problem reduce = complete(p, choice);
    int n = receivers(p), last = p->ranks - 1;

    while (p->counts && last > 0 && p->counts[last] == 0)
        last--;
    collopt_inner_seconds(t, collopt_model(choice->algorithm, &reduce));
    if (n > 0)
        collopt_messages(t, 1, (struct collopt_messages){ .pattern = COLLOPT_TREE, .distance = most(last / n, 1),
                                                          .bytes = longest(p), .fan = n, .staggered = true });
}

#define UNFIT "the algorithm of its Reduce cannot serve"
static const char summary[] = "Reduce to rank 0, which gives the others their parts; where few ranks get anything";
static const char rounds[] = "reduce + p-1", bytes[] = "rank 0's: reduce + (p-1)/p m", when[] = "few ranks that get anything";
static const char source[] = "folklore; as in Open MPI (nonoverlapping)";

const struct collopt_algorithm collopt_reduce_scatter_reduce_scatterv = {
    .name = "reduce_scatterv", .summary = summary,
    .collective = COLLOPT_REDUCE_SCATTER, .order = COLLOPT_IN_ORDER, .identical = true,
    .rounds = rounds, .bytes = bytes, .when = when, .source = source,
    .parameter = { COLLOPT_INNER("reduce", COLLOPT_REDUCE, preset, "the algorithm of the Reduce") },
    .usable = usable, .unfit = UNFIT, .segments = segments, .cost = cost, .traffic = traffic, .build = build,
};

const struct collopt_algorithm collopt_reduce_scatter_block_reduce_scatterv = {
    .name = "reduce_scatterv", .summary = summary,
    .collective = COLLOPT_REDUCE_SCATTER_BLOCK, .order = COLLOPT_IN_ORDER, .identical = true,
    .rounds = rounds, .bytes = bytes, .when = when, .source = source,
    .parameter = { COLLOPT_INNER("reduce", COLLOPT_REDUCE, preset, "the algorithm of the Reduce") },
    .usable = usable, .unfit = UNFIT, .segments = segments, .cost = cost, .traffic = traffic, .build = build,
};
