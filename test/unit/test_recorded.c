/* Recorded machines: what hwloc says of their nodes, and where a launcher has bound the ranks,
 * become groups of ranks and decisions.  Each machine is described to hwloc, and once more as the
 * XML that lstopo records of it, with everything that is in a node.  Numbers of groups are counted
 * by hand; decisions are what must be so on such a machine whatever the figures of the model are.
 *
 * Of nodes of many cores bench/nodes has published figures of lines and memory.  What is predicted
 * by them for shared memory is held against times that others have published for these machines,
 * and decisions and times of some problems are written down. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "catalogue/expression.h"
#include "lstopo.h"
#include "model/choose.h"
#include "model/machine.h"
#include "schedule/problem.h"
#include "select/decide.h"
#include "topology/intranode.h"
#include "topology/topology.h"
#include "suite.h"

enum { MOST_RANKS = 1024, BITS = 64 };

/* Of rank i of a node. */
enum binding {
    /* core i, all its processors: mpirun --bind-to core, srun --cpu-bind=cores */
    TO_CORES,
    TO_PROCESSORS,              /* processor i, so that ranks share cores */
    /* a core of domain i, and round: --map-by numa, srun --distribution=block:cyclic */
    ACROSS,
    /* any processor of domain i, and round: --bind-to numa --map-by numa */
    TO_DOMAINS,
    LOOSE                       /* any of the node's */
};

/* What whole vectors of 8 bytes, and parts of 4 MiB, go by; ONCE: what leaves a node once for all
 * its ranks. */
#define WHOLE "recursive_doubling|recursive_multiplying|leader|lanes|" \
    "node_aware|binomial|knomial|linear|gather"
#define CUT "ring|circulant|rabenseifner|swing|lanes|recursive_splitting"
#define ONCE "leader|lanes|ring|two_tree|swing|recursive_splitting"

