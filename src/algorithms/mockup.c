/* Reduce_scatter by another collective of all ranks: an Allreduce, where each rank keeps its part,
 * or a Reduce to rank 0, which then gives the others theirs. That a Reduce_scatter should be
 * no slower than these: Traff, Gropp, Thakur, Self-consistent MPI performance guidelines, IEEE TPDS
 * 21, 2010, where they are called mock-ups; in PGMPITuneLib (Hunold, Carpen-Amarie, 2018).
 *
 * allreduce: if the number of ranks has no small factors, or operands must stay in order, an
 * Allreduce has fewer messages in sequence than what saves bytes: simulated, a Reduce_scatter of
 * 496 bytes on 31 nodes of a fat tree takes 5.6 us, in order by elimination 7.3. Its algorithm is a
 * parameter: allreduce:allreduce=(recursive_multiplying); when not given, of recursive_doubling and
 * recursive_multiplying that of least cost; for more than 64 KiB, which others serve better anyhow,
 * the former. Cost: the Allreduce's. Scratch: the Allreduce's and a vector.
 *
 * reduce_scatterv: parts that are empty are no messages, so a vector of fewer elements than there
 * are ranks costs little more than its Reduce; and one of which rank 0 gets everything, nothing
 * more: a Reduce_scatter of one element. Its algorithm: reduce_scatterv:reduce=(two_tree); when not
 * given, that of least cost, or postal_tree where many ranks get something and so another algorithm
 * will serve better anyhow. Cost: the Reduce's, and one message from rank 0 for each other rank
 * that gets something. Scratch: the Reduce's and a vector on rank 0. Folklore; the "nonoverlapping"
 * algorithm of Open MPI.
 *
 * In rank order if the inner algorithm is. */
#include "config.h"

#include "groups.h"
#include "model/choose.h"
#include "model/model.h"

enum { INNER };                 /* the parameter */

/* ---- the other collective -------------------------------------------------------------------- */

static struct collopt_task task_of(const struct collopt_problem *p, enum collopt_collective c)
{
    return (struct collopt_task){ .collective = c, .least = p->ranks, .most = p->ranks, .n = 1,
                                  .all = true, .parameter = INNER };
}

/* The collective is that of the algorithm that was chosen. */
static struct collopt_task task(const struct collopt_problem *p)
{
    const struct collopt_choice *choice = collopt_choice_numbered(p->value[INNER]);

    return task_of(p, choice ? choice->algorithm->collective : p->collective);
}

/* Not by what is made of groups: their phases would be phases of a phase. */
static bool usable(const struct collopt_problem *p)
{
    return collopt_inner_usable(p, task(p));
}

static int segments(const struct collopt_problem *p)
{
    return collopt_inner_segments(p, task(p));
}

/* Writes it: from IN to RESULT, on ranks that have one. */
static void build_inner(struct collopt_schedule *s, const struct collopt_problem *p, int rank,
                        int result)
{
    struct collopt_inner inner = collopt_inner(p, task(p));
    struct collopt_phase phase = { .ranks = p->ranks, .index = rank, .whole = whole(),
                                   .in = COLLOPT_IN, .out = result, .topology = p->topology };

    collopt_phase(s, p, &phase, &inner);
}

static void traffic_inner(const struct collopt_problem *p, struct collopt_traffic *t)
{
    collopt_inner_traffic(p, task(p), t);
}

/* ---- allreduce ------------------------------------------------------------------------------- */

static const double too_long = 64 << 10;        /* to be worth two predictions */

extern const struct collopt_algorithm collopt_allreduce_recursive_doubling,
    collopt_allreduce_recursive_multiplying;

/* The first serves any operation on any number of ranks. */
static const struct collopt_algorithm *const worth_it[] = {
    &collopt_allreduce_recursive_doubling, &collopt_allreduce_recursive_multiplying,
};

static double seconds(const struct collopt_problem *p, const struct collopt_choice *choice)
{
    struct collopt_problem allreduce =
        collopt_inner_problem(p, task_of(p, COLLOPT_ALLREDUCE), p->ranks);

    collopt_set_parameters(&allreduce, choice);
    if (!collopt_usable(choice->algorithm, &allreduce, NULL))
        return 1e300;
    return collopt_model(choice->algorithm, &allreduce);
}

