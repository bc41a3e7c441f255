/* Pipelined scans through an in-order tree: sums of subtrees go up while prefixes come down, segment by segment.
 *
 * A node receives the sum of its left subtree, combines its own (that is its prefix within the subtree), then the sum of its
 * right subtree, and sends the total up.  From above it receives the sum of all ranks left of its subtree, hands that on to the
 * left, and with its own prefix to the right.  Totals that nobody needs (of subtrees that hold the last rank) and prefixes of
 * subtrees that hold rank 0 are not sent.  Both directions are strands of their own, so segments overlap freely.
 * With two trees (see two_tree.c) each half of the vector goes through its own.
 * Cost, S segments: about 3 S + 2 log2 p rounds of m/S, 3m in and out of the busiest rank; two trees: 2 S + 2 log2 p, and 2m.
 * Scratch: a few segments.  In rank order.
 * Use it for long vectors.  Sanders and Traeff, EuroPVM/MPI 2006; Sanders, Speck and Traeff, Parallel Comput. 35 (2009). */
#include "config.h"

#include "algorithm.h"

/* One rank in one tree. */
struct node {
    struct collopt_tree tree;
    bool before, after;         /* is there a rank left, or right, of its subtree? */
    struct turns left, right, prefix, total, give;
};

enum { FIRST, SECOND, ALONE };  /* of two trees, or one for all */

static struct collopt_tree tree_of(const struct collopt_problem *p, int which, int rank)
{
    return which == ALONE ? collopt_binary_tree(0, p->ranks, p->ranks / 2, rank) : collopt_two_tree(0, p->ranks, which == SECOND, rank);
}

/* The outermost ranks of a subtree are found by going down its edges. */
static struct node node_of(const struct collopt_problem *p, int which, int rank)
{
    struct node n = { .tree = tree_of(p, which, rank), .left = { .slots = 2 }, .right = { .slots = 2 },
                      .prefix = { .slots = 2 }, .total = { .slots = 2 }, .give = { .slots = 2 } };
    int first = rank, last = rank;

    for (int next = n.tree.left; next >= 0; next = tree_of(p, which, next).left)
        first = next;
    for (int next = n.tree.right; next >= 0; next = tree_of(p, which, next).right)
        last = next;
    n.before = first > 0;
    n.after = last < p->ranks - 1;
    return n;
}

/* Scan: the node's prefix within its subtree; IN where it has no left subtree. */
static struct collopt_region own_prefix(const struct node *n, struct collopt_block segment)
{
    return n->tree.left >= 0 ? out(segment) : in(segment);
}

/* After this OUT holds left op own (Scan) or left (Exscan), if there is a left subtree. */
static void up(struct collopt_schedule *s, struct node *n, struct collopt_block segment, bool exclusive)
{
    struct collopt_row total = { .operands = 0 };

    if (n->tree.left >= 0 && exclusive) {
        collopt_receive(s, n->tree.left, out(segment));
        collopt_row_add(s, &total, out(segment));
        collopt_row_add(s, &total, in(segment));
    } else if (n->tree.left >= 0) {
        struct collopt_region got = at(turn(s, &n->left), segment);

        collopt_receive(s, n->tree.left, got);
        collopt_combine(s, out(segment), got, in(segment));
        collopt_row_add(s, &total, out(segment));
    } else {
        collopt_row_add(s, &total, in(segment));
    }
    if (!n->after)
        return;
    if (n->tree.right >= 0) {
        total.to = at(turn(s, &n->right), segment);
        collopt_receive(s, n->tree.right, total.to);
        collopt_row_add(s, &total, total.to);
    } else if (total.operands > 1) {
        total.to = at(turn(s, &n->total), segment);
    }
    collopt_row_flush(s, &total);
    if (n->tree.parent >= 0)
        collopt_send(s, n->tree.parent, total.operand[0]);
}

static void down_inclusive(struct collopt_schedule *s, struct node *n, struct collopt_block segment)
{
    struct collopt_region result = own_prefix(n, segment);

    if (n->before) {
        struct collopt_region prefix = at(turn(s, &n->prefix), segment);

        collopt_receive(s, n->tree.parent, prefix);
        if (n->tree.left >= 0)
            collopt_send(s, n->tree.left, prefix);
        collopt_combine(s, out(segment), prefix, result);
        result = out(segment);
    }
    if (n->tree.right >= 0)
        collopt_send(s, n->tree.right, result);
    if (result.place == COLLOPT_IN)
        collopt_copy(s, out(segment), result);
}

static void down_exclusive(struct collopt_schedule *s, struct node *n, struct collopt_block segment)
{
    bool have = n->before || n->tree.left >= 0;

    if (n->before && n->tree.left < 0) {
        collopt_receive(s, n->tree.parent, out(segment));
    } else if (n->before) {
        struct collopt_region prefix = at(turn(s, &n->prefix), segment);

        collopt_receive(s, n->tree.parent, prefix);
        collopt_send(s, n->tree.left, prefix);
        collopt_combine(s, out(segment), prefix, out(segment));
    }
    if (n->tree.right >= 0 && have) {
        struct collopt_region give = at(turn(s, &n->give), segment);

        collopt_combine(s, give, out(segment), in(segment));
        collopt_send(s, n->tree.right, give);
    } else if (n->tree.right >= 0) {
        collopt_send(s, n->tree.right, in(segment));
    }
}

