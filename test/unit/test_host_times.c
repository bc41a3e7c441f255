/* Measurements of the MPI libraries: which library is which, how messages are cut for each, times
 * of their own collectives, and when the choice goes to them. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "model/choose.h"
#include "model/fragments.h"
#include "model/host_times.h"
#include "model/machine.h"
#include "model/offload.h"
#include "schedule/bound.h"
#include "schedule/problem.h"
#include "select/decide.h"
#include "select/fragment_length.h"
#include "shared/rules_check.h"
#include "settings/rules.h"
#include "topology/topology.h"
#include "suite.h"

enum { MOST = 512 };

struct setting {
    enum collopt_mpi mpi;
    enum collopt_network network;
    int ranks, each;            /* of a node; 0: one node */
    const struct collopt_host_times *times;
    const struct collopt_fragments *fragments;
    struct collopt_machine machine;
    struct collopt_topology topology;
    int node[MOST];
};

static struct collopt_problem problem(struct setting *s, enum collopt_collective c, size_t bytes,
                                      bool commutative)
{
    int each = s->each ? s->each : s->ranks;

    s->machine = collopt_bundled_machines[s->network];
    s->machine.mpi = s->mpi;
    s->machine.host_times = s->times;
    s->machine.fragments = s->fragments;
    for (int r = 0; r < s->ranks; r++)
        s->node[r] = r / each;
    s->topology = (struct collopt_topology){ .nodes = (s->ranks - 1) / each + 1, .node = s->node };
    ck_assert(collopt_topology_measure(&s->topology, s->ranks));
    return (struct collopt_problem){ .collective = c,
                                     .ranks = s->ranks,
                                     .size = bytes % 8 ? 1 : 8,
                                     .count = bytes % 8 ? bytes : bytes / 8,
                                     .commutative = commutative,
                                     .segments = 1,
                                     .topology = &s->topology,
                                     .machine = &s->machine };
}

/* ---- whose library --------------------------------------------------------------------------- */

TEST(libraries)
{
    ck_assert_int_eq(collopt_mpi_of("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"),
                     COLLOPT_OPENMPI);
    ck_assert_int_eq(collopt_mpi_of("Open MPI v5.0.3, package"), COLLOPT_OPENMPI);
    ck_assert_int_eq(collopt_mpi_of("Open MPI v6.0.0rc2, package: Debian OpenMPI"),
                     COLLOPT_OPENMPI);
    ck_assert_int_eq(collopt_mpi_of("MPICH Version:\t4.0.2\nMPICH Release date:"), COLLOPT_MPICH);
    ck_assert_int_eq(collopt_mpi_of("MPICH Version:      5.0.2\nMPICH Release date:"),
                     COLLOPT_MPICH);
    ck_assert_int_eq(collopt_mpi_of("MPICH 4.1"), COLLOPT_MPICH);
    ck_assert_int_eq(collopt_mpi_of("Open MPI 4.1.4; collopt: 0.1.0"), COLLOPT_OPENMPI);
    ck_assert_int_eq(collopt_mpi_of("MVAPICH Version:\t4.0"), COLLOPT_OTHER_MPI);
    ck_assert_int_eq(collopt_mpi_of("Intel(R) MPI Library 2021.9 for Linux* OS"),
                     COLLOPT_OTHER_MPI);
    ck_assert_int_eq(collopt_mpi_of("SMPI Version 3.32"), COLLOPT_OTHER_MPI);
    ck_assert_int_eq(collopt_mpi_of(""), COLLOPT_OTHER_MPI);
    ck_assert_int_eq(collopt_mpi_of(NULL), COLLOPT_OTHER_MPI);
}

#define O   COLLOPT_OPENMPI
#define H   COLLOPT_MPICH
#define K   * (size_t)1024
#define M   * (size_t)1048576

/* ---- rules and fragments that come with collopt -------------------------------------------- */

static char told[1024];

static void hear(void *data, int line, const char *sentence)
{
    (void)data;
    snprintf(told, sizeof told, "%d: %s", line, sentence);
}

