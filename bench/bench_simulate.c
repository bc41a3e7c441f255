/* Collectives on simulated ranks (SimGrid's SMPI), in us of simulated time; run by bench/simulate, one algorithm at a time.
 *
 *     bench_simulate [--fold BYTES] [--by chain|doubling] COLLECTIVE:BYTES ...
 *     bench_simulate list
 *     bench_simulate links
 *
 * BYTES is the length of one rank's vector of doubles, which are added. For each word a line
 *
 *     cell COLLECTIVE BYTES US RESULT ALGORITHM
 *
 * US: from a moment at which all ranks begin until the last one has its result; the second call is timed, as the first one makes
 * communicators and schedules. RESULT: correct or WRONG; unchecked where the vectors of all ranks, more than BYTES of --fold
 * (64 MiB), share one piece of memory. ALGORITHM: what collopt ran; host.
 *
 * --by: Scan and Exscan from here, for SMPI's own are naive: along a chain, as Open MPI's, or by recursive doubling, as MPICH's.
 *
 * list: the algorithms, and which of them have a parameter "dims", as lines "algorithm COLLECTIVE NAME [dims]".
 * links: "links NEAREST FARTHEST SECONDS_PER_BYTE", us from rank 0 to the others for 8 bytes, and the rate to the farthest. */
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collopt.h"
#include "schedule.h"

enum { TAG = 77, PATTERN = 61 };

struct cell {
    enum collopt_collective collective;
    size_t count;               /* elements in one rank's vector */
    int *counts;                /* Reduce_scatter: of each rank */
};

static enum { BY_LIBRARY, BY_CHAIN, BY_DOUBLING } by;
static size_t fold = (size_t)64 << 20;
static int rank, ranks;

/* ---- starting together ---------------------------------------------------------------------------------------- */

