/* No collective is predicted to take longer than others that give the same result: Traff, Gropp and Thakur's self-consistent
 * performance guidelines (IEEE TPDS 21, 2010), by the model and for what it chooses.
 *
 * On the shipped machines, one node and several, for operations that commute and others, a factor of 4 between sizes.  A Bcast,
 * which is not in the catalogue, is taken to last as long as a Reduce, an Allgather as a Reduce_scatter_block.  bench/guidelines
 * measures the same on a real machine.  -v tells every comparison. */
#include "config.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "select/choose.h"
#include "select/machine.h"

enum { SIZES = 13, ELEMENT = 8 };       /* 8 bytes to 128 MiB */

static bool verbose;
static int compared, violated;

/* ---- settings ------------------------------------------------------------------------------------------------------------ */

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

/* Seconds of the best choice for each collective and size; NAN where there is none. */
static void predict(const struct setting *s, double seconds[COLLOPT_COLLECTIVES][SIZES],
                    const char *name[COLLOPT_COLLECTIVES][SIZES])
{
    int node[64];
    struct collopt_topology topology;

    topology_of(s, &topology, node);
    for (int c = 0; c < COLLOPT_COLLECTIVES; c++)
        for (int i = 0; i < SIZES; i++) {
            struct collopt_problem p = { .collective = (enum collopt_collective)c, .ranks = s->ranks, .size = ELEMENT,
                                         .count = (size_t)1 << 2 * i, .commutative = s->commutative, .topology = &topology,
                                         .machine = &collopt_shipped_machines[s->network] };
            struct collopt_candidate best;

            if (c == COLLOPT_REDUCE_SCATTER_BLOCK)
                p.count = p.count < (size_t)s->ranks ? (size_t)s->ranks : p.count / (size_t)s->ranks * (size_t)s->ranks;
            seconds[c][i] = NAN;
            name[c][i] = "none";
            if (collopt_choose(&p, 1, &best) && best.choice.algorithm) {
                seconds[c][i] = best.seconds;
                name[c][i] = best.choice.algorithm->name;
            }
        }
}

static double message(const struct setting *s, double bytes)
{
    const struct collopt_machine *m = &collopt_shipped_machines[s->network];
    const struct collopt_way *w = &m->way[s->each < s->ranks ? COLLOPT_BETWEEN : COLLOPT_INSIDE];

    return w->latency + 2 * w->overhead + w->byte * bytes + (bytes > w->eager ? w->handshake : 0);
}

static double combining(const struct setting *s, double bytes)
{
    return collopt_shipped_machines[s->network].combine * bytes;
}

/* ---- guidelines ---------------------------------------------------------------------------------------------------------- */

/* By how much the left side may be longer, at the worst: what is more than 1.05 is a hole in the catalogue that is known.
 * At the length where handshakes begin four short calls are cheaper than one, and on two ranks an Allreduce by segments than a
 * Reduce_scatter whose message needs a handshake.  Of Reduce_scatter_block circulant_pipeline is a little shorter than what
 * Allreduce has. */
enum guideline { BCAST, ALLGATHER, REDUCE, SCATTER, BLOCK, EVEN, SCAN, EXSCAN, MONOTONY, SPLIT, GUIDELINES };

static const struct {
    const char *text;
    double most;
} guidelines[GUIDELINES] = {
    [BCAST] = { "Allreduce <= Reduce + Bcast", 1.05 },
    [ALLGATHER] = { "Allreduce <= Reduce_scatter_block + Allgather", 1.2 },
    [REDUCE] = { "Reduce <= Allreduce", 1.05 },
    [SCATTER] = { "Reduce_scatter <= Allreduce", 1.25 },
    [BLOCK] = { "Reduce_scatter_block <= Allreduce", 1.25 },
    [EVEN] = { "Reduce_scatter_block <= Reduce_scatter", 1.05 },
    [SCAN] = { "Scan <= Exscan + Reduce_local", 1.05 },
    [EXSCAN] = { "Exscan <= a message + Scan", 1.05 },
    [MONOTONY] = { "no longer than of 4 times the length", 1.05 },
    [SPLIT] = { "no longer than 4 of a quarter", 1.5 },
};

