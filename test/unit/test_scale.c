/* One rank's schedule must not grow with the number of ranks: for 2^20 of them, and numbers that
 * are no power of two, it takes less than 1 MiB wherever the rounds are few.  Where algorithms need
 * tables of all ranks, the bytes for each are stated.  And what is chosen for short vectors has few
 * rounds on any number of ranks. */
#include "config.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/groups.h"
#include "base/numbers.h"
#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "catalogue/expression.h"
#include "model/machine.h"
#include "schedule/bind.h"
#include "schedule/bound.h"
#include "schedule/descriptor.h"
#include "schedule/problem.h"
#include "schedule/schedule.h"
#include "select/decide.h"
#include "shared/effort.h"
#include "shared/replay.h"
#include "topology/topology.h"
#include "share.h"
#include "suite.h"
#include "trial.h"

enum { MOST_ROUNDS = 1000, MOST_BYTES = 1 << 20 };

/* Algorithms whose messages are lists of blocks scattered over the vector, so that the lists grow
 * with the ranks, or that go through a table of all ranks while they are built. Each takes a second
 * or more. */
static const struct {
    enum collopt_collective collective;
    const char *name;
    double bytes_for_each;
} listed[] = {
    { COLLOPT_REDUCE_SCATTER, "circulant_pipeline", 0 },
    { COLLOPT_REDUCE_SCATTER_BLOCK, "circulant_pipeline", 0 },
    { COLLOPT_REDUCE_SCATTER, "elimination", 450 },
    { COLLOPT_REDUCE_SCATTER_BLOCK, "elimination", 450 },
    { COLLOPT_REDUCE_SCATTER, "lanes", 450 },
    { COLLOPT_REDUCE_SCATTER_BLOCK, "lanes", 450 },
    { COLLOPT_REDUCE_SCATTER, "strided_splitting", 450 },
    { COLLOPT_REDUCE_SCATTER_BLOCK, "strided_splitting", 450 },
    { COLLOPT_REDUCE, "swing", 450 },
    { COLLOPT_ALLREDUCE, "swing", 450 },
    { COLLOPT_REDUCE_SCATTER, "swing", 450 },
    { COLLOPT_REDUCE_SCATTER_BLOCK, "swing", 450 },
};

/* Its row in the table, or -1. */
static int row_of(const struct collopt_algorithm *a)
{
    for (int i = 0; i < (int)(sizeof listed / sizeof *listed); i++)
        if (listed[i].collective == a->collective && !strcmp(listed[i].name, a->name))
            return i;
    return -1;
}

#ifdef HAVE_MALLINFO2
static double allowed(const struct collopt_algorithm *a, int ranks)
{
    int row = row_of(a);

    return MOST_BYTES + (row < 0 ? 0 : listed[row].bytes_for_each * ranks);
}

static double in_use(void)
{
    struct mallinfo2 m = mallinfo2();

    return (double)m.uordblks + (double)m.hblkhd;
}

static void weigh(const struct collopt_algorithm *a, const struct collopt_problem *p, int rank)
{
    double before = in_use(), bytes;
    struct collopt_schedule *s = collopt_schedule_new(a, p, rank, 0);
    struct collopt_bound *b = s ? collopt_bind(s, p, NULL) : NULL;

    ck_assert_ptr_nonnull(b);
    bytes = in_use() - before;
    ck_assert_msg(bytes <= allowed(a, p->ranks), "%s %s, %d ranks: rank %d keeps %.0f bytes",
                  collopt_collective_names[a->collective], a->name, p->ranks, rank, bytes);
    collopt_bound_free(b);
    collopt_schedule_free(s);
}

static const int sizes[] = { 1 << 20, 1000003, (1 << 20) - 1, 3 << 18 };

TESTS(schedules_do_not_grow_with_the_ranks, 0, trial_algorithms())
{
    static const struct collopt_topology flat = { .nodes = 1 };
    const struct collopt_algorithm *a = collopt_algorithms[_i];
    struct collopt_choice choice = { .algorithm = a };

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct collopt_problem p = { .collective = a->collective,
                                     .ranks = sizes[i],
                                     .count = (size_t)sizes[i],
                                     .size = 8,
                                     .commutative = true,
                                     .exact = true,
                                     .topology = &flat };

        collopt_set_parameters(&p, &choice);
        if (!collopt_usable(a, &p, NULL))
            continue;
        if (collopt_effort(a, &p).rounds > MOST_ROUNDS)
            continue;
        for (int k = 0; k < 5 && row_of(a) < 0; k++)
            if (!left_out(_i + (long)i * 5 + k))
                weigh(a, &p, (int)((long)k * (p.ranks - 1) / 4));
        if (row_of(a) >= 0 && sizes[i] % 2) {
            if (!left_out(_i))
                weigh(a, &p, p.ranks / 3);
            break;
        }
    }
}
#endif