/* The largest of all ranks' values, when all ranks have come.  SMPI's own barrier takes minutes for a thousand ranks. */
static double largest(double mine)
{
    for (int step = 1; step < ranks; step *= 2) {
        double theirs;

        MPI_Sendrecv(&mine, 1, MPI_DOUBLE, (rank + step) % ranks, TAG, &theirs, 1, MPI_DOUBLE, (rank - step + ranks) % ranks, TAG,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (theirs > mine)
            mine = theirs;
    }
    return mine;
}

/* Returns on all ranks at the same moment of simulated time, which is what clocks cannot do elsewhere. */
static double start_together(void)
{
    double moment = largest(MPI_Wtime()) + 1e-3, now = MPI_Wtime();

    while (now < moment) {
        struct timespec left = { 0, (long)((moment - now) * 1e9) + 1 };

        nanosleep(&left, NULL);
        now = MPI_Wtime();
    }
    return moment;
}

/* ---- the peers' scans -------------------------------------------------------------------------------------------- */

static void scan_chain(const double *in, double *out, int n, bool exclusive)
{
    double *sum = exclusive ? malloc((size_t)n * sizeof *sum) : out;

    if (rank > 0) {
        MPI_Recv(out, n, MPI_DOUBLE, rank - 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (exclusive)
            memcpy(sum, out, (size_t)n * sizeof *sum);
        MPI_Reduce_local(in, sum, n, MPI_DOUBLE, MPI_SUM);
    } else {
        memcpy(sum, in, (size_t)n * sizeof *sum);
    }
    if (rank + 1 < ranks)
        MPI_Send(sum, n, MPI_DOUBLE, rank + 1, TAG, MPI_COMM_WORLD);
    if (exclusive)
        free(sum);
}

static void scan_doubling(const double *in, double *out, int n, bool exclusive)
{
    size_t bytes = (size_t)n * sizeof(double);
    double *sum = malloc(bytes), *theirs = malloc(bytes);
    bool empty = exclusive;

    memcpy(sum, in, bytes);
    if (!exclusive)
        memcpy(out, in, bytes);
    for (int mask = 1; mask < ranks; mask *= 2) {
        int partner = rank ^ mask;

        if (partner >= ranks)
            continue;
        MPI_Sendrecv(sum, n, MPI_DOUBLE, partner, TAG, theirs, n, MPI_DOUBLE, partner, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Reduce_local(theirs, sum, n, MPI_DOUBLE, MPI_SUM);
        if (partner > rank)
            continue;
        if (empty)
            memcpy(out, theirs, bytes);
        else
            MPI_Reduce_local(theirs, out, n, MPI_DOUBLE, MPI_SUM);
        empty = false;
    }
    free(sum);
    free(theirs);
}

static void scan(const struct cell *c, const double *in, double *out)
{
    bool exclusive = c->collective == COLLOPT_EXSCAN;

    if (by == BY_CHAIN)
        scan_chain(in, out, (int)c->count, exclusive);
    else if (by == BY_DOUBLING)
        scan_doubling(in, out, (int)c->count, exclusive);
    else if (exclusive)
        MPI_Exscan(in, out, (int)c->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Scan(in, out, (int)c->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* ---- a call ------------------------------------------------------------------------------------------------------ */

static void call(const struct cell *c, const double *in, double *out)
{
    int n = (int)c->count;

    switch (c->collective) {
    case COLLOPT_ALLREDUCE:
        MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        break;
    case COLLOPT_REDUCE:
        MPI_Reduce(in, out, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        break;
    case COLLOPT_REDUCE_SCATTER:
        MPI_Reduce_scatter(in, out, c->counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        break;
    case COLLOPT_REDUCE_SCATTER_BLOCK:
        MPI_Reduce_scatter_block(in, out, n / ranks, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        break;
    default:
        scan(c, in, out);
    }
}

/* Element I of rank R is R + I % PATTERN; all sums are whole numbers that a double holds. */
static void fill(const struct cell *c, double *in)
{
    for (size_t i = 0; i < c->count; i++)
        in[i] = (double)rank + (double)(i % PATTERN);
}

/* What this rank has as its result: elements FIRST .. FIRST + N - 1 of the sum over the ranks below OF. */
static size_t expected(const struct cell *c, size_t *first, int *of)
{
    *first = 0;
    *of = ranks;
    switch (c->collective) {
    case COLLOPT_REDUCE:
        return rank == 0 ? c->count : 0;
    case COLLOPT_REDUCE_SCATTER:
    case COLLOPT_REDUCE_SCATTER_BLOCK:
        for (int r = 0; r < rank; r++)
            *first += (size_t)c->counts[r];
        return (size_t)c->counts[rank];
    case COLLOPT_SCAN:
        *of = rank + 1;
        return c->count;
    case COLLOPT_EXSCAN:
        *of = rank;
        return rank == 0 ? 0 : c->count;
    default:
        return c->count;
    }
}

static bool right(const struct cell *c, const double *out)
{
    size_t first;
    int of;
    size_t n = expected(c, &first, &of);

    for (size_t i = 0; i < n; i++)
        if (out[i] != 0.5 * of * (of - 1) + (double)of * (double)((first + i) % PATTERN))
            return false;
    return true;
}

/* What collopt has run of a collective more often than CALLS says, which is brought up to date. */
static const char *ran(enum collopt_collective collective, uint64_t *calls)
{
    const char *of = collopt_collective_names[collective], *name, *found = "host";

    for (int i = 0; collopt_version && (name = collopt_algorithm_name(of, i)); i++) {
        uint64_t now = collopt_calls(of, name);

        if (now > calls[i])
            found = name;
        calls[i] = now;
    }
    return found;
}

static void time_cell(const struct cell *c, size_t bytes)
{
    bool shared = bytes * (size_t)ranks > fold;
    /* Folded vectors hold what somebody left there. */
    double *in = shared ? SMPI_SHARED_MALLOC(bytes) : malloc(bytes), *out = shared ? SMPI_SHARED_MALLOC(bytes) : malloc(bytes);
    uint64_t calls[64] = { 0 };
    const char *algorithm, *result = "unchecked";
    double start, time;

    if (!shared) {
        fill(c, in);
        memset(out, 0xff, bytes);
    }
    call(c, in, out);
    ran(c->collective, calls);
    if (!shared)
        memset(out, 0xff, bytes);
    start = start_together();
    call(c, in, out);
    time = largest(MPI_Wtime() - start);
    algorithm = by == BY_LIBRARY ? ran(c->collective, calls) : "host";
    if (!shared)
        result = largest(!right(c, out)) > 0 ? "WRONG" : "correct";
    if (rank == 0) {
        printf("cell %s %zu %.3f %s %s\n", collopt_collective_names[c->collective], bytes, time * 1e6, result, algorithm);
        fflush(stdout);
    }
    if (shared) {
        SMPI_SHARED_FREE(in);
        SMPI_SHARED_FREE(out);
    } else {
        free(in);
        free(out);
    }
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static void refuse(const char *word, const char *right_)
{
    if (rank == 0)
        fprintf(stderr, "bench_simulate: %s: not %s\n", word, right_);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static void share_out(struct cell *c)
{
    for (int r = 0; r < ranks; r++)
        c->counts[r] = (int)(c->count / (size_t)ranks + ((size_t)r < c->count % (size_t)ranks));
}

static void run(const char *word)
{
    const char *colon = strchr(word, ':');
    size_t bytes = colon ? strtoull(colon + 1, NULL, 10) : 0;
    struct cell c = { .collective = COLLOPT_COLLECTIVES, .count = bytes / sizeof(double) };

    for (int i = 0; colon && i < COLLOPT_COLLECTIVES; i++)
        if (strlen(collopt_collective_names[i]) == (size_t)(colon - word)
            && strncmp(word, collopt_collective_names[i], (size_t)(colon - word)) == 0)
            c.collective = (enum collopt_collective)i;
    if (c.collective == COLLOPT_COLLECTIVES || bytes == 0 || bytes % sizeof(double) || c.count > INT32_MAX)
        refuse(word, "COLLECTIVE:BYTES, whole doubles");
    if (c.collective == COLLOPT_REDUCE_SCATTER_BLOCK && c.count % (size_t)ranks)
        refuse(word, "as many doubles for each rank");
    c.counts = malloc((size_t)ranks * sizeof *c.counts);
    share_out(&c);
    time_cell(&c, bytes);
    free(c.counts);
}

static void list(void)
{
    for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++) {
        bool dims = false;

        for (int i = 0; i < COLLOPT_PARAMETERS && (*a)->parameter[i].name; i++)
            dims |= strcmp((*a)->parameter[i].name, "dims") == 0;
        printf("algorithm %s %s%s\n", collopt_collective_names[(*a)->collective], (*a)->name, dims ? " dims" : "");
    }
    fflush(stdout);
}

/* One way to PEER and back, half of it, as rank 0 sees it; PEER waits already.  The others take no part: a thousand
 * ranks that began together for each of a thousand peers would take minutes. */
static double one_way(int peer, int bytes)
{
    static char text[1 << 20];
    double start = MPI_Wtime();

    if (rank == 0) {
        MPI_Send(text, bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
        MPI_Recv(text, bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == peer) {
        MPI_Recv(text, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(text, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
    }
    return (MPI_Wtime() - start) / 2;
}

static void links(void)
{
    double near = 1, far = 0, whole, half;
    int farthest = 1;

    for (int peer = 1; peer < ranks; peer++) {
        double time = one_way(peer, 8);

        near = time < near ? time : near;
        farthest = time > far ? peer : farthest;
        far = time > far ? time : far;
    }
    MPI_Bcast(&farthest, 1, MPI_INT, 0, MPI_COMM_WORLD);
    start_together();           /* the farthest waits now, and not for the broadcast */
    whole = one_way(farthest, 1 << 20);
    start_together();
    half = one_way(farthest, 1 << 19);
    if (rank == 0)
        printf("links %.3f %.3f %.6g\n", near * 1e6, far * 1e6, (whole - half) / (1 << 19));
    fflush(stdout);
}

/* Takes option WORD and its value; false: WORD is none. */
static bool option(const char *word, const char *value)
{
    if (strcmp(word, "--fold") == 0 && value)
        fold = strtoull(value, NULL, 10);
    else if (strcmp(word, "--by") == 0 && value && strcmp(value, "chain") == 0)
        by = BY_CHAIN;
    else if (strcmp(word, "--by") == 0 && value && strcmp(value, "doubling") == 0)
        by = BY_DOUBLING;
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    int i = 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    while (i < argc && option(argv[i], argv[i + 1]))
        i += 2;
    for (; i < argc; i++)
        if (strcmp(argv[i], "list") == 0 && rank == 0)
            list();
        else if (strcmp(argv[i], "links") == 0)
            links();
        else if (strcmp(argv[i], "list") != 0)
            run(argv[i]);
    MPI_Finalize();
    return 0;
}
