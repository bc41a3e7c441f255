/* Reduce up the tree of the postal model, in which a rank takes in other messages while one is on its way; any root.
 *
 * A message comes lambda slots of time after it is sent, and a rank takes in one in each slot.  So of the ranks whose sum is
 * to be ready in slot t, some have theirs ready in slot t-1, at the rank that is to have it all, and the others in slot
 * t - lambda, at the one who sends it then; and so on in both parts.  With lambda 1 they are halves, and the tree is binomial;
 * the larger lambda, the smaller is what is sent, and the more of it a rank takes in.  Parts are consecutive ranks, so rank
 * order is kept; the larger one is at the end where the root is, so that any root is reached as soon.  They meet at a multiple
 * of the power of two that is in the smaller one, from eight ranks on: there nodes end, and switches.
 * Cost: one behind the other, the messages that the root takes in.  Scratch: "window" vectors, by default as many as a
 * megabyte holds, 2 to 16, and one vector more where the sum is not the result.
 * Use it for short vectors on a network: where lambda is the machine's, no tree of whole vectors is faster.
 * Bar-Noy and Kipnis, SPAA 1992 (broadcast); Karp, Sahay, Santos and Schauser, SPAA 1993 (summation); any root in rank order is
 * ours. */
#include "config.h"

#include "algorithm.h"

enum { LEAST_UNIT = 8 };

struct group {                  /* ranks LO .. HI-1 */
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

/* NEAR, or the multiple of the power of two in N next to it, if that is one of LO .. HI.  Few ranks are below one switch
 * anyway. */
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

/* RANK takes in the sums of PEER[0 .. taken-1], the last one first, and sends its own to TO (-1: it is the root). */
struct role {
    int taken, peer[COLLOPT_POSTAL_SLOTS], to;
};

static void find_role(struct role *role, const struct collopt_problem *p, int rank)
{
    int64_t reach[COLLOPT_POSTAL_SLOTS];
    struct group g = { 0, p->ranks };

    collopt_postal_reach(p->ranks, (int)p->value[0], reach);
    *role = (struct role){ .to = -1 };
    while (g.hi - g.lo > 1) {
        int keeper = head(g, p->root);
        struct group cut = cut_off(&g, p->root, reach);

        if (cut.lo <= rank && rank < cut.hi) {
            role->taken = 0;
            role->to = keeper;
            g = cut;
        } else if (rank == keeper) {
            role->peer[role->taken++] = head(cut, p->root);
        }
    }
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct role role;
    struct collopt_region sum = in(whole());
    struct turns tmp = { .slots = (int)p->value[1] };

    find_role(&role, p, rank);
    if (p->ranks == 1)
        collopt_copy(s, out(whole()), sum);
    for (int i = role.taken - 1; i >= 0; i--) {
        struct collopt_region all = at(collopt_accumulator(s), whole());
        struct collopt_region theirs = sum.place == COLLOPT_IN ? all : at(turn(s, &tmp), whole());

        collopt_receive(s, role.peer[i], theirs);
        merge(s, all, sum, theirs, role.peer[i] < rank);
        sum = all;
    }
    if (role.to >= 0) {
        collopt_round(s);
        collopt_send(s, role.to, sum);
    }
}

/* Sums that the head of G takes in; in *MOST_CUT, unless NULL, the most that anybody who sends to it does. */
static int taken_by(struct group g, int root, const int64_t *reach, int *most_cut)
{
    int taken = 0;

    for (; g.hi - g.lo > 1; taken++) {
        struct group cut = cut_off(&g, root, reach);

        if (most_cut)
            *most_cut = most(*most_cut, taken_by(cut, root, reach, NULL));
    }
    return taken;
}

static void cost(const struct collopt_problem *p, struct collopt_cost *c)
{
    int64_t reach[COLLOPT_POSTAL_SLOTS];
    int elsewhere = 0, at_root, slots = (int)p->value[1];

    collopt_postal_reach(p->ranks, (int)p->value[0], reach);
    at_root = taken_by((struct group){ 0, p->ranks }, p->root, reach, &elsewhere);
    c->rounds = at_root;
    c->bytes = most(at_root, elsewhere) * vector_bytes(p);
    c->combined = c->bytes;
    c->scratch = most(least(at_root - 1, slots), elsewhere ? 1 + least(elsewhere - 1, slots) : 0) * vector_bytes(p);
}

/* The sum of what comes together in so many slots is ready behind that of one slot less, and behind what is sent. */
static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    int64_t reach[COLLOPT_POSTAL_SLOTS];
    int lambda = (int)p->value[0], slots = collopt_postal_reach(p->ranks, lambda, reach), known = 0;
    double ready[COLLOPT_POSTAL_SLOTS] = { 0 }, message = 0, slot = 0;

    for (int i = lambda; i <= slots; i++) {
        int distance = most((int)((double)reach[i - 1] * p->ranks / (double)reach[slots]), 1);

        if (distance >= 2 * known) {    /* nearly as far as the last one: it takes as long */
            /* In a grid parts end within rows, and a message may have to go to the other end of one. */
            struct collopt_messages m = { .pattern = p->topology->wired ? COLLOPT_SHIFT : COLLOPT_TREE, .distance = distance,
                                          .bytes = vector_bytes(p), .combined = vector_bytes(p) };

            message = collopt_message_seconds(t, m);
            slot = collopt_slot_seconds(t, 1, 0, m);
            known = distance;
        }
        ready[i] = larger(i > lambda ? ready[i - 1] + slot : 0, ready[i - lambda] + message);
    }
    collopt_inner_seconds(t, ready[slots]);
}

extern const struct collopt_algorithm collopt_reduce_postal_tree;

static size_t lambda(const struct collopt_problem *p)
{
    return collopt_preset_lambda(&collopt_reduce_postal_tree, p, 0);
}

static size_t window(const struct collopt_problem *p)
{
    return collopt_preset_window(vector_bytes(p));
}

const struct collopt_algorithm collopt_reduce_postal_tree = {
    .name = "postal_tree", .summary = "tree for messages that overlap, in rank order, any root; short vectors",
    .collective = COLLOPT_REDUCE, .order = COLLOPT_IN_ORDER, .identical = true,
    .rounds = "t - lambda + 1, where P(t) = P(t-1) + P(t-lambda) reaches p", .bytes = "as many m",
    .when = "short vectors on a network",
    .source = "Bar-Noy and Kipnis, SPAA 1992; Karp et al., SPAA 1993; any root in rank order: collopt",
    .parameter = { COLLOPT_LAMBDA(lambda), COLLOPT_WINDOW(window) },
    .cost = cost, .traffic = traffic, .build = build,
};
