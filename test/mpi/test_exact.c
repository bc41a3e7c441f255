/* COLLOPT_REPRODUCIBLE=exact: every collective on every type that it serves, in place and not,
 * against sums bit by bit.
 *
 * What the ranks contribute cancels, overflows on the way, is subnormal, infinite or NaN here and
 * there.  It is dealt to the ranks in several ways, which must not matter.
 *
 *     mpirun -n 4 env LD_PRELOAD=libcollopt.so TEST_FORM=nonblocking test_exact [LONGEST]
 *
 * TEST_FORM: blocking, persistent or nonblocking.  TEST_ALGORITHMS: by which collopt must have run
 * all of them, but those of forms that go by shared memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "exact_reference.h"

struct kind {
    const char *name;
    size_t lane;                /* bytes of one real */
    int lanes;                  /* in one element */
    MPI_Datatype type;
};

enum { KINDS = 6 };

static void list_kinds(struct kind kind[KINDS])
{
    kind[0] = (struct kind){ "double", 8, 1, MPI_DOUBLE };
    kind[1] = (struct kind){ "float", 4, 1, MPI_FLOAT };
    kind[2] = (struct kind){ "complex double", 8, 2, MPI_C_DOUBLE_COMPLEX };
    kind[3] = (struct kind){ "complex float", 4, 2, MPI_C_FLOAT_COMPLEX };
    kind[4] = (struct kind){ "Fortran's double precision", 8, 1, MPI_DOUBLE_PRECISION };
#ifdef MPI_CXX_DOUBLE_COMPLEX
    kind[5] = (struct kind){ "C++'s complex", 8, 2, MPI_CXX_DOUBLE_COMPLEX };
#else
    kind[5] = (struct kind){ "Fortran's real", 4, 1, MPI_REAL };
#endif
}

/* ---- what is summed -------------------------------------------------------------------------- */

/* The bits of lane I of a VECTOR. */
static uint64_t bits_of(size_t lane, int vector, size_t i)
{
    int mantissa = lane == 8 ? 53 : 24, exponents = lane == 8 ? 2047 : 255;
    uint64_t r = mix((uint64_t)vector * 0x9e3779b97f4a7c15u + i),
             fraction = mix(r) & ((1ull << (mantissa - 1)) - 1);
    uint64_t minus = 1ull << (8 * lane - 1), exponent = (uint64_t)exponents / 2 + r % 40;

    switch (i % 8) {
    /* what one contributes, another one takes back, all but little of it */
    case 0:
        if (vector % 2)
            return (bits_of(lane, vector - 1, i) ^ minus) ^ (r % 3 == 0);
        break;
    case 1:
        exponent = (uint64_t)exponents - 1 - r % 2;     /* sums of two overflow */
        break;
    case 2:
        /* subnormal ones, and the least normal ones */
        exponent = r % 3 == 0;
        break;
    case 3:
        return (r & 1) * minus;                         /* zeros */
    case 4:
        exponent = 1 + r % ((uint64_t)exponents - 2);   /* everything */
        break;
    case 5:
        if (r % 7 == 0)
            exponent = (uint64_t)exponents;             /* infinity and NaN */
        fraction = r % 7 || r % 5 ? fraction * (r % 7 != 0) : 1;
        break;
    }
    return exponent << (mantissa - 1) | fraction | (r >> 63) * minus;
}

static void fill(const struct kind *k, char *at, size_t n, int vector)
{
    for (size_t i = 0; i < n * (size_t)k->lanes; i++, at += k->lane) {
        uint64_t bits = bits_of(k->lane, vector, i);
        uint32_t half = (uint32_t)bits;

        memcpy(at, k->lane == 8 ? (void *)&bits : &half, k->lane);
    }
}

/* ---- the collectives ------------------------------------------------------------------------- */

enum { REDUCE, ALLREDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, COLLECTIVES };

static const char *const names[COLLECTIVES] = { "reduce",         "allreduce",
                                                "reduce_scatter", "reduce_scatter_block",
                                                "scan",           "exscan" };

struct job {
    /* rank r has vector (deal r + 1) mod a prime: any order, without repetitions */
    int collective, root, deal;
    const struct kind *kind;
    /* COUNT: elements of the input vector; EACH: of each rank's result, where that is scattered */
    size_t each, count;
};

static int vector_of(const struct job *j, int rank)
{
    return (j->deal * rank + 1) % 101;
}

static enum form form;

#define CALLS_OF(caller, FORM) \
    static int caller(const struct job *j, const void *in, void *out, const int *counts, \
                      MPI_Request *request) \
    { \
        int n = (int)j->count, each = (int)j->each; \
        MPI_Datatype type = j->kind->type; \
        bool to_root = in == MPI_IN_PLACE && world_rank != j->root; \
        switch (j->collective) { \
        case REDUCE: \
            return FORM(Reduce, reduce, to_root ? out : in, to_root ? NULL : out, n, type, \
                        MPI_SUM, j->root, MPI_COMM_WORLD); \
        case ALLREDUCE: \
            return FORM(Allreduce, allreduce, in, out, n, type, MPI_SUM, MPI_COMM_WORLD); \
        case REDUCE_SCATTER: \
            return FORM(Reduce_scatter, reduce_scatter, in, out, counts, type, MPI_SUM, \
                        MPI_COMM_WORLD); \
        case REDUCE_SCATTER_BLOCK: \
            return FORM(Reduce_scatter_block, reduce_scatter_block, in, out, each, type, MPI_SUM, \
                        MPI_COMM_WORLD); \
        case SCAN: \
            return FORM(Scan, scan, in, out, n, type, MPI_SUM, MPI_COMM_WORLD); \
        default: \
            return FORM(Exscan, exscan, in, out, n, type, MPI_SUM, MPI_COMM_WORLD); \
        } \
    }

