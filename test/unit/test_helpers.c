/* The rank arithmetic that algorithms share: folding, skips, trees, segments. */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "algorithm.h"
#include "algorithms/algorithm.h"
#include "catalogue/choice.h"
#include "model/machine.h"
#include "model/model.h"
#include "quiet_check.h"
#include "suite.h"

enum { MOST_RANKS = 300 };

TEST(folding_keeps_order)
{
    for (int ranks = 1; ranks <= MOST_RANKS; ranks++)
        for (int goal = (ranks + 1) / 2; goal <= ranks; goal++) {
            int next = 0;

            for (int rank = 0; rank < ranks; rank++) {
                struct collopt_fold_pairs f = collopt_fold_pairs(ranks, goal, rank);

                quiet_check(f.index < 0 || f.index == next, "p %d to %d: rank %d has index %d",
                            ranks, goal, rank, f.index);
                if (f.index >= 0)
                    quiet_check(collopt_fold_rank(ranks, goal, next++) == rank,
                                "p %d to %d: rank %d", ranks, goal, rank);
            }
            quiet_check(next == goal, "p %d to %d: %d", ranks, goal, next);
        }
}

TEST(skips_are_known)
{
    static const int of_12[] = { 1, 2, 3, 6, 12 }, of_17[] = { 1, 2, 3, 5, 9, 17 },
                     of_33[] = { 1, 2, 3, 5, 9, 17, 33 };
    int skip[COLLOPT_SKIPS];

    ck_assert_int_eq(collopt_skips(1, skip), 0);
    ck_assert_int_eq(collopt_skips(12, skip), 4);
    ck_assert_mem_eq(skip, of_12, sizeof of_12);
    ck_assert_int_eq(collopt_skips(17, skip), 5);
    ck_assert_mem_eq(skip, of_17, sizeof of_17);
    ck_assert_int_eq(collopt_skips(33, skip), 6);
    ck_assert_mem_eq(skip, of_33, sizeof of_33);
}

struct shape {
    int lo, hi, root, which;    /* WHICH: of two trees; 2: the balanced one */
};

static struct collopt_tree node(struct shape k, int rank)
{
    return k.which == 2 ? collopt_binary_tree(k.lo, k.hi, k.root, rank)
                        : collopt_two_tree(k.lo, k.hi, k.which, rank);
}

/* The ranks below RANK are one interval around it; returns the tree's depth, LO and HI are the
 * interval. */
static int walk(struct shape k, int rank, int *lo, int *hi)
{
    struct collopt_tree t = node(k, rank);
    int first = rank, last = rank + 1, depth = 0, middle;

    if (t.left >= 0) {
        quiet_check(node(k, t.left).parent == rank, "%d left of %d", t.left, rank);
        depth = most(depth, walk(k, t.left, &first, &middle));
        quiet_check(middle == rank, "%d left of %d ends at %d", t.left, rank, middle);
    }
    if (t.right >= 0) {
        quiet_check(node(k, t.right).parent == rank, "%d right of %d", t.right, rank);
        depth = most(depth, walk(k, t.right, &middle, &last));
        quiet_check(middle == rank + 1, "%d right of %d begins at %d", t.right, rank, middle);
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
        ck_assert_msg(lo == k.lo && hi == k.hi, "tree %d over %d..%d holds %d..%d", k.which, k.lo,
                      k.hi, lo, hi);
    }
    ck_assert_int_eq(roots, 1);
}

/* Halves for lambda 1, Fibonacci's numbers for 2; and all that an int can count fits the array,
 * whatever lambda is. */
TEST(postal_reach_is_known)
{
    static const int known[][8] = { { 1, 2, 4, 8, 16, 32, 64, 128 },
                                    { 1, 1, 2, 3, 5, 8, 13, 21 },
                                    { 1, 1, 1, 2, 3, 4, 6, 9 } };
    int64_t reach[COLLOPT_POSTAL_SLOTS];

    for (int lambda = 1; lambda <= 3; lambda++) {
        ck_assert_int_eq(collopt_postal_reach(known[lambda - 1][7], lambda, reach), 7);
        for (int t = 0; t < 8; t++)
            ck_assert_int_eq(reach[t], known[lambda - 1][t]);
    }
    for (int lambda = 1; lambda <= COLLOPT_MOST_LAMBDA; lambda++) {
        int slots = collopt_postal_reach(INT_MAX, lambda, reach);

        ck_assert_int_lt(slots, COLLOPT_POSTAL_SLOTS);
        ck_assert(reach[slots] >= INT_MAX && reach[slots - 1] < INT_MAX);
    }
    ck_assert_int_eq(collopt_postal_reach(1, COLLOPT_MOST_LAMBDA, reach), 0);
}

