/* Two trees for Scan and Exscan: sums of subtrees go up in-order trees while prefixes come down,
 * segment by segment; each half of the vector goes through a tree of its own.
 *
 * A node receives the sum of its left subtree, combines its own (that is its prefix within the
 * subtree), then the sum of its right subtree, and sends the total up.  From above it receives
 * the sum of all ranks left of its subtree, hands that on to the left, and with its own prefix
 * to the right.  Totals that no rank needs (of subtrees that hold the last rank) and prefixes of
 * subtrees that hold rank 0 are not sent. The trees are those of two_tree.c, both ways in its
 * slots. Cost, S segments: 2 S + 2 or 3 log2 p rounds of m/S, 2m in and out of the busiest rank.
 * Scratch: a few segments.  In rank order. Use it for long vectors.  Sanders and Traeff,
 * EuroPVM/MPI 2006; Sanders, Speck and Traeff, Parallel Comput. 35 (2009). */
#include "config.h"

#include "algorithm.h"

/* One rank in one tree. */
struct node {
    struct collopt_tree tree;
    bool before, after;         /* is there a rank left, or right, of its subtree? */
    bool exclusive;
    struct turns left, right, prefix, total, give;
};

enum { TREES = 2, TURNS = 3 };  /* TURNS: segments that a stream has scratch for */
enum { LAG = 2 };               /* more would keep prefixes from going down between the totals that
                                 * go up */

static struct collopt_tree tree_of(const struct collopt_problem *p, int which, int rank)
{
    return collopt_two_tree(0, p->ranks, which > 0, rank);
}

static bool exclusive(const struct collopt_problem *p)
{
    return p->collective == COLLOPT_EXSCAN;
}

/* The outermost ranks of a subtree are found by going down its edges. */
static struct node node_of(const struct collopt_problem *p, int which, int rank)
{
    struct turns few = { .slots = TURNS };
    struct node n = { .tree = tree_of(p, which, rank), .exclusive = exclusive(p), .left = few,
                      .right = few, .prefix = few, .total = few, .give = few };
    int first = rank, last = rank;

    for (int next = n.tree.left; next >= 0; next = tree_of(p, which, next).left)
        first = next;
    for (int next = n.tree.right; next >= 0; next = tree_of(p, which, next).right)
        last = next;
    n.before = first > 0;
    n.after = last < p->ranks - 1;
    return n;
}

/* ---- one segment; steps that need not follow one another at once ----------------------------- */

static struct collopt_region taken(const struct turns *tmp, int number,
                                   struct collopt_block segment)
{
    return at(tmp->slot[number % tmp->slots], segment);
}

/* In an Exscan the sum of the left subtree is the rank's own prefix within its subtree. */
static void take_left(struct collopt_schedule *s, struct node *n, struct collopt_block segment)
{
    if (n->tree.left >= 0)
        collopt_receive(s, n->tree.left,
                        n->exclusive ? out(segment) : at(turn(s, &n->left), segment));
}

static void take_right(struct collopt_schedule *s, struct node *n, struct collopt_block segment)
{
    if (n->tree.right >= 0 && n->after)
        collopt_receive(s, n->tree.right, at(turn(s, &n->right), segment));
}

/* After this OUT holds left op own (Scan) or left (Exscan), if there is a left subtree. */
static void give_total(struct collopt_schedule *s, struct node *n, int number,
                       struct collopt_block segment)
{
    struct collopt_row total = { .operands = 0 };

    if (n->tree.left >= 0 && !n->exclusive)
        collopt_combine(s, out(segment), taken(&n->left, number, segment), in(segment));
    if (!n->after)
        return;
    if (n->tree.left >= 0)
        collopt_row_add(s, &total, out(segment));
    if (n->tree.left < 0 || n->exclusive)
        collopt_row_add(s, &total, in(segment));
    if (n->tree.right >= 0) {
        total.to = taken(&n->right, number, segment);
        collopt_row_add(s, &total, total.to);
    } else if (total.operands > 1) {
        total.to = at(turn(s, &n->total), segment);
    }
    collopt_row_flush(s, &total);
    if (n->tree.parent >= 0)
        collopt_send(s, n->tree.parent, total.operand[0]);
}

static void take_prefix(struct collopt_schedule *s, struct node *n, struct collopt_block segment)
{
    if (n->before)
        collopt_receive(s, n->tree.parent,
                        n->exclusive && n->tree.left < 0 ? out(segment)
                                                         : at(turn(s, &n->prefix), segment));
}

static void pass_left(struct collopt_schedule *s, const struct node *n, int number,
                      struct collopt_block segment)
{
    if (n->before && n->tree.left >= 0)
        collopt_send(s, n->tree.left, taken(&n->prefix, number, segment));
}

/* The rank's result. */
static void complete(struct collopt_schedule *s, const struct node *n, int number,
                     struct collopt_block segment)
{
    if (n->before && (n->tree.left >= 0 || !n->exclusive))
        collopt_combine(s, out(segment), taken(&n->prefix, number, segment),
                        n->tree.left >= 0 ? out(segment) : in(segment));
    else if (!n->before && n->tree.left < 0 && !n->exclusive)
        collopt_copy(s, out(segment), in(segment));
}