/* ---- rounds ---------------------------------------------------------------------------------- */

/* Messages that one rank posts in one direction: no more than MOST. */
static void few_messages(const struct collopt_algorithm *a, struct workshop *w, int rank,
                         double most)
{
    struct collopt_schedule *s = collopt_schedule_new(a, &w->problem, rank, 0);
    struct collopt_bound *b = s ? collopt_bind(s, &w->problem, NULL) : NULL;
    struct collopt_load load;
    char words[TRIAL_WORDS];

    trial_words(&w->t, words);
    ck_assert_msg(b, "%s: rank %d has no program", words, rank);
    collopt_weigh(b, &load);
    ck_assert_msg((double)load.sends <= most && (double)load.receives <= most,
                  "%s: rank %d sends %zu messages and receives %zu, more than %.0f", words, rank,
                  load.sends, load.receives, most);
    collopt_bound_free(b);
    collopt_schedule_free(s);
}

/* An algorithm whose rounds are logarithmic for long vectors is so for the shortest, be its default
 * radix or lambda another; and no rank posts many more messages. */
TESTS(logarithmic_stays_logarithmic, 0, trial_algorithms())
{
    static const int ranks[] = { 4096, 4093 };
    const struct collopt_algorithm *a = collopt_algorithms[_i];
    struct workshop w = { 0 };

    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        const size_t p = (size_t)ranks[i], counts[] = { p * 16, 0, 1, 2, 17, p - 1, p + 1 };
        const int rank[] = { 0, 1, ranks[i] / 2, ranks[i] - 1 };
        double most = 0;
        char why[PROOF_WHY];

        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            struct trial t = { .algorithm = a,
                               .ranks = ranks[i],
                               .count = counts[c],
                               .shape = TRIAL_NEARLY };
            double rounds;

            if (!workshop_state(&w, &t, why))
                break;
            w.problem.segments = 1;
            rounds = collopt_effort(a, &w.problem).rounds;
            if (c == 0 && rounds > 8 * 12)
                break;
            most = c == 0 ? rounds : most;
            ck_assert_msg(rounds <= 2.5 * most,
                          "%s %s p %d count %zu: %.0f rounds, for long vectors %.0f",
                          collopt_collective_names[a->collective], a->name, ranks[i], counts[c],
                          rounds, most);
            for (size_t r = 0; r < sizeof rank / sizeof *rank; r++)
                if (!left_out(_i + (long)(c * (sizeof rank / sizeof *rank) + r)))
                    few_messages(a, &w, rank[r], 1.5 * rounds + 2);
        }
    }
    workshop_close(&w);
}

TEST(every_collective_has_a_logarithmic_one)
{
    for (int c = 0; c < COLLOPT_COLLECTIVES; c++) {
        int n = 0;

        for (int i = 0; collopt_algorithms[i]; i++) {
            struct trial t = { .algorithm = collopt_algorithms[i],
                               .ranks = 65536,
                               .count = 8,
                               .shape = TRIAL_NEARLY };
            struct workshop w = { 0 };
            char why[PROOF_WHY];

            if (collopt_algorithms[i]->collective != (enum collopt_collective)c
                || !workshop_state(&w, &t, why))
                continue;
            n += collopt_effort(collopt_algorithms[i], &w.problem).rounds <= 3 * 16;
            workshop_close(&w);
        }
        ck_assert_msg(n > 0, "%s has no algorithm of logarithmic rounds",
                      collopt_collective_names[c]);
    }
}

/* ---- what is chosen at scale ----------------------------------------------------------------- */

/* Segments of a pipeline, one behind the other; of a composition those of all its phases, which are
 * packed as in groups.h. */
static int segments_in_all(const struct collopt_problem *p, const struct collopt_algorithm *a)
{
    int all = 0;

    if (!a->grouped)
        return p->segments;
    for (int i = 0; i < 3; i++)
        all += collopt_packed_segments(p->segments, i);
    return all;
}

/* Messages of its CHUNKS may be stated one behind the other, though they overlap. */
static int chunks_of(const struct collopt_problem *p, const struct collopt_algorithm *a)
{
    int parameter = collopt_parameter_named(a, "chunks");

    return parameter >= 0 && p->value[parameter] ? (int)p->value[parameter] : 1;
}

