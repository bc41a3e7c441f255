/* Measures time and memory to build the schedule of one rank, for up to as many ranks as the
 * largest machines have.
 *
 *     bench_build [-p RANKS] [-n RANKS_OF_A_NODE] [-b BYTES] [ALGORITHM ...]
 *
 * Needs no MPI.  A line for every algorithm whose rounds do not grow with the ranks (no more than
 * MOST_ROUNDS): the milliseconds to choose its parameters, to build and compile its schedule, and
 * to bind it to a count; the KiB that both keep; its steps.  Medians over several ranks.  The
 * counts of a Reduce_scatter are the caller's, and not counted. One node unless -n says how many
 * ranks each has; a double for each rank unless -b says how long a vector is. */
#include "config.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "algorithms/formula.h"
#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "schedule/bind.h"
#include "schedule/bound.h"
#include "schedule/descriptor.h"
#include "schedule/problem.h"
#include "schedule/schedule.h"
#include "topology/topology.h"

enum { MOST_ROUNDS = 1000, RANKS_TRIED = 9 };

struct figures {
    double choose, build, bind; /* s */
    double bytes;
    double steps;
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, ascending);
    return v[n / 2];
}

static double in_use(void)
{
#ifdef HAVE_MALLINFO2
    struct mallinfo2 m = mallinfo2();

    return (double)m.uordblks + (double)m.hblkhd;
#else
    return 0;
#endif
}

static struct figures measure(const struct collopt_algorithm *a, struct collopt_problem *p,
                              int rank)
{
    struct figures f;
    double before = in_use(), start = now();
    struct collopt_schedule *s;
    struct collopt_bound *b;

    collopt_set_parameters(p, &(struct collopt_choice){ .algorithm = a });
    f.choose = now() - start;
    start = now();
    s = collopt_schedule_new(a, p, rank, 0);
    f.build = now() - start;
    start = now();
    b = s ? collopt_bind(s, p, NULL) : NULL;
    f.bind = now() - start;
    if (!b) {
        fprintf(stderr, "bench_build: no memory\n");
        exit(1);
    }
    f.bytes = in_use() - before;
    f.steps = (double)b->steps;
    collopt_bound_free(b);
    collopt_schedule_free(s);
    return f;
}

static void line(const struct collopt_algorithm *a, struct collopt_problem *p)
{
    double choose[RANKS_TRIED], build[RANKS_TRIED], bind[RANKS_TRIED], bytes[RANKS_TRIED],
        steps[RANKS_TRIED];

    for (int i = 0; i < RANKS_TRIED; i++) {
        int rank = (int)((long)i * (p->ranks - 1) / (RANKS_TRIED - 1));
        struct figures f = measure(a, p, rank);

        choose[i] = f.choose;
        build[i] = f.build;
        bind[i] = f.bind;
        bytes[i] = f.bytes;
        steps[i] = f.steps;
    }
    printf("%-21s %-22s %9.3f %9.3f %9.3f %10.1f %8.0f\n", collopt_collective_names[a->collective],
           a->name, 1e3 * median(choose, RANKS_TRIED), 1e3 * median(build, RANKS_TRIED),
           1e3 * median(bind, RANKS_TRIED), median(bytes, RANKS_TRIED) / 1024,
           median(steps, RANKS_TRIED));
    fflush(stdout);
}

static bool wanted(const struct collopt_algorithm *a, int names, char **name)
{
    for (int i = 0; i < names; i++)
        if (!strcmp(a->name, name[i]))
            return true;
    return names == 0;
}

static void all(int ranks, size_t count, const struct collopt_topology *topology, int names,
                char **name)
{
    for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++) {
        struct collopt_problem p = { .collective = (*a)->collective,
                                     .ranks = ranks,
                                     .count = count,
                                     .size = 8,
                                     .commutative = true,
                                     .exact = true,
                                     .topology = topology };
        struct collopt_choice choice = { .algorithm = *a };

        if (!wanted(*a, names, name))
            continue;
        collopt_set_parameters(&p, &choice);
        if (!collopt_usable(*a, &p, NULL))
            continue;
        if (collopt_formula_rounds(*a, &p).value <= MOST_ROUNDS)
            line(*a, &p);
    }
}

/* EACH ranks on a node, one behind the other. */
static bool make_topology(struct collopt_topology *t, int ranks, int each)
{
    int *node = malloc((size_t)ranks * sizeof *node);

    for (int r = 0; node && r < ranks; r++)
        node[r] = r / each;
    t->nodes = (ranks - 1) / each + 1;
    t->node = node;
    return node && collopt_topology_measure(t, ranks);
}

int main(int argc, char **argv)
{
    struct collopt_topology topology = { .nodes = 1 };
    int option, ranks = 1 << 20, each = 0;
    long bytes = 0;
    bool understood = true;

    while ((option = getopt(argc, argv, "p:n:b:")) != -1)
        switch (option) {
        case 'p': understood &= (ranks = atoi(optarg)) > 0; break;
        case 'n': understood &= (each = atoi(optarg)) > 0; break;
        case 'b': understood &= (bytes = atol(optarg)) > 0; break;
        default: understood = false;
        }
    if (!understood) {
        fprintf(stderr,
                "usage: bench_build [-p RANKS] [-n RANKS_OF_A_NODE] [-b BYTES] [ALGORITHM ...]\n");
        return 2;
    }
    if (each && !make_topology(&topology, ranks, each)) {
        fprintf(stderr, "bench_build: no memory\n");
        return 1;
    }
    printf("%d ranks\n%-21s %-22s %9s %9s %9s %10s %8s\n", ranks, "", "", "choose ms", "build ms",
           "bind ms", "KiB", "steps");
    all(ranks, bytes ? (size_t)bytes / 8 : (size_t)ranks, &topology, argc - optind, argv + optind);
    free((int *)topology.node);
    return 0;
}