static const struct recorded {
    const char *name, *node;    /* a node, to hwloc */
    int cores, threads, domains;        /* of it: cores, processors of each, NUMA domains */
    int nodes, each;            /* of the job; ranks of a node */
    enum binding binding;
    int numa, cache, core;      /* groups of all ranks; 0: not known */
    /* more ranks than processors; ranks of a domain do not follow one another */
    bool crowded, scattered;
    const char *shortest, *longest;     /* Allreduce of 8 B and 4 MiB of a sum */
} recorded[] = {
    { "laptop, 4 cores", "pack:1 [numa] l3:1 core:4 pu:2",
      4, 2, 1, 1, 4, TO_CORES, 1, 1, 4, false, false, WHOLE, CUT },
    { "laptop, 8 threads", "pack:1 [numa] l3:1 core:4 pu:2",
      4, 2, 1, 1, 8, TO_PROCESSORS, 1, 1, 4, false, false, WHOLE, CUT },
    { "laptop, not bound", "pack:1 [numa] l3:1 core:4 pu:2",
      4, 2, 1, 1, 8, LOOSE, 0, 0, 0, false, false, WHOLE, CUT },
    { "virtual machine of 2, 8 ranks", "pack:1 [numa] l3:1 core:2 pu:1",
      2, 1, 1, 1, 8, LOOSE, 0, 0, 0, true, false, "linear|gather", "rabenseifner|" CUT },
    { "desktop, two dies' caches", "pack:1 [numa] l3:2 core:8 pu:2",
      16, 2, 1, 1, 16, TO_CORES, 1, 2, 16, false, false, WHOLE, CUT },
    { "2 sockets of 24", "pack:2 [numa] l3:1 core:24 pu:2",
      48, 2, 2, 1, 48, TO_CORES, 2, 2, 48, false, false, WHOLE, CUT },
    { "16 nodes of these", "pack:2 [numa] l3:1 core:24 pu:2",
      48, 2, 2, 16, 48, TO_CORES, 32, 32, 768, false, false, WHOLE, ONCE },
    { "16, across sockets", "pack:2 [numa] l3:1 core:24 pu:2",
      48, 2, 2, 16, 48, ACROSS, 32, 32, 768, false, true, WHOLE, ONCE },
    { "16, to sockets", "pack:2 [numa] l3:1 core:24 pu:2",
      48, 2, 2, 16, 4, TO_DOMAINS, 32, 32, 0, false, true, WHOLE, ONCE },
    { "16, of two a node", "pack:2 [numa] l3:1 core:24 pu:2",
      48, 2, 2, 16, 2, ACROSS, 32, 32, 32, false, false, WHOLE, CUT },
    { "4 nodes, four domains a socket", "pack:2 group:4 [numa] l3:2 core:8 pu:2",
      128, 2, 8, 4, 128, TO_CORES, 32, 64, 512, false, false, WHOLE, ONCE },
    { "of these 8 ranks a node", "pack:2 group:4 [numa] l3:2 core:8 pu:2",
      128, 2, 8, 4, 8, ACROSS, 32, 32, 32, false, false, WHOLE, ONCE },
    { "caches of level 2 last", "pack:1 group:4 [numa] l2:1 core:12 pu:1",
      48, 1, 4, 8, 48, TO_CORES, 32, 32, 384, false, false, WHOLE, ONCE },
    { "these, one rank a node", "pack:1 group:4 [numa] l2:1 core:12 pu:1",
      48, 1, 4, 8, 1, TO_CORES, 8, 8, 8, false, false, WHOLE, CUT },
    { "pairs of cores", "pack:2 [numa] l3:11 core:2 pu:4",
      44, 4, 2, 4, 44, TO_CORES, 8, 88, 176, false, false, WHOLE, ONCE },
    { "64 cores of one cache", "pack:1 [numa] l3:1 core:64 pu:1",
      64, 1, 1, 4, 64, TO_CORES, 4, 4, 256, false, false, WHOLE, ONCE },
    { "2 sockets of 64, four cores a cache", "pack:2 group:4 [numa] l3:4 core:4 pu:2",
      128, 2, 8, 1, 128, TO_CORES, 8, 32, 128, false, false, WHOLE, CUT },
    { "72 cores of one cache", "pack:1 [numa] l3:1 core:72 pu:1",
      72, 1, 1, 1, 72, TO_CORES, 1, 1, 72, false, false, WHOLE, CUT },
    { "4 sockets of 72", "pack:4 [numa] l3:1 core:72 pu:1",
      288, 1, 4, 1, 288, TO_CORES, 4, 4, 288, false, false, WHOLE, CUT },
    { "2 sockets of 56", "pack:2 [numa] l3:1 core:56 pu:2",
      112, 2, 2, 1, 112, TO_CORES, 2, 2, 112, false, false, WHOLE, CUT },
    { "8 sockets", "pack:8 [numa] l3:1 core:28 pu:2",
      224, 2, 8, 1, 224, TO_CORES, 8, 8, 224, false, false, WHOLE, CUT },
    { "no caches told", "numa:2 core:8 pu:1",
      16, 1, 2, 4, 16, TO_CORES, 8, 0, 64, false, false, WHOLE, ONCE },
    { "two ranks for each thread", "pack:2 [numa] l3:1 core:4 pu:2",
      8, 2, 2, 4, 32, TO_PROCESSORS, 8, 8, 32, true, true, "", "" },
};

/* ---- where the ranks are --------------------------------------------------------------------- */

static void add(unsigned long long *mask, int first, int processors)
{
    for (int i = first; i < first + processors; i++)
        mask[i / BITS] |= 1ull << i % BITS;
}

/* The processors of rank I of a node; they are numbered core by core. */
static void bind(const struct recorded *m, int i, unsigned long long mask[COLLOPT_MASK_WORDS])
{
    int of_domain = m->cores / m->domains;

    memset(mask, 0, COLLOPT_MASK_WORDS * sizeof *mask);
    if (m->binding == TO_CORES)
        add(mask, i % m->cores * m->threads, m->threads);
    else if (m->binding == TO_PROCESSORS)
        add(mask, i % (m->cores * m->threads), 1);
    else if (m->binding == ACROSS)
        add(mask, (i % m->domains * of_domain + i / m->domains % of_domain) * m->threads,
            m->threads);
    else if (m->binding == TO_DOMAINS)
        add(mask, i % m->domains * of_domain * m->threads, of_domain * m->threads);
    else
        add(mask, 0, m->cores * m->threads);
}

static int spot(const struct recorded *m, int i)
{
    unsigned long long mask[COLLOPT_MASK_WORDS];

    if (m->each == 1)
        return COLLOPT_ALONE;
    bind(m, i, mask);
    return m->binding == LOOSE ? 0 : collopt_pack_spot(collopt_spot(mask));
}