TEST(trees_are_in_order)
{
    for (int ranks = 1; ranks <= MOST_RANKS; ranks++) {
        for (int which = 0; which < 2; which++)
            check_tree((struct shape){ 5, 5 + ranks, 0, which });
        for (int root = 0; root < ranks; root += 1 + root / 8)
            check_tree((struct shape){ 0, ranks, root, 2 });
    }
}

TEST(no_rank_has_children_in_both_of_two_trees)
{
    for (int ranks = 2; ranks <= MOST_RANKS; ranks += 2)
        for (int rank = 0; rank < ranks; rank++) {
            struct collopt_tree a = collopt_two_tree(0, ranks, false, rank),
                                b = collopt_two_tree(0, ranks, true, rank);

            ck_assert((a.left < 0 && a.right < 0) || (b.left < 0 && b.right < 0));
        }
}

/* Parents send after their children; what comes from two children differs in colour, and what goes
 * to two parents. */
static void check_slots(int ranks, int rank, int lag)
{
    struct collopt_two_tree_slots slots[2];
    int from[4], n = 0;

    for (int which = 0; which < 2; which++) {
        struct collopt_tree t = collopt_two_tree(3, 3 + ranks, which, 3 + rank);
        struct collopt_two_tree_slots k = slots[which] = collopt_two_tree_slots(3, 3 + ranks, which,
                                                                                3 + rank, lag);

        quiet_check(k.up >= 0 && k.up <= lag * collopt_two_tree_height(ranks) + 1,
                    "p %d rank %d: %d", ranks, rank, k.up);
        if (t.left >= 0)
            from[n++] = k.left;
        if (t.right >= 0)
            from[n++] = k.right;
        quiet_check((t.left < 0 || k.left < k.up) && (t.right < 0 || k.right < k.up),
                    "p %d rank %d is too early", ranks, rank);
        if (t.parent >= 0) {
            struct collopt_two_tree_slots above = collopt_two_tree_slots(3, 3 + ranks, which,
                                                                         t.parent, lag);

            quiet_check(k.up == (t.parent > 3 + rank ? above.left : above.right),
                        "p %d rank %d: %d", ranks, rank, k.up);
        }
    }
    quiet_check(n <= 2, "p %d rank %d has %d children", ranks, rank, n);
    quiet_check(n < 2 || (from[0] - from[1]) % 2, "p %d rank %d receives twice in a slot", ranks,
                rank);
    quiet_check((slots[0].up - slots[1].up) % 2, "p %d rank %d sends twice in a slot", ranks, rank);
}

TEST(two_trees_are_coloured)
{
    for (int ranks = 2; ranks <= MOST_RANKS; ranks++)
        for (int rank = 0; rank < ranks; rank++)
            for (int lag = 2; lag <= 4; lag += 2)
                check_slots(ranks, rank, lag);
}

TEST(two_trees_are_known)
{
    static const int a[] = { 1, 3, 1, 7, 5, 3, 5, -1, 9, 7 },
                     b[] = { 2, 0, -1, 4, 6, 4, 2, 8, 6, 8 };
    static const int odd[] = { 1, 3, 1, 7, 5, 3, 5, 8, -1 };

    for (int rank = 0; rank < 10; rank++) {
        ck_assert_int_eq(collopt_two_tree(0, 10, false, rank).parent, a[rank]);
        ck_assert_int_eq(collopt_two_tree(0, 10, true, rank).parent, b[rank]);
    }
    for (int rank = 0; rank < 9; rank++)
        ck_assert_int_eq(collopt_two_tree(0, 9, false, rank).parent, odd[rank]);
}