static const struct collopt_rules *shipped_rules(const char *name)
{
    const struct collopt_rules *r = collopt_rules_read(name, hear, NULL);

    ck_assert_msg(r, "%s:%s", name, told);
    ck_assert_msg(collopt_rules_check(r, hear, NULL) == 0, "%s:%s", name, told);
    return r;
}

static const struct collopt_fragments *shipped_fragments(const char *name)
{
    const struct collopt_machine_file *f = collopt_machine_read(name, hear, NULL);

    ck_assert_msg(f, "%s:%s", name, told);
    ck_assert_msg(f->fragments, "%s has no fragments", name);
    return f->fragments;
}

#define SHIPPED(name) COLLOPT_SOURCE "/data/collopt/" name

/* Without a file the model decides; a rule is for ranks that share processors, or for all. */
TEST(measured_rules)
{
    struct setting s = { .mpi = COLLOPT_OPENMPI, .ranks = 8 };
    struct collopt_problem p = problem(&s, COLLOPT_REDUCE_SCATTER_BLOCK, 4096, true);
    struct collopt_decision d;

    s.topology.oversubscribed = true;
    collopt_select(&p, &d);
    ck_assert_msg(strncmp(d.why, "predicted ", 10) == 0, "%s", d.why);
    s.machine.measured = shipped_rules(SHIPPED("openmpi-4.1-amd-epyc.rules"));
    collopt_select(&p, &d);
    ck_assert_msg(d.choice.algorithm && strcmp(d.choice.algorithm->name, "leader") == 0, "%s",
                  d.why);
    ck_assert_msg(strncmp(d.why, "measured ", 9) == 0
                      && strstr(d.why, "openmpi-4.1-amd-epyc.rules:") && d.open,
                  "%s", d.why);
    s.topology.oversubscribed = false;
    collopt_select(&p, &d);
    ck_assert_msg(strncmp(d.why, "predicted ", 10) == 0, "%s", d.why);
    s.topology.oversubscribed = true;
    s.machine.measured = shipped_rules(SHIPPED("mpich-4.0-amd-epyc.rules"));
    collopt_select(&p, &d);
    ck_assert_msg(strncmp(d.why, "predicted ", 10) == 0, "%s", d.why);
}

/* The piece that messages of so many bytes are cut into; 0: they are not. */
static size_t piece_of(const struct collopt_problem *p, size_t bytes)
{
    struct collopt_cut cut[COLLOPT_CUTS];
    size_t piece = 0;

    collopt_cuts(p, cut);
    for (int i = 0; cut[i].piece > 0; i++) {
        ck_assert_msg(i + 1 < COLLOPT_CUTS && (i == 0 || cut[i].above >= cut[i - 1].above),
                      "cut %d", i);
        if (bytes > cut[i].above)
            piece = cut[i].piece;
    }
    return bytes > piece ? piece : 0;
}

static size_t longest_piece(const struct collopt_problem *p)
{
    return piece_of(p, p->count * p->size);
}

