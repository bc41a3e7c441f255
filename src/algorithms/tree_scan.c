/* Pipelined scans through an in-order tree: sums of subtrees go up while prefixes come down,
 * segment by segment.
 *
 * A node receives the sum of its left subtree, combines its own (that is its prefix within the
 * subtree), then the sum of its right subtree, and sends the total up.  From above it receives
 * the sum of all ranks left of its subtree, hands that on to the left, and with its own prefix
 * to the right.  Totals that no rank needs (of subtrees that hold the last rank) and prefixes of
 * subtrees that hold rank 0 are not sent.  Both directions are strands of their own, so segments
 * overlap freely.  With two trees each half of the vector goes through its own, both ways in the
 * slots of two_tree.c. Cost, S segments: about 3 S + 2 log2 p rounds of m/S, 3m in and out of
 * the busiest rank; two trees: 2 S + 2 or 3 log2 p, and 2m. Scratch: a few segments.  In rank
 * order. Use it for long vectors.  Sanders and Traeff, EuroPVM/MPI 2006; Sanders, Speck and
 * Traeff, Parallel Comput. 35 (2009). */
#include "config.h"

#include "algorithm.h"

/* One rank in one tree. */
struct node {
    struct collopt_tree tree;
    bool before, after;         /* is there a rank left, or right, of its subtree? */
    bool exclusive;
    struct turns left, right, prefix, total, give;
};

enum { FIRST, SECOND, ALONE };  /* of two trees, or one for all */
enum { UP, DOWN };              /* strands */
enum { TURNS_ALONE = 2, TURNS = 3 };    /* segments that a stream has scratch for */
enum { LAG = 2 };               /* more would keep prefixes from going down between the totals that
                                 * go up */

static struct collopt_tree tree_of(const struct collopt_problem *p, int which, int rank)
{
    return which == ALONE ? collopt_binary_tree(0, p->ranks, p->ranks / 2, rank)
                          : collopt_two_tree(0, p->ranks, which == SECOND, rank);
}

static bool exclusive(const struct collopt_problem *p)
{
    return p->collective == COLLOPT_EXSCAN;
}

