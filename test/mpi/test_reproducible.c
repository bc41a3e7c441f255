/* What floating-point reductions give, in every bit: run with different settings and hosts, what is
 * written must be the same.
 *
 *     test_reproducible [PERMUTATION]
 *
 * On 8 ranks, which are split into communicators of 8, 7, 5, 4, 3, 2 and 1, every collective is run
 * on vectors of several lengths, in place and not, as MPI_SUM on doubles and floats, as the same
 * sum by an operation of the user's on doubles with gaps between them, and by one that does not
 * commute.  PERMUTATION: rank r contributes vector (r + PERMUTATION) mod p.  One line for each,
 * written by the lowest rank:
 *
 *     scan double_sum p 5 count 1000: 0123456789abcdef
 *
 * In place or not must give the same, and so must the user's sum of the same doubles. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"

enum { GAP = 3 };               /* doubles from one element of the strided type to the next */

/* ---- the operations -------------------------------------------------------------------------- */

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    const double *left = in;
    double *right = inout;

    (void)type;
    for (int i = 0; i < *n; i++)
        right[i * GAP] = left[i * GAP] + right[i * GAP];
}

/* Maps x -> a x + b, one after the other: associative but for rounding, and not commutative. */
static void compose(void *in, void *inout, int *n, MPI_Datatype *type)
{
    const double *left = in;
    double *right = inout;

    (void)type;
    for (int i = 0; i < *n; i++) {
        double a = left[2 * i] * right[2 * i],
               b = left[2 * i + 1] * right[2 * i] + right[2 * i + 1];

        right[2 * i] = a;
        right[2 * i + 1] = b;
    }
}

struct kind {
    const char *name;
    size_t extent;
    MPI_Datatype type;
    MPI_Op op;
};

enum { DOUBLES, FLOATS, STRIDED, MAPS, KINDS };

static struct kind kinds[KINDS] = {
    [DOUBLES] = { .name = "double_sum", .extent = sizeof(double) },
    [FLOATS] = { .name = "float_sum", .extent = sizeof(float) },
    [STRIDED] = { .name = "strided_sum", .extent = GAP * sizeof(double) },
    [MAPS] = { .name = "maps", .extent = 2 * sizeof(double) },
};

static void make_kinds(void)
{
    kinds[DOUBLES].type = MPI_DOUBLE;
    kinds[FLOATS].type = MPI_FLOAT;
    kinds[DOUBLES].op = kinds[FLOATS].op = MPI_SUM;
    MPI_Type_create_resized(MPI_DOUBLE, 0, GAP * sizeof(double), &kinds[STRIDED].type);
    MPI_Type_contiguous(2, MPI_DOUBLE, &kinds[MAPS].type);
    MPI_Op_create(add, 1, &kinds[STRIDED].op);
    MPI_Op_create(compose, 0, &kinds[MAPS].op);
    for (int k = STRIDED; k <= MAPS; k++)
        MPI_Type_commit(&kinds[k].type);
}

static void free_kinds(void)
{
    for (int k = STRIDED; k <= MAPS; k++) {
        MPI_Op_free(&kinds[k].op);
        MPI_Type_free(&kinds[k].type);
    }
}

/* ---- the vectors ----------------------------------------------------------------------------- */

/* Of both signs and of magnitudes so different that any other order of additions shows. */
static double number(int vector, size_t i)
{
    uint64_t bits = mix((uint64_t)vector * 0x9e3779b97f4a7c15u + i);
    double x = (double)(bits >> 12) * 0x1p-52 + 1;

    for (unsigned k = bits & 31; k > 0; k--)
        x *= 2;
    return bits & 32 ? -x : x;
}

static void fill(int kind, char *at, size_t n, int vector)
{
    for (size_t i = 0; i < n; i++, at += kinds[kind].extent) {
        double x = number(vector, i), pair[2] = { 1 + x * 0x1p-40, x };
        float single = (float)x;

        if (kind == FLOATS)
            memcpy(at, &single, sizeof single);
        else if (kind == MAPS)
            memcpy(at, pair, sizeof pair);
        else
            memcpy(at, &x, sizeof x);
    }
}

static uint64_t hash(int kind, const char *at, size_t n)
{
    size_t size = kind == FLOATS ? sizeof(float)
        : kind == MAPS           ? 2 * sizeof(double)
                                 : sizeof(double);
    uint64_t h = n;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < size; k++)
            h = mix(h * 257 + (unsigned char)at[i * kinds[kind].extent + k] + 1);
    return h;
}

/* ---- the collectives ------------------------------------------------------------------------- */

enum { REDUCE, ALLREDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, COLLECTIVES };

static const char *const names[COLLECTIVES] = { "reduce",         "allreduce",
                                                "reduce_scatter", "reduce_scatter_block",
                                                "scan",           "exscan" };

struct job {
    int collective, kind, rank, ranks, root;
    size_t count;               /* of the result on one rank, about */
    MPI_Comm comm;
};

static size_t input_length(const struct job *j)
{
    bool scatters = j->collective == REDUCE_SCATTER || j->collective == REDUCE_SCATTER_BLOCK;

    return scatters ? j->count / (size_t)j->ranks * (size_t)j->ranks : j->count;
}

static size_t result_length(const struct job *j)
{
    if ((j->collective == REDUCE && j->rank != j->root)
        || (j->collective == EXSCAN && j->rank == 0))
        return 0;
    return input_length(j) == j->count && j->collective != REDUCE_SCATTER
            && j->collective != REDUCE_SCATTER_BLOCK
        ? j->count
        : j->count / (size_t)j->ranks;
}