static size_t allreduce(const struct collopt_problem *p)
{
    const struct collopt_choice *said = collopt_choice_numbered(p->value[INNER]);
    struct collopt_choice best = { .algorithm = worth_it[0] };
    bool looks = !said && vector_bytes(p) <= too_long;
    double shortest = 0;

    if (said)
        best = *said;
    for (size_t i = 0; i < sizeof worth_it / sizeof *worth_it && looks; i++) {
        struct collopt_choice choice = { .algorithm = worth_it[i] };
        double time = seconds(p, &choice);

        if (i == 0 || time < shortest) {
            shortest = time;
            best = choice;
        }
    }
    return collopt_inner_value(p, task_of(p, COLLOPT_ALLREDUCE), best);
}

static void build_allreduce(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    int sum = collopt_vector_slot(s, whole());
    struct collopt_block mine = block(collopt_partition_counts(s), rank, 1);

    build_inner(s, p, rank, sum);
    collopt_copy(s, out(mine), at(sum, mine));
}

/* ---- reduce_scatterv ------------------------------------------------------------------------- */

enum { FEW = 4, LOOKED_AT = 8 };        /* ranks that get something; of the algorithms of least
                                         * cost */

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

static size_t reduce(const struct collopt_problem *p)
{
    const struct collopt_choice *said = collopt_choice_numbered(p->value[INNER]);
    struct collopt_choice choice = { .algorithm = &collopt_reduce_postal_tree };
    struct collopt_problem reduce = collopt_inner_problem(p, task_of(p, COLLOPT_REDUCE), p->ranks);

    if (said)
        choice = *said;
    else if (receivers(p) < FEW)
        choice = cheapest(&reduce);
    return collopt_inner_value(p, task_of(p, COLLOPT_REDUCE), choice);
}

static void build_reduce(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    int parts = collopt_partition_counts(s), sum = COLLOPT_OUT;

    if (rank == 0)
        sum = collopt_vector_slot(s, whole());
    build_inner(s, p, rank, sum);
    collopt_round(s);
    if (rank > 0) {
        collopt_receive(s, 0, out(block(parts, rank, 1)));
        return;
    }
    for (int r = 1; r < p->ranks; r++)
        collopt_send(s, r, at(sum, block(parts, r, 1)));
    collopt_copy(s, out(block(parts, 0, 1)), at(sum, block(parts, 0, 1)));
}

/* To the ranks that get something, as if they were the same distance apart. */
static void traffic_reduce(const struct collopt_problem *p, struct collopt_traffic *t)
{
    int n = receivers(p), last = p->ranks - 1;

    while (p->counts && last > 0 && p->counts[last] == 0)
        last--;
    traffic_inner(p, t);
    if (n > 0)
        collopt_messages(t, 1, (struct collopt_messages){ .pattern = COLLOPT_TREE,
                                                          .distance = most(last / n, 1),
                                                          .bytes = longest(p), .fan = n,
                                                          .staggered = true });
}

COLLOPT_SCATTER_AND_BLOCK(allreduce,
    .name = "allreduce",
    .summary = "an Allreduce, of which each keeps its part; short vectors, p without small factors",
    .order = COLLOPT_IN_ORDER,
    .source = "Traff, Gropp, Thakur, IEEE TPDS 21, 2010; as in PGMPITuneLib",
    .parameter = { COLLOPT_INNER("allreduce", COLLOPT_ALLREDUCE, allreduce,
                                 "the algorithm of the Allreduce") },
    .usable = usable, .unfit = "the algorithm of its Allreduce cannot serve", .segments = segments,
    .traffic = traffic_inner, .build = build_allreduce);

COLLOPT_SCATTER_AND_BLOCK(reduce_scatterv,
    .name = "reduce_scatterv",
    .summary = "Reduce to rank 0, which gives the others their parts; where few ranks get anything",
    .order = COLLOPT_IN_ORDER, .source = "folklore; as in Open MPI (nonoverlapping)",
    .parameter = { COLLOPT_INNER("reduce", COLLOPT_REDUCE, reduce, "the algorithm of the Reduce") },
    .usable = usable, .unfit = "the algorithm of its Reduce cannot serve", .segments = segments,
    .traffic = traffic_reduce, .build = build_reduce);
