/* In-order trees, and pipelines through them.
 *
 * A subtree is an interval of ranks; a node lies between its left and its right subtree, so that left op own op right keeps
 * rank order.  Chains, balanced trees and the two-tree differ only in who is whose parent. */
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

/* The tree over an even number of ranks, counted from 1, in which odd ranks are leaves and a node of 2^h (2 i + 1) has
 * 2^h - 1 lower ranks below it, as far as there are ranks. */
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

    return (struct collopt_tree){ mirrored(ranks, t.parent), mirrored(ranks, t.right), mirrored(ranks, t.left) };
}

static int shifted(int by, int rank)
{
    return rank < 0 ? -1 : rank + by;
}

/* An odd number has its last rank on top of both trees. */
struct collopt_tree collopt_two_tree(int lo, int hi, bool second, int rank)
{
    int even = (hi - lo) / 2 * 2, top = even ? 1 << log2_floor(even) : 0, root = second ? even - top : top - 1;
    struct collopt_tree t = { -1, -1, -1 };

    if (rank - lo < even)
        t = tree_of_even(even, second, rank - lo);
    else if (even > 0)
        t.left = root;
    if (even > 0 && rank - lo == root && even < hi - lo)
        t.parent = even;
    return (struct collopt_tree){ shifted(lo, t.parent), shifted(lo, t.left), shifted(lo, t.right) };
}

void collopt_tree_up(struct collopt_schedule *s, struct collopt_tree t, struct collopt_tree_turns *tmp, struct collopt_block segment)
{
    struct collopt_row row = { .operands = 0 };

    if (t.left >= 0) {
        row.to = at(turn(s, &tmp->left), segment);
        collopt_receive(s, t.left, row.to);
        collopt_row_add(s, &row, row.to);
    }
    collopt_row_add(s, &row, in(segment));
    if (t.right >= 0) {
        row.to = at(turn(s, &tmp->right), segment);
        collopt_receive(s, t.right, row.to);
        collopt_row_add(s, &row, row.to);
    }
    if (t.parent < 0) {
        row.to = out(segment);
        collopt_row_finish(s, &row);
    } else {
        collopt_row_flush(s, &row);
        collopt_send(s, t.parent, row.operand[0]);
    }
}

void collopt_tree_down(struct collopt_schedule *s, struct collopt_tree t, struct collopt_block segment)
{
    if (t.parent >= 0)
        collopt_receive(s, t.parent, out(segment));
    if (t.left >= 0)
        collopt_send(s, t.left, out(segment));
    if (t.right >= 0)
        collopt_send(s, t.right, out(segment));
}
