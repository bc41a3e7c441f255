/* Reduce up the tree of the postal model, in which a rank takes in other messages while one is on
 * its way; any root.
 *
 * A message comes lambda slots of time after it is sent, and a rank takes in one in each slot. So
 * of the ranks whose sum is to be ready in slot t, some have theirs ready in slot t-1, at the rank
 * that is to have it all, and the others in slot t - lambda, at the one who sends it then; and so
 * on with both. With lambda 1 they are halves, and the tree is binomial; the larger lambda, the
 * smaller is what is sent, and the more of it a rank takes in. Both are consecutive ranks, so rank
 * order is kept; the larger one is at the end where the root is, so that any root is reached as
 * soon. They meet at a multiple of the power of two that is in the smaller one, from eight ranks
 * on: there nodes end, and switches. With f "parts", groups of f neighbours first exchange parts of
 * the vector. Each part goes up a tree of its own, of one rank of each group, and the root gathers
 * them from its group.
 * Cost: one behind the other, the messages that the root takes in; with f parts, of a part each,
 * and 2 (f-1) more. Scratch: "window" vectors or parts, by default as many as a megabyte holds, 2
 * to 16, and one more where the sum is not the result. Use it for short vectors on a network: where
 * lambda is the machine's, no tree of whole vectors is faster. In parts if they are too long to go
 * whole, and too short for recursive_splitting to split them more than once: 8 and 16 KiB. Bar-Noy
 * and Kipnis, SPAA 1992 (broadcast); Karp, Sahay, Santos and Schauser, SPAA 1993 (summation); any
 * root in rank order is ours. Parts: van de Geijn, J. Parallel Distrib. Comput. 22 (1994), with
 * binomial trees. */
#include "config.h"

#include "splitting.h"
#include "model/model.h"

enum { PARTS, LAMBDA, WINDOW }; /* parameters */
enum { LEAST_UNIT = 8, MOST_PRESET = 4, IN_PARTS = 16 << 10 /* bytes */ };

static int parts_of(const struct collopt_problem *p)
{
    return most((int)p->value[PARTS], 1);
}

/* The groups, each of which has one rank in a tree. */
static int groups_of(const struct collopt_problem *p)
{
    return p->ranks / parts_of(p);
}

struct group {                  /* ranks LO .. HI-1; of several parts, groups of ranks */
    int lo, hi;
};

static int head(struct group g, int root)
{
    return g.lo <= root && root < g.hi ? root : g.lo;
}

/* How many of N ranks send their sum to the others' head. */
static int sent(int n, const int64_t *reach)
{
    int t = 0;

    while (reach[t] < n)
        t++;
    return (int)(n - (n * reach[t - 1] + reach[t] - 1) / reach[t]);
}

/* NEAR, or the multiple of the power of two in N next to it, if that is one of LO .. HI. Few ranks
 * are below one switch anyway. */
static int rounded(int near, int n, int lo, int hi)
{
    int unit = 1 << log2_floor(n), to = (near + unit / 2) / unit * unit;

    return unit >= LEAST_UNIT && lo <= to && to <= hi ? to : near;
}

/* Cuts off those of *G whose sum is sent to the others' head, half of them at most. */
static struct group cut_off(struct group *g, int root, const int64_t *reach)
{
    int all = g->hi - g->lo, n = sent(all, reach), keeper = head(*g, root);
    struct group cut = *g;

    if (keeper - g->lo < g->hi - keeper)
        cut.lo = g->hi = rounded(g->hi - n, n, g->hi - all / 2, g->hi - 1);
    else
        cut.hi = g->lo = rounded(g->lo + n, n, g->lo + 1, g->lo + all / 2);
    return cut;
}

/* A group takes in the sums of PEER[0 .. taken-1], the last one first, and sends its own to TO (-1:
 * it is the root's). */
struct role {
    int taken, peer[COLLOPT_POSTAL_SLOTS], to;
};

static void find_role(struct role *role, const struct collopt_problem *p, int group)
{
    int64_t reach[COLLOPT_POSTAL_SLOTS];
    int root = p->root / parts_of(p);
    struct group g = { 0, groups_of(p) };

    collopt_postal_reach(g.hi, (int)p->value[LAMBDA], reach);
    *role = (struct role){ .to = -1 };
    while (g.hi - g.lo > 1) {
        int keeper = head(g, root);
        struct group cut = cut_off(&g, root, reach);

        if (cut.lo <= group && group < cut.hi) {
            role->taken = 0;
            role->to = keeper;
            g = cut;
        } else if (group == keeper) {
            role->peer[role->taken++] = head(cut, root);
        }
    }
}

/* The WINDOW's sum goes up its tree.  Ranks that are asked for nothing need no place for sums. */
static void climb(struct collopt_window *w, const struct collopt_problem *p)
{
    int f = parts_of(p), group = w->rank / f, index = w->rank % f;
    struct collopt_block own = block(w->partition, w->first, w->parts);
    struct turns tmp = { .slots = (int)p->value[WINDOW] };
    struct role role;

    find_role(&role, p, group);
    for (int i = role.taken - 1; i >= 0; i--) {
        struct collopt_region all = at(f > 1 ? w->sums : collopt_accumulator(w->s), own);
        struct collopt_region theirs = w->mine == COLLOPT_IN ? all : at(turn(w->s, &tmp), own);

        collopt_receive(w->s, role.peer[i] * f + index, theirs);
        merge(w->s, all, at(w->mine, own), theirs, role.peer[i] < group);
        w->mine = all.place;
    }
    if (role.to >= 0) {
        collopt_round(w->s);
        collopt_send(w->s, role.to * f + index, at(w->mine, own));
    }
}

