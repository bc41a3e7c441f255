/* Recursive multiplying, also with mixed radices: on each level f ranks exchange all they have and combine it alike.
 *
 * A level of radix f makes groups of w f neighbouring ranks out of groups of w: the f ranks at the same place in the f groups
 * send to one another, and each combines the f vectors in rank order in one pass.  If p is a product of factors up to the radix
 * those are the levels; else as many levels of the radix as fit and one of what is left, after neighbouring pairs are folded.
 * Cost: levels of f-1 messages, with folding two rounds and one m more.  Scratch: up to 2 (radix-1) vectors.  In rank order.
 * Use it for short vectors where a rank's messages overlap (several rails, shared memory).
 * Recursive doubling generalised; Ruefenacht, Bull and Booth, EuroMPI 2016; the folding that keeps rank order is ours. */
#include "config.h"

#include "algorithm.h"

enum { MOST_LEVELS = 32 };

struct levels {
    int levels, radix[MOST_LEVELS];
    int ranks;                  /* their product; the other ranks are folded */
};

/* Prime factors multiplied up to RADIX, the largest first; no levels if there is a larger prime. */
static struct levels factors(int ranks, int radix)
{
    struct levels f = { .levels = 0, .ranks = ranks };
    int left = ranks;

    while (left > 1) {
        int take = least(radix, left);

        while (take > 1 && left % take)
            take--;
        if (take == 1)
            return (struct levels){ .levels = 0 };
        f.radix[f.levels++] = take;
        left /= take;
    }
    return f;
}

static struct levels levels_of(int ranks, int radix)
{
    struct levels f = factors(ranks, radix);
    int left = ranks;

    if (f.levels > 0 || ranks == 1)
        return f;
    f.ranks = 1;
    for (; left > 1; left /= radix) {
        f.radix[f.levels] = least(left, radix);
        f.ranks *= f.radix[f.levels++];
    }
    return f;
}

/* The F ranks whose indexes differ in the digit of stride WIDTH exchange *SUM and combine. */
static void exchange(struct collopt_schedule *s, const struct collopt_problem *p, const struct levels *all, int index,
                     int width, int f, struct turns *tmp, struct collopt_region *sum)
{
    int digit = index / width % f;
    struct collopt_region operand[COLLOPT_FOLD_OPERANDS];

    collopt_round(s);
    for (int j = 1; j < f; j++) {
        int to = (digit + j) % f, from = modulo(digit - j, f);
        bool first = sum->place == COLLOPT_IN && j == 1;

        operand[from] = first ? out(whole()) : at(turn(s, tmp), whole());
        collopt_send(s, collopt_fold_rank(p->ranks, all->ranks, index + (to - digit) * width), *sum);
        collopt_receive(s, collopt_fold_rank(p->ranks, all->ranks, index + (from - digit) * width), operand[from]);
    }
    operand[digit] = *sum;
    collopt_fold(s, out(whole()), f, operand);
    *sum = out(whole());
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct levels all = levels_of(p->ranks, (int)p->value[0]);
    struct collopt_fold_pairs f = collopt_fold_pairs(p->ranks, all.ranks, rank);
    struct turns tmp = { .slots = 2 * ((int)p->value[0] - 1) };
    struct collopt_region sum = in(whole());

    if (p->ranks == 1)
        collopt_copy(s, out(whole()), sum);
    if (f.index < 0)
        collopt_send(s, rank + 1, sum);
    if (f.folded && f.index >= 0) {
        collopt_receive(s, rank - 1, out(whole()));
        collopt_combine(s, out(whole()), out(whole()), sum);
        sum = out(whole());
    }
    for (int l = 0, width = 1; l < all.levels && f.index >= 0; width *= all.radix[l++])
        exchange(s, p, &all, f.index, width, all.radix[l], &tmp, &sum);
    if (f.folded) {
        collopt_round(s);
        if (f.index >= 0)
            collopt_send(s, rank - 1, sum);
        else
            collopt_receive(s, rank + 1, out(whole()));
    }
}

static void cost(const struct collopt_problem *p, struct collopt_cost *c)
{
    struct levels all = levels_of(p->ranks, (int)p->value[0]);
    int messages = 0, folds = all.ranks != p->ranks;

    for (int l = 0; l < all.levels; l++)
        messages += all.radix[l] - 1;
    c->rounds = messages + 2 * folds;
    c->bytes = (messages + folds) * vector_bytes(p);
    c->combined = c->bytes;
    c->scratch = most(least(messages + folds - 1, 2 * ((int)p->value[0] - 1)), 0) * vector_bytes(p);
}

static size_t radix(const struct collopt_problem *p)
{
    (void)p;
    return 4;
}

const struct collopt_algorithm collopt_allreduce_recursive_multiplying = {
    .name = "recursive_multiplying", .summary = "groups of several ranks exchange all they have; short vectors",
    .collective = COLLOPT_ALLREDUCE, .order = COLLOPT_IN_ORDER, .identical = true,
    .rounds = "(k-1) log_k p, by the factors of p", .bytes = "(k-1) log_k p m, by the factors of p",
    .when = "short vectors where messages overlap",
    .source = "Ruefenacht, Bull and Booth, EuroMPI 2016; folding in rank order: collopt",
    .parameter = { COLLOPT_RADIX(radix) },
    .cost = cost, .build = build,
};