static bool is_crowded(const struct recorded *m)
{
    unsigned long long mask[COLLOPT_MASK_WORDS], usable[COLLOPT_MASK_WORDS] = { 0 };
    int processors = 0;

    for (int i = 0; i < m->each; i++) {
        bind(m, i, mask);
        for (int w = 0; w < COLLOPT_MASK_WORDS; w++)
            usable[w] |= mask[w];
    }
    for (int w = 0; w < COLLOPT_MASK_WORDS; w++)
        processors += __builtin_popcountll(usable[w]);
    return m->each > processors;
}

struct job {
    int node[MOST_RANKS], group[COLLOPT_GROUPINGS][MOST_RANKS];
    struct collopt_topology nodes, level[COLLOPT_GROUPINGS];
    const struct collopt_topology *groups[COLLOPT_GROUPINGS];
};

/* As src/mpi/comm/topology.c does it: groups are known if every rank knows its own. */
static void survey(struct job *j, const struct recorded *m)
{
    int ranks = m->nodes * m->each;
    uint64_t key[MOST_RANKS];

    *j = (struct job){ .nodes = { .nodes = m->nodes, .node = j->node,
                                  .oversubscribed = is_crowded(m),
                                  .groups = j->groups } };
    for (int r = 0; r < ranks; r++)
        j->node[r] = r / m->each;
    ck_assert(collopt_topology_measure(&j->nodes, ranks));
    j->groups[COLLOPT_BY_NODE] = &j->nodes;
    for (int by = COLLOPT_BY_NUMA; by < COLLOPT_GROUPINGS; by++) {
        bool known = true;

        for (int r = 0; r < ranks && known; r++)
            known = collopt_spot_key(spot(m, r % m->each), j->node[r], (enum collopt_grouping)by,
                                     &key[r]);
        if (!known)
            continue;
        ck_assert(collopt_topology_group(&j->level[by], &j->nodes, key, j->group[by], ranks));
        j->groups[by] = &j->level[by];
    }
}

/* ---- what comes of it ------------------------------------------------------------------------ */

static void has_groups(const struct recorded *m, const struct job *j, enum collopt_grouping by,
                       int wanted, const char *name)
{
    int found = j->groups[by] ? j->groups[by]->nodes : 0;

    ck_assert_msg(found == wanted, "%s: %d %s, not %d", m->name, found, name, wanted);
}

/* Does TEXT begin with one of LIST?  An empty one has all. */
static bool begins_with(const char *text, const char *list)
{
    if (!*list)
        return true;
    for (size_t n; *list; list += n + (list[n] == '|')) {
        n = strcspn(list, "|");
        if (strncmp(text, list, n) == 0)
            return true;
    }
    return false;
}

static void decides(const struct recorded *m, const struct job *j, size_t bytes, const char *wanted)
{
    struct collopt_machine machine;
    struct collopt_problem p = { .collective = COLLOPT_ALLREDUCE,
                                 .ranks = m->nodes * m->each,
                                 .size = 8,
                                 .commutative = true,
                                 .count = bytes / 8,
                                 .segments = 1,
                                 .topology = &j->nodes,
                                 .machine = &machine };
    struct collopt_decision chosen;
    char text[256];

    collopt_machine_pick(&machine, collopt_network_of(&j->nodes, true), false, NULL);
    collopt_select(&p, &chosen);
    collopt_choice_text(&chosen.choice, text, sizeof text);
    ck_assert_msg(begins_with(text, wanted), "%s, %zu bytes: %s", m->name, bytes, text);
}

/* "by" takes the groups of the machine, and in order only if they are of neighbours. */
static void composes(const struct recorded *m, const struct job *j, const char *by,
                     enum collopt_grouping grouping)
{
    struct collopt_problem p = { .collective = COLLOPT_ALLREDUCE,
                                 .ranks = m->nodes * m->each,
                                 .size = 8,
                                 .commutative = true,
                                 .count = 1 << 16,
                                 .segments = 1,
                                 .topology = &j->nodes };
    struct collopt_choice choice;
    char words[64], message[256];
    const char *why = "";

