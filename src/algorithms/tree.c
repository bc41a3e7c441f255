/* In-order trees, and pipelines through them.
 *
 * A subtree is an interval of ranks; a node lies between its left and its right subtree, so that
 * left op own op right keeps rank order. Chains, balanced trees and the two-tree differ only in who
 * is whose parent. */
#include "config.h"

#include "algorithm.h"

struct collopt_tree collopt_binary_tree(int lo, int hi, int root, int rank)
{
    struct collopt_tree t = { -1, -1, -1 };
    int node = root;

    while (node != rank) {
        t.parent = node;
        if (rank < node)
            hi = node;
        else
            lo = node + 1;
        node = lo + (hi - lo) / 2;
    }
    if (lo < rank)
        t.left = lo + (rank - lo) / 2;
    if (rank + 1 < hi)
        t.right = rank + 1 + (hi - rank - 1) / 2;
    return t;
}

/* The tree over an even number of ranks, counted from 1, in which odd ranks are leaves and a node
 * of 2^h (2 i + 1) has 2^h - 1 lower ranks below it, as far as there are ranks. */
static struct collopt_tree first_tree(int ranks, int rank)
{
    struct collopt_tree t = { -1, -1, -1 };
    int x = rank + 1, height = 0;

    while (!(x >> height & 1))
        height++;
    for (int h = height, y = x; t.parent < 0 && (1 << (h + 1)) <= ranks; h++) {
        y = (y >> (h + 1) | 1) << (h + 1);
        if (y <= ranks)
            t.parent = y - 1;
    }
    if (height > 0)
        t.left = x - (1 << (height - 1)) - 1;
    for (int h = height - 1; t.right < 0 && h >= 0; h--)
        if (x + (1 << h) <= ranks)
            t.right = x + (1 << h) - 1;
    return t;
}

static int mirrored(int ranks, int rank)
{
    return rank < 0 ? -1 : ranks - 1 - rank;
}

/* The second tree is the first seen in a mirror: who is a leaf here has children there. */
static struct collopt_tree tree_of_even(int ranks, bool second, int rank)
{
    if (!second)
        return first_tree(ranks, rank);

    struct collopt_tree t = first_tree(ranks, mirrored(ranks, rank));

    return (struct collopt_tree){ mirrored(ranks, t.parent), mirrored(ranks, t.right),
                                  mirrored(ranks, t.left) };
}

static int shifted(int by, int rank)
{
    return rank < 0 ? -1 : rank + by;
}

/* -1: for a child that is not there. Of two that come at the same time, one waits for the other. */
static int joined(int first, int second)
{
    return first < 0 && second < 0 ? 0 : most(first, second) + 1 + (first == second);
}

/* Of balanced trees of RANKS and of RANKS + 1, whose subtrees have two sizes in all, one beside the
 * other. */
static void rounds_of(int ranks, int of[2])
{
    int child[2] = { -1, 0 };   /* of 0 and of 1 */
    bool even = ranks % 2 == 0;

    if (ranks > 2)
        rounds_of((ranks - 1) / 2, child);
    of[0] = ranks == 0 ? -1 : even ? joined(child[0], child[1]) : joined(child[0], child[0]);
    of[1] = ranks == 0 ? 0 : even ? joined(child[1], child[1]) : joined(child[0], child[1]);
}

int collopt_binary_tree_rounds(int below, int above)
{
    int first[2], second[2];

    rounds_of(below, first);
    rounds_of(above, second);
    return joined(first[0], second[0]);
}

/* An odd number has its last rank on top of both trees. */
struct collopt_tree collopt_two_tree(int lo, int hi, bool second, int rank)
{
    int even = (hi - lo) / 2 * 2, top = even ? 1 << log2_floor(even) : 0,
        root = second ? even - top : top - 1;
    struct collopt_tree t = { -1, -1, -1 };

    if (rank - lo < even)
        t = tree_of_even(even, second, rank - lo);
    else if (even > 0)
        t.left = root;
    if (even > 0 && rank - lo == root && even < hi - lo)
        t.parent = even;
    return (struct collopt_tree){ shifted(lo, t.parent), shifted(lo, t.left),
                                  shifted(lo, t.right) };
}

static int depth_of(int even, bool second, int rank)
{
    int depth = 0;

    while ((rank = tree_of_even(even, second, rank).parent) >= 0)
        depth++;
    return depth;
}

/* Where RANK has children, siblings must differ in colour, and so must the parents of two leaves of
 * the other tree that are siblings there. Those are x and x + 2 for x a multiple of four, or two
 * more, whichever p is not; seen from x, one is below the other by one step to one side and then
 * steps to the other side only. So on one side children get the other colour, on the other side
 * their parent's. */