static const struct collopt_topology one_node = { .nodes = 1 };
static const struct collopt_problem anywhere = { .ranks = 4, .topology = &one_node };

TEST(segments_are_bounded)
{
    static const size_t counts[] = { 0, 1, 100, 1 << 20, (size_t)1 << 40 };

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (size_t segment = 1; segment < (size_t)1 << 40; segment *= 8) {
            struct collopt_problem p = { .ranks = 4,
                                         .count = counts[i],
                                         .size = 8,
                                         .value = { segment } };

            ck_assert_int_ge(collopt_segments(&p), 1);
            ck_assert_int_le(collopt_segments(&p), COLLOPT_MOST_SEGMENTS);
        }
    ck_assert_uint_ge(collopt_preset_segment(&anywhere, 10, 0), 1);
    ck_assert_uint_le(collopt_preset_segment(&anywhere, 1, 1e15), (size_t)1 << 52);
    ck_assert_uint_le(collopt_preset_segment(&anywhere, 1000, 1e6),
                      collopt_preset_segment(&anywhere, 10, 1e6));
}

/* A node holds half, rounded up, after each step; whoever gets a block in a step still has it to
 * hand on. */
static void check_swing(int nodes)
{
    unsigned char step[nodes];
    int work[2 * nodes], q = log2_ceil(nodes), handed_on[33] = { 0 };

    collopt_swing_table(nodes, step, work);
    for (int c = 0; c < nodes; c++) {
        handed_on[step[c]]++;
        if (step[c] < q)
            quiet_check(step[modulo(collopt_swing_distance(step[c]) - c, nodes)] > step[c],
                        "%d nodes: what is at %d goes in step %d to one that has sent it", nodes,
                        c, step[c]);
    }
    ck_assert_int_eq(step[0], q);
    for (int k = 0; k < q; k++)
        ck_assert_msg(handed_on[k]
                          == collopt_swing_held(nodes, k) - collopt_swing_held(nodes, k + 1),
                      "%d nodes: %d blocks in step %d", nodes, handed_on[k], k);
    ck_assert_int_eq(handed_on[q], 1);
}

TEST(swings_halve)
{
    static const int distance[] = { 1, -1, 3, -5, 11, -21, 43 };

    for (int s = 0; s < 7; s++)
        ck_assert_int_eq(collopt_swing_distance(s), distance[s]);
    for (int nodes = 2; nodes <= 3000; nodes += nodes < 1000 ? 2 : 46)
        check_swing(nodes);
    check_swing(65536);
    check_swing(65522);
}

/* The window of a position holds just those blocks that the table says are still held. */
TEST(swing_positions_are_windows)
{
    static const int of_8[] = { 0, 4, 6, 1, 3, 7, 5, 2 },
                     of_16[] = { 0, 8, 12, 2, 5, 14, 9, 7, 3, 11, 15, 1, 6, 13, 10, 4 };

    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(collopt_swing_position(8, i), of_8[i]);
    for (int i = 0; i < 16; i++)
        ck_assert_int_eq(collopt_swing_position(16, i), of_16[i]);
    for (int nodes = 2; nodes <= 1024; nodes *= 2) {
        unsigned char step[nodes];
        int work[2 * nodes], q = log2_floor(nodes);

        collopt_swing_table(nodes, step, work);
        for (int r = 0; r < nodes; r += 1 + nodes / 64)
            for (int b = 0; b < nodes; b++) {
                int differ = collopt_swing_position(nodes, r) ^ collopt_swing_position(nodes, b);
                int first = differ ? q - 1 - log2_floor(differ) : q;

                quiet_check(step[modulo(r % 2 ? r - b : b - r, nodes)] == first,
                            "%d nodes: %d at %d", nodes, b, r);
            }
    }
}

static bool has_larger_prime(int n, int than)
{
    for (int f = 2; f <= than; f++)
        while (n % f == 0)
            n /= f;
    return n > 1;
}

static int largest_divisor(int n, int up_to)
{
    while (n % up_to)
        up_to--;
    return up_to;
}