CALLS_OF(call_blocking, CALL_BLOCKING)
CALLS_OF(call_nonblocking, CALL_NONBLOCKING)
CALLS_OF(make_persistent, CALL_INIT)

static int run(const struct job *j, const void *in, void *out)
{
    int counts[world_ranks], err;
    MPI_Request request = MPI_REQUEST_NULL;

    for (int r = 0; r < world_ranks; r++)
        counts[r] = (int)j->each;
    if (form == BLOCKING)
        return call_blocking(j, in, out, counts, &request);
    err = form == NONBLOCKING ? call_nonblocking(j, in, out, counts, &request)
                              : make_persistent(j, in, out, counts, &request);
    if (form == PERSISTENT && request != MPI_REQUEST_NULL)
        MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (form == PERSISTENT && request != MPI_REQUEST_NULL)
        MPI_Request_free(&request);
    return err;
}

/* Which part of the vector, and the vectors of how many ranks, are in this rank's result. */
static size_t expect(const struct job *j, size_t *first, int *ranks)
{
    bool scatters = j->collective == REDUCE_SCATTER || j->collective == REDUCE_SCATTER_BLOCK;

    *first = scatters ? j->each * (size_t)world_rank : 0;
    *ranks = j->collective == SCAN ? world_rank + 1
        : j->collective == EXSCAN  ? world_rank
                                   : world_ranks;
    if (j->collective == REDUCE && world_rank != j->root)
        return 0;
    return *ranks == 0 ? 0 : scatters ? j->each : j->count;
}

static uint64_t sum_of(const struct job *j, size_t i, int ranks)
{
    uint64_t bits[ranks];
    uint32_t half[ranks];

    for (int r = 0; r < ranks; r++) {
        bits[r] = bits_of(j->kind->lane, vector_of(j, r), i);
        half[r] = (uint32_t)bits[r];
    }
    if (ranks == 1)
        return bits[0];         /* as it is */
    return j->kind->lane == 8 ? exact_reference_double(bits, ranks)
                              : exact_reference_float(half, ranks);
}

static void compare(const struct job *j, const char *out, const char *how)
{
    size_t first, n = expect(j, &first, &(int){ 0 }) * (size_t)j->kind->lanes, step = n / 120 + 1;
    int ranks;

    expect(j, &first, &ranks);
    for (size_t i = 0; i < n; i += i + 1 == n || i + step < n ? step : n - 1 - i) {
        uint64_t right = sum_of(j, first * (size_t)j->kind->lanes + i, ranks), is = 0;

        /* x86 and aarch64: the low bytes are first */
        memcpy(&is, out + i * j->kind->lane, j->kind->lane);
        if (is != right) {
            fail("%s of %s, %zu elements, deal %d, root %d, %s: lane %zu is %llx, should be %llx",
                 names[j->collective], j->kind->name, j->count, j->deal, j->root, how, i,
                 (unsigned long long)is, (unsigned long long)right);
            return;
        }
    }
}

static void try(const struct job *j)
{
    size_t bytes = (j->count + 1) * j->kind->lane * (size_t)j->kind->lanes;
    char *in = malloc(bytes), *out = malloc(bytes);

    fill(j->kind, in, j->count, vector_of(j, world_rank));
    check(run(j, in, out) == MPI_SUCCESS, "%s: an error", names[j->collective]);
    compare(j, out, "two buffers");
    memcpy(out, in, bytes);
    check(run(j, MPI_IN_PLACE, out) == MPI_SUCCESS, "%s in place: an error", names[j->collective]);
    compare(j, out, "in place");
    free(in);
    free(out);
}

/* A communicator is taken over by a call that is not nonblocking. */
static void take_over(void)
{
    double one = 1, all;

    if (form == NONBLOCKING)
        MPI_Allreduce(&one, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Collopt has run all calls, by the algorithms that are NAMED, one after another with commas. */
static void check_algorithms(const char *named)
{
    uint64_t by_these = 0, all = calls_run(NULL, NULL);
    char list[200], *rest = list;

    check(calls_passed(NULL) == 0 && all > 0, "%llu calls were left to the MPI library, %llu run",
          (unsigned long long)calls_passed(NULL), (unsigned long long)all);
    if (!named)
        return;
    snprintf(list, sizeof list, "%s", named);
    for (char *word; (word = strtok_r(rest, ",", &rest));)
        by_these += calls_run(NULL, word);
    check(by_these == all, "%llu of %llu calls were run by %s", (unsigned long long)by_these,
          (unsigned long long)all, named);
}

int main(int argc, char **argv)
{
    static const size_t counts[] = { 1, 17, 700, 9001 };
    struct kind kind[KINDS];
    size_t longest = argc > 1 ? strtoul(argv[1], NULL, 10) : SIZE_MAX;

    begin(&argc, &argv, "test_exact");
    form = form_named(getenv("TEST_FORM"));
    list_kinds(kind);
    take_over();
    for (int c = 0; c < COLLECTIVES; c++)
        for (int k = 0; k < KINDS; k++)
            for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
                struct job j = { .collective = c, .kind = &kind[k], .deal = i % 2 ? 1 : 37 };

                if (counts[i] > longest)
                    break;
                j.root = c == REDUCE ? (int)(i + (size_t)k) % world_ranks : 0;
                j.each = counts[i] / (size_t)world_ranks + (i > 0);
                j.count = c == REDUCE_SCATTER || c == REDUCE_SCATTER_BLOCK
                    ? j.each * (size_t)world_ranks
                    : counts[i];
                at(names[c]);
                try(&j);
            }
    check_algorithms(getenv("TEST_ALGORITHMS"));
    return end();
}
