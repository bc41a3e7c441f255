/* What the MPI library's own collectives would take; see host_mpi.h.
 *
 * Open MPI: coll/tuned's fixed decisions as they are since 4.1 (ompi/mca/coll/tuned/coll_tuned_decision_fixed.c), with messages
 * in one piece, as they are without coll_tuned_*_segmentsize; Scan and Exscan are coll/basic's.  From 5.0 on coll/han is asked
 * first on several nodes of several ranks, of which nothing is known here.  MPICH: ch4 with the decisions of its tables
 * (maint/tuning/coll/mpir/generic.json and ch4/generic.json), as of 4.0; 3.4 takes recursive doubling for an Allreduce of up to
 * 2 KiB.  Collectives over shared memory, which some builds of both have, and other people's modules are not known: measured
 * times are (host_times.h).
 *
 * What an algorithm takes is predicted as for the one of our catalogue that sends the same messages; of those that we have no use
 * for the messages are told here. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "algorithms/algorithm.h"
#include "internal.h"
#include "select/host_mpi.h"
#include "select/host_times.h"
#include "select/model.h"

const double collopt_host_share = 0.9;

enum collopt_mpi collopt_mpi_of(const char *version)
{
    const char *number = version ? version + strcspn(version, "0123456789") : "";
    char *end;
    long major = strtol(number, &end, 10), minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;

    if (version && strncmp(version, "Open MPI ", 9) == 0)
        return major == 5 || (major == 4 && minor >= 1) ? COLLOPT_OPENMPI : COLLOPT_OTHER_MPI;
    if (version && strncmp(version, "MPICH ", 6) == 0)
        return major == 4 || (major == 3 && minor >= 4) ? COLLOPT_MPICH : COLLOPT_OTHER_MPI;
    return COLLOPT_OTHER_MPI;
}

/* ---- their algorithms ------------------------------------------------------------------------------------------------ */

/* From rank to rank, whole vectors: the next one begins when the one before has finished. */
static void along(const struct collopt_problem *p, struct collopt_traffic *t)
{
    double m = vector_bytes(p);

    collopt_messages(t, p->ranks - 1, (struct collopt_messages){ .pattern = COLLOPT_ALONG, .distance = 1, .bytes = m,
                                                                 .combined = m });
}

/* Behind a Reduce to rank 0: to every rank its part; or to all of them the whole, down a binomial tree. */
static void scatter(const struct collopt_problem *p, struct collopt_traffic *t)
{
    collopt_messages(t, 1, (struct collopt_messages){ .pattern = COLLOPT_TREE, .distance = 1, .bytes = vector_bytes(p) / p->ranks,
                                                      .fan = p->ranks - 1 });
}

static void broadcast(const struct collopt_problem *p, struct collopt_traffic *t)
{
    collopt_traffic_tree(t, p->ranks, 2, vector_bytes(p), 0);
}

/* Whole vectors but for the parts that the partner does not need; ranks beyond a power of two are told all once more. */
static void doubling(const struct collopt_problem *p, struct collopt_traffic *t)
{
    double m = vector_bytes(p);

    if (p->ranks & (p->ranks - 1))
        collopt_messages(t, 1, (struct collopt_messages){ .pattern = COLLOPT_PAIRS, .distance = 1, .bytes = m, .combined = m });
    for (int d = 1; d < p->ranks; d *= 2) {
        double bytes = m * (1 - (double)d / p->ranks);

        collopt_messages(t, 1, (struct collopt_messages){ .pattern = COLLOPT_PAIRS, .distance = d, .bytes = bytes,
                                                          .combined = bytes });
        collopt_traffic_scattered(t, p, 1, 2, bytes);   /* what is before these parts and what is behind them */
    }
}

/* A Reduce to rank 0 by the host's own choice may come first; then TRAFFIC, or what ours takes, of the first of these that can be
 * used. */
struct way {
    const char *name;
    bool reduce;
    void (*traffic)(const struct collopt_problem *p, struct collopt_traffic *t);
    const char *ours[2];
};