static int run(const struct job *j, void *in, void *out)
{
    const struct kind *k = &kinds[j->kind];
    int n = (int)j->count, each = n / j->ranks, counts[j->ranks];

    for (int r = 0; r < j->ranks; r++)
        counts[r] = each;
    if (j->collective == REDUCE && in == MPI_IN_PLACE && j->rank != j->root)
        return MPI_Reduce(out, NULL, n, k->type, k->op, j->root, j->comm);
    switch (j->collective) {
    case REDUCE:
        return MPI_Reduce(in, out, n, k->type, k->op, j->root, j->comm);
    case ALLREDUCE:
        return MPI_Allreduce(in, out, n, k->type, k->op, j->comm);
    case REDUCE_SCATTER:
        return MPI_Reduce_scatter(in, out, counts, k->type, k->op, j->comm);
    case REDUCE_SCATTER_BLOCK:
        return MPI_Reduce_scatter_block(in, out, each, k->type, k->op, j->comm);
    case SCAN:
        return MPI_Scan(in, out, n, k->type, k->op, j->comm);
    default:
        return MPI_Exscan(in, out, n, k->type, k->op, j->comm);
    }
}

/* Returns the hash of this rank's result, not in place; complains if in place it is another. */
static uint64_t result_of(const struct job *j, int vector)
{
    size_t n = input_length(j), bytes = (n + 1) * kinds[j->kind].extent;
    char *in = calloc(1, bytes), *out = calloc(1, bytes);
    uint64_t apart, in_place;

    fill(j->kind, in, n, vector);
    check(run(j, in, out) == MPI_SUCCESS, "%s %s: an error", names[j->collective],
          kinds[j->kind].name);
    apart = hash(j->kind, out, result_length(j));
    memcpy(out, in, bytes);
    check(run(j, MPI_IN_PLACE, out) == MPI_SUCCESS, "%s %s in place: an error",
          names[j->collective], kinds[j->kind].name);
    in_place = hash(j->kind, out, result_length(j));
    check(apart == in_place, "%s %s p %d count %zu: other bits in place", names[j->collective],
          kinds[j->kind].name, j->ranks, j->count);
    free(in);
    free(out);
    return apart;
}

static const size_t counts[] = { 1, 17, 1600, 20003 };

enum { COUNTS = sizeof counts / sizeof *counts };

struct results {                /* of one rank, as hashes */
    uint64_t hash[COLLECTIVES][COUNTS][KINDS];
};

static void run_all(MPI_Comm comm, int permutation, struct results *mine)
{
    struct job j = { .comm = comm };

    MPI_Comm_rank(comm, &j.rank);
    MPI_Comm_size(comm, &j.ranks);
    for (j.collective = 0; j.collective < COLLECTIVES; j.collective++)
        for (int i = 0; i < COUNTS; i++) {
            uint64_t *h = mine->hash[j.collective][i];

            j.count = counts[i];
            j.root = j.collective == REDUCE ? i % j.ranks : 0;
            at(names[j.collective]);
            for (j.kind = 0; j.kind < KINDS; j.kind++)
                h[j.kind] = result_of(&j, (j.rank + permutation) % j.ranks);
            check(h[STRIDED] == h[DOUBLES], "%s p %d count %zu: the user's sum has other bits",
                  names[j.collective], j.ranks, j.count);
        }
}

static void print(const struct results *all, int ranks)
{
    for (int c = 0; c < COLLECTIVES; c++)
        for (int i = 0; i < COUNTS; i++)
            for (int k = 0; k < KINDS; k++) {
                uint64_t h = 0;

                for (int r = 0; r < ranks; r++)
                    h = mix(h ^ all[r].hash[c][i][k]);
                printf("%s %s p %d count %zu: %016llx\n", names[c], kinds[k].name, ranks, counts[i],
                       (unsigned long long)h);
            }
}

/* ---- communicators --------------------------------------------------------------------------- */

/* The ranks are split into groups of ranks that follow one another; the first one of each. */
static const int splits[][4] = { { 0, 8 }, { 0, 7, 8 }, { 0, 5, 8 }, { 0, 4, 6, 8 } };

enum { SPLITS = sizeof splits / sizeof *splits, MOST = 8 };

static int group_of(const int *split, int rank)
{
    int g = 0;

    while (split[g + 1] <= rank)
        g++;
    return g;
}

/* Ranks with nothing to do sleep: MPICH would spin, on processors that others need. */
static void wait_for_all(void)
{
    MPI_Request request;
    int done = 0;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (!done) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done)
            usleep(2000);
    }
}

static void run_split(const int *split, int permutation)
{
    static struct results mine, all[MOST];
    MPI_Comm comm;

    MPI_Comm_split(MPI_COMM_WORLD, group_of(split, world_rank), world_rank, &comm);
    run_all(comm, permutation, &mine);
    wait_for_all();
    MPI_Gather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int g = 0; world_rank == 0 && split[g] < world_ranks; g++)
        print(&all[split[g]], (split[g + 1] < world_ranks ? split[g + 1] : world_ranks) - split[g]);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    int permutation = argc > 1 ? atoi(argv[1]) : 0;

    begin(&argc, &argv, "test_reproducible");
    check(world_ranks <= MOST, "it takes %d ranks at most", MOST);
    make_kinds();
    for (int i = 0; i < SPLITS && failures() == 0; i++)
        run_split(splits[i], permutation);
    /* Without the setting the MPI library may be what is chosen. */
    check(!with_collopt() || !getenv("COLLOPT_REPRODUCIBLE") || calls_passed(NULL) == 0,
          "%llu calls were left to the MPI library", (unsigned long long)calls_passed(NULL));
    free_kinds();
    return end();
}