static bool colour_where_inner(int even, bool second, int rank)
{
    bool colour = second, far_side = (even % 4 == 0) == second;

    for (int parent; (parent = tree_of_even(even, second, rank).parent) >= 0; rank = parent)
        colour ^= (rank > parent) == far_side;
    return colour;
}

static bool colour_of(int even, bool second, int rank)
{
    struct collopt_tree t = tree_of_even(even, second, rank);

    if (t.left < 0 && t.right < 0)
        return !colour_where_inner(even, !second, rank);
    return colour_where_inner(even, second, rank);
}

/* The first slot in which RANK can send to its parent, or to somebody on top of it. */
static int slot_of(int ranks, bool second, int rank, int lag)
{
    int even = ranks / 2 * 2, odd = ranks % 2, last = lag * collopt_two_tree_height(ranks);

    if (rank == even)
        return last + second;
    return last - lag * (odd + depth_of(even, second, rank)) + colour_of(even, second, rank);
}

int collopt_two_tree_height(int ranks)
{
    return ranks < 2 ? 0 : log2_floor(ranks / 2 * 2) + ranks % 2;
}

struct collopt_two_tree_slots collopt_two_tree_slots(int lo, int hi, bool second, int rank, int lag)
{
    struct collopt_tree t = collopt_two_tree(lo, hi, second, rank);

    return (struct collopt_two_tree_slots){
        .left = t.left < 0 ? 0 : slot_of(hi - lo, second, t.left - lo, lag),
        .right = t.right < 0 ? 0 : slot_of(hi - lo, second, t.right - lo, lag),
        .up = slot_of(hi - lo, second, rank - lo, lag),
        .end = 2 * lag * collopt_two_tree_height(hi - lo) + 2,
    };
}

int collopt_two_tree_down(const struct collopt_two_tree_slots *slots, int slot)
{
    return slots->end - 1 - slot;
}

int collopt_two_tree_due(int t, int start, int segments)
{
    int j = (t - start) / 2;

    return t < start || (t - start) % 2 || j >= segments ? -1 : j;
}

void collopt_tree_take(struct collopt_schedule *s, int child, struct turns *tmp,
                       struct collopt_block segment)
{
    if (child >= 0)
        collopt_receive(s, child, at(turn(s, tmp), segment));
}

static void add_taken(struct collopt_schedule *s, struct collopt_row *row, int child,
                      const struct turns *tmp, int number, struct collopt_block segment)
{
    if (child < 0)
        return;
    row->to = at(tmp->slot[number % tmp->slots], segment);
    collopt_row_add(s, row, row->to);
}

void collopt_tree_give(struct collopt_schedule *s, struct collopt_tree t,
                       const struct collopt_tree_turns *tmp, int number,
                       struct collopt_block segment)
{
    struct collopt_row row = { .operands = 0 };

    add_taken(s, &row, t.left, &tmp->left, number, segment);
    collopt_row_add(s, &row, in(segment));
    add_taken(s, &row, t.right, &tmp->right, number, segment);
    if (t.parent < 0)
        row.to = out(segment);
    collopt_row_flush(s, &row);
    if (t.parent >= 0)
        collopt_send(s, t.parent, row.operand[0]);
}

void collopt_tree_up(struct collopt_schedule *s, struct collopt_tree t,
                     struct collopt_tree_turns *tmp, int number, struct collopt_block segment)
{
    collopt_tree_take(s, t.left, &tmp->left, segment);
    collopt_tree_take(s, t.right, &tmp->right, segment);
    collopt_tree_give(s, t, tmp, number, segment);
}

void collopt_tree_down(struct collopt_schedule *s, struct collopt_tree t,
                       struct collopt_block segment)
{
    if (t.parent >= 0)
        collopt_receive(s, t.parent, out(segment));
    if (t.left >= 0)
        collopt_send(s, t.left, out(segment));
    if (t.right >= 0)
        collopt_send(s, t.right, out(segment));
}

void collopt_links_up(struct collopt_schedule *s, const struct collopt_links *l,
                      struct turns tmp[COLLOPT_NEIGHBOURS], struct collopt_block segment)
{
    struct collopt_region operand[COLLOPT_NEIGHBOURS + 1], to = in(segment);
    int n = 0;

    for (int i = 0; i <= l->children; i++) {
        if (i == l->before)
            operand[n++] = in(segment);
        if (i == l->children)
            break;
        operand[n] = at(turn(s, &tmp[i]), segment);
        collopt_receive(s, l->child[i], operand[n++]);
    }
    if (l->parent < 0)
        to = out(segment);
    else if (n > 1)
        to = operand[l->before == 0];
    if (n > 1)
        collopt_fold(s, to, n, operand);
    if (l->parent >= 0)
        collopt_send(s, l->parent, to);
}