static const struct way
    linear = { "linear", .ours = { "linear" } },
    chain = { "a chain of whole vectors", .traffic = along },
    binary = { "a binary tree", .ours = { "binary_tree:segment=1T" } },
    binomial = { "a binomial tree", .ours = { "binomial" } },
    recursive_doubling = { "recursive doubling", .ours = { "recursive_doubling", "window_doubling" } },
    parts_doubling = { "recursive doubling", .traffic = doubling },
    ring = { "ring", .ours = { "ring" } },
    halving = { "recursive halving", .ours = { "recursive_halving", "elimination" } },
    butterfly = { "butterfly", .ours = { "recursive_halving", "elimination" } },
    noncommutative = { "halving in rank order", .ours = { "elimination" } },
    pairwise = { "pairwise", .ours = { "pairwise" } },
    rabenseifner = { "Rabenseifner's", .ours = { "rabenseifner", "elimination" } },
    by_nodes = { "recursive doubling by nodes", .ours = { "leader", "recursive_doubling" } },
    reduce_broadcast = { "Reduce and Bcast", .reduce = true, .traffic = broadcast },
    reduce_scatter = { "Reduce and Scatter", .reduce = true, .traffic = scatter };

/* ---- Open MPI ---------------------------------------------------------------------------------------------------------- */

#define K   * (size_t)1024
#define M   * (size_t)1048576
#define ALL 0

enum { STEPS = 12 };

struct band {                   /* communicators of fewer RANKS than that */
    int ranks;                  /* ALL: the others */
    struct {
        size_t bytes;           /* vectors shorter than that */
        const struct way *way;
    } step[STEPS];
};

/* Of ring and segmented ring with segments of any length. */
static const struct band allreduce[] = {
    { 4, { { 8, &ring }, { 4 K, &recursive_doubling }, { 8 K, &ring }, { 16 K, &recursive_doubling }, { 256 K, &ring },
           { ALL, &rabenseifner } } },
    { 8, { { 16, &ring }, { 8 K, &recursive_doubling }, { ALL, &rabenseifner } } },
    { 16, { { 8 K, &recursive_doubling }, { ALL, &rabenseifner } } },
    { 32, { { 64, &ring }, { 4 K, &recursive_doubling }, { ALL, &rabenseifner } } },
    { 64, { { 128, &ring }, { ALL, &rabenseifner } } },
    { 128, { { 256 K, &recursive_doubling }, { ALL, &rabenseifner } } },
    { 256, { { 128 K, &reduce_broadcast }, { 256 K, &recursive_doubling }, { ALL, &rabenseifner } } },
    { 512, { { 4 K, &reduce_broadcast }, { ALL, &rabenseifner } } },
    { 2048, { { 2 K, &reduce_broadcast }, { 16 K, &recursive_doubling }, { ALL, &rabenseifner } } },
    { 4096, { { 2 K, &reduce_broadcast }, { 4 K, &ring }, { 16 K, &recursive_doubling }, { ALL, &rabenseifner } } },
    { ALL, { { 2 K, &reduce_broadcast }, { 16 K, &ring }, { 32 K, &recursive_doubling }, { ALL, &rabenseifner } } },
};

static const struct band allreduce_in_order[] = {
    { 4, { { 128 K, &recursive_doubling }, { ALL, &linear } } },
    { 8, { { ALL, &recursive_doubling } } },
    { 16, { { 1 M, &recursive_doubling }, { ALL, &reduce_broadcast } } },
    { 128, { { ALL, &recursive_doubling } } },
    { 256, { { 128 K, &reduce_broadcast }, { 512 K, &recursive_doubling }, { ALL, &reduce_broadcast } } },
    { 512, { { 4 K, &reduce_broadcast }, { 512 K, &recursive_doubling }, { ALL, &reduce_broadcast } } },
    { ALL, { { 2 K, &reduce_broadcast }, { ALL, &recursive_doubling } } },
};

static const struct band reduce[] = {
    { 4, { { 8, &rabenseifner }, { 16, &binary }, { 32, &chain }, { 256 K, &linear }, { ALL, &chain } } },
    { 8, { { 4 K, &binary }, { 64 K, &chain }, { 256 K, &binomial }, { 512 K, &linear }, { 1 M, &binomial }, { ALL, &linear } } },
    { 16, { { 8 K, &binary }, { ALL, &binomial } } },
    { 32, { { 4 K, &binary }, { ALL, &binomial } } },
    { 256, { { ALL, &binomial } } },
    { 512, { { 8 K, &binomial }, { 16 K, &binary }, { ALL, &binomial } } },
    { 2048, { { ALL, &binomial } } },
    { 4096, { { 512, &binomial }, { 1 K, &binary }, { 8 K, &binomial }, { 16 K, &binary }, { ALL, &binomial } } },
    { ALL, { { 16, &binomial }, { 32, &binary }, { 1 K, &binomial }, { 2 K, &binary }, { 8 K, &binomial }, { 16 K, &binary },
             { ALL, &binomial } } },
};

