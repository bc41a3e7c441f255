/* Binary blocks: the ranks are cut into blocks of powers of two, each halves the vector, and the
 * blocks meet by size.
 *
 * The binary digits of p give blocks of consecutive ranks, the largest first. Each does a
 * reduce-scatter by halving over doubling distances. Then, from the smallest block on, every rank
 * sends what it holds, cut as the next larger block has cut it, to the ranks there that hold those
 * pieces; these have lower ranks, so rank order is kept. The largest block ends with the result; it
 * goes back the same way, and each block does its allgather.
 * Cost: for blocks of 2^F and 2^e ranks 2 F + 1 + 2^(F-e) rounds, about as many more for each
 * smaller pair of neighbours that is not ready sooner; 2m, m combined. Scratch: 3/8 m or m/2. Any
 * operation.
 * Use it where p has few binary digits that lie together (3 2^k, 7 2^k); on a power of two it is
 * Rabenseifner's algorithm. Rabenseifner, ICCS 2004. */
#include "config.h"

#include "algorithm.h"

enum { MOST_BLOCKS = 32 };

struct blocks {                 /* the largest first */
    int n, base[MOST_BLOCKS], exponent[MOST_BLOCKS];
};

static struct blocks blocks_of(int ranks)
{
    struct blocks b = { .n = 0 };

    for (int e = log2_floor(ranks), base = 0; e >= 0; e--)
        if (ranks >> e & 1) {
            b.base[b.n] = base;
            b.exponent[b.n++] = e;
            base += 1 << e;
        }
    return b;
}

static int block_with(const struct blocks *b, int rank)
{
    int i = 0;

    while (rank >= b->base[i] + (1 << b->exponent[i]))
        i++;
    return i;
}

/* One rank: number INDEX in its block. */
struct member {
    struct collopt_schedule *s;
    int base, exponent, index;
    int partition, levels;      /* of the vector in 2^LEVELS parts */
    int place;                  /* where its window lies: IN until something was combined */
    struct turns tmp;
};

/* The window that INDEX holds after K halvings. */
static struct collopt_block window(const struct member *m, int index, int k)
{
    int first = 0;

    for (int l = 0; l < k; l++)
        first += (index >> l & 1) << (m->levels - 1 - l);
    return block(m->partition, first, 1 << (m->levels - k));
}

static void combine(struct member *m, struct collopt_block b, struct collopt_region theirs,
                    bool theirs_is_lower)
{
    merge(m->s, out(b), at(m->place, b), theirs, theirs_is_lower);
    m->place = COLLOPT_OUT;
}

static struct collopt_region room(struct member *m, struct collopt_block b)
{
    return m->place == COLLOPT_IN ? out(b) : at(turn(m->s, &m->tmp), b);
}

static void halve(struct member *m, int k)
{
    int other = m->index ^ 1 << k, peer = m->base + other;
    struct collopt_block keep = window(m, m->index, k + 1);
    struct collopt_region theirs = room(m, keep);

    collopt_round(m->s);
    collopt_send(m->s, peer, at(m->place, window(m, other, k + 1)));
    collopt_receive(m->s, peer, theirs);
    combine(m, keep, theirs, other < m->index);
}

static void gather(struct member *m, int k)
{
    int other = m->index ^ 1 << k, peer = m->base + other;

    collopt_round(m->s);
    collopt_send(m->s, peer, out(window(m, m->index, k + 1)));
    collopt_receive(m->s, peer, out(window(m, other, k + 1)));
}

/* The sums of the next smaller block, whose ranks hold several windows of this one's. */
static void take_from_smaller(struct member *m, int peer)
{
    struct collopt_block mine = window(m, m->index, m->exponent);
    struct collopt_region theirs = room(m, mine);

    collopt_round(m->s);
    collopt_receive(m->s, peer, theirs);
    combine(m, mine, theirs, false);
}

/* To the ranks of the next larger block that hold this one's window among them, and the result
 * back. */
static void meet_larger(struct member *m, int base, int exponent)
{
    int pieces = 1 << (exponent - m->exponent);

    collopt_round(m->s);
    for (int i = 0; i < pieces; i++) {
        int index = m->index | i << m->exponent;

        collopt_send(m->s, base + index, at(m->place, window(m, index, exponent)));
    }
    collopt_round(m->s);
    for (int i = 0; i < pieces; i++) {
        int index = m->index | i << m->exponent;

        collopt_receive(m->s, base + index, out(window(m, index, exponent)));
    }
    m->place = COLLOPT_OUT;
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct blocks b = blocks_of(p->ranks);
    int i = block_with(&b, rank), levels = b.exponent[0], smaller = -1;
    struct member m = { .s = s, .base = b.base[i], .exponent = b.exponent[i],
                        .index = rank - b.base[i], .levels = levels,
                        .partition = collopt_partition(s, 1 << levels), .place = COLLOPT_IN,
                        .tmp = { .slots = 2 } };

    if (p->ranks == 1)
        collopt_copy(s, out(whole()), in(whole()));
    if (i + 1 < b.n)
        smaller = b.base[i + 1] + (m.index & ((1 << b.exponent[i + 1]) - 1));
    for (int k = 0; k < m.exponent; k++)
        halve(&m, k);
    if (smaller >= 0)
        take_from_smaller(&m, smaller);
    if (i > 0)
        meet_larger(&m, b.base[i - 1], b.exponent[i - 1]);
    if (smaller >= 0) {
        collopt_round(s);
        collopt_send(s, smaller, out(window(&m, m.index, m.exponent)));
    }
    for (int k = m.exponent - 1; k >= 0; k--)
        gather(&m, k);
}

/* Rounds in which blocks meet. Messages to and from a smaller block follow one another, but what
 * comes back does so as it gets ready. */
static int meeting_rounds(const struct blocks *b)
{
    int met = b->exponent[b->n - 1];

    for (int i = b->n - 1; i > 0; i--)
        met = most(met, b->exponent[i - 1]) + (1 << (b->exponent[i - 1] - b->exponent[i]));
    return met + (b->n > 1) - b->exponent[0];
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    struct blocks b = blocks_of(p->ranks);
    double m = vector_bytes(p),
           meet = b.n == 2 ? (b.exponent[0] - b.exponent[1]) * m / 2 : (b.n - 1) * m;
    int largest = 1 << b.exponent[0], rounds = meeting_rounds(&b);

    collopt_traffic_halving(t, largest, m, 1);
    if (rounds > 0)
        collopt_messages(t, rounds, (struct collopt_messages){ .pattern = COLLOPT_PAIRS,
                                                               .distance = largest,
                                                               .bytes = meet / rounds });
    collopt_traffic_halving(t, largest, m, 0);
}

const struct collopt_algorithm collopt_allreduce_binary_blocks = {
    .name = "binary_blocks",
    .summary = "halving in blocks of powers of two, which then meet; long vectors, 3 2^k ranks",
    .collective = COLLOPT_ALLREDUCE, .order = COLLOPT_IN_ORDER, .identical = true,
    .rounds = "2 F, folded: up to 2 F + 1 + p; the more the further apart the digits of p",
    .bytes = "2 (p-1)/p m, folded: up to 2 m", .when = "long vectors, p = 3 2^k and its like",
    .source = "Rabenseifner, ICCS 2004", .traffic = traffic, .build = build,
};
