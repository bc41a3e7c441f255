/* Ping-pongs, streams, and all ranks at once; after L. W. Hockney, Parallel Computing 17, 1991 and
 * D. E. Culler et al., LogP, PPoPP 1993.
 *
 *     half a round trip of an empty message          latency + 2 overhead
 *     many short messages in one direction           overhead each
 *     half round trips of two long messages          1 / bandwidth, by what they differ in
 *     all ranks of a node, in both directions        shared
 *     a send that nobody receives yet is done?       eager, by bisection
 *     half round trips below and above that          handshake, by what they differ in beside
 *                                                    bandwidth
 *     all ranks, with nodes ever farther away        group, where they begin to take longer; taper,
 *                                                    how much
 *
 * Each figure is the median of up to 31 short runs, between which all ranks meet. */
#include "config.h"

#include "bench/machine.h"
#include "lib/bench_mpi.h"
#include "lib/clock.h"
#include "bench/runner.h"
#include "lib/statistics.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RUNS = 31,
    LEAST_RUNS = 5,
    STREAM = 128,
    TAG = 78,
    LONGEST = 1 << 20,
    LONG = 1 << 18,
    COMBINED = 1 << 18
};
static const double run_seconds = 3e-4;
enum { FIGURES = 16 };          /* about, of both ways: among them the time is shared */

struct way {
    const char *name;           /* "node" */
    int rank, ranks;
    int first, second;          /* the ranks of the pair */
    int partner;                /* when all exchange messages at once; -1: this one does not */
    int together;               /* messages under way at once then */
    double seconds;             /* for one figure */
    char *in, *out;
};

struct spread {
    double median, low, high;
};

/* ---- single runs: seconds on the ranks that know, 0 on the others ---------------------------- */

