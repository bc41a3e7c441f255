/* Circulant graph: reduce-scatter in ceil(log2 p) rounds for every p, with no byte more than a ring
 * sends.
 *
 * Number the parts from one's own rank: R[i] belongs to rank + i. With skips s_q = p, s_k =
 * ceil(s_(k+1) / 2), s_0 = 1, a round sends R[s_k .. s_(k+1)) to rank + s_k, where those are the
 * first parts, and adds what comes from rank - s_k to one's own first parts. The window shrinks
 * from p parts to s_(q-1), ... to R[0]. Allgather is the way back. Reduce numbers the ranks from
 * the root, and a binomial tree gathers the parts.
 * Cost: q = ceil(log2 p) rounds, (p-1)/p m sent and combined; Allreduce and Reduce twice the rounds
 * and bytes. Scratch: 3/8 m (Allreduce), 11/8 m (Reduce_scatter, Reduce off the root). Cyclic
 * order: commutative operations only. First choice for medium and long vectors on any p. Traeff,
 * arXiv 2410.14234. */
#include "config.h"

#include "algorithm.h"

/* A rank, or its number counted from a root, among all; and how the numbers become ranks. */
struct circle {
    int ranks, number, root, partition;
};

static int peer(const struct circle *c, int away)
{
    return modulo(c->number + away + c->root, c->ranks);
}

/* Parts FROM .. TO-1 counted from one's own: one stretch or two. */
struct stretch {
    struct collopt_block list[2];
};

static struct collopt_region parts(const struct circle *c, int place, int from, int to,
                                   struct stretch *st)
{
    int first = modulo(c->number + from, c->ranks), n = to - from,
        head = least(n, c->ranks - first);

    st->list[0] = block(c->partition, first, head);
    st->list[1] = block(c->partition, 0, n - head);
    return head == n ? at(place, st->list[0]) : at_list(place, 2, st->list);
}

/* Sums lie in SUM, which holds all parts; the one's own part ends in RESULT. */
static void reduce_scatter(struct collopt_schedule *s, const struct circle *c, int sum, int result)
{
    int skip[COLLOPT_SKIPS], q = collopt_skips(c->ranks, skip);
    struct turns tmp = { .slots = 2 };
    struct stretch st;

    for (int k = q - 1; k >= 0; k--) {
        bool first = k == q - 1;
        int n = skip[k + 1] - skip[k], to = k == 0 ? result : sum, got = first ? to : turn(s, &tmp);
        int give = first || (k == q - 2 && n == 1 && c->ranks % 2) ? COLLOPT_IN : sum;

        collopt_round(s);
        collopt_send(s, peer(c, skip[k]), parts(c, give, skip[k], skip[k + 1], &st));
        collopt_receive(s, peer(c, -skip[k]), parts(c, got, 0, n, &st));
        collopt_combine(s, parts(c, to, 0, n, &st), parts(c, first ? COLLOPT_IN : sum, 0, n, &st),
                        parts(c, got, 0, n, &st));
        if (first && c->ranks % 2
            && skip[k] - skip[k - 1] > 1) /* sent with combined parts in the next round */
            collopt_copy(s, parts(c, sum, n, n + 1, &st), parts(c, COLLOPT_IN, n, n + 1, &st));
    }
}

static void allgather(struct collopt_schedule *s, const struct circle *c)
{
    int skip[COLLOPT_SKIPS], q = collopt_skips(c->ranks, skip);
    struct stretch st;

    for (int k = 0; k < q; k++) {
        collopt_round(s);
        collopt_send(s, peer(c, -skip[k]), parts(c, COLLOPT_OUT, 0, skip[k + 1] - skip[k], &st));
        collopt_receive(s, peer(c, skip[k]), parts(c, COLLOPT_OUT, skip[k], skip[k + 1], &st));
    }
}

/* Number 0 gets all parts; a number that is a multiple of 2^k has 2^k of them after k rounds. */
static void gather(struct collopt_schedule *s, const struct circle *c, int place)
{
    int v = c->number;

    for (int n = 1; n < c->ranks; n *= 2) {
        collopt_round(s);
        if (v & n) {
            collopt_send(s, peer(c, -n), at(place, block(c->partition, v, least(n, c->ranks - v))));
            return;
        }
        if (v + n < c->ranks)
            collopt_receive(s, peer(c, n),
                            at(place, block(c->partition, v + n, least(n, c->ranks - v - n))));
    }
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    bool scatters = collopt_scatters(p->collective);
    struct circle c = { p->ranks, modulo(rank - p->root, p->ranks), p->root,
                        scatters ? collopt_partition_counts(s) : collopt_partition(s, p->ranks) };
    int sum = scatters && p->ranks == 2 ? COLLOPT_OUT : collopt_accumulator(s);

    reduce_scatter(s, &c, sum, p->collective == COLLOPT_REDUCE ? sum : COLLOPT_OUT);
    if (p->collective == COLLOPT_ALLREDUCE)
        allgather(s, &c);
    else if (p->collective == COLLOPT_REDUCE)
        gather(s, &c, sum);
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    collopt_traffic_circulant(t, p->ranks, vector_bytes(p), 1);
    if (p->collective == COLLOPT_ALLREDUCE)
        collopt_traffic_circulant(t, p->ranks, vector_bytes(p), 0);
    else if (p->collective == COLLOPT_REDUCE)
        collopt_traffic_gather(t, p->ranks, vector_bytes(p));
}

#define CIRCULANT \
    .name = "circulant", .order = COLLOPT_COMMUTATIVE, .source = "Traeff, arXiv 2410.14234", \
    .traffic = traffic, .build = build

const struct collopt_algorithm collopt_allreduce_circulant = {
    CIRCULANT, .collective = COLLOPT_ALLREDUCE,
    .summary = "reduce-scatter and allgather on a circulant graph; medium and long vectors, any "
               "ranks",
};

COLLOPT_SCATTER_AND_BLOCK(circulant,
    CIRCULANT,
    .summary = "fewest rounds and bytes for any number of ranks; short to long vectors");

const struct collopt_algorithm collopt_reduce_circulant = {
    CIRCULANT, .collective = COLLOPT_REDUCE,
    .summary = "reduce-scatter on a circulant graph and a gather; medium and long vectors",
};