    snprintf(words, sizeof words, "leader:by=%s", by);
    ck_assert_msg(collopt_parse_choice(words, p.collective, &choice, message, sizeof message), "%s",
                  message);
    ck_assert_msg(collopt_choice_usable(&choice, &p, &why) == (j->groups[grouping] != NULL),
                  "%s, %s: %s", m->name, words, why);
    if (!j->groups[grouping])
        return;
    collopt_set_parameters(&p, &choice);
    ck_assert_ptr_eq(p.topology, j->groups[grouping]);
    p.commutative = false;
    ck_assert_msg(collopt_choice_usable(&choice, &p, &why) == !j->groups[grouping]->scattered,
                  "%s, %s, in order: %s", m->name, words, why);
}

static void is_known(const struct recorded *m)
{
    static struct job j;

    survey(&j, m);
    ck_assert_msg(j.nodes.oversubscribed == m->crowded, "%s: more ranks than processors", m->name);
    has_groups(m, &j, COLLOPT_BY_NUMA, m->numa, "NUMA domains");
    has_groups(m, &j, COLLOPT_BY_CACHE, m->cache, "last-level caches");
    has_groups(m, &j, COLLOPT_BY_CORE, m->core, "cores");
    if (m->numa)
        ck_assert_msg(j.level[COLLOPT_BY_NUMA].scattered == m->scattered, "%s: scattered", m->name);
    decides(m, &j, 8, m->shortest);
    decides(m, &j, 4 << 20, m->longest);
    composes(m, &j, "numa", COLLOPT_BY_NUMA);
    composes(m, &j, "cache", COLLOPT_BY_CACHE);
}

/* ---- what is predicted for nodes of many cores ----------------------------------------------- */

enum { COLUMNS = 12, CELLS = 3 };

static const size_t column[COLUMNS] = { 8,        64,        256,     1 << 10, 4 << 10,  16 << 10,
                                        64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20 };

/* Allreduce.  PUBLISHED: the best of MPICH 4.2.2, Open MPI and ext_mpi_collectives, us, from the
 * raw data of PPAM 2024 in github.com/eth-cscs/ext_mpi_collectives; 0: none.  LOSES: columns, as
 * bits, in which it is predicted to be longer.  There ext_mpi maps its peers' memory and moves 3
 * vectors a rank; what goes by a segment moves about 7. */
static const struct predicted {
    const char *name, *file, *node;
    int cores, threads, ranks;
    double published[COLUMNS];
    unsigned loses;
    struct {
        size_t bytes;
        const char *algorithm;
        double us;
    } cell[CELLS];
} predicted[] = {
    { "EPYC 7742, 2 x 64",
      "epyc-7742-2x64",
      "pack:2 group:4 [numa] l3:4 core:4 pu:2",
      128,
      2,
      128,
      { 4.65, 4.89, 6.06, 9.3, 9.5, 10.8, 24.0, 82.7, 331, 5063, 21820, 158000 },
      0,
      { { 8, "recursive_multiplying", 1.05 },
        { 4 << 10, "recursive_splitting", 2.5 },
        { 1 << 20, "recursive_splitting", 191 } } },
    { "the same, 127 ranks",
      "epyc-7742-2x64",
      "pack:2 group:4 [numa] l3:4 core:4 pu:2",
      128,
      2,
      127,
      { 4.68, 0, 0, 0, 13.7, 0, 41.8, 0, 1077, 10300, 0, 0 },
      0,
      { { 8, "recursive_multiplying", 1.05 },
        { 64 << 10, "lanes", 19.5 },
        { 4 << 20, "ring", 2673 } } },
    { "Grace, 72",
      "grace-72",
      "pack:1 [numa] l3:1 core:72 pu:1",
      72,
      1,
      72,
      { 1.75, 1.87, 2.36, 3.29, 3.4, 4.0, 10.5, 31.8, 152, 1216, 6128, 26910 },
      1 << 7 | 7 << 9,
      { { 8, "recursive_multiplying", 0.6 },
        { 16 << 10, "recursive_splitting", 3.39 },
        { 1 << 20, "alltoall", 135 } } },
    { "Grace, 4 x 72",
      "grace-4x72",
      "pack:4 [numa] l3:1 core:72 pu:1",
      288,
      1,
      288,
      { 5.11, 5.5, 6.8, 10.1, 13.8, 14.6, 19.9, 48, 185, 1296, 5907, 27210 },
      7 << 9,
      { { 8, "recursive_multiplying", 1.07 },
        { 64 << 10, "recursive_splitting", 11.8 },
        { 1 << 20, "recursive_splitting", 156 } } },
    { "Xeon 8480+, 2 x 56",
      "xeon-8480-2x56",
      "pack:2 [numa] l3:1 core:56 pu:2",
      112,
      2,
      112,
      { 0 },
      0,
      { { 0, NULL, 0 } } },
    { "A64FX, 48",
      "a64fx-48",
      "pack:1 group:4 [numa] l2:1 core:12 pu:1",
      48,
      1,
      48,
      { 0 },
      0,
      { { 0, NULL, 0 } } },
};

