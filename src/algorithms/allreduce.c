/* Reduce_scatter as an Allreduce, of which each rank keeps its part.
 *
 * If the number of ranks has no small factors, or operands must stay in order, an Allreduce has
 * fewer messages in sequence than what saves bytes: simulated, a Reduce_scatter of 496 bytes on
 * 31 nodes of a fat tree takes 5.6 us, in order by elimination 7.3.  The algorithm is a
 * parameter: allreduce:allreduce=(recursive_multiplying); when not given, of recursive_doubling
 * and recursive_multiplying that of least cost; for more than 64 KiB, which others serve better
 * anyhow, the former.  Cost: the Allreduce's.  Scratch: the Allreduce's and a vector.  In rank
 * order if the Allreduce is. That a Reduce_scatter should be no slower than this: Traff, Gropp,
 * Thakur, Self-consistent MPI performance guidelines, IEEE TPDS 21, 2010; as a mock-up in
 * PGMPITuneLib (Hunold, Carpen-Amarie, 2018). */
#include "config.h"

#include "mockup.h"
#include "catalogue/choice.h"
#include "model/model.h"

enum { ALLREDUCE };             /* the parameter */
static const double too_long = 64 << 10;        /* to be worth two predictions */

extern const struct collopt_algorithm collopt_allreduce_recursive_doubling,
    collopt_allreduce_recursive_multiplying;

/* The first serves any operation on any number of ranks. */
static const struct collopt_algorithm *const worth_it[] = {
    &collopt_allreduce_recursive_doubling, &collopt_allreduce_recursive_multiplying,
};

static double seconds(const struct collopt_problem *p, const struct collopt_choice *choice)
{
    struct collopt_problem allreduce = collopt_mockup(p, COLLOPT_ALLREDUCE);

    collopt_set_parameters(&allreduce, choice);
    if (!collopt_usable(choice->algorithm, &allreduce, NULL))
        return 1e300;
    return collopt_model(choice->algorithm, &allreduce);
}

static size_t preset(const struct collopt_problem *p)
{
    const struct collopt_choice *said = collopt_choice_numbered(p->value[ALLREDUCE]);
    struct collopt_choice best = { .algorithm = worth_it[0] };
    double shortest = 0;

    if (said)
        return collopt_mockup_value(p, *said);
    for (size_t i = 0; i < sizeof worth_it / sizeof *worth_it && vector_bytes(p) <= too_long; i++) {
        struct collopt_choice choice = { .algorithm = worth_it[i] };
        double time = seconds(p, &choice);

        if (i == 0 || time < shortest) {
            shortest = time;
            best = choice;
        }
    }
    return collopt_mockup_value(p, best);
}

static bool usable(const struct collopt_problem *p)
{
    return collopt_mockup_usable(p, p->value[ALLREDUCE]);
}

static int segments(const struct collopt_problem *p)
{
    return collopt_mockup_segments(p, p->value[ALLREDUCE]);
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    int sum = collopt_vector_slot(s, whole());
    struct collopt_block mine = block(collopt_partition_counts(s), rank, 1);

    collopt_mockup_build(s, p, rank, p->value[ALLREDUCE], sum);
    collopt_copy(s, out(mine), at(sum, mine));
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    collopt_mockup_traffic(p, p->value[ALLREDUCE], t);
}

#define PARAMETER COLLOPT_INNER("allreduce", COLLOPT_ALLREDUCE, preset, \
                                "the algorithm of the Allreduce")

COLLOPT_SCATTER_AND_BLOCK(allreduce,
    .name = "allreduce",
    .summary = "an Allreduce, of which each keeps its part; short vectors, p without small factors",
    .order = COLLOPT_IN_ORDER,
    .source = "Traff, Gropp, Thakur, IEEE TPDS 21, 2010; as in PGMPITuneLib",
    .parameter = { PARAMETER }, .usable = usable,
    .unfit = "the algorithm of its Allreduce cannot serve", .segments = segments,
    .traffic = traffic, .build = build);
