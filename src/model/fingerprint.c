/* A hash of some predictions, bit by bit.
 *
 * Decisions compare predicted times, and often these differ in the last bit only. They are made of
 * additions, products, quotients and comparisons, which IEEE 754 rounds alike everywhere, as long
 * as the compiler keeps to it: no fused multiplication and addition, no wider registers, no other
 * order. Builds are checked for that (test/no_fma.sh), but ranks may run different builds. So they
 * compare this hash, and with it everything that a build computes otherwise and that makes a
 * difference here.
 *
 * Three collectives have all kinds of algorithms between them; compositions, which predict by
 * others, are left out. That takes 60 us, once in a process. */
#include "config.h"

#include <pthread.h>

#include "model/fingerprint.h"
#include "base/arithmetic.h"
#include "base/hash.h"
#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "model/machine.h"
#include "model/model.h"
#include "schedule/descriptor.h"
#include "schedule/problem.h"
#include "topology/topology.h"

enum { RANKS = 12 };

static const int node[RANKS] = { 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2 };
static const struct collopt_topology nodes = { .nodes = 3, .node = node, .largest = 4, .least = 4,
                                               .grain = 4 };
static const struct collopt_topology torus = { .nodes = 1, .dims = 4 | 3 << COLLOPT_SIDE_BITS,
                                               .rings = 3, .wired = true };

static const struct setting {
    const struct collopt_topology *topology;
    enum collopt_network network;
    enum collopt_collective collective;
    size_t count;               /* elements for each rank */
} settings[] = {
    { &nodes, COLLOPT_TCP, COLLOPT_ALLREDUCE, 7 },
    { &torus, COLLOPT_TORUS, COLLOPT_REDUCE_SCATTER_BLOCK, 10007 },
};

static uint64_t add(uint64_t h, const struct collopt_algorithm *a, const struct setting *s)
{
    struct collopt_choice choice = { .algorithm = a };
    struct collopt_problem p = { .collective = a->collective, .ranks = RANKS,
                                 .count = s->count * RANKS, .size = sizeof(double),
                                 .commutative = true, .exact = true, .segments = 1,
                                 .topology = s->topology,
                                 .machine = &collopt_bundled_machines[s->network] };
    double seconds;

    collopt_set_parameters(&p, &choice);
    if (!collopt_usable(a, &p, NULL))
        return h;
    seconds = collopt_model(a, &p);
    return collopt_hash_bytes(collopt_hash_bytes(h, p.value, sizeof p.value), &seconds,
                              sizeof seconds);
}

static uint64_t fingerprint(void)
{
    uint64_t h = COLLOPT_HASH_START;

    for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++)
        for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
            if ((*a)->collective == settings[i].collective && !(*a)->grouped
                && !(*a)->parameter[0].algorithm)
                h = add(h, *a, &settings[i]);
    return h;
}

static uint64_t known;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_out(void)
{
    uint64_t before = collopt_default_fpenv();

    known = fingerprint();
    collopt_arithmetic_of(before);
}

uint64_t collopt_fingerprint(void)
{
    pthread_once(&once, find_out);
    return known;
}