/* The root's group gives it the parts. */
static void gather(struct collopt_window *w, const struct collopt_problem *p)
{
    int f = parts_of(p), first = p->root / f * f;

    if (w->rank / f != p->root / f)
        return;
    collopt_round(w->s);
    if (w->rank != p->root)
        collopt_send(w->s, p->root, at(w->mine, block(w->partition, w->first, w->parts)));
    for (int i = 0; i < f && w->rank == p->root; i++)
        if (first + i != p->root)
            collopt_receive(w->s, first + i, out(block(w->partition, i, 1)));
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    int f = parts_of(p);
    struct collopt_window w = collopt_window(s, p, rank, collopt_partition(s, f), f);

    if (f > 1) {
        w.sums = rank == p->root ? COLLOPT_OUT
                                 : collopt_vector_slot(s, collopt_window_part(&w, f, rank % f));
        collopt_split(&w, 1, f, false);
    }
    climb(&w, p);
    if (f > 1)
        gather(&w, p);
}

/* The sum of what comes together in so many slots is ready behind that of one slot less, and behind
 * what is sent. */
static double up_the_tree(const struct collopt_problem *p, const struct collopt_traffic *t)
{
    int64_t reach[COLLOPT_POSTAL_SLOTS];
    int f = parts_of(p), lambda = (int)p->value[LAMBDA],
        slots = collopt_postal_reach(groups_of(p), lambda, reach), known = 0;
    /* else a node's ranks share its port */
    bool alone = f == 1 || p->abreast > 0 || p->topology->largest <= 1;
    enum collopt_pattern pattern = p->topology->wired
        ? COLLOPT_SHIFT /* parts end within rows: the other end may be far */
        : alone ? COLLOPT_TREE
                : COLLOPT_PAIRS;
    double ready[COLLOPT_POSTAL_SLOTS] = { 0 }, message = 0, slot = 0, part = vector_bytes(p) / f;

    for (int i = lambda; i <= slots; i++) {
        int distance = most((int)((double)reach[i - 1] * p->ranks / (double)reach[slots]), f);

        if (distance >= 2 * known) {    /* nearly as far as the last one: it takes as long */
            struct collopt_messages m = { .pattern = pattern, .distance = distance, .bytes = part,
                                          .combined = part };

            message = collopt_message_seconds(t, m);
            slot = collopt_slot_seconds(t, 1, 0, m);
            known = distance;
        }
        ready[i] = larger(i > lambda ? ready[i - 1] + slot : 0, ready[i - lambda] + message);
    }
    return ready[slots];
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    int f = parts_of(p);
    struct collopt_messages m = collopt_split_messages(f, 1, vector_bytes(p) / f);

    m.combined = (f - 1) * m.bytes;
    collopt_messages(t, f > 1, m);
    collopt_inner_seconds(t, up_the_tree(p, t));
    m.combined = 0;
    m.pattern = COLLOPT_TREE;
    collopt_messages(t, f > 1, m);
}

extern const struct collopt_algorithm collopt_reduce_postal_tree;

static size_t lambda(const struct collopt_problem *p)
{
    return collopt_preset_lambda(&collopt_reduce_postal_tree, p, LAMBDA,
                                 vector_bytes(p) / parts_of(p));
}

static size_t window(const struct collopt_problem *p)
{
    return collopt_preset_window(vector_bytes(p) / parts_of(p));
}

/* The time that PARTS takes, with the lambda that is best then. */
static double seconds_with(const struct collopt_problem *p, int parts)
{
    struct collopt_problem with = *p;

    with.value[PARTS] = (size_t)parts;
    with.value[LAMBDA] = p->value[LAMBDA] ? p->value[LAMBDA] : lambda(&with);
    return collopt_model(&collopt_reduce_postal_tree, &with);
}

/* Longer vectors are split more often by recursive_splitting, and messages of several subtrees meet
 * on links: simulated, of 32 KiB this takes 13.5 and 16.3 us on 64 ranks of a fat tree and a
 * dragonfly, that 12.4 and 13.8; of 16 KiB 8.9 and 10.4, and 9.8 and 11.1, and whole 15.6. On a
 * grid it does not help: 8 KiB on a torus of 4x4x4 11.4 us, whole 10.8. */
static size_t parts(const struct collopt_problem *p)
{
    static const double differs = 0.97;
    bool network = vector_bytes(p) <= IN_PARTS
        && (p->abreast > 0 || (p->topology->nodes > 1 && !p->topology->wired));
    double best = network ? seconds_with(p, 1) : 0;
    int chosen = 1;

    for (int f = 2; f <= MOST_PRESET && f < p->ranks && network; f++) {
        double time = p->ranks % f ? best : seconds_with(p, f);

        if (time < best * differs) {
            best = time;
            chosen = f;
        }
    }
    return (size_t)chosen;
}

static bool usable(const struct collopt_problem *p)
{
    return p->ranks % parts_of(p) == 0;
}

const struct collopt_algorithm collopt_reduce_postal_tree = {
    .name = "postal_tree",
    .summary = "tree for messages that overlap, in rank order, any root; short vectors",
    .collective = COLLOPT_REDUCE, .order = COLLOPT_IN_ORDER,
    .source = "Bar-Noy and Kipnis, SPAA 1992; Karp et al., SPAA 1993; any root in rank order: "
              "collopt",
    .parameter = { { .name = "parts", .least = 1, .most = COLLOPT_FOLD_OPERANDS, .preset = parts,
                     .help = "f, which neighbours exchange and trees sum up; divides the ranks" },
                   COLLOPT_LAMBDA(lambda), COLLOPT_WINDOW(window) },
    .usable = usable, .unfit = "the number of its parts does not divide that of the ranks",
    .traffic = traffic, .build = build,
};