/* Written as a list, they are read back. */
static bool is_read_back(struct collopt_levels f)
{
    struct collopt_levels again;
    size_t list = 0;

    for (int l = 0; l < f.levels; l++)
        list |= (size_t)f.radix[l] << COLLOPT_RADIX_BITS * l;
    again = collopt_listed_levels(list);
    return again.levels == f.levels && again.ranks == f.ranks
        && !memcmp(again.radix, f.radix, (size_t)f.levels * sizeof *f.radix);
}

/* On each level as many as there can be, so none is wider than the one before.  Where there are
 * none, nobody may take them for all ranks. */
static bool are_factors(struct collopt_levels f, int ranks, int radix)
{
    int left = ranks;

    if ((f.levels > 0) != (ranks > 1 && !has_larger_prime(ranks, radix)))
        return false;
    if (f.levels == 0)
        return f.ranks == (ranks == 1) && collopt_widest_level(f) == 2;
    for (int l = 0; l < f.levels; left /= f.radix[l++])
        if (f.radix[l] < 2 || f.radix[l] != largest_divisor(left, radix))
            return false;
    return left == 1 && f.ranks == ranks && collopt_widest_level(f) == f.radix[0]
        && is_read_back(f);
}

TEST(levels_multiply_to_the_ranks)
{
    for (int ranks = 1; ranks <= 4096; ranks++)
        for (int radix = 2; radix <= COLLOPT_FOLD_OPERANDS; radix++)
            if (!are_factors(collopt_factors(ranks, radix), ranks, radix))
                ck_abort_msg("%d ranks by up to %d", ranks, radix);
}

TEST(grids_have_coordinates)
{
    struct collopt_grid g;

    ck_assert(!collopt_grid(&g, 0));
    ck_assert(collopt_grid(&g, 4 | 3 << COLLOPT_SIDE_BITS | 2 << 2 * COLLOPT_SIDE_BITS));
    ck_assert_int_eq(g.sides, 3);
    for (int a = 0, rank = 0; a < 4; a++)
        for (int b = 0; b < 3; b++)
            for (int c = 0; c < 2; c++, rank++) {
                ck_assert_int_eq(collopt_grid_at(&g, rank, 0), a);
                ck_assert_int_eq(collopt_grid_at(&g, rank, 1), b);
                ck_assert_int_eq(collopt_grid_at(&g, rank, 2), c);
                ck_assert_int_eq(collopt_grid_moved(&g, rank, 1, 2), rank + (2 - b) * 2);
            }
}

/* Links from place A of a group of N to place B; RING: its ends are neighbours. */
static int links(int a, int b, int n, bool ring)
{
    int links = abs(a - b);

    return ring && n - links < links ? n - links : links;
}

static void check_order(const struct collopt_topology *t, int width, int n, bool line, bool ring)
{
    bool closed = false;

    ck_assert_msg(collopt_on_lines(t, width, n, &closed) == line && closed == ring,
                  "%d ranks, %d apart", n, width);
    for (int own = 0; own < n; own++) {
        int others[16], seen = 0;

        collopt_farthest_first(t, width, n, own, others);
        for (int i = 0; i < n - 1; i++) {
            ck_assert(others[i] >= 0 && others[i] < n && others[i] != own
                      && !(seen >> others[i] & 1));
            seen |= 1 << others[i];
            if (!line)
                ck_assert_int_eq(others[i], (own + 1 + i) % n);
            else if (i > 0)
                ck_assert_int_le(links(own, others[i], n, ring),
                                 links(own, others[i - 1], n, ring));
        }
    }
}

/* Along 8x5x4, a ring, a line and a ring. */
TEST(the_farthest_are_first)
{
    struct collopt_topology t = { .nodes = 160, .wired = true, .rings = 1 | 1 << 2,
                                  .dims = 8 | 5 << COLLOPT_SIDE_BITS | 4 << 2 * COLLOPT_SIDE_BITS };

    check_order(&t, 1, 4, true, true);
    check_order(&t, 1, 3, true, false);
    check_order(&t, 2, 2, true, true);
    check_order(&t, 4, 5, true, false);
    check_order(&t, 4, 2, true, false);
    check_order(&t, 20, 8, true, true);
    check_order(&t, 40, 4, true, true);
    check_order(&t, 40, 3, true, false);
    check_order(&t, 1, 5, false, false);        /* around a corner */
    check_order(&t, 8, 5, false, false);
    check_order(&t, 20, 9, false, false);
    t.wired = false;            /* the program's grid, whose links nobody knows */
    check_order(&t, 1, 4, false, false);
}