static double worst[GUIDELINES];

static void hold(const struct setting *s, int i, enum guideline g, const char *left, double time, const char *right, double limit)
{
    bool wrong = time > limit * guidelines[g].most;

    if (isnan(time) || isnan(limit))
        return;
    compared++;
    violated += wrong;
    worst[g] = time / limit > worst[g] ? time / limit : worst[g];
    if (wrong || verbose)
        printf("%s%s, %d ranks, %d of a node, %s, %zu bytes: %s: %s %.3g us, %s %.3g us, %.2f\n", wrong ? "FAIL: " : "",
               collopt_network_names[s->network], s->ranks, s->each, s->commutative ? "commutative" : "noncommutative",
               (size_t)ELEMENT << 2 * i, guidelines[g].text, left, 1e6 * time, right, 1e6 * limit, time / limit);
}

static void check(const struct setting *s)
{
    double t[COLLOPT_COLLECTIVES][SIZES];
    const char *n[COLLOPT_COLLECTIVES][SIZES];

    predict(s, t, n);
    for (int i = 0; i < SIZES; i++) {
        double allreduce = t[COLLOPT_ALLREDUCE][i], reduce = t[COLLOPT_REDUCE][i], block = t[COLLOPT_REDUCE_SCATTER_BLOCK][i],
            scatter = t[COLLOPT_REDUCE_SCATTER][i], scan = t[COLLOPT_SCAN][i], exscan = t[COLLOPT_EXSCAN][i],
            bytes = (double)((size_t)ELEMENT << 2 * i);
        const char *of_allreduce = n[COLLOPT_ALLREDUCE][i], *of_reduce = n[COLLOPT_REDUCE][i],
            *of_block = n[COLLOPT_REDUCE_SCATTER_BLOCK][i], *of_scatter = n[COLLOPT_REDUCE_SCATTER][i],
            *of_scan = n[COLLOPT_SCAN][i], *of_exscan = n[COLLOPT_EXSCAN][i];

        hold(s, i, BCAST, of_allreduce, allreduce, of_reduce, 2 * reduce);
        hold(s, i, ALLGATHER, of_allreduce, allreduce, of_block, 2 * block);
        hold(s, i, REDUCE, of_reduce, reduce, of_allreduce, allreduce);
        hold(s, i, SCATTER, of_scatter, scatter, of_allreduce, allreduce);
        if (bytes >= ELEMENT * s->ranks) {      /* else each rank's one element of a Reduce_scatter_block makes more than these */
            hold(s, i, BLOCK, of_block, block, of_allreduce, allreduce);
            hold(s, i, EVEN, of_block, block, of_scatter, scatter);
        }
        hold(s, i, SCAN, of_scan, scan, of_exscan, exscan + combining(s, bytes));
        hold(s, i, EXSCAN, of_exscan, exscan, of_scan, scan + message(s, bytes));
    }
    for (int c = 0; c < COLLOPT_COLLECTIVES; c++)
        for (int i = 0; i + 1 < SIZES; i++) {
            hold(s, i, MONOTONY, n[c][i], t[c][i], n[c][i + 1], t[c][i + 1]);
            hold(s, i + 1, SPLIT, n[c][i + 1], t[c][i + 1], n[c][i], 4 * t[c][i]);
        }
}

int main(int argc, char **argv)
{
    static const int ranks[] = { 2, 3, 4, 5, 7, 8, 12, 16, 24, 31, 32, 48, 64 };

    verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    for (int network = 0; network < COLLOPT_TORUS; network++)
        for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
            for (int each = network == COLLOPT_SHARED_MEMORY ? ranks[i] : 1; each <= ranks[i]; each *= 8)
                for (int commutative = 0; commutative < 2; commutative++)
                    if (network == COLLOPT_SHARED_MEMORY || each < ranks[i])
                        check(&(struct setting){ (enum collopt_network)network, ranks[i], each, commutative });
    for (int g = 0; g < GUIDELINES; g++)
        printf("%-46s at worst %.2f, up to %.2f allowed\n", guidelines[g].text, worst[g], guidelines[g].most);
    printf("%d comparisons, %d violated\n", compared, violated);
    return violated || !compared ? 1 : 0;
}
