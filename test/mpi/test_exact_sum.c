/* collopt_exact_sum: every operation on every type, of one vector that is divided among the ranks
 * in several ways, against sums bit by bit; and what it refuses. */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "exact_reference.h"

#if defined MPI_ABI_VERSION && !defined OPEN_MPI && !defined MPICH_VERSION
# define handle_of MPI_Comm_toint       /* such headers need not have MPI_Comm_c2f */
#else
# define handle_of MPI_Comm_c2f
#endif

enum { ELEMENTS = 200, OPERATIONS = 4, TYPES = 4, STRIDE = 3 };

static const char *const operations[OPERATIONS] = { "sum", "squares", "dot", "conjugated dot" };
static const char *const types[TYPES] = { "float", "double", "complex float", "complex double" };

/* ---- the vectors ----------------------------------------------------------------------------- */

enum set { CANCELLING, ANY, TINY, OVERFLOWING, SPECIAL, MINUS_ZEROS, SETS };

/* The bits of real I of vector V. */
static uint64_t bits_of(size_t size, enum set set, int v, size_t i)
{
    int mantissa = size == 8 ? 52 : 23, most = size == 8 ? 2047 : 255;
    uint64_t r = mix((uint64_t)set * 7919 + (uint64_t)v * 104729 + i),
             fraction = mix(r) & ((1ull << mantissa) - 1), minus = r >> 40 & 1,
             exponent = (uint64_t)most / 2 - 20 + r % 40;

    switch (set) {
    case CANCELLING:            /* each with its negative, but for a few */
        if (v == 0 && i % 8 >= 4)
            return bits_of(size, set, v, i - 4) ^ (i < 16 ? 0 : 1ull << (8 * size - 1));
        if (v == 1 && i % 8 >= 4)
            return bits_of(size, set, v, i - 4);
        exponent = (uint64_t)most / 4 + r % ((uint64_t)most / 2);
        break;
    case ANY: exponent = r % (uint64_t)most; break;
    case TINY: exponent = r % 30; break;
    case OVERFLOWING: exponent = (uint64_t)most - 1, minus = i / 2 % 2; break;
    case SPECIAL: exponent = i == 77 ? (uint64_t)most : exponent, fraction = 0; break;
    default: return 1ull << (8 * size - 1);
    }
    return minus << (8 * size - 1) | exponent << mantissa | fraction;
}

static void store(void *at, size_t size, size_t i, uint64_t bits)
{
    uint32_t narrow = (uint32_t)bits;

    memcpy((char *)at + i * size, size == 8 ? (void *)&bits : (void *)&narrow, size);
}

/* Real I of vector V, times SIGN, is term K of the reference. */
static void term(void *to, size_t k, size_t size, enum set set, int v, size_t i, bool negative)
{
    store(to, size, k, bits_of(size, set, v, i) ^ (negative ? 1ull << (8 * size - 1) : 0));
}

/* The result's PART bit by bit. */
static uint64_t expected(int operation, int type, enum set set, int part)
{
    static uint64_t x[2 * ELEMENTS], y[2 * ELEMENTS];
    size_t size = type % 2 ? 8 : 4, n = 0;
    bool complex = type >= 2, products = operation != COLLOPT_EXACT_SUM;
    int other = operation >= COLLOPT_EXACT_DOT ? 1 : 0;

    if (complex && operation == COLLOPT_EXACT_SQUARES && part == 1)
        return 0;
    for (size_t i = 0; i < ELEMENTS; i++) {
        size_t re = complex ? 2 * i : i, im = re + 1;

        if (!complex || !products) {
            term(x, n, size, set, 0, part ? im : re, false);
            term(y, n++, size, set, other, part ? im : re, false);
            continue;
        }
        term(x, n, size, set, 0, re, false);
        term(y, n++, size, set, other, part ? im : re, false);
        term(x, n, size, set, 0, im,
             part ? operation == COLLOPT_EXACT_DOT_CONJUGATED : operation == COLLOPT_EXACT_DOT);
        term(y, n++, size, set, other, part ? re : im, false);
    }
    return exact_reference_products(size, x, products ? y : NULL, n);
}

/* ---- dividing them --------------------------------------------------------------------------- */

enum division { BLOCKS, CYCLIC, LAST_HAS_MOST, DIVISIONS };

static int owner(enum division d, size_t i, int ranks)
{
    switch (d) {
    case BLOCKS: return (int)(i * (size_t)ranks / ELEMENTS);
    case CYCLIC: return (int)(i % (size_t)ranks);
    default: return i % 50 == 0 ? 0 : ranks - 1;
    }
}

struct part {
    char x[16 * ELEMENTS * STRIDE], y[16 * ELEMENTS];
    size_t n;
    int stride;                 /* of x */
};

/* This rank's elements: of x some apart, of y backwards. */
static void take(struct part *p, enum division d, int type, enum set set, int rank, int ranks)
{
    size_t size = type % 2 ? 8 : 4, reals = type >= 2 ? 2 : 1;

    p->n = 0;
    for (size_t i = 0; i < ELEMENTS; i++) {
        if (owner(d, i, ranks) != rank)
            continue;
        for (size_t r = 0; r < reals; r++) {
            store(p->x, size, p->n * (size_t)p->stride * reals + r,
                  bits_of(size, set, 0, i * reals + r));
            store(p->y, size, (ELEMENTS - 1 - p->n) * reals + r,
                  bits_of(size, set, 1, i * reals + r));
        }
        p->n++;
    }
}

