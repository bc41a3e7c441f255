/* The answers to include/collopt.h, inside a backend. */
#include "config.h"

#include "base/arithmetic.h"
#include "catalogue/catalogue.h"
#include "catalogue/expression.h"
#include "report/public.h"
#include "report/counters.h"
#include "schedule/descriptor.h"
#include "schedule/problem.h"
#include "select/decide.h"
#include "select/explain.h"
#include "topology/topology.h"

#include <stdio.h>
#include <string.h>

static const struct collopt_topology one_node = { .nodes = 1 };

static int collective_named(const char *name)
{
    for (int c = 0; name && c < COLLOPT_COLLECTIVES; c++)
        if (strcmp(name, collopt_collective_names[c]) == 0)
            return c;
    return -1;
}

static const char *collective_name(int i)
{
    return i >= 0 && i < COLLOPT_COLLECTIVES ? collopt_collective_names[i] : NULL;
}

/* The I-th of collective C; NULL: there are not so many. */
static const struct collopt_algorithm *nth(int c, int i)
{
    if (i < 0)
        return NULL;
    for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++)
        if ((int)(*a)->collective == c && i-- == 0)
            return *a;
    return NULL;
}

static int algorithm_count(const char *collective)
{
    int c = collective_named(collective), n = 0;

    if (c < 0)
        return -1;
    while (nth(c, n))
        n++;
    return n;
}

static const char *algorithm_name(const char *collective, int i)
{
    const struct collopt_algorithm *a = nth(collective_named(collective), i);

    return a ? a->name : NULL;
}

static const char *algorithm_summary(const char *collective, int i)
{
    const struct collopt_algorithm *a = nth(collective_named(collective), i);

    return a ? a->summary : NULL;
}

/* Explains the choice for an operation that rounds, on elements of 8 bytes if BYTES is a multiple
 * of 8. */
static int explain(const char *collective, int ranks, uint64_t bytes, int commutative, char *text,
                   size_t size)
{
    int c = collective_named(collective);
    size_t element = bytes % 8 == 0 ? 8 : 1;
    struct collopt_problem p = {
        .collective = (enum collopt_collective)c,
        .ranks = ranks,
        .count = bytes / element,
        .size = element,
        .commutative = commutative != 0,
        .segments = 1,
        .topology = &one_node,
    };
    struct collopt_decision d;
    char choice[COLLOPT_CHOICE_TEXT];
    uint64_t arithmetic;

    if (c < 0 || ranks < 1)
        return -1;
    arithmetic = collopt_default_fpenv();
    collopt_select_outside(&p, &d);
    collopt_arithmetic_of(arithmetic);
    collopt_choice_text(&d.choice, choice, sizeof choice);
    return snprintf(text, size, "%s (%s)", choice, d.why);
}

struct wanted {
    const char *collective, *name;
    uint64_t calls;
};

static void add_calls(const struct collopt_sum *sum, void *data)
{
    struct wanted *w = data;
    const struct collopt_algorithm *a = sum->algorithm;

    if (a
        && (w->collective ? strcmp(w->collective, collopt_counted_as(a)) == 0
                          : a->collective < COLLOPT_COLLECTIVES)
        && (!w->name || strcmp(w->name, a->name) == 0))
        w->calls += sum->counter.calls;
}

static uint64_t calls(const char *collective, const char *algorithm)
{
    struct wanted w = { collective, algorithm, 0 };

    collopt_visit_sums(add_calls, &w);
    return w.calls;
}

static void add_passed(const struct collopt_sum *sum, void *data)
{
    struct wanted *w = data;

    if (sum->name && (!w->name || strcmp(w->name, sum->name) == 0))
        w->calls += sum->counter.calls;
}

static uint64_t calls_passed(const char *mpi_name)
{
    struct wanted w = { NULL, mpi_name, 0 };

    if (mpi_name && strncmp(mpi_name, "MPI_", 4) == 0)
        w.name += 4;
    else if (mpi_name && strncmp(mpi_name, "MPIX_", 5) == 0)
        w.name += 3;            /* X_Allreduce_init */
    collopt_visit_sums(add_passed, &w);
    return w.calls;
}

const struct collopt_public collopt_public = {
    .size = sizeof collopt_public,
    .collective_name = collective_name,
    .algorithm_count = algorithm_count,
    .algorithm_name = algorithm_name,
    .algorithm_summary = algorithm_summary,
    .explain = explain,
    .calls = calls,
    .calls_passed = calls_passed,
};