TEST(messages_on_a_node)
{
    struct setting s = { .mpi = COLLOPT_OPENMPI, .ranks = 2 };
    struct collopt_problem p = problem(&s, COLLOPT_SCAN, 16 M, false);

    ck_assert_uint_eq(longest_piece(&p), 0);            /* nothing was measured */
    s.fragments = shipped_fragments(SHIPPED("openmpi-4.1-amd-epyc.machine"));
    p = problem(&s, COLLOPT_SCAN, 16 M, false);
    ck_assert_uint_eq(piece_of(&p, 256), 0);
    ck_assert_uint_eq(piece_of(&p, 512), 256);
    ck_assert_uint_eq(piece_of(&p, 513), 0);
    ck_assert_uint_eq(piece_of(&p, 4000), 0);
    ck_assert_uint_eq(piece_of(&p, 16 K), 4000);
    ck_assert_uint_eq(piece_of(&p, 64 K), 0);
    ck_assert_uint_eq(piece_of(&p, 2 M), 256 K);
    p = problem(&s, COLLOPT_REDUCE, 16 M, false);
    ck_assert_uint_eq(piece_of(&p, 16 K), 4000);
    ck_assert_uint_eq(piece_of(&p, 2 M), 256 K);
    p = problem(&s, COLLOPT_ALLREDUCE, 16 M, false);
    ck_assert_uint_eq(piece_of(&p, 16 K), 0);
    p = problem(&s, COLLOPT_EXSCAN, 16 M, false);       /* of two ranks none combines */
    ck_assert_uint_eq(longest_piece(&p), 0);
    /* messages of collopt have limits of their own */
    s.machine.shm = true;
    p.collective = COLLOPT_SCAN;
    ck_assert_uint_eq(longest_piece(&p), 0);
    s.fragments = shipped_fragments(SHIPPED("mpich-4.0-amd-epyc.machine"));
    s.mpi = COLLOPT_MPICH;
    p = problem(&s, COLLOPT_REDUCE, 16 M, false);
    ck_assert_uint_eq(piece_of(&p, 8 K), 0);
    ck_assert_uint_eq(piece_of(&p, 16 K), 8 K);
    ck_assert_uint_eq(piece_of(&p, 2 M), 256 K);
    s.ranks = 17;
    p = problem(&s, COLLOPT_REDUCE, 16 M, false);
    ck_assert_uint_eq(piece_of(&p, 16 K), 0);
    s.ranks = 2, s.each = 1;                            /* two nodes */
    p = problem(&s, COLLOPT_REDUCE, 16 M, false);
    ck_assert_uint_eq(piece_of(&p, 16 K), 0);
    ck_assert_uint_eq(longest_piece(&p), 0);
}

TEST(messages_over_tcp)
{
    struct setting s = { .mpi = COLLOPT_OPENMPI, .network = COLLOPT_TCP, .ranks = 8, .each = 1 };
    struct collopt_problem p = problem(&s, COLLOPT_SCAN, 1 M, false);
    size_t cut = longest_piece(&p);

    ck_assert_msg(cut < s.machine.way[COLLOPT_OVER_NET].eager && cut > 32 K, "%zu", cut);
    p.count = 64 M;
    ck_assert_uint_eq(longest_piece(&p), 0);
    p = problem(&s, COLLOPT_SCAN, 1 M, false);
    s.machine.way[COLLOPT_OVER_NET].eager = 0;
    ck_assert_uint_eq(longest_piece(&p), 0);
    s.network = COLLOPT_FAST_NETWORK;
    p = problem(&s, COLLOPT_SCAN, 1 M, false);
    ck_assert_uint_eq(longest_piece(&p), 0);
    s.network = COLLOPT_TCP, s.mpi = COLLOPT_MPICH;
    p = problem(&s, COLLOPT_SCAN, 1 M, false);
    ck_assert_uint_eq(longest_piece(&p), 0);
    s.mpi = COLLOPT_OPENMPI, s.each = 8;
    p = problem(&s, COLLOPT_SCAN, 1 M, false);
    ck_assert_uint_eq(longest_piece(&p), 0);
}

/* ---- measured times -------------------------------------------------------------------------- */

static struct collopt_machine_file *parse(const char *text)
{
    told[0] = '\0';
    return collopt_machine_parse("site.machine", text, strlen(text), hear, NULL);
}

static const char times[] = "host openmpi allreduce 8 1 8 1K commutative = 10 us\n"
                            "host\topenmpi  allreduce 8 1 8 4K commutative=40 us # in between\n"
                            "host openmpi allreduce 8 1 8 4K exact = 20 us\n"
                            "host mpich allreduce 8 1 8 1K commutative = 0.1 us\n"
                            "host openmpi allreduce 8 2 4 1K commutative = 77 us\n";