TEST(preset_dims_are_nearly_square)
{
    static const struct {
        int ranks, each, longer, shorter;       /* 0, 0: none; SHORTER 1: one side */
    } known[] = { { 1, 1, 1, 1 },    { 2, 1, 2, 1 },   { 4, 1, 2, 2 },      { 12, 1, 4, 3 },
                  { 36, 1, 6, 6 },   { 97, 1, 97, 1 }, { 1024, 1, 32, 32 }, { 1031, 1, 0, 0 },
                  { 2062, 1, 0, 0 }, { 1, 2, 0, 0 },   { 3, 2, 0, 0 },      { 6, 2, 6, 1 },
                  { 8, 2, 4, 2 },    { 12, 2, 6, 2 },  { 36, 2, 6, 6 },     { 1024, 2, 32, 32 },
                  { 96, 2, 12, 8 } };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        static const struct collopt_topology one = { .nodes = 1 };
        const struct collopt_problem p = { .ranks = known[i].ranks, .topology = &one };
        size_t dims = (size_t)known[i].longer;

        if (known[i].shorter > 1)
            dims |= (size_t)known[i].shorter << COLLOPT_SIDE_BITS;
        ck_assert_msg(collopt_preset_dims(&p, known[i].each) == dims,
                      "dims of %d in multiples of %d", known[i].ranks, known[i].each);
    }
}

/* Levels end where the sides of the grid do, from the last side on or from the outermost. */
static void check_along_sides(size_t list, const int side[3], bool outermost_first)
{
    struct collopt_levels f = collopt_listed_levels(list);
    int l = 0;

    for (int i = 0; i < 3; i++) {
        int of = side[outermost_first ? i : 2 - i], reached = 1;

        while (reached < of && l < f.levels)
            reached *= f.radix[l++];
        ck_assert_int_eq(reached, of);
    }
    ck_assert_int_eq(l, f.levels);
}

/* What P takes by A with this RADIX, which leaves no room for a list. */
static void check_slower(const struct collopt_algorithm *a, struct collopt_problem p, size_t radix,
                         double than)
{
    struct collopt_choice choice = { .algorithm = a, .value = { 0, radix } };

    collopt_set_parameters(&p, &choice);
    ck_assert_uint_eq(p.value[0], 0);
    if (collopt_usable(a, &p, NULL))
        ck_assert_msg(collopt_model(a, &p) > than, "%s:radix=%zu", a->name, radix);
}

/* Is a list preset for 8 KiB on a torus of these sides?  Then it is better than all radices. */
static bool is_listed(const struct collopt_algorithm *a, const int side[3])
{
    const struct collopt_choice choice = { .algorithm = a };
    int ranks = side[0] * side[1] * side[2];
    struct collopt_topology t = { .nodes = ranks, .largest = 1, .least = 1 };
    struct collopt_problem p = { .collective = a->collective,
                                 .ranks = ranks,
                                 .count = 1024,
                                 .size = 8,
                                 .commutative = true,
                                 .exact = true,
                                 .segments = 1,
                                 .topology = &t,
                                 .machine = &collopt_bundled_machines[COLLOPT_TORUS] },
                           nowhere = p, with;
    bool far = strncmp(a->name, "near", 4) != 0 && strncmp(a->name, "strided", 7) != 0
        && (a->collective == COLLOPT_REDUCE_SCATTER
            || a->collective == COLLOPT_REDUCE_SCATTER_BLOCK);

    collopt_set_parameters(&nowhere, &choice);
    ck_assert_uint_eq(nowhere.value[0], 0);
    collopt_topology_grid(&t, 3, side, 7);
    t.wired = true;
    with = p;
    collopt_set_parameters(&with, &choice);
    if (with.value[0] == 0)
        return false;
    check_along_sides(with.value[0], side, far);
    ck_assert_int_eq((int)with.value[1],
                     collopt_widest_level(collopt_listed_levels(with.value[0])));
    for (size_t radix = 2; radix <= COLLOPT_FOLD_OPERANDS; radix++)
        check_slower(a, p, radix, collopt_model(a, &with));
    return true;
}