/* One way, of N round trips. */
static double round_trip(const struct way *w, size_t bytes, long n)
{
    bool first = w->rank == w->first;
    int peer = first ? w->second : w->first;
    double start = bench_now();

    if (!first && w->rank != w->second)
        return 0;
    for (long i = 0; i < n; i++) {
        if (first)
            MPI_Send(w->out, (int)bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
        MPI_Recv(w->in, (int)bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!first)
            MPI_Send(w->out, (int)bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
    }
    return first ? (bench_now() - start) / (2 * (double)n) : 0;
}

/* A message of many in one direction; the receives are there before. */
static double stream(const struct way *w, size_t bytes, long n)
{
    MPI_Request request[STREAM];
    MPI_Status status[STREAM];
    double start, time = 0;

    for (long k = 0; k < n; k++) {
        if (w->rank == w->first) {
            MPI_Recv(w->in, 0, MPI_BYTE, w->second, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            start = bench_now();
            for (int i = 0; i < STREAM; i++)
                MPI_Isend(w->out, (int)bytes, MPI_BYTE, w->second, TAG, MPI_COMM_WORLD,
                          &request[i]);
            MPI_Waitall(STREAM, request, status);
            MPI_Recv(w->in, 0, MPI_BYTE, w->second, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            time += bench_now() - start;
        } else if (w->rank == w->second) {
            for (int i = 0; i < STREAM; i++)
                MPI_Irecv(w->in, (int)bytes, MPI_BYTE, w->first, TAG, MPI_COMM_WORLD, &request[i]);
            MPI_Send(w->out, 0, MPI_BYTE, w->first, TAG, MPI_COMM_WORLD);
            MPI_Waitall(STREAM, request, status);
            MPI_Send(w->out, 0, MPI_BYTE, w->first, TAG, MPI_COMM_WORLD);
        }
    }
    return time / (double)n / STREAM;
}

/* An exchange among several at once. */
static double exchange(const struct way *w, size_t bytes, long n)
{
    double start = bench_now();

    if (w->partner < 0)
        return 0;
    for (long i = 0; i < n; i++)
        MPI_Sendrecv(w->out, (int)bytes, MPI_BYTE, w->partner, TAG, w->in, (int)bytes, MPI_BYTE,
                     w->partner, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return (bench_now() - start) / (double)n;
}

static double combine(const struct way *w, size_t bytes, long n)
{
    double start = bench_now();

    for (long i = 0; i < n; i++)
        bench_mpi.reduce_local(w->out, w->in, (int)(bytes / sizeof(double)), MPI_DOUBLE, MPI_SUM);
    return w->rank == 0 ? (bench_now() - start) / (double)n : 0;
}

/* ---- many runs ------------------------------------------------------------------------------- */

typedef double once(const struct way *w, size_t bytes, long n);

static double agreed(once *f, const struct way *w, size_t bytes, long n)
{
    double time;

    bench_barrier();
    time = f(w, bytes, n);
    bench_max(&time, 1);
    return time;
}

/* Rank 0's word counts. */
static bool is_over(const struct way *w, double end)
{
    double over = w->rank == 0 && bench_now() > end;

    bench_max(&over, 1);
    return over > 0;
}

static struct spread measured(once *f, const struct way *w, size_t bytes)
{
    double time[RUNS], guess, end = bench_now() + w->seconds;
    int runs = 0;
    long n;

    agreed(f, w, bytes, 2);
    guess = agreed(f, w, bytes, 2);
    n = (long)(run_seconds / (guess + 1e-9)) + 1;
    n = n > 1000 ? 1000 : n;
    while (runs < LEAST_RUNS || (runs < RUNS && !is_over(w, end)))
        time[runs++] = agreed(f, w, bytes, n);
    return (struct spread){ bench_quantile(time, runs, 0.5), bench_quantile(time, runs, 0.25),
                            bench_quantile(time, runs, 0.75) };
}

/* ---- eager ----------------------------------------------------------------------------------- */

/* Is a send done before there is a receive for it?  It gets two milliseconds. */
static bool is_eager(const struct way *w, size_t bytes)
{
    double answer = 0, start;
    MPI_Request request;
    int done = 0;

    bench_barrier();
    if (w->rank == w->first) {
        MPI_Isend(w->out, (int)bytes, MPI_BYTE, w->second, TAG, MPI_COMM_WORLD, &request);
        for (start = bench_now(); !done && bench_now() - start < 2e-3;)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        MPI_Send(w->out, 0, MPI_BYTE, w->second, TAG + 1, MPI_COMM_WORLD);
        if (!done)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        answer = done;
    } else if (w->rank == w->second) {
        MPI_Recv(w->in, 0, MPI_BYTE, w->first, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(w->in, (int)bytes, MPI_BYTE, w->first, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    bench_max(&answer, 1);
    return answer > 0;
}

/* The longest message that is, to about a hundredth; 0: none. */
static size_t eager_bytes(const struct way *w)
{
    size_t good = 0, bad = 64;

    while (bad <= LONGEST && is_eager(w, bad)) {
        good = bad;
        bad *= 2;
    }
    while (bad <= LONGEST && bad - good > good / 128 + 1) {
        size_t between = good + (bad - good) / 2;

        if (is_eager(w, between))
            good = between;
        else
            bad = between;
    }
    return good;
}

/* ---- one way --------------------------------------------------------------------------------- */

static void tell_way(const struct way *w, const char *what, struct spread s,
                     bench_machine_tell *tell)
{
    char key[40];

    snprintf(key, sizeof key, "%s.%s", w->name, what);
    tell(key, s.median, s.low, s.high);
}

static struct spread rate(double bytes, struct spread seconds)
{
    return (struct spread){ bytes / seconds.median, bytes / seconds.high, bytes / seconds.low };
}

static struct spread less(struct spread s, double by)
{
    const double least = 1e-9;

    return (struct spread){ s.median - by > least ? s.median - by : least,
                            s.low - by > least ? s.low - by : least,
                            s.high - by > least ? s.high - by : least };
}

static struct spread at_most(struct spread s, double most)
{
    return (struct spread){ s.median < most ? s.median : most, s.low < most ? s.low : most,
                            s.high < most ? s.high : most };
}

static void measure_handshake(const struct way *w, double byte, bench_machine_tell *tell)
{
    size_t eager = eager_bytes(w);
    struct spread shorter, longer;

    tell_way(w, "eager", (struct spread){ (double)eager, (double)eager, (double)eager }, tell);
    if (2 * eager > LONGEST)
        return;
    shorter = measured(round_trip, w, eager);
    longer = measured(round_trip, w, 2 * eager);
    tell_way(w, "handshake", less(longer, shorter.median + byte * (double)eager), tell);
}

static void measure_way(const struct way *w, bench_machine_tell *tell)
{
    struct spread empty = measured(round_trip, w, 0), overhead = measured(stream, w, 8),
                  longer = measured(round_trip, w, LONGEST),
                  shorter = measured(round_trip, w, LONG), all = measured(exchange, w, LONGEST);

    overhead = at_most(overhead, empty.median / 2);     /* the way there has two of them */
    longer = less(longer, shorter.median);
    tell_way(w, "latency", less(empty, 2 * overhead.median), tell);
    tell_way(w, "overhead", overhead, tell);
    tell_way(w, "bandwidth", rate(LONGEST - LONG, longer), tell);
    tell_way(w, "shared", rate((double)LONGEST * w->together, all), tell);
    measure_handshake(w, longer.median / (LONGEST - LONG), tell);
}

/* ---- who takes part -------------------------------------------------------------------------- */

/* Rank number I of the node whose first rank is LEADER; -1: it has fewer. */
static int of_node(const int *leader, int ranks, int node, int i)
{
    for (int r = node; r < ranks; r++)
        if (leader[r] == node && i-- == 0)
            return r;
    return -1;
}

/* The first node of two ranks or more; its ranks in pairs. */
static bool inside(struct way *w, const int *leader)
{
    int node = 0;

    while (node < w->ranks && (leader[node] != node || of_node(leader, w->ranks, node, 1) < 0))
        node++;
    if (node == w->ranks)
        return false;
    w->name = "node";
    w->first = node;
    w->second = of_node(leader, w->ranks, node, 1);
    w->partner = -1;
    w->together = 0;
    for (int i = 0; of_node(leader, w->ranks, node, i + 1) >= 0; i += 2) {
        int a = of_node(leader, w->ranks, node, i), b = of_node(leader, w->ranks, node, i + 1);

        w->partner = w->rank == a ? b : w->rank == b ? a : w->partner;
        w->together += 2;
    }
    return true;
}

/* Does collopt carry messages inside nodes by shared memory? What the host's messages take there
 * says nothing of those, and the numbers that ship with collopt apply. */
static bool by_shared_memory(void)
{
    const char *shm = getenv("COLLOPT_SHM");

    return bench_loaded() && (!shm || strcmp(shm, "off") != 0);
}

/* The first two nodes, rank by rank. */
static bool between(struct way *w, const int *leader)
{
    int other = 0;

    while (other < w->ranks && leader[other] == leader[0])
        other++;
    if (other == w->ranks)
        return false;
    w->name = "net";
    w->first = 0;
    w->second = other;
    w->partner = -1;
    w->together = 0;
    for (int i = 0;
         of_node(leader, w->ranks, 0, i) >= 0 && of_node(leader, w->ranks, other, i) >= 0; i++) {
        int a = of_node(leader, w->ranks, 0, i), b = of_node(leader, w->ranks, other, i);

        w->partner = w->rank == a ? b : w->rank == b ? a : w->partner;
        w->together++;
    }
    return true;
}

/* ---- far nodes ------------------------------------------------------------------------------- */

/* What takes less than this times as long takes as long.  Three quarters of the runs must take
 * longer: on a busy machine some do for other reasons. */
static const double as_long = 1.25;
/* as far as nodes are as near as any unless COLLOPT_MACHINE says so */
enum { BEYOND = 64 };

/* Nodes in the order of their first ranks; NODE[i] = the first rank of node i.  Returns how
 * many. */
static int list_nodes(const int *leader, int ranks, int *node)
{
    int n = 0;

    for (int r = 0; r < ranks; r++)
        if (leader[r] == r)
            node[n++] = r;
    return n;
}

/* The rank that has this one's number on the node DISTANCE away, up or down; -1: there is none. */
static int partner_at(const struct way *w, const int *leader, const int *node, int nodes,
                      int distance)
{
    int mine = 0, number = 0;

    while (node[mine] != leader[w->rank])
        mine++;
    for (int r = 0; r < w->rank; r++)
        number += leader[r] == leader[w->rank];
    return (mine ^ distance) < nodes ? of_node(leader, w->ranks, node[mine ^ distance], number)
                                     : -1;
}

static double at_least_one(double x)
{
    return x > 1 ? x : 1;
}

static struct spread ratio(struct spread far, double near)
{
    return (struct spread){ at_least_one(far.median / near), at_least_one(far.low / near),
                            at_least_one(far.high / near) };
}

/* Pairs of neighbours, of those two away, four ...: what all exchange at once takes longer where
 * fewer links lead. */
static void measure_taper(struct way *w, const int *leader, const int *node, int nodes,
                          bench_machine_tell *tell)
{
    double near = 0, group = 0;
    struct spread taper = { 1, 1, 1 };
    int reached = 0;

    for (int d = 1; 2 * d <= nodes; d *= 2) {
        struct spread time;

        w->partner = partner_at(w, leader, node, nodes, d);
        time = measured(exchange, w, LONGEST);
        near = d == 1 ? time.median : near;
        reached = d;
        if (time.low < as_long * near || time.median / near < taper.median)
            continue;
        group = group > 0 ? group : d;
        taper = ratio(time, near);
    }
    if (group > 0)
        tell("net.group", group, group, group);
    if (group > 0 || reached >= BEYOND)
        tell("net.taper", taper.median, taper.low, taper.high);
}

static void far_nodes(struct way *w, const int *leader, bench_machine_tell *tell)
{
    int *node = bench_new((size_t)w->ranks * sizeof *node),
        nodes = list_nodes(leader, w->ranks, node);

    if (nodes > 2)
        measure_taper(w, leader, node, nodes, tell);
    free(node);
}

void bench_machine(const int *leader, double seconds, bench_machine_tell *tell)
{
    struct way w = { .seconds = seconds / FIGURES };
    struct spread s;

    MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &w.ranks);
    w.in = bench_new(LONGEST);
    w.out = bench_new(LONGEST);
    s = rate(COMBINED, measured(combine, &w, COMBINED));
    tell("combine.bandwidth", s.median, s.low, s.high);
    if (!by_shared_memory() && inside(&w, leader))
        measure_way(&w, tell);
    if (between(&w, leader))
        measure_way(&w, tell);
    far_nodes(&w, leader, tell);
    free(w.in);
    free(w.out);
}