static const struct {
    enum collopt_mpi mpi;
    int ranks, each;
    bool commutative, exact;
    size_t bytes;
    double us;                  /* 0: was not measured */
} looked_up[] = {
    { O, 8, 0, true, false, 1 K, 10 },     { O, 8, 0, true, false, 4 K, 40 },
    { O, 8, 0, true, false, 2560, 25 },    { O, 8, 0, true, false, 256, 10 },
    { O, 8, 0, true, false, 248, 0 },      { O, 8, 0, true, false, 16 K, 160 },
    { O, 8, 0, true, false, 16 K + 8, 0 }, { O, 8, 0, true, true, 4 K, 20 },
    { O, 8, 0, false, false, 1 K, 0 },     { H, 8, 0, true, false, 1 K, 0.1 },
    { H, 8, 0, true, true, 1 K, 0.1 },     { O, 8, 4, true, false, 1 K, 77 },
    { O, 4, 0, true, false, 1 K, 0 },
};

TEST(measured)
{
    struct collopt_machine_file *f = parse(times);

    ck_assert_msg(f, "%s", told);
    for (size_t i = 0; i < sizeof looked_up / sizeof *looked_up; i++) {
        struct setting s = { .mpi = looked_up[i].mpi,
                             .ranks = looked_up[i].ranks,
                             .each = looked_up[i].each,
                             .times = f->host_times };
        struct collopt_problem p = problem(&s, COLLOPT_ALLREDUCE, looked_up[i].bytes,
                                           looked_up[i].commutative);
        double us;

        p.exact = looked_up[i].exact;
        us = 1e6 * collopt_host_measured(f->host_times, s.mpi, &p);
        ck_assert_msg(us >= 0.999 * looked_up[i].us && us <= 1.001 * looked_up[i].us,
                      "case %zu: %g us, not %g", i, us, looked_up[i].us);
    }
    collopt_machine_free(f);
}

static const struct {
    const char *text, *says;
} refused[] = {
    { "host openmpi allreduce 8 1 8 1K = 10 us",
      "1: 6 words behind host; there are 7: MPI collective ranks nodes ppn bytes op" },
    { "host intel allreduce 8 1 8 1K commutative = 10 us",
      "1: \"intel\" is no MPI whose times are known" },
    { "host mpich bcast 8 1 8 1K commutative = 10 us", "1: there is no collective \"bcast\"" },
    { "host mpich scan 8 x 8 1K commutative = 10 us", "1: nodes \"x\" is not a number from 1 on" },
    { "host mpich scan 8 9 1 1K exact = 10 us",
      "1: 8 ranks cannot lie on 9 nodes with 1 on the largest (ppn)" },
    { "host mpich scan 8 3 2 1K exact = 10 us",
      "1: 8 ranks cannot lie on 3 nodes with 2 on the largest" },
    { "host mpich scan 8 3 7 1K exact = 10 us",
      "1: 8 ranks cannot lie on 3 nodes with 7 on the largest" },
    { "host mpich scan 8 1 8 1K sum = 10 us", "1: op \"sum\" is neither commutative nor exact" },
    { "host mpich scan 8 1 8 1K exact = 10", "1: the host's time \"10\" is not understood" },
    { "host mpich scan 8 1 8 1K exact = 0 us", "1: the host's time \"0 us\" is not understood" },
    { "host mpich scan 8 1 8 1K exact = 1 us\nhost mpich scan 8 1 8 1024 exact = 2 us",
      "2: the host's time of this is given" },
    { "fragment reduce 2 1K-8K together 256 = 256 B",
      "1: 5 words behind fragment; there are 4: collective ranks bytes order" },
    { "fragment bcast 2 1K-8K together = 256 B",
      "1: there is no collective \"bcast\"; there are reduce," },
    { "fragment scan 2-x 1K-8K together = 256 B", "1: ranks \"2-x\" is not a range" },
    { "fragment scan 2 8K-1K together = 256 B", "1: bytes \"8K-1K\" is not a range" },
    { "fragment scan 2 1K-8K turns = 256 B",
      "1: fragments \"turns\": they are received in_turn or together" },
    { "fragment scan 2 1K-8K together = 256",
      "1: the fragments' length \"256\" is not understood; it takes" },
    { "fragment scan 2 1K-8K together = 0 B",
      "1: the fragments' length \"0 B\" is not understood" },
    { "fragment scan 2-4 1K-8K together = 1 KiB\nfragment scan 3 8K- together = 1 KiB",
      "2: line 1 gives fragments of such messages already" },
    { "fragment scan 2 1-2 together = 1 B\nfragment scan 2 3-4 together = 1 B\nfragment scan 2 5-6 "
      "together = 1 B\n"
      "fragment scan 2 7-8 together = 1 B",
      "4: too many lines of fragments: up to 3 of a collective on the same ranks" },
};

