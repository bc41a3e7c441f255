/* One rank's schedule must not grow with the number of ranks: for 2^20 of them, and numbers that
 * are no power of two, it takes less than 1 MiB wherever the rounds are few.  Where algorithms need
 * tables of all ranks, the bytes for each are stated. */
#include "config.h"

#include <check.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "algorithms/formula.h"
#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "schedule/bind.h"
#include "schedule/bound.h"
#include "schedule/descriptor.h"
#include "schedule/problem.h"
#include "schedule/schedule.h"
#include "topology/topology.h"

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

static double allowed(const struct collopt_algorithm *a, int ranks)
{
    int row = row_of(a);

    return MOST_BYTES + (row < 0 ? 0 : listed[row].bytes_for_each * ranks);
}

static double in_use(void)
{
#ifdef HAVE_MALLINFO2
    struct mallinfo2 m = mallinfo2();

    return (double)m.uordblks + (double)m.hblkhd;
#else
    return 0;
#endif
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

START_TEST(schedules_do_not_grow_with_the_ranks)
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
        if (collopt_formula_rounds(a, &p).value > MOST_ROUNDS)
            continue;
        for (int k = 0; k < 5 && row_of(a) < 0; k++)
            weigh(a, &p, (int)((long)k * (p.ranks - 1) / 4));
        if (row_of(a) >= 0 && sizes[i] % 2) {
            weigh(a, &p, p.ranks / 3);
            break;
        }
    }
}
END_TEST

int main(void)
{
#ifndef HAVE_MALLINFO2
    puts("skipped: no mallinfo2 to weigh memory by");
    return 77;
#endif
    Suite *suite = suite_create("scale");
    TCase *c = tcase_create("memory");
    SRunner *runner = srunner_create(suite);
    int n = 0, failed;

    while (collopt_algorithms[n])
        n++;
    tcase_add_loop_test(c, schedules_do_not_grow_with_the_ranks, 0, n);
    tcase_set_timeout(c, 0);
    suite_add_tcase(suite, c);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
