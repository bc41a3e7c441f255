/* A registry of a few algorithms that do nothing, so that these tests say the same whatever the
 * real one has. */
#include "config.h"

#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "fake_registry.h"
#include "schedule/descriptor.h"
#include "schedule/problem.h"
#include "select/decide.h"
#include "select/explain.h"

#include <stdint.h>
#include <string.h>

const char *const collopt_collective_names[COLLOPT_COLLECTIVES] = {
    "reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan",
};

static const struct collopt_algorithm ring = {
    .name = "ring",
    .summary = "round and round",
    .collective = COLLOPT_ALLREDUCE,
    .order = COLLOPT_COMMUTATIVE,
    .parameter = { { .name = "segment",
                     .bytes = true,
                     .least = 8,
                     .most = (size_t)1 << 30,
                     .help = "bytes" } },
};

static const struct collopt_algorithm doubling = {
    .name = "recursive_doubling",
    .summary = "with the rank one bit away",
    .collective = COLLOPT_ALLREDUCE,
};

static bool even(const struct collopt_problem *p)
{
    return p->ranks % 2 == 0;
}

static const struct collopt_algorithm tree = {
    .name = "tree",
    .summary = "up a tree",
    .collective = COLLOPT_REDUCE,
    .usable = even,
    .parameter = { { .name = "radix", .least = 2, .most = 64, .help = "children" },
                   { .name = "segment",
                     .bytes = true,
                     .least = 1,
                     .most = SIZE_MAX,
                     .help = "bytes" },
                   { .name = "dims", .list_bits = 10, .least = 1, .most = 1023, .help = "sides" } },
};

const struct collopt_algorithm *const collopt_algorithms[] = { &tree, &ring, &doubling, NULL };

const struct collopt_algorithm *collopt_algorithm_named(enum collopt_collective c, const char *name,
                                                        size_t length)
{
    for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++)
        if ((*a)->collective == c && strlen((*a)->name) == length
            && memcmp((*a)->name, name, length) == 0)
            return *a;
    return NULL;
}

int collopt_parameter_named(const struct collopt_algorithm *a, const char *name)
{
    for (int i = 0; i < COLLOPT_PARAMETERS && a->parameter[i].name; i++)
        if (strcmp(a->parameter[i].name, name) == 0)
            return i;
    return -1;
}

bool collopt_choice_usable(const struct collopt_choice *choice, const struct collopt_problem *p,
                           const char **why)
{
    *why = "it is odd";
    return !choice->algorithm || !choice->algorithm->usable || choice->algorithm->usable(p);
}

void collopt_select(const struct collopt_problem *p, struct collopt_decision *d)
{
    *d = (struct collopt_decision){ .why = "built-in: fake" };
    if (p->collective == COLLOPT_ALLREDUCE && p->commutative) {
        d->choice.algorithm = &ring;
        d->choice.value[0] = 65536;
    }
}

void collopt_select_outside(const struct collopt_problem *p, struct collopt_decision *d)
{
    collopt_select(p, d);
}

unsigned test_random(unsigned n)
{
    static uint64_t state = 0x853c49e6748fea9bu;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}