static const struct band reduce_in_order[] = {
    { 4, { { 8, &binary }, { ALL, &linear } } },
    { 8, { { ALL, &linear } } },
    { 16, { { 1 K, &binary }, { 8 K, &linear }, { 16 K, &binary }, { 256 K, &linear }, { ALL, &binary } } },
    { 128, { { ALL, &binary } } },
    { 256, { { 512, &binary }, { 1 K, &linear }, { ALL, &binary } } },
    { ALL, { { ALL, &binary } } },
};

static const struct band scatter_parts[] = {
    { 4, { { 64 K, &ring }, { 128 K, &butterfly }, { ALL, &ring } } },
    { 8, { { 8, &reduce_scatter }, { 256 K, &halving }, { ALL, &ring } } },
    { 32, { { 256 K, &halving }, { ALL, &ring } } },
    { 64, { { 64, &reduce_scatter }, { 2 K, &halving }, { 512 K, &butterfly }, { ALL, &ring } } },
    { 512, { { 256, &reduce_scatter }, { 1 K, &halving }, { ALL, &butterfly } } },
    { 4096, { { 512, &reduce_scatter }, { 4 K, &halving }, { ALL, &butterfly } } },
    { ALL, { { 1 K, &reduce_scatter }, { 8 K, &halving }, { ALL, &butterfly } } },
};

/* By the bytes of one part. */
static const struct band scatter_blocks[] = {
    { 4, { { 4, &parts_doubling }, { 128 K, &halving }, { ALL, &reduce_scatter } } },
    { 8, { { 8, &halving }, { 32, &parts_doubling }, { 1 M, &halving }, { ALL, &reduce_scatter } } },
    { 16, { { 4, &reduce_scatter }, { 512 K, &halving }, { 4 M, &reduce_scatter }, { ALL, &butterfly } } },
    { 32, { { 32, &reduce_scatter }, { 512 K, &halving }, { 2 M, &reduce_scatter }, { 4 M, &halving }, { ALL, &butterfly } } },
    { ALL, { { 4, &halving }, { 16, &reduce_scatter }, { 64 K, &butterfly }, { 256 K, &reduce_scatter }, { ALL, &butterfly } } },
};

static const struct band by_reduce[] = { { ALL, { { ALL, &reduce_scatter } } } };
static const struct band by_chain[] = { { ALL, { { ALL, &chain } } } };

static const struct band *const openmpi[COLLOPT_COLLECTIVES][2] = {     /* operations that do not commute; that do */
    [COLLOPT_REDUCE] = { reduce_in_order, reduce },
    [COLLOPT_ALLREDUCE] = { allreduce_in_order, allreduce },
    [COLLOPT_REDUCE_SCATTER] = { by_reduce, scatter_parts },
    [COLLOPT_REDUCE_SCATTER_BLOCK] = { by_reduce, scatter_blocks },
    [COLLOPT_SCAN] = { by_chain, by_chain },
    [COLLOPT_EXSCAN] = { by_chain, by_chain },
};

static size_t bytes_of(const struct collopt_problem *p)
{
    return p->count * p->size;
}

/* Fewer elements than parts: halving is left to linear algorithms, a ring to recursive doubling. */
static const struct way *with_few_elements(const struct collopt_problem *p, const struct way *way)
{
    bool all = p->collective == COLLOPT_ALLREDUCE;

    if (way == &rabenseifner && (all || p->collective == COLLOPT_REDUCE) && p->count < (size_t)1 << log2_floor(p->ranks))
        return &linear;
    return way == &ring && all && p->count < (size_t)p->ranks ? &recursive_doubling : way;
}

