/* Collectives on simulated ranks (SimGrid's SMPI), in us of simulated time; run by bench/simulate,
 * one algorithm at a time.
 *
 *     bench_simulate [--fold BYTES] [--by chain|doubling] COLLECTIVE:BYTES:OPERATION ...
 *     bench_simulate list
 *     bench_simulate links
 *
 * BYTES is the length of one rank's vector, of elements of 8 bytes. OPERATION: sum, of doubles;
 * user, the same made by MPI_Op_create; maxloc, of MPI_2INT; noncommutative, the composition of the
 * maps x -> a x + b, of two 32-bit numbers, made by MPI_Op_create. For each word a line
 *
 *     cell COLLECTIVE BYTES OPERATION US RESULT ALGORITHM
 *
 * US: from a moment at which all ranks begin until the last one has its result; the second call is
 * timed, as the first one makes communicators and schedules. RESULT: correct or WRONG; unchecked
 * where the vectors of all ranks, more than BYTES of --fold (64 MiB; 2 GiB of operations other than
 * sum, which some algorithms get wrong), share one piece of memory. ALGORITHM: what collopt ran;
 * host.
 *
 * --by: Scan and Exscan from here, for SMPI's own are naive: along a chain, as Open MPI's, or by
 * recursive doubling, as MPICH's.
 *
 * list: the algorithms, and which of them have a parameter "dims", as lines "algorithm COLLECTIVE
 * NAME [dims]". links: "links NEAREST FARTHEST SECONDS_PER_BYTE", us from rank 0 to the others for
 * 8 bytes, and the rate to the farthest. */
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/catalogue.h"
#include "collopt.h"
#include "lib/map.h"
#include "schedule/descriptor.h"
#include "schedule/problem.h"

enum { TAG = 77, PATTERN = 61 };

enum operation { SUM, USER, MAXLOC, NONCOMMUTATIVE, OPERATIONS };
static const char *const operation_names[] = { "sum", "user", "maxloc", "noncommutative" };

struct pair {
    int value, index;
};

union element {
    double number;
    struct pair pair;
    struct map map;
    char bytes[8];
};

struct cell {
    enum collopt_collective collective;
    enum operation operation;
    MPI_Datatype datatype;
    MPI_Op op;
    size_t count;               /* elements in one rank's vector */
    int *counts;                /* Reduce_scatter: of each rank */
};

static enum { BY_LIBRARY, BY_CHAIN, BY_DOUBLING } by;
static size_t fold = SIZE_MAX;  /* not given: as it says above */
static int rank, ranks;
static MPI_Datatype map_type;
static MPI_Op user_op, compose_op;

/* ---- starting together ----------------------------------------------------------------------- */

/* The largest of all ranks' values, when all ranks have come.  SMPI's own barrier takes minutes for
 * a thousand ranks. */