static bool exclusive(const struct collopt_problem *p)
{
    return p->collective == COLLOPT_EXSCAN;
}

/* SEGMENTS for each of the TREES. */
static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank, int trees, int segments)
{
    int partition = collopt_partition(s, trees * segments);
    struct node node[2];

    for (int i = 0; i < trees; i++)
        node[i] = node_of(p, trees == 1 ? ALONE : i, rank);
    for (int j = 0; j < segments; j++) {
        collopt_round(s);
        for (int i = 0; i < trees; i++) {
            collopt_strand(s, i);
            up(s, &node[i], block(partition, i * segments + j, 1), exclusive(p));
        }
        collopt_round(s);
        for (int i = 0; i < trees; i++) {
            struct collopt_block segment = block(partition, i * segments + j, 1);

            collopt_strand(s, trees + i);
            if (exclusive(p))
                down_exclusive(s, &node[i], segment);
            else
                down_inclusive(s, &node[i], segment);
        }
    }
}

static void build_one(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    build(s, p, rank, 1, p->segments);
}

static void build_two(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    build(s, p, rank, 2, (p->segments + 1) / 2);
}

static size_t segment(const struct collopt_problem *p)
{
    return collopt_preset_segment(2 * log2_ceil(p->ranks), vector_bytes(p), true);
}

/* ---- costs -------------------------------------------------------------------------------------------------- */

struct load {                   /* segments, and slots for two of them */
    int sent, received, combined, slots;
};

static void add_load(const struct node *n, bool exclusive, struct load *l)
{
    bool left = n->tree.left >= 0, right = n->tree.right >= 0, total = n->after && right;

    l->received += left + total + n->before;
    l->sent += (n->after && n->tree.parent >= 0) + (n->before && left) + right;
    l->slots += total + (exclusive ? left && n->after && !right : left);
    l->combined += total + (exclusive ? left && n->after : left);
    if (exclusive) {
        l->combined += (n->before && left) + (right && (n->before || left));
        l->slots += (n->before && left) + (right && (n->before || left));
    } else {
        l->combined += n->before;
        l->slots += n->before;
    }
}

/* The trees repeat themselves: the busiest rank is among the first or the last few. */
static struct load busiest(const struct collopt_problem *p, int trees)
{
    struct load most_of = { 0, 0, 0, 0 };

    for (int r = 0; r < p->ranks; r = r == 15 && p->ranks > 32 ? p->ranks - 16 : r + 1) {
        struct load l = { 0, 0, 0, 0 };

        for (int i = 0; i < trees; i++) {
            struct node n = node_of(p, trees == 1 ? ALONE : i, r);

            add_load(&n, exclusive(p), &l);
        }
        most_of = (struct load){ most(most_of.sent, l.sent), most(most_of.received, l.received),
                                 most(most_of.combined, l.combined), most(most_of.slots, l.slots) };
    }
    return most_of;
}

/* Rounds are an estimate: what goes up and what comes down compete for the ports. */
static void cost_of(const struct collopt_problem *p, int trees, int segments, struct collopt_cost *c)
{
    struct load l = busiest(p, trees);
    double segment = vector_bytes(p) / (trees * segments);

    c->rounds = l.received > 0 ? most(l.sent, l.received) * segments + 2 * log2_ceil(p->ranks) - (trees == 1) : 0;
    c->bytes = most(l.sent, l.received) * segments * segment;
    c->combined = l.combined * segments * segment;
    c->scratch = l.slots * least(segments, 2) * segment;
}

static void cost_one(const struct collopt_problem *p, struct collopt_cost *c)
{
    cost_of(p, 1, p->segments, c);
}

static void cost_two(const struct collopt_problem *p, struct collopt_cost *c)
{
    cost_of(p, 2, (p->segments + 1) / 2, c);
}

const struct collopt_algorithm collopt_scan_binary_tree = {
    .name = "binary_tree", .summary = "sums up and prefixes down a pipelined tree; medium and long vectors",
    .collective = COLLOPT_SCAN, .order = COLLOPT_IN_ORDER, .identical = true,
    .parameter = { COLLOPT_SEGMENT(segment) }, .segments = collopt_segments,
    .cost = cost_one, .build = build_one,
};

const struct collopt_algorithm collopt_scan_two_tree = {
    .name = "two_tree", .summary = "sums up and prefixes down two pipelined trees; long vectors",
    .collective = COLLOPT_SCAN, .order = COLLOPT_IN_ORDER, .identical = true,
    .parameter = { COLLOPT_SEGMENT(segment) }, .segments = collopt_segments,
    .cost = cost_two, .build = build_two,
};

const struct collopt_algorithm collopt_exscan_binary_tree = {
    .name = "binary_tree", .summary = "sums up and prefixes down a pipelined tree; medium and long vectors",
    .collective = COLLOPT_EXSCAN, .order = COLLOPT_IN_ORDER, .identical = true,
    .parameter = { COLLOPT_SEGMENT(segment) }, .segments = collopt_segments,
    .cost = cost_one, .build = build_one,
};

const struct collopt_algorithm collopt_exscan_two_tree = {
    .name = "two_tree", .summary = "sums up and prefixes down two pipelined trees; long vectors",
    .collective = COLLOPT_EXSCAN, .order = COLLOPT_IN_ORDER, .identical = true,
    .parameter = { COLLOPT_SEGMENT(segment) }, .segments = collopt_segments,
    .cost = cost_two, .build = build_two,
};