static const struct way *way_of_openmpi(const struct collopt_problem *p)
{
    const struct band *b = openmpi[p->collective][p->commutative];
    size_t bytes = bytes_of(p) / (size_t)(p->collective == COLLOPT_REDUCE_SCATTER_BLOCK ? p->ranks : 1);
    int i = 0;

    while (b->ranks != ALL && p->ranks >= b->ranks)
        b++;
    while (b->step[i].bytes != ALL && bytes >= b->step[i].bytes)
        i++;
    return with_few_elements(p, b->step[i].way);
}

/* ---- MPICH --------------------------------------------------------------------------------------------------------------- */

/* Operations that commute are taken for predefined ones: of others nobody is told. */
static const struct way *way_of_mpich(const struct collopt_problem *p)
{
    bool nodes = p->topology->nodes > 1 && p->topology->largest > 1, power = (p->ranks & (p->ranks - 1)) == 0,
        parts = p->commutative && p->count >= (size_t)1 << log2_floor(p->ranks);

    switch (p->collective) {
    case COLLOPT_ALLREDUCE:
        return nodes && p->commutative ? &by_nodes : bytes_of(p) > 8 && parts ? &rabenseifner : &recursive_doubling;
    case COLLOPT_REDUCE:
        return bytes_of(p) > 2 K && parts ? &rabenseifner : &binomial;
    case COLLOPT_SCAN:
        return nodes && !p->topology->scattered ? &by_nodes : &recursive_doubling;
    case COLLOPT_EXSCAN:
        return &recursive_doubling;
    default:
        if (p->commutative)
            return bytes_of(p) < 512 K ? &halving : &pairwise;
        return power && !p->counts ? &noncommutative : &parts_doubling;
    }
}

/* It does not give up the processor while it waits, so whoever is waited for gets it when the kernel thinks it is time: 8 ranks
 * on 2 processors, Allreduce of 8 bytes, three rounds: 27 ms and less. */
static const double slice = 4e-3;       /* seconds */

/* ---- what that takes ------------------------------------------------------------------------------------------------------- */

static bool takes(const struct collopt_problem *p, enum collopt_mpi mpi, double *seconds, const char **name);

static bool like_ours(const struct collopt_problem *p, const struct way *way, double *seconds)
{
    char message[256];

    for (int i = 0; i < 2 && way->ours[i]; i++) {
        struct collopt_problem with = *p;
        struct collopt_choice choice;

        if (!collopt_parse_choice(way->ours[i], p->collective, &choice, message, sizeof message)
            || !collopt_choice_usable(&choice, p, NULL) || (choice.algorithm->grouped && p->topology->nodes == 1))
            continue;
        collopt_set_parameters(&with, &choice);
        *seconds = collopt_model(choice.algorithm, &with);
        return true;
    }
    return false;
}

/* Without the Reduce that may come before. */
static bool of_way(const struct collopt_problem *p, const struct way *way, double *seconds)
{
    struct collopt_algorithm theirs = { .name = way->name, .collective = p->collective, .traffic = way->traffic };

    if (!way->traffic)
        return like_ours(p, way, seconds);
    *seconds = collopt_model(&theirs, p);
    return true;
}

static bool takes(const struct collopt_problem *p, enum collopt_mpi mpi, double *seconds, const char **name)
{
    const struct way *way = mpi == COLLOPT_OPENMPI ? way_of_openmpi(p) : way_of_mpich(p);
    struct collopt_problem first = *p;
    const char *reduces;
    double before = 0;

    first.collective = COLLOPT_REDUCE;
    first.root = 0;
    first.counts = NULL;
    *name = way->name;
    if ((way->reduce && !takes(&first, mpi, &before, &reduces)) || !of_way(p, way, seconds))
        return false;
    *seconds += before;
    return true;
}

bool collopt_host_takes(const struct collopt_problem *p, struct collopt_host_time_of *host)
{
    const struct collopt_machine *m = collopt_machine_of(p);
    struct collopt_machine machine = *m;
    struct collopt_problem on = *p;

    *host = (struct collopt_host_time_of){ .seconds = collopt_host_measured(m->host_times, m->mpi, p) };
    host->measured = host->seconds > 0;
    if (host->measured)
        return true;
    if (m->mpi == COLLOPT_OTHER_MPI || p->ranks < 2)
        return false;
    if (m->mpi == COLLOPT_MPICH && machine.turn < slice)
        machine.turn = slice;
    on.machine = &machine;
    return takes(&on, m->mpi, &host->seconds, &host->as);
}