static void pass_right(struct collopt_schedule *s, struct node *n, struct collopt_block segment)
{
    struct collopt_region give = out(segment);

    if (n->tree.right < 0)
        return;
    if (n->exclusive && !n->before && n->tree.left < 0) {
        give = in(segment);
    } else if (n->exclusive) {
        give = at(turn(s, &n->give), segment);
        collopt_combine(s, give, out(segment), in(segment));
    }
    collopt_send(s, n->tree.right, give);
}

/* ---- all segments ---------------------------------------------------------------------------- */

/* Two trees, in the slots that keep them out of each other's way. */
struct stream {
    struct node node;
    struct collopt_two_tree_slots slots;
    int partition, first, segments;     /* its half of the vector */
};

/* The segment number *J is due in slot T of what begins in slot START. */
static bool due(const struct stream *w, int t, int start, int *j, struct collopt_block *segment)
{
    *j = collopt_two_tree_due(t, start, w->segments);
    *segment = block(w->partition, w->first + most(*j, 0), 1);
    return *j >= 0;
}

static void slot_up(struct collopt_schedule *s, struct stream stream[TREES], int t)
{
    struct collopt_block segment;
    int j;

    for (int i = 0; i < TREES; i++)
        if (due(&stream[i], t, stream[i].slots.up, &j, &segment))
            give_total(s, &stream[i].node, j, segment);
    for (int i = 0; i < TREES; i++) {
        struct stream *w = &stream[i];

        if (due(w, t, w->slots.left, &j, &segment))
            take_left(s, &w->node, segment);
        if (due(w, t, w->slots.right, &j, &segment))
            take_right(s, &w->node, segment);
    }
}

static void slot_down(struct collopt_schedule *s, struct stream stream[TREES], int t)
{
    struct collopt_block segment;
    int j;

    for (int i = 0; i < TREES; i++) {
        struct stream *w = &stream[i];

        if (due(w, t, collopt_two_tree_down(&w->slots, w->slots.left), &j, &segment))
            pass_left(s, &w->node, j, segment);
        if (due(w, t, collopt_two_tree_down(&w->slots, w->slots.up) + 1, &j, &segment))
            complete(s, &w->node, j, segment);
        if (due(w, t, collopt_two_tree_down(&w->slots, w->slots.right), &j, &segment))
            pass_right(s, &w->node, segment);
    }
    for (int i = 0; i < TREES; i++)
        if (due(&stream[i], t, collopt_two_tree_down(&stream[i].slots, stream[i].slots.up), &j,
                &segment))
            take_prefix(s, &stream[i].node, segment);
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    int each = (p->segments + 1) / 2, partition = collopt_partition(s, TREES * each);
    struct stream stream[TREES];

    for (int i = 0; i < TREES; i++)
        stream[i] =
            (struct stream){ node_of(p, i, rank), collopt_two_tree_slots(0, p->ranks, i, rank, LAG),
                             partition, i * each, each };
    for (int t = 0; t < stream[0].slots.end + TREES * each; t++) {
        collopt_round(s);
        slot_up(s, stream, t);
        collopt_round(s);
        slot_down(s, stream, t);
    }
}

static size_t segment(const struct collopt_problem *p)
{
    return collopt_preset_segment(p, 2 * log2_ceil(p->ranks), vector_bytes(p));
}

/* ---- traffic --------------------------------------------------------------------------------- */

/* Messages received and sent of a segment: of one rank in both trees, the larger. */
static int load_of(const struct collopt_problem *p, int rank)
{
    int received = 0, sent = 0;

    for (int i = 0; i < TREES; i++) {
        struct node n = node_of(p, i, rank);
        bool left = n.tree.left >= 0, right = n.tree.right >= 0;

        received += left + (n.after && right) + n.before;
        sent += (n.after && n.tree.parent >= 0) + (n.before && left) + right;
    }
    return most(received, sent);
}

/* The trees repeat themselves: the busiest rank is among the first or the last few. */
static int busiest(const struct collopt_problem *p)
{
    int load = 0;

    for (int r = 0; r < p->ranks; r = r == 15 && p->ranks > 32 ? p->ranks - 16 : r + 1)
        load = most(load, load_of(p, r));
    return load;
}

/* Up and down, and for each further segment what the busiest rank has of it. */
static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    int segments = (p->segments + 1) / TREES * TREES;
    double segment = vector_bytes(p) / segments;

    collopt_traffic_fill(t, p->ranks, 2, segment);
    collopt_pipeline(t, segments - 1, (busiest(p) + TREES - 1) / TREES, 1,
                     (struct collopt_messages){ .pattern = COLLOPT_TREE,
                                                .distance = most(p->ranks / 4, 1), .bytes = segment,
                                                .combined = segment, .uneven = 0.5 });
}

COLLOPT_SCAN_AND_EXSCAN(two_tree,
    .name = "two_tree", .summary = "sums up and prefixes down two pipelined trees; long vectors",
    .order = COLLOPT_IN_ORDER,
    .source = "Sanders and Traeff, EuroPVM/MPI 2006; Sanders, Speck and Traeff, Parallel Comput. "
              "35 (2009)",
    .parameter = { COLLOPT_SEGMENT(segment) }, .segments = collopt_segments, .traffic = traffic,
    .build = build);