/* The outermost ranks of a subtree are found by going down its edges. */
static struct node node_of(const struct collopt_problem *p, int which, int rank)
{
    struct turns few = { .slots = which == ALONE ? TURNS_ALONE : TURNS };
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

/* What the left subtree sums up to is, in an Exscan, the rank's own prefix within its subtree. */
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

static void build_one(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    int partition = collopt_partition(s, p->segments);
    struct node n = node_of(p, ALONE, rank);

    for (int j = 0; j < p->segments; j++) {
        struct collopt_block segment = block(partition, j, 1);

        collopt_round(s);
        collopt_strand(s, UP);
        take_left(s, &n, segment);
        take_right(s, &n, segment);
        give_total(s, &n, j, segment);
        collopt_round(s);
        collopt_strand(s, DOWN);
        take_prefix(s, &n, segment);
        pass_left(s, &n, j, segment);
        complete(s, &n, j, segment);
        pass_right(s, &n, segment);
    }
}

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

static void slot_up(struct collopt_schedule *s, struct stream stream[2], int t)
{
    struct collopt_block segment;
    int j;

    for (int i = 0; i < 2; i++)
        if (due(&stream[i], t, stream[i].slots.up, &j, &segment))
            give_total(s, &stream[i].node, j, segment);
    for (int i = 0; i < 2; i++) {
        struct stream *w = &stream[i];

        if (due(w, t, w->slots.left, &j, &segment))
            take_left(s, &w->node, segment);
        if (due(w, t, w->slots.right, &j, &segment))
            take_right(s, &w->node, segment);
    }
}

static void slot_down(struct collopt_schedule *s, struct stream stream[2], int t)
{
    struct collopt_block segment;
    int j;

    for (int i = 0; i < 2; i++) {
        struct stream *w = &stream[i];

        if (due(w, t, collopt_two_tree_down(&w->slots, w->slots.left), &j, &segment))
            pass_left(s, &w->node, j, segment);
        if (due(w, t, collopt_two_tree_down(&w->slots, w->slots.up) + 1, &j, &segment))
            complete(s, &w->node, j, segment);
        if (due(w, t, collopt_two_tree_down(&w->slots, w->slots.right), &j, &segment))
            pass_right(s, &w->node, segment);
    }
    for (int i = 0; i < 2; i++)
        if (due(&stream[i], t, collopt_two_tree_down(&stream[i].slots, stream[i].slots.up), &j,
                &segment))
            take_prefix(s, &stream[i].node, segment);
}

static void build_two(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    int each = (p->segments + 1) / 2, partition = collopt_partition(s, 2 * each);
    struct stream stream[2];

    for (int i = 0; i < 2; i++)
        stream[i] =
            (struct stream){ node_of(p, i, rank), collopt_two_tree_slots(0, p->ranks, i, rank, LAG),
                             partition, i * each, each };
    for (int t = 0; t < stream[0].slots.end + 2 * each; t++) {
        collopt_round(s);
        slot_up(s, stream, t);
        collopt_round(s);
        slot_down(s, stream, t);
    }
}

static size_t segment(const struct collopt_problem *p)
{
    return collopt_preset_segment(p, 2 * log2_ceil(p->ranks), vector_bytes(p), true);
}

/* ---- traffic --------------------------------------------------------------------------------- */

struct load {                   /* segments, and streams that have slots */
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

/* On top, what comes down need not wait for all that comes up. */
static int fill_alone(int ranks)
{
    int below = ranks / 2, above = most(ranks - 1 - below, 0);
    struct collopt_tree_rounds fill = collopt_binary_tree_rounds(below, above, true);

    return ranks <= 4 ? ranks - 1 : fill.up + fill.down - 2;
}

/* Up and down, and for each further of so many SEGMENTS what the busiest rank has of it. */
static void traffic(const struct collopt_problem *p, int trees, int segments,
                    struct collopt_traffic *t)
{
    double segment = vector_bytes(p) / segments;
    struct load l = busiest(p, trees);

    if (trees == 1)
        collopt_traffic_fill_rounds(t, p->ranks, fill_alone(p->ranks), segment);
    else
        collopt_traffic_fill(t, p->ranks, 2, segment);
    collopt_pipeline(t, segments - 1, (most(l.sent, l.received) + trees - 1) / trees, 1,
                     (struct collopt_messages){ .pattern = COLLOPT_TREE,
                                                .distance = most(p->ranks / 4, 1), .bytes = segment,
                                                .combined = segment, .uneven = 0.5 });
}

static void traffic_one(const struct collopt_problem *p, struct collopt_traffic *t)
{
    traffic(p, 1, p->segments, t);
}

static void traffic_two(const struct collopt_problem *p, struct collopt_traffic *t)
{
    traffic(p, 2, (p->segments + 1) / 2 * 2, t);
}

static const char source[] =
    "Sanders and Traeff, EuroPVM/MPI 2006; Sanders, Speck and Traeff, Parallel Comput. 35 (2009)";

COLLOPT_SCAN_AND_EXSCAN(binary_tree,
    .name = "binary_tree",
    .summary = "sums up and prefixes down a pipelined tree; medium and long vectors",
    .order = COLLOPT_IN_ORDER, .identical = true, .rounds = "up to 3 S + 3 q", .bytes = "up to 3 m",
    .when = "medium and long vectors", .source = source,
    .parameter = { COLLOPT_SEGMENT(segment) }, .segments = collopt_segments,
    .traffic = traffic_one, .build = build_one);

COLLOPT_SCAN_AND_EXSCAN(two_tree,
    .name = "two_tree", .summary = "sums up and prefixes down two pipelined trees; long vectors",
    .order = COLLOPT_IN_ORDER, .identical = true,
    .rounds = "up to 2 S + 3 q + 3", .bytes = "up to 2 m",
    .when = "long vectors", .source = source,
    .parameter = { COLLOPT_SEGMENT(segment) }, .segments = collopt_segments,
    .traffic = traffic_two, .build = build_two);
