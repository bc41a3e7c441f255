/* No collective is predicted to take longer than others that give the same result: Traff, Gropp and
 * Thakur's self-consistent performance guidelines (IEEE TPDS 21, 2010), by the model and for what
 * it chooses.
 *
 * On the bundled machines, one node and several, for operations that commute and others, a factor
 * of 4 between sizes. bench/guidelines measures the same on a real machine.  -v tells every
 * comparison. */
#include "config.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "model/choose.h"
#include "model/machine.h"
#include "schedule/problem.h"
#include "shared/guidelines.h"
#include "topology/topology.h"

enum { SIZES = 13, ELEMENT = 8, MOST_RANKS = 256 };      /* 8 bytes to 128 MiB */

static bool verbose;
static int compared, violated;

/* ---- settings -------------------------------------------------------------------------------- */

struct setting {
    enum collopt_network network;
    int ranks, each;            /* of a node */
    bool commutative;
};

static void topology_of(const struct setting *s, struct collopt_topology *t, int *node)
{
    *t = (struct collopt_topology){ .nodes = (s->ranks - 1) / s->each + 1, .node = node };
    for (int r = 0; r < s->ranks; r++)
        node[r] = r / s->each;
    collopt_topology_measure(t, s->ranks);
}

static struct collopt_problem problem_of(const struct setting *s, const struct collopt_topology *t,
                                         int i)
{
    return (struct collopt_problem){ .ranks = s->ranks,
                                     .size = ELEMENT,
                                     .count = (size_t)1 << 2 * i,
                                     .commutative = s->commutative,
                                     .topology = t,
                                     .machine = &collopt_bundled_machines[s->network] };
}

/* Seconds of the best choice for each collective and size; NAN where there is none. */
static void predict(const struct setting *s, const struct collopt_topology *topology,
                    double seconds[COLLOPT_COLLECTIVES][SIZES],
                    const char *name[COLLOPT_COLLECTIVES][SIZES])
{
    for (int c = 0; c < COLLOPT_COLLECTIVES; c++)
        for (int i = 0; i < SIZES; i++) {
            struct collopt_problem p = problem_of(s, topology, i);
            struct collopt_candidate best;
            size_t counts[MOST_RANKS];

            p.collective = (enum collopt_collective)c;
            if (c == COLLOPT_REDUCE_SCATTER) {
                collopt_even_counts(p.count, p.ranks, counts);
                p.counts = counts;
            }
            if (c == COLLOPT_REDUCE_SCATTER_BLOCK)
                p.count = p.count < (size_t)s->ranks
                    ? (size_t)s->ranks
                    : p.count / (size_t)s->ranks * (size_t)s->ranks;
            seconds[c][i] = NAN;
            name[c][i] = "none";
            if (collopt_choose(&p, 1, &best) && best.choice.algorithm) {
                seconds[c][i] = best.seconds;
                name[c][i] = best.choice.algorithm->name;
            }
        }
}

/* ---- guidelines ------------------------------------------------------------------------------ */

/* By how much the left side may be longer, at the worst: what is more than 1.05 is a hole in the
 * catalogue that is known. At the length where handshakes begin four short calls are cheaper than
 * one, and on two ranks an Allreduce by segments than a Reduce_scatter whose message needs a
 * handshake.  Of Reduce_scatter_block circulant_pipeline is a little shorter than what Allreduce
 * has. */
enum { MONOTONY = COLLOPT_GUIDELINES, SPLIT, HELD };

static const double most[HELD] = {
    [COLLOPT_AS_REDUCE_AND_BCAST] = 1.05,
    [COLLOPT_AS_BLOCK_AND_ALLGATHER] = 1.2,
    [COLLOPT_REDUCE_AS_ALLREDUCE] = 1.05,
    [COLLOPT_SCATTER_AS_ALLREDUCE] = 1.25,
    [COLLOPT_BLOCK_AS_ALLREDUCE] = 1.25,
    [COLLOPT_BLOCK_AS_SCATTER] = 1.05,
    [COLLOPT_SCAN_AS_EXSCAN] = 1.05,
    [COLLOPT_EXSCAN_AS_SCAN] = 1.05,
    [MONOTONY] = 1.05,
    [SPLIT] = 1.5,
};

static double worst[HELD];

static const char *text_of(int g)
{
    return g == MONOTONY ? "no longer than of 4 times the length"
        : g == SPLIT     ? "no longer than 4 of a quarter"
                         : collopt_guidelines[g].text;
}

static void hold(const struct setting *s, int i, int g, const char *left, double time,
                 const char *right, double limit)
{
    bool wrong = time > limit * most[g];

    if (isnan(time) || isnan(limit))
        return;
    compared++;
    violated += wrong;
    worst[g] = time / limit > worst[g] ? time / limit : worst[g];
    if (wrong || verbose)
        printf("%s%s, %d ranks, %d of a node, %s, %zu bytes: %s: %s %.3g us, %s %.3g us, %.2f\n",
               wrong ? "FAIL: " : "", collopt_network_names[s->network], s->ranks, s->each,
               s->commutative ? "commutative" : "noncommutative", (size_t)ELEMENT << 2 * i,
               text_of(g), left, 1e6 * time, right, 1e6 * limit, time / limit);
}

static void check(const struct setting *s)
{
    double t[COLLOPT_COLLECTIVES][SIZES];
    const char *n[COLLOPT_COLLECTIVES][SIZES];
    struct collopt_topology topology;
    int node[MOST_RANKS];

    topology_of(s, &topology, node);
    predict(s, &topology, t, n);
    for (int i = 0; i < SIZES; i++) {
        struct collopt_problem p = problem_of(s, &topology, i);
        double seconds[COLLOPT_COLLECTIVES];

        for (int c = 0; c < COLLOPT_COLLECTIVES; c++)
            seconds[c] = t[c][i];
        for (int g = 0; g < COLLOPT_GUIDELINES; g++) {
            enum collopt_collective left = collopt_guidelines[g].left,
                                    right = collopt_guidelines[g].right;

            hold(s, i, g, n[left][i], t[left][i], n[right][i],
                 collopt_guideline_limit((enum collopt_guideline)g, &p, seconds));
        }
    }
    for (int c = 0; c < COLLOPT_COLLECTIVES; c++)
        for (int i = 0; i + 1 < SIZES; i++) {
            hold(s, i, MONOTONY, n[c][i], t[c][i], n[c][i + 1], t[c][i + 1]);
            hold(s, i + 1, SPLIT, n[c][i + 1], t[c][i + 1], n[c][i], 4 * t[c][i]);
        }
}

int main(int argc, char **argv)
{
    static const int ranks[] = { 2, 3, 4, 5, 7, 8, 12, 16, 24, 31, 32, 48, 64, 96, MOST_RANKS };

    verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    for (int network = 0; network < COLLOPT_TORUS; network++)
        for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
            for (int each = network == COLLOPT_SHARED_MEMORY ? ranks[i] : 1; each <= ranks[i];
                 each *= 8)
                for (int commutative = 0; commutative < 2; commutative++)
                    if (network == COLLOPT_SHARED_MEMORY || each < ranks[i])
                        check(&(struct setting){ (enum collopt_network)network, ranks[i], each,
                                                 commutative });
    for (int g = 0; g < HELD; g++)
        printf("%-46s at worst %.2f, up to %.2f allowed\n", text_of(g), worst[g], most[g]);
    printf("%d comparisons, %d violated\n", compared, violated);
    return violated || !compared ? 1 : 0;
}