/* Whatever a list multiplies to, presets look at it before it is refused. */
TEST(long_lists_are_refused)
{
    const size_t lists[] = { 0x88888888888, 0x8888888888888888, 0x88888, 2, 0x2222222222222222 };
    int refused = 0;

    for (int k = 0; collopt_algorithms[k]; k++) {
        const struct collopt_algorithm *a = collopt_algorithms[k];
        struct collopt_topology t = { .nodes = 4, .largest = 6, .least = 6 };
        struct collopt_problem p = { .collective = a->collective,
                                     .ranks = 24,
                                     .count = 1024,
                                     .size = 8,
                                     .commutative = true,
                                     .exact = true,
                                     .segments = 1,
                                     .topology = &t };

        for (size_t i = 0; i < sizeof lists / sizeof *lists && a->parameter[0].name; i++) {
            struct collopt_problem with = p;
            struct collopt_choice choice = { .algorithm = a, .value = { lists[i] } };

            if (strcmp(a->parameter[0].name, "radices") != 0)
                continue;
            collopt_set_parameters(&with, &choice);
            ck_assert_msg(!collopt_usable(a, &with, NULL), "%s, list %zu", a->name, i);
            refused++;
        }
    }
    ck_assert_int_eq(refused, 9 * 5);
}

TEST(radices_go_along_sides)
{
    static const int sides[][3] = { { 16, 8, 8 }, { 8, 8, 16 }, { 2, 16, 6 },
                                    { 5, 12, 7 }, { 8, 8, 8 },  { 11, 4, 4 } };
    int asked = 0, listed = 0;

    for (int k = 0; collopt_algorithms[k]; k++) {
        const struct collopt_algorithm *a = collopt_algorithms[k];

        if (!a->parameter[0].name || strcmp(a->parameter[0].name, "radices") != 0)
            continue;
        ck_assert_str_eq(a->parameter[1].name, "radix");
        for (size_t i = 0; i < sizeof sides / sizeof *sides; i++, asked++) {
            bool has = is_listed(a, sides[i]);

            ck_assert_msg(has || i > 0 || strncmp(a->name, "near", 4) == 0, "%s %d on 16x8x8",
                          a->name, (int)a->collective);
            listed += has;
        }
    }
    ck_assert_int_eq(asked, 6 * 9);
    ck_assert_int_ge(listed, 12);
}

/* Dims that do not make up the ranks are refused with a reason. */
TEST(dims_that_do_not_fit_are_refused)
{
    static const struct collopt_topology one = { .nodes = 1 };
    int asked = 0;

    for (int i = 0; collopt_algorithms[i]; i++) {
        const struct collopt_algorithm *a = collopt_algorithms[i];
        struct collopt_problem p = { .collective = a->collective,
                                     .ranks = 12,
                                     .count = 24,
                                     .size = 8,
                                     .commutative = true,
                                     .exact = true,
                                     .segments = 1,
                                     .topology = &one };
        const char *why = NULL;

        for (int k = 0; k < COLLOPT_PARAMETERS && a->parameter[k].name; k++)
            p.value[k] = !strcmp(a->parameter[k].name, "dims") ? 4 | 4 << COLLOPT_SIDE_BITS
                                                               : a->parameter[k].preset(&p);
        if (!p.value[0] || strcmp(a->parameter[0].name, "dims"))
            continue;
        ck_assert_msg(!collopt_usable(a, &p, &why), "%s with dims=4x4 on 12 ranks", a->name);
        ck_assert_ptr_nonnull(strstr(why, "dims do not multiply"));
        p.value[0] = 6 | 2 << COLLOPT_SIDE_BITS;
        ck_assert_msg(collopt_usable(a, &p, &why), "%s with dims=6x2 on 12 ranks: %s", a->name,
                      why);
        asked++;
    }
    ck_assert_int_gt(asked, 0);
}

int main(void)
{
    return suite_run("helpers");
}