/* Nothing goes from rank to rank.  Groups of eight have seven messages on a level of three bits,
 * there and back 14/3 a bit; a pipeline has two for each segment.  Inside a node of few ranks all
 * may send to all, in two phases there and back. */
static double most_rounds(const struct collopt_problem *p, const struct collopt_algorithm *a)
{
    return 5 * log2_ceil(p->ranks) * chunks_of(p, a) + 2 * (segments_in_all(p, a) - 1)
        + (a->grouped ? 4 * (p->topology->largest - 1) : 0);
}

static void check_choice(struct collopt_problem p, int each)
{
    struct collopt_decision d;
    double rounds;
    char name[400];

    collopt_select(&p, &d);
    ck_assert_msg(d.choice.algorithm, "%s p %d count %zu: nothing is selected",
                  collopt_collective_names[p.collective], p.ranks, p.count);
    collopt_set_parameters(&p, &d.choice);
    rounds = collopt_effort(d.choice.algorithm, &p).rounds;
    collopt_choice_text(&d.choice, name, sizeof name);
    ck_assert_msg(rounds <= most_rounds(&p, d.choice.algorithm),
                  "%s by %s p %d, %d of a node, %s, count %zu%s: %.0f rounds",
                  collopt_collective_names[p.collective], name, p.ranks, each,
                  p.machine == &collopt_bundled_machines[COLLOPT_TCP] ? "TCP" : "fast", p.count,
                  p.commutative ? "" : " in order", rounds);
}

/* As even as can be; NULL where they are. */
static const size_t *nearly_even(size_t *counts, size_t count, int ranks)
{
    for (int r = 0; r < ranks; r++)
        counts[r] = count / (size_t)ranks + ((size_t)r < count % (size_t)ranks);
    return count % (size_t)ranks ? counts : NULL;
}

/* For all collectives and bundled networks; EACH: ranks of a node. */
static void check_choices(int ranks, int each, const struct collopt_topology *topology,
                          size_t *shares)
{
    const size_t p = (size_t)ranks, counts[] = { 0, 1, 2, 17, p - 1, p, p + 1, 16 * p };

    for (int network = COLLOPT_FAST_NETWORK; network <= COLLOPT_TCP; network++)
        for (int i = 0; i < 2 * COLLOPT_COLLECTIVES * (int)(sizeof counts / sizeof *counts); i++) {
            struct collopt_problem problem = {
                .collective = (enum collopt_collective)(i / 2 % COLLOPT_COLLECTIVES),
                .ranks = ranks,
                .size = TRIAL_SIZE,
                .count = counts[i / 2 / COLLOPT_COLLECTIVES],
                .commutative = i % 2,
                .segments = 1,
                .topology = topology,
                .machine = &collopt_bundled_machines[network],
            };

            if (left_out(i))
                continue;
            if (problem.collective == COLLOPT_REDUCE)
                problem.root = ranks / 3;
            if (problem.collective == COLLOPT_REDUCE_SCATTER_BLOCK)
                problem.count = (problem.count + p - 1) / p * p;
            if (problem.collective == COLLOPT_REDUCE_SCATTER)
                problem.counts = nearly_even(shares, problem.count, ranks);
            check_choice(problem, each);
        }
}

/* Vectors up to 128 bytes for each rank.  Longer ones may well go round a ring: over TCP parts of
 * 32 KiB and more do (select/measured.c), as their bytes then take longer than the messages. */
TESTS(choices_are_logarithmic, 0, 5)
{
    static const int ranks[] = { 4096, 4093, 16384, 65521, 65536 };
    int p = ranks[_i], *node = malloc((size_t)p * sizeof *node);
    size_t *shares = malloc((size_t)p * sizeof *shares);

    ck_assert(node && shares);
    for (int each = 1; each <= 16; each *= 16) {
        struct collopt_topology t = { .nodes = (p - 1) / each + 1, .node = node };

        for (int r = 0; r < p; r++)
            node[r] = r / each;
        ck_assert(collopt_topology_measure(&t, p));
        check_choices(p, each, &t, shares);
    }
    free(node);
    free(shares);
}

int main(void)
{
#ifndef HAVE_MALLINFO2
    puts("no mallinfo2: memory is not weighed");
#endif
    tcase_set_timeout(suite_tests(), 0);
    return suite_run("scale");
}