TEST(mistakes)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        ck_assert_msg(!parse(refused[i].text), "%s", refused[i].text);
        ck_assert_msg(strncmp(told, refused[i].says, strlen(refused[i].says)) == 0, "%s: %s",
                      refused[i].text, told);
    }
}

/* What is written is read again, and is part of what ranks compare. */
TEST(writing)
{
    struct collopt_machine_file *f = parse(times), *again, *other;
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    for (int i = 0; i < f->host_times->n; i++)
        collopt_host_time_write(to, &f->host_times->time[i], i % 2 ? "so many %s" : NULL);
    fclose(to);
    again = parse(text);
    ck_assert_msg(again, "%s\n%s", told, text);
    ck_assert(again->hash == f->hash && f->hash != 0);
    other = parse("host mpich allreduce 8 1 8 1K commutative = 0.2 us\n");
    ck_assert(other && other->hash != f->hash && other->hash != 0);
    collopt_machine_free(other);
    collopt_machine_free(again);
    collopt_machine_free(f);
    free(text);
}

/* Faster by a little is not enough. */
TEST(choosing)
{
    struct setting s = { .mpi = COLLOPT_OPENMPI,
                         .ranks = 16,
                         .each = 4,
                         .network = COLLOPT_FAST_NETWORK };
    struct collopt_problem p = problem(&s, COLLOPT_ALLREDUCE, 1 K, true);
    struct collopt_host_time t = { COLLOPT_OPENMPI, COLLOPT_ALLREDUCE, false, 16, 4, 4, 1 K, 0 };
    struct collopt_host_times all = { .n = 1, .time = &t };
    struct collopt_candidate best;
    struct collopt_decision d;

    ck_assert(collopt_choose(&p, 1, &best));
    s.machine.host_times = &all;
    t.seconds = 0.95 * best.seconds;
    collopt_select(&p, &d);
    ck_assert_msg(d.choice.algorithm == best.choice.algorithm
                      && strncmp(d.why, "predicted ", 10) == 0,
                  "%s", d.why);
    t.seconds = 0.5 * best.seconds;
    collopt_select(&p, &d);
    ck_assert_msg(!d.choice.algorithm && d.open, "%s", d.why);
    ck_assert_msg(strncmp(d.why, "measured ", 9) == 0 && strstr(d.why, " us; first own, ")
                      && strstr(d.why, ", predicted "),
                  "%s", d.why);
}

/* ---- what the network reduces ---- */

static const char *const *given;        /* "libhcoll.so", "NAME=value" ..., NULL at the end */

static bool loaded(const char *library)
{
    for (int i = 0; given[i]; i++)
        if (strcmp(given[i], library) == 0)
            return true;
    return false;
}

static bool setting_of(const char *name, char *value, size_t size)
{
    size_t n = strlen(name);

    for (int i = 0; given[i]; i++)
        if (strncmp(given[i], name, n) == 0 && given[i][n] == '=') {
            snprintf(value, size, "%s", given[i] + n + 1);
            return true;
        }
    return false;
}