static int sum(const struct part *p, int operation, int type, void *result, MPI_Comm comm,
               bool later)
{
    struct collopt_exact_request *request;
    const char *y = p->y + (ELEMENTS - 1) * (type % 2 ? 8u : 4u) * (type >= 2 ? 2u : 1u);
    int handle = handle_of(comm), done = 0, err;

    if (!later)
        return collopt_exact_sum(operation, type, p->n, p->x, p->stride, y, -1, result, handle);
    err = collopt_exact_sum_start(operation, type, p->n, p->x, p->stride, y, -1, result, handle,
                                  &request);
    for (int i = 0; !err && i < 3 && !done; i++)
        err = collopt_exact_sum_test(&request, &done);
    if (!err)
        err = collopt_exact_sum_wait(&request);
    check(!request, "a request is left");
    return err;
}

static void one(struct part *p, enum division d, int operation, int type, enum set set,
                MPI_Comm comm, bool later)
{
    size_t size = type % 2 ? 8 : 4;
    int rank, ranks, parts = type >= 2 ? 2 : 1, err;
    char result[16];

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    p->stride = ((int)set + (int)d) % 2 ? STRIDE : 1;
    take(p, d, type, set, rank, ranks);
    memset(result, 0x5a, sizeof result);
    err = sum(p, operation, type, result, comm, later);
    check(!err, "%s of %s: error %d", operations[operation], types[type], err);
    for (int part = 0; part < parts; part++) {
        uint64_t found = 0, right = expected(operation, type, set, part);

        memcpy(&found, result + (size_t)part * size, size);
        check(found == right, "%s of %s, set %d, division %d, %d ranks, %s, part %d: %llx, should "
              "be %llx", operations[operation], types[type], set, d, ranks,
              later ? "nonblocking" : "blocking", part, (unsigned long long)found,
              (unsigned long long)right);
    }
    if (parts == 1)
        check(result[size] == 0x5a, "%s of %s: writes behind the result", operations[operation],
              types[type]);
}

static void all(MPI_Comm comm)
{
    static struct part p;

    for (int i = 0; i < OPERATIONS * TYPES * SETS; i++)
        for (int d = 0; d < DIVISIONS; d++) {
            at("exact sums");
            one(&p, (enum division)d, i % OPERATIONS, i / OPERATIONS % TYPES,
                (enum set)(i / OPERATIONS / TYPES), comm, (i + d) % 2);
        }
}

/* ---- long vectors, of integers whose sums are exact in any order ----------------------------- */

static void long_vectors(MPI_Comm comm)
{
    enum { LONG = 20000 };
    static double x[2 * LONG], y[2 * LONG];
    double right[2] = { 0 }, found[2] = { 0 };
    int rank, ranks;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int i = 0; i < LONG; i++) {
        double a = x[2 * i] = i % 7, b = x[2 * i + 1] = -(i % 5), c = y[2 * i] = i % 3 + rank,
               d = y[2 * i + 1] = i % 11;
        int others = ranks * (ranks - 1) / 2 - ranks * rank;    /* ranks instead of this one's */

        right[0] += ranks * (a * c - b * d) + others * a;
        right[1] += ranks * (a * d + b * c) + others * b;
    }
    check(!collopt_exact_sum(COLLOPT_EXACT_DOT, COLLOPT_EXACT_DOUBLE_COMPLEX, LONG, x, 1, y, 1,
                             found, handle_of(comm))
          && found[0] == right[0] && found[1] == right[1],
          "dot product of %d complex numbers: %a, %a, should be %a, %a", LONG, found[0], found[1],
          right[0], right[1]);
}

/* ---- what is refused, and nothing ------------------------------------------------------------ */

static void refused(int err, const char *what)
{
    check(err > 0, "%s is not refused: %d", what, err);
}

static void bad_arguments(void)
{
    int self = handle_of(MPI_COMM_SELF);
    double x = 1, result = 5;
    struct collopt_exact_request *request = NULL;
    int done = 0;

    refused(collopt_exact_sum(17, COLLOPT_EXACT_DOUBLE, 1, &x, 1, NULL, 0, &result, self),
            "an operation 17");
    refused(collopt_exact_sum(COLLOPT_EXACT_SUM, -1, 1, &x, 1, NULL, 0, &result, self),
            "a type -1");
    refused(collopt_exact_sum(COLLOPT_EXACT_DOT, COLLOPT_EXACT_DOUBLE, 1, &x, 1, NULL, 0, &result,
                              self), "a dot product without y");
    refused(collopt_exact_sum_start(COLLOPT_EXACT_SUM, COLLOPT_EXACT_DOUBLE, 1, &x, 1, NULL, 0,
                                    &result, handle_of(MPI_COMM_NULL), &request),
            "a null communicator");
    check(!request && result == 5, "what is refused leaves something");
    check(!collopt_exact_sum_test(&request, &done) && done, "a null request is not complete");
    check(!collopt_exact_sum(COLLOPT_EXACT_SUM, COLLOPT_EXACT_DOUBLE, 0, NULL, 1, NULL, 0, &result,
                             self) && result == 0 && 1 / result > 0, "an empty sum: %g", result);
}

int main(int argc, char **argv)
{
    MPI_Comm half;

    begin(&argc, &argv, "test_exact_sum");
    if (!collopt_exact_sum) {
        check(!with_collopt(), "collopt has no collopt_exact_sum");
        return end();
    }
    all(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &half);
    if (on_openmpi())
        all(half);
    MPI_Comm_free(&half);
    long_vectors(MPI_COMM_WORLD);
    bad_arguments();
    return end();
}