static double largest(double mine)
{
    for (int step = 1; step < ranks; step *= 2) {
        double theirs;

        MPI_Sendrecv(&mine, 1, MPI_DOUBLE, (rank + step) % ranks, TAG, &theirs, 1, MPI_DOUBLE,
                     (rank - step + ranks) % ranks, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (theirs > mine)
            mine = theirs;
    }
    return mine;
}

/* Returns on all ranks at the same moment of simulated time, which is what clocks cannot do
 * elsewhere. */
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

/* ---- elements -------------------------------------------------------------------------------- */

static union element combine(enum operation o, union element l, union element r)
{
    switch (o) {
    case MAXLOC:
        return l.pair.value > r.pair.value
                || (l.pair.value == r.pair.value && l.pair.index < r.pair.index)
            ? l
            : r;
    case NONCOMMUTATIVE:
        return (union element){ .map = compose(l.map, r.map) };
    default:
        return (union element){ .number = l.number + r.number };
    }
}

static void user_sum(void *in, void *inout, int *n, MPI_Datatype *datatype)
{
    const double *left = in;
    double *right = inout;

    for (int i = 0; i < *n; i++)
        right[i] += left[i];
    (void)datatype;
}

static void make_operations(void)
{
    MPI_Op_create(user_sum, 1, &user_op);
    make_compose(&compose_op, &map_type);
}

static void free_operations(void)
{
    MPI_Op_free(&user_op);
    MPI_Op_free(&compose_op);
    MPI_Type_free(&map_type);
}

static void set_operation(struct cell *c, enum operation o)
{
    c->operation = o;
    c->datatype = o == MAXLOC ? MPI_2INT : o == NONCOMMUTATIVE ? map_type : MPI_DOUBLE;
    c->op = o == MAXLOC       ? MPI_MAXLOC
        : o == NONCOMMUTATIVE ? compose_op
        : o == USER           ? user_op
                              : MPI_SUM;
}

/* Element I of rank R.  All sums are whole numbers that a double holds; a MAXLOC meets ties. */
static union element element_of(enum operation o, int r, size_t i)
{
    int k = (int)(i % PATTERN);

    switch (o) {
    case MAXLOC:
        return (union element){ .pair = { (r * 7 + k) % 23, r } };
    case NONCOMMUTATIVE:
        return (union element){ .map = { 2 * (uint32_t)r + 3, (uint32_t)(r + k) } };
    default:
        return (union element){ .number = (double)r + k };
    }
}

/* ---- the peers' scans ------------------------------------------------------------------------ */

/* RIGHT becomes LEFT op RIGHT. */
static void combine_all(const struct cell *c, const void *left, void *right)
{
    MPI_Reduce_local(left, right, (int)c->count, c->datatype, c->op);
}

static void scan_chain(const struct cell *c, const void *in, void *out)
{
    size_t bytes = c->count * sizeof(union element);
    int n = (int)c->count;
    bool exclusive = c->collective == COLLOPT_EXSCAN;
    void *other = malloc(bytes), *sum = exclusive ? other : out, *below = exclusive ? out : other;

    memcpy(sum, in, bytes);
    if (rank > 0) {
        MPI_Recv(below, n, c->datatype, rank - 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        combine_all(c, below, sum);
    }
    if (rank + 1 < ranks)
        MPI_Send(sum, n, c->datatype, rank + 1, TAG, MPI_COMM_WORLD);
    free(other);
}

static void scan_doubling(const struct cell *c, const void *in, void *out)
{
    size_t bytes = c->count * sizeof(union element);
    int n = (int)c->count;
    bool empty = c->collective == COLLOPT_EXSCAN;
    void *sum = malloc(bytes), *theirs = malloc(bytes);

    memcpy(sum, in, bytes);
    if (!empty)
        memcpy(out, in, bytes);
    for (int mask = 1; mask < ranks; mask *= 2) {
        int partner = rank ^ mask;
        void *both;

        if (partner >= ranks)
            continue;
        MPI_Sendrecv(sum, n, c->datatype, partner, TAG, theirs, n, c->datatype, partner, TAG,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (partner > rank) {
            combine_all(c, sum, theirs);
            both = theirs;
            theirs = sum;
            sum = both;
            continue;
        }
        combine_all(c, theirs, sum);
        if (empty)
            memcpy(out, theirs, bytes);
        else
            combine_all(c, theirs, out);
        empty = false;
    }
    free(sum);
    free(theirs);
}

static void scan(const struct cell *c, const void *in, void *out)
{
    if (by == BY_CHAIN)
        scan_chain(c, in, out);
    else if (by == BY_DOUBLING)
        scan_doubling(c, in, out);
    else if (c->collective == COLLOPT_EXSCAN)
        MPI_Exscan(in, out, (int)c->count, c->datatype, c->op, MPI_COMM_WORLD);
    else
        MPI_Scan(in, out, (int)c->count, c->datatype, c->op, MPI_COMM_WORLD);
}

/* ---- a call ---------------------------------------------------------------------------------- */

static void call(const struct cell *c, const void *in, void *out)
{
    int n = (int)c->count;

    switch (c->collective) {
    case COLLOPT_ALLREDUCE:
        MPI_Allreduce(in, out, n, c->datatype, c->op, MPI_COMM_WORLD);
        break;
    case COLLOPT_REDUCE:
        MPI_Reduce(in, out, n, c->datatype, c->op, 0, MPI_COMM_WORLD);
        break;
    case COLLOPT_REDUCE_SCATTER:
        MPI_Reduce_scatter(in, out, c->counts, c->datatype, c->op, MPI_COMM_WORLD);
        break;
    case COLLOPT_REDUCE_SCATTER_BLOCK:
        MPI_Reduce_scatter_block(in, out, n / ranks, c->datatype, c->op, MPI_COMM_WORLD);
        break;
    default:
        scan(c, in, out);
    }
}

static void fill(const struct cell *c, union element *in)
{
    for (size_t i = 0; i < c->count; i++)
        in[i] = element_of(c->operation, rank, i);
}

/* The result of this rank is elements FIRST to FIRST + N - 1 of the sum over ranks 0 to OF - 1.
 * Returns N. */
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

static bool right(const struct cell *c, const union element *out)
{
    size_t first;
    int of;
    size_t n = expected(c, &first, &of);
    union element sum[PATTERN];

    for (size_t i = 0; i < n && i < PATTERN; i++) {
        sum[i] = element_of(c->operation, 0, first + i);
        for (int r = 1; r < of; r++)
            sum[i] = combine(c->operation, sum[i], element_of(c->operation, r, first + i));
    }
    for (size_t i = 0; i < n; i++)
        if (memcmp(out[i].bytes, sum[i % PATTERN].bytes, sizeof out->bytes) != 0)
            return false;
    return true;
}

/* The algorithm that collopt has run more often than CALLS says, which is brought up to date. */
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
    size_t kept = fold < SIZE_MAX ? fold : (size_t)(c->operation == SUM ? 64 : 2048) << 20;
    bool shared = bytes * (size_t)ranks > kept;
    /* Folded vectors hold what somebody left there. */
    union element *in = shared ? SMPI_SHARED_MALLOC(bytes) : malloc(bytes),
                  *out = shared ? SMPI_SHARED_MALLOC(bytes) : malloc(bytes);
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
        printf("cell %s %zu %s %.3f %s %s\n", collopt_collective_names[c->collective], bytes,
               operation_names[c->operation], time * 1e6, result, algorithm);
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

/* ---- words ----------------------------------------------------------------------------------- */

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

/* COLLOPT_COLLECTIVES: there is none that is called so. */
static enum collopt_collective collective_of(const char *name)
{
    int i = 0;

    while (i < COLLOPT_COLLECTIVES && strcmp(collopt_collective_names[i], name) != 0)
        i++;
    return (enum collopt_collective)i;
}

static enum operation operation_of(const char *name)
{
    int i = 0;

    while (i < OPERATIONS && strcmp(operation_names[i], name) != 0)
        i++;
    return (enum operation)i;
}

static void run(const char *word)
{
    char collective[32] = "", operation[32] = "", more;
    size_t bytes = 0;
    bool whole = sscanf(word, "%31[^:]:%zu:%31[^:]%c", collective, &bytes, operation, &more) == 3;
    struct cell c = { .collective = collective_of(collective),
                      .count = bytes / sizeof(union element) };
    enum operation o = operation_of(operation);

    if (!whole || c.collective == COLLOPT_COLLECTIVES || o == OPERATIONS || bytes == 0
        || bytes % sizeof(union element) || c.count > INT32_MAX)
        refuse(word, "COLLECTIVE:BYTES:OPERATION, whole elements of 8 bytes");
    if (c.collective == COLLOPT_REDUCE_SCATTER_BLOCK && c.count % (size_t)ranks)
        refuse(word, "as many elements for each rank");
    set_operation(&c, o);
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
        printf("algorithm %s %s%s\n", collopt_collective_names[(*a)->collective], (*a)->name,
               dims ? " dims" : "");
    }
    fflush(stdout);
}

/* One way to PEER and back, half of it, as rank 0 sees it; PEER waits already.  The others take no
 * part: a thousand ranks that began together for each of a thousand peers would take minutes. */
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
    make_operations();
    while (i < argc && option(argv[i], argv[i + 1]))
        i += 2;
    for (; i < argc; i++)
        if (strcmp(argv[i], "list") == 0 && rank == 0)
            list();
        else if (strcmp(argv[i], "links") == 0)
            links();
        else if (strcmp(argv[i], "list") != 0)
            run(argv[i]);
    free_operations();
    MPI_Finalize();
    return 0;
}