/* A library counts where it is switched on, and for Open MPI where it goes before coll/tuned. */
TEST(offloads)
{
    static const struct {
        const char *name, *given[6];
    } all[] = {
        { NULL, { NULL } },
        { NULL, { "libhcoll.so", NULL } },
        { NULL, { "coll_hcoll_enable=1", NULL } },
        { "HCOLL", { "libhcoll.so", "coll_hcoll_enable=1", NULL } },
        { "HCOLL", { "libhcoll.so", "coll_hcoll_enable=1", "coll_hcoll_priority=90",
                     "coll_tuned_priority=30", NULL } },
        { NULL, { "libhcoll.so", "coll_hcoll_enable=1", "coll_hcoll_priority=9",
                  "coll_tuned_priority=30", NULL } },
        { NULL, { "libhcoll.so", "coll_hcoll_enable=0", NULL } },
        { NULL, { "libhcoll.so", "coll_hcoll_enable=false", NULL } },
        { "HCOLL", { "libhcoll.so", "MPIR_CVAR_ENABLE_HCOLL=yes", NULL } },
        { "HCOLL", { "libhcoll.so", "I_MPI_COLL_EXTERNAL=hcoll", NULL } },
        { NULL, { "libucc.so", "coll_ucc_enable=0", NULL } },
        { NULL, { "libucc.so", "coll_ucc_enable=1", "coll_ucc_priority=10",
                  "coll_tuned_priority=30", NULL } },
        { "UCC", { "libucc.so", "coll_ucc_enable=1", "coll_ucc_priority=100",
                   "coll_tuned_priority=30", NULL } },
        { NULL, { "libsharp_coll.so", NULL } },
        { "SHARP", { "libsharp_coll.so", "MV2_ENABLE_SHARP=1", NULL } },
        { NULL, { "libportals.so", NULL } },
        { "Portals 4", { "libportals.so", "coll_portals4_priority=40", "coll_tuned_priority=30",
                         NULL } },
        { "DMAPP", { "libdmapp.so", "MPICH_USE_DMAPP_COLL=1", NULL } },
    };
    static const struct collopt_offload_asked ask = { loaded, setting_of };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int found;

        given = all[i].given;
        found = collopt_offload_find(&ask);
        if (all[i].name)
            ck_assert_msg(found > 0 && strcmp(collopt_offloads[found - 1].name, all[i].name) == 0,
                          "%zu: %d, not %s", i, found, all[i].name);
        else
            ck_assert_msg(found == 0, "%zu: %s", i, found ? collopt_offloads[found - 1].name : "");
    }
}

/* Between nodes, an Allreduce or a Reduce of an operation of MPI's. */
TEST(offloaded)
{
    static const int node[4] = { 0, 0, 1, 1 };
    static const struct collopt_offload short_ones = { .name = "X", .reduce = false, .bytes = 64 },
                                        all = { .name = "X", .reduce = true };
    struct collopt_topology one = { .nodes = 1 }, two = { .nodes = 2, .node = node };
    struct collopt_machine m = collopt_bundled_machines[COLLOPT_FAST_NETWORK];
    struct collopt_problem p = { .collective = COLLOPT_ALLREDUCE, .ranks = 4, .count = 8,
                                 .size = 8, .commutative = true, .topology = &two,
                                 .machine = &m };
    struct collopt_decision d;

    ck_assert(collopt_topology_measure(&two, 4));
    collopt_select(&p, &d);
    ck_assert(d.choice.algorithm && !d.offloaded);
    m.offload = &short_ones;
    collopt_select(&p, &d);
    ck_assert(!d.choice.algorithm && d.offloaded && d.open);
    ck_assert_str_eq(d.why, "between nodes, X");
    p.count = 9;
    collopt_select(&p, &d);
    ck_assert(d.choice.algorithm && !d.offloaded);
    p.count = 8;
    p.collective = COLLOPT_REDUCE;
    collopt_select(&p, &d);
    ck_assert(d.choice.algorithm && !d.offloaded);
    m.offload = &all;
    collopt_select(&p, &d);
    ck_assert(!d.choice.algorithm && d.offloaded);
    p.count = 1 << 20;
    collopt_select(&p, &d);
    ck_assert(!d.choice.algorithm && d.offloaded);
    p.users = true;
    collopt_select(&p, &d);
    ck_assert(d.choice.algorithm && !d.offloaded);
    p.users = false;
    p.collective = COLLOPT_SCAN;
    collopt_select(&p, &d);
    ck_assert(d.choice.algorithm && !d.offloaded);
    p.collective = COLLOPT_ALLREDUCE;
    p.topology = &one;
    collopt_select(&p, &d);
    ck_assert(d.choice.algorithm && !d.offloaded);
}

int main(void)
{
    return suite_run("host_times");
}
