/* Recursive multiplying, also with mixed radices: on each level f ranks exchange all they have and
 * combine it alike. With radix 2 it is recursive doubling: in round k partners 2^k apart exchange.
 *
 * A level of radix f makes groups of w f neighbouring ranks out of groups of w: the f ranks at the
 * same place in the f groups send to one another, along lines of the machine's grid to the farthest
 * first, and each combines the f vectors in rank order in one pass. If p is a product of factors up
 * to the radix those are the levels, unless radices=4x4x3 says others, on the machine's grid such
 * as go along its sides; else as many levels of the radix as fit and one of what is left, after
 * neighbouring pairs are folded.
 * Cost: levels of f-1 messages, with folding two rounds and one m more. Scratch: up to 2 (radix-1)
 * vectors. In rank order.
 * Use it for short vectors where a rank's messages overlap (several rails, shared memory).
 * Recursive doubling: folklore; Thakur, Rabenseifner and Gropp, IJHPCA 19 (2005). Generalised:
 * Ruefenacht, Bull and Booth, EuroMPI 2016; the folding that keeps rank order is ours. */
#include "config.h"

#include "algorithm.h"
#include "model/model.h"

enum { RADICES, RADIX };        /* parameters */

static struct collopt_levels levels_for(int ranks, int radix)
{
    struct collopt_levels f = collopt_factors(ranks, radix);
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

static struct collopt_levels levels_of(const struct collopt_problem *p)
{
    int radix = most((int)p->value[RADIX], 2);          /* recursive doubling has no parameters */

    return p->value[RADICES] ? collopt_listed_levels(p->value[RADICES])
                             : levels_for(p->ranks, radix);
}

static int slots_of(const struct collopt_levels *all)
{
    return 2 * (collopt_widest_level(*all) - 1);
}

/* A list must leave no more ranks out than can be folded. */
static bool usable(const struct collopt_problem *p)
{
    int64_t product = levels_of(p).ranks;

    return product <= p->ranks && p->ranks <= 2 * product;
}

/* Begins a round and a multicast in this rank's group: F ranks whose indexes differ in the digit of
 * stride WIDTH. */
static void begin_exchange(struct collopt_schedule *s, const struct collopt_problem *p,
                           const struct collopt_levels *all, int index, int width, int f)
{
    int member[COLLOPT_FOLD_OPERANDS], first = index - index / width % f * width;

    for (int i = 0; i < f; i++)
        member[i] = collopt_fold_rank(p->ranks, all->ranks, first + i * width);
    collopt_round(s);
    collopt_multicast(s, f, member);
}

/* The ranks of that group exchange *SUM and combine. */
static void exchange(struct collopt_schedule *s, const struct collopt_problem *p,
                     const struct collopt_levels *all, int index, int width, int f,
                     struct turns *tmp, struct collopt_region *sum)
{
    int digit = index / width % f, others[COLLOPT_FOLD_OPERANDS];
    struct collopt_region operand[COLLOPT_FOLD_OPERANDS];

    collopt_farthest_first(p->topology, width, f, digit, others);
    begin_exchange(s, p, all, index, width, f);
    for (int j = 1; j < f; j++) {
        int to = others[j - 1], from = modulo(digit - j, f);
        bool first = sum->place == COLLOPT_IN && j == 1;

        operand[from] = first ? out(whole()) : at(turn(s, tmp), whole());
        collopt_send(s, collopt_fold_rank(p->ranks, all->ranks, index + (to - digit) * width),
                     *sum);
        collopt_receive(s, collopt_fold_rank(p->ranks, all->ranks, index + (from - digit) * width),
                        operand[from]);
    }
    collopt_multicast(s, 0, NULL);
    operand[digit] = *sum;
    collopt_fold(s, out(whole()), f, operand);
    *sum = out(whole());
}

static void build(struct collopt_schedule *s, const struct collopt_problem *p, int rank)
{
    struct collopt_levels all = levels_of(p);
    struct collopt_fold_pairs f = collopt_fold_pairs(p->ranks, all.ranks, rank);
    struct turns tmp = { .slots = slots_of(&all) };
    struct collopt_region sum = in(whole());

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

extern const struct collopt_algorithm collopt_allreduce_recursive_multiplying;

static size_t radix(const struct collopt_problem *p)
{
    if (p->value[RADICES])
        return (size_t)collopt_widest_level(collopt_listed_levels(p->value[RADICES]));
    return collopt_preset_radix(&collopt_allreduce_recursive_multiplying, p, RADIX);
}

static double seconds_with(const struct collopt_algorithm *a, const struct collopt_problem *p,
                           size_t list)
{
    struct collopt_problem with = *p;

    with.value[RADICES] = list;
    return collopt_model(a, &with);
}

static size_t radices(const struct collopt_problem *p)
{
    const struct collopt_algorithm *a = &collopt_allreduce_recursive_multiplying;
    struct collopt_problem with = *p;

    if (p->value[RADIX] > 0 || !p->topology->wired)
        return 0;
    with.value[RADIX] = radix(p);
    return collopt_preset_radices(a, p, false, seconds_with(a, &with, 0), seconds_with);
}

static void traffic(const struct collopt_problem *p, struct collopt_traffic *t)
{
    struct collopt_levels all = levels_of(p);
    double m = vector_bytes(p);

    if (all.ranks != p->ranks)
        collopt_messages(t, 2, (struct collopt_messages){ .pattern = COLLOPT_TREE, .distance = 1,
                                                          .bytes = m, .combined = m / 2 });
    for (int l = 0, width = 1; l < all.levels; width *= all.radix[l++]) {
        int fan = all.radix[l] - 1;

        collopt_messages(t, 1, (struct collopt_messages){ .pattern = COLLOPT_PAIRS,
                                                          .distance = width, .bytes = m,
                                                          .combined = fan * m, .fan = fan,
                                                          .farthest_first = true, .multicast = true,
                                                          .folded = p->ranks - all.ranks });
    }
}

const struct collopt_algorithm collopt_allreduce_recursive_doubling = {
    .name = "recursive_doubling",
    .summary = "whole vectors exchanged over doubling distances; short vectors",
    .collective = COLLOPT_ALLREDUCE, .order = COLLOPT_IN_ORDER,
    .source = "folklore; Thakur, Rabenseifner and Gropp, IJHPCA 19 (2005)", .traffic = traffic,
    .build = build,
};

const struct collopt_algorithm collopt_allreduce_recursive_multiplying = {
    .name = "recursive_multiplying",
    .summary = "groups of several ranks exchange all they have; short vectors",
    .collective = COLLOPT_ALLREDUCE, .order = COLLOPT_IN_ORDER,
    .source = "Ruefenacht, Bull and Booth, EuroMPI 2016; folding in rank order: collopt",
    .parameter = { COLLOPT_RADICES(radices), COLLOPT_RADIX(radix) }, .usable = usable,
    .unfit = "radices multiply to more than the ranks, or to less than half of them",
    .traffic = traffic, .build = build,
};