static void tell(void *data, int line, const char *sentence)
{
    ck_abort_msg("%s:%d: %s", (const char *)data, line, sentence);
}

static struct collopt_candidate best_of(const struct predicted *m, const struct job *j,
                                        const struct collopt_machine *machine, size_t bytes)
{
    struct collopt_problem p = { .collective = COLLOPT_ALLREDUCE,
                                 .ranks = m->ranks,
                                 .size = 4,
                                 .commutative = true,
                                 .count = bytes / 4,
                                 .segments = 1,
                                 .topology = &j->nodes,
                                 .machine = machine };
    struct collopt_candidate best;

    ck_assert(collopt_choose(&p, 1, &best) == 1);
    return best;
}

static struct collopt_machine_file *figures(const struct predicted *m)
{
    const char *srcdir = getenv("srcdir");
    struct collopt_machine_file *f;
    char file[512];

    snprintf(file, sizeof file, "%s/bench/nodes/%s.machine", srcdir ? srcdir : ".", m->file);
    f = collopt_machine_read(file, tell, file);
    ck_assert_ptr_nonnull(f);
    return f;
}

static void is_published(const struct predicted *m, const struct job *j,
                         const struct collopt_machine *machine)
{
    for (int i = 0; i < COLUMNS; i++) {
        struct collopt_candidate best = best_of(m, j, machine, column[i]);
        double us = best.seconds * 1e6;

        printf("%s, %zu bytes: %s, %.4g us; published %g\n", m->name, column[i],
               best.choice.algorithm->name, us, m->published[i]);
        ck_assert_msg(m->published[i] == 0 || (us > m->published[i]) == (m->loses >> i & 1),
                      "%s, %zu bytes: %s is predicted to take %g us, %g are published", m->name,
                      column[i], best.choice.algorithm->name, us, m->published[i]);
    }
}

TESTS(as_predicted, 0, sizeof predicted / sizeof *predicted)
{
    const struct predicted *m = &predicted[_i];
    const struct recorded node = { .name = m->name,
                                   .cores = m->cores,
                                   .threads = m->threads,
                                   .domains = 1,
                                   .nodes = 1,
                                   .each = m->ranks,
                                   .binding = TO_CORES };
    struct collopt_machine_file *f = figures(m);
    static struct job j;
    struct collopt_machine machine;

    setenv("HWLOC_SYNTHETIC", m->node, 1);
    survey(&j, &node);
    collopt_machine_pick(&machine, collopt_network_of(&j.nodes, true), true, f);
    is_published(m, &j, &machine);
    for (int i = 0; i < CELLS && m->cell[i].algorithm; i++) {
        struct collopt_candidate best = best_of(m, &j, &machine, m->cell[i].bytes);

        ck_assert_msg(strcmp(best.choice.algorithm->name, m->cell[i].algorithm) == 0,
                      "%s, %zu bytes: %s, not %s", m->name, m->cell[i].bytes,
                      best.choice.algorithm->name, m->cell[i].algorithm);
        ck_assert_double_eq_tol(best.seconds * 1e6, m->cell[i].us, 0.05 * m->cell[i].us);
    }
    collopt_machine_free(f);
}

/* ---- described and recorded ------------------------------------------------------------------ */

enum { MACHINES = sizeof recorded / sizeof *recorded };

TESTS(as_described, 0, MACHINES)
{
    setenv("HWLOC_SYNTHETIC", recorded[_i].node, 1);
    is_known(&recorded[_i]);
}

TESTS(as_recorded, 0, MACHINES)
{
    lstopo_records(recorded[_i].node);
    is_known(&recorded[_i]);
}

int main(void)
{
    unsetenv("COLLOPT_ALLREDUCE");
    unsetenv("COLLOPT_RULES");
    unsetenv("COLLOPT_REPRODUCIBLE");
    return suite_run("recorded");
}
