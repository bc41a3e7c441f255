/* The rank arithmetic that algorithms share: folding, skips, trees, segments. */
#include "config.h"

#include <check.h>
#include <stdlib.h>

#include "algorithm.h"

enum { MOST_RANKS = 300 };

START_TEST(folding_keeps_order)
{
    for (int ranks = 1; ranks <= MOST_RANKS; ranks++)
        for (int goal = (ranks + 1) / 2; goal <= ranks; goal++) {
            int next = 0;

            for (int rank = 0; rank < ranks; rank++) {
                struct collopt_fold_pairs f = collopt_fold_pairs(ranks, goal, rank);

                ck_assert_msg(f.index < 0 || f.index == next, "p %d to %d: rank %d has index %d", ranks, goal, rank, f.index);
                if (f.index >= 0)
                    ck_assert_int_eq(collopt_fold_rank(ranks, goal, next++), rank);
            }
            ck_assert_int_eq(next, goal);
        }
}
END_TEST

START_TEST(skips_are_known)
{
    static const int of_12[] = { 1, 2, 3, 6, 12 }, of_17[] = { 1, 2, 3, 5, 9, 17 }, of_33[] = { 1, 2, 3, 5, 9, 17, 33 };
    int skip[COLLOPT_SKIPS];

    ck_assert_int_eq(collopt_skips(1, skip), 0);
    ck_assert_int_eq(collopt_skips(12, skip), 4);
    ck_assert_mem_eq(skip, of_12, sizeof of_12);
    ck_assert_int_eq(collopt_skips(17, skip), 5);
    ck_assert_mem_eq(skip, of_17, sizeof of_17);
    ck_assert_int_eq(collopt_skips(33, skip), 6);
    ck_assert_mem_eq(skip, of_33, sizeof of_33);
}
END_TEST

struct shape {
    int lo, hi, root, which;    /* WHICH: of two trees; 2: the balanced one */
};

static struct collopt_tree node(struct shape k, int rank)
{
    return k.which == 2 ? collopt_binary_tree(k.lo, k.hi, k.root, rank) : collopt_two_tree(k.lo, k.hi, k.which, rank);
}

/* The ranks below RANK are one interval around it; returns the tree's depth, LO and HI are the interval. */
static int walk(struct shape k, int rank, int *lo, int *hi)
{
    struct collopt_tree t = node(k, rank);
    int first = rank, last = rank + 1, depth = 0, middle;

    if (t.left >= 0) {
        ck_assert_int_eq(node(k, t.left).parent, rank);
        depth = most(depth, walk(k, t.left, &first, &middle));
        ck_assert_int_eq(middle, rank);
    }
    if (t.right >= 0) {
        ck_assert_int_eq(node(k, t.right).parent, rank);
        depth = most(depth, walk(k, t.right, &middle, &last));
        ck_assert_int_eq(middle, rank + 1);
    }
    *lo = first;
    *hi = last;
    return depth + 1;
}

static void check_tree(struct shape k)
{
    int roots = 0, lo, hi;

    for (int rank = k.lo; rank < k.hi; rank++) {
        if (node(k, rank).parent >= 0)
            continue;
        roots++;
        ck_assert_int_le(walk(k, rank, &lo, &hi), log2_ceil(k.hi - k.lo) + 2);
        ck_assert_msg(lo == k.lo && hi == k.hi, "tree %d over %d..%d holds %d..%d", k.which, k.lo, k.hi, lo, hi);
    }
    ck_assert_int_eq(roots, 1);
}

START_TEST(trees_are_in_order)
{
    for (int ranks = 1; ranks <= MOST_RANKS; ranks++) {
        for (int which = 0; which < 2; which++)
            check_tree((struct shape){ 5, 5 + ranks, 0, which });
        for (int root = 0; root < ranks; root += 1 + root / 8)
            check_tree((struct shape){ 0, ranks, root, 2 });
    }
}
END_TEST

START_TEST(no_rank_has_children_in_both_of_two_trees)
{
    for (int ranks = 2; ranks <= MOST_RANKS; ranks += 2)
        for (int rank = 0; rank < ranks; rank++) {
            struct collopt_tree a = collopt_two_tree(0, ranks, false, rank), b = collopt_two_tree(0, ranks, true, rank);

            ck_assert((a.left < 0 && a.right < 0) || (b.left < 0 && b.right < 0));
        }
}
END_TEST

START_TEST(two_trees_are_known)
{
    static const int a[] = { 1, 3, 1, 7, 5, 3, 5, -1, 9, 7 }, b[] = { 2, 0, -1, 4, 6, 4, 2, 8, 6, 8 };
    static const int odd[] = { 1, 3, 1, 7, 5, 3, 5, 8, -1 };

    for (int rank = 0; rank < 10; rank++) {
        ck_assert_int_eq(collopt_two_tree(0, 10, false, rank).parent, a[rank]);
        ck_assert_int_eq(collopt_two_tree(0, 10, true, rank).parent, b[rank]);
    }
    for (int rank = 0; rank < 9; rank++)
        ck_assert_int_eq(collopt_two_tree(0, 9, false, rank).parent, odd[rank]);
}
END_TEST

START_TEST(segments_are_bounded)
{
    static const size_t counts[] = { 0, 1, 100, 1 << 20, (size_t)1 << 40 };

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (size_t segment = 1; segment < (size_t)1 << 40; segment *= 8) {
            struct collopt_problem p = { .ranks = 4, .count = counts[i], .size = 8, .value = { segment } };

            ck_assert_int_ge(collopt_segments(&p), 1);
            ck_assert_int_le(collopt_segments(&p), COLLOPT_MOST_SEGMENTS);
        }
    ck_assert_uint_ge(collopt_preset_segment(10, 0, true), 1);
    ck_assert_uint_le(collopt_preset_segment(1, 1e15, true), (size_t)1 << 52);
    ck_assert_uint_le(collopt_preset_segment(1000, 1e6, true), collopt_preset_segment(10, 1e6, true));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("helpers");
    TCase *tcase = tcase_create("helpers");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, folding_keeps_order);
    tcase_add_test(tcase, skips_are_known);
    tcase_add_test(tcase, trees_are_in_order);
    tcase_add_test(tcase, no_rank_has_children_in_both_of_two_trees);
    tcase_add_test(tcase, two_trees_are_known);
    tcase_add_test(tcase, segments_are_bounded);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
