/* Exact sums over a communicator; see include/collopt.h.
 *
 * What travels is a vector of 8-byte integers, added by MPI_SUM: for each part of the result (two
 * of a complex one) a word that counts the ranks that have infinities, a -0, or anything else (two
 * words on 2^16 ranks and more), and a superaccumulator in two's complement.  On p ranks a word has
 * 64 - log2(p) bits of it, rounded down, so that p of them fit in any order of the additions.  Only
 * bits that terms of this type can have are sent: for the sum of doubles 2162, that is 336 bytes on
 * up to 1024 ranks; for products of doubles 4260, 600 bytes on up to 64 ranks and 640 on 1024.
 *
 * Sums of integers modulo 2^64 cannot do with fewer: if all of 2^k ranks contribute the same, each
 * word of the result is a multiple of 2^k, so it tells 2^(64 - k) contributions apart, and n words
 * tell 2^(n (64 - k)) apart.  An operation of our own, which carries, would need 544 bytes; but it
 * would not be done by networks that add, nor by kernels.
 *
 * The MPI_Allreduce is an entry of collopt, as if the program had made it: collopt runs it where
 * it runs others, and the host does where collopt is off. */
#include "config.h"

#include "base/log.h"
#include "kernels/isa.h"
#include "kernels/superaccumulator.h"
#include "mpi/call/entry.h"
#include "mpi/call/exact.h"

#include <stdlib.h>
#include <string.h>

#ifdef COLLOPT_STATIC
# define COLLOPT_API __attribute__((visibility("default")))
#endif
#include "collopt.h"

enum {
    PARTS_MOST = 2,
    RANKS_BITS = 31,            /* ranks are counted by an int */
    COUNT_BITS = 63,            /* terms by a size_t, and their sum below 2^63 */
    WORDS_MOST = (2 * COLLOPT_UNIT + COUNT_BITS + 1) / (64 - RANKS_BITS) + 1,
    COUNTS = 4, COUNT_WORDS_MOST = 2
};

/* The terms of a format: the lowest bit of one, in units, and the number of bits without a sign. */
static const struct terms {
    int from, bits;
} terms_of[2][2] = {            /* [double][products] */
    { { COLLOPT_UNIT - 149, 149 + 128 }, { COLLOPT_UNIT - 2 * 149, 2 * (149 + 128) } },
    { { COLLOPT_UNIT - 1074, 1074 + 1024 }, { 0, 2 * (1074 + 1024) } },
};

struct collopt_exact_request {
    bool wide;                  /* double */
    int parts, count_words, words, bits, from;
    void *result;
    MPI_Request request;
    struct collopt_superaccumulator sum[PARTS_MOST];
    uint64_t word[PARTS_MOST * (COUNT_WORDS_MOST + WORDS_MOST)];
};

/* ---- this rank's elements -------------------------------------------------------------------- */

struct vectors {
    int operation;
    bool complex;
    size_t n, size;             /* of a real, in bytes */
    const char *x, *y;
    ptrdiff_t x_stride, y_stride;
};

static bool has_products(int operation)
{
    return operation != COLLOPT_EXACT_SUM;
}

static enum collopt_numbers numbers_of(const struct vectors *v)
{
    return !v->complex ? COLLOPT_REALS
        : v->operation == COLLOPT_EXACT_DOT_CONJUGATED ? COLLOPT_CONJUGATED
                                                       : COLLOPT_COMPLEX;
}

static struct collopt_terms terms_in(const struct vectors *v)
{
    return (struct collopt_terms){
        .x = v->x,
        .y = has_products(v->operation) ? v->y : NULL,
        .x_step = v->x_stride,
        .y_step = v->y_stride,
        .count = v->n,
        .single = v->size == sizeof(float),
        .numbers = numbers_of(v),
    };
}

/* The squares of both parts, as those of reals. */
static void add_magnitudes(struct collopt_superaccumulator *sum, const struct vectors *v)
{
    struct collopt_terms t = terms_in(v);
    bool packed = v->x_stride == 1;

    t.numbers = COLLOPT_REALS;
    t.x_step = t.y_step = packed ? 1 : 2 * v->x_stride;
    t.count *= packed ? 2 : 1;
    collopt_add_terms(sum, &t);
    if (packed)
        return;
    t.x = t.y = v->x + v->size;
    collopt_add_terms(sum, &t);
}

static void add(struct collopt_superaccumulator *sum, const struct vectors *v)
{
    struct collopt_terms t = terms_in(v);

    if (v->complex && v->operation == COLLOPT_EXACT_SQUARES)
        add_magnitudes(sum, v);
    else
        collopt_add_terms(sum, &t);
}

/* ---- on the way ------------------------------------------------------------------------------ */

static int words_of_part(const struct collopt_exact_request *r)
{
    return r->count_words + r->words;
}

static int bits_of_count(const struct collopt_exact_request *r)
{
    return 64 * r->count_words / COUNTS;
}

static void write_counts(const struct collopt_exact_request *r, uint64_t *word,
                         const bool *found)
{
    int bits = bits_of_count(r);

    memset(word, 0, (size_t)r->count_words * sizeof *word);
    for (int i = 0; i < COUNTS; i++)
        word[i * bits / 64] |= (uint64_t)found[i] << i * bits % 64;
}

static bool counted(const struct collopt_exact_request *r, const uint64_t *word, int i)
{
    int bits = bits_of_count(r);

    return word[i * bits / 64] >> i * bits % 64 & (((uint64_t)1 << bits) - 1);
}

static void write_words(struct collopt_exact_request *r)
{
    for (int i = 0; i < r->parts; i++) {
        uint64_t *word = r->word + i * words_of_part(r);
        const struct collopt_superaccumulator *a = &r->sum[i];

        write_counts(r, word, (bool[COUNTS]){ a->plus, a->minus, a->minus_zero, a->other });
        collopt_exact_to_words(a, r->from, r->bits, word + r->count_words, r->words);
    }
}

static void read_words(struct collopt_exact_request *r)
{
    for (int i = 0; i < r->parts; i++) {
        const uint64_t *word = r->word + i * words_of_part(r);
        struct collopt_superaccumulator *a = &r->sum[i];

        collopt_exact_clear(a);
        a->plus = counted(r, word, 0);
        a->minus = counted(r, word, 1);
        a->minus_zero = counted(r, word, 2);
        a->other = counted(r, word, 3);
        collopt_exact_add_words(a, r->from, r->bits, word + r->count_words, r->words);
    }
}

static void write_result(struct collopt_exact_request *r)
{
    size_t size = r->wide ? sizeof(double) : sizeof(float);

    read_words(r);
    for (int i = 0; i < r->parts; i++) {
        uint64_t bits = collopt_exact_rounded(&r->sum[i], r->wide ? &collopt_format_f64
                                                                  : &collopt_format_f32);
        uint32_t narrow = (uint32_t)bits;

        memcpy((char *)r->result + (size_t)i * size, r->wide ? (void *)&bits : (void *)&narrow,
               size);
    }
}

/* ---- the calls ------------------------------------------------------------------------------- */

static int refuse(int code, const char *what)
{
    collopt_warn_here("collopt_exact_sum: %s", what);
    return code;
}

/* MPI_SUCCESS: these can be summed. */
static int judge(int operation, int type, const struct vectors *v, const void *result,
                 MPI_Comm comm)
{
    int initialized = 0, finalized = 0, inter = 0;

    PMPI_Initialized(&initialized);
    PMPI_Finalized(&finalized);
    if (!initialized || finalized)
        return refuse(MPI_ERR_OTHER, "must be called between MPI_Init and MPI_Finalize");
    if (operation < COLLOPT_EXACT_SUM || operation > COLLOPT_EXACT_DOT_CONJUGATED)
        return refuse(MPI_ERR_OP, "the operation is none of COLLOPT_EXACT_SUM, _SQUARES, _DOT and "
                                  "_DOT_CONJUGATED");
    if (type < COLLOPT_EXACT_FLOAT || type > COLLOPT_EXACT_DOUBLE_COMPLEX)
        return refuse(MPI_ERR_TYPE, "the type is none of COLLOPT_EXACT_FLOAT, _DOUBLE, "
                                    "_FLOAT_COMPLEX and _DOUBLE_COMPLEX");
    if ((v->n && (!v->x || !v->y)) || !result)
        return refuse(MPI_ERR_BUFFER, "x, y or the result is a null pointer; x may be null on "
                                      "ranks without elements, y also where there are no products");
    if (comm == MPI_COMM_NULL || !collopt_plausible_comm(comm))
        return refuse(MPI_ERR_COMM, "the communicator is none; it must be a Fortran handle, "
                                    "MPI_Comm_c2f(comm)");
    if (PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter)
        return refuse(MPI_ERR_COMM, "the communicator is an intercommunicator; it must be one of a "
                                    "single group");
    return MPI_SUCCESS;
}

/* All but the communication. */
static int prepare(struct collopt_exact_request *r, int type, const struct vectors *v, void *result,
                   MPI_Comm comm)
{
    const struct terms *t = &terms_of[v->size == sizeof(double)][has_products(v->operation)];
    int ranks, err = PMPI_Comm_size(comm, &ranks);

    if (err)
        return err;
    r->wide = type == COLLOPT_EXACT_DOUBLE || type == COLLOPT_EXACT_DOUBLE_COMPLEX;
    r->parts = v->complex ? 2 : 1;
    r->result = result;
    r->from = t->from;
    r->count_words = ranks < 1 << 64 / COUNTS ? 1 : COUNT_WORDS_MOST;
    r->bits = collopt_exact_digit_bits(ranks) + 1;              /* words have no sign */
    r->words = (t->bits + COUNT_BITS + 1 + r->bits - 1) / r->bits;
    for (int i = 0; i < r->parts; i++)
        collopt_exact_clear(&r->sum[i]);
    if (v->n)
        add(r->sum, v);
    write_words(r);
    return MPI_SUCCESS;
}

static int words_of(const struct collopt_exact_request *r)
{
    return r->parts * words_of_part(r);
}

static struct vectors vectors_of(int operation, int type, size_t n, const void *x,
                                 ptrdiff_t x_stride, const void *y, ptrdiff_t y_stride)
{
    bool two = operation == COLLOPT_EXACT_DOT || operation == COLLOPT_EXACT_DOT_CONJUGATED;

    return (struct vectors){
        .operation = operation,
        .complex = type == COLLOPT_EXACT_FLOAT_COMPLEX || type == COLLOPT_EXACT_DOUBLE_COMPLEX,
        .n = n,
        .size = type == COLLOPT_EXACT_FLOAT || type == COLLOPT_EXACT_FLOAT_COMPLEX
            ? sizeof(float) : sizeof(double),
        .x = x,
        .y = two ? y : x,
        .x_stride = x_stride,
        .y_stride = two ? y_stride : x_stride,
    };
}

/* A header of the standard ABI need not have the functions of MPI_Fint; the number is the same. */
static MPI_Comm communicator_of(int handle)
{
#if defined MPI_ABI_VERSION && !defined OPEN_MPI && !defined MPICH_VERSION
    return PMPI_Comm_fromint(handle);
#else
    return PMPI_Comm_f2c(handle);
#endif
}

static int exact_sum(int operation, int type, size_t n, const void *x, ptrdiff_t x_stride,
                     const void *y, ptrdiff_t y_stride, void *result, int handle)
{
    struct vectors v = vectors_of(operation, type, n, x, x_stride, y, y_stride);
    MPI_Comm comm = communicator_of(handle);
    struct collopt_exact_request r;
    int err = judge(operation, type, &v, result, comm);

    if (!err)
        err = prepare(&r, type, &v, result, comm);
    if (!err)
        err = collopt_entry_Allreduce(MPI_IN_PLACE, r.word, words_of(&r), MPI_UINT64_T, MPI_SUM,
                                      comm);
    if (!err)
        write_result(&r);
    return err;
}

static int exact_sum_start(int operation, int type, size_t n, const void *x, ptrdiff_t x_stride,
                           const void *y, ptrdiff_t y_stride, void *result, int handle,
                           struct collopt_exact_request **request)
{
    struct vectors v = vectors_of(operation, type, n, x, x_stride, y, y_stride);
    MPI_Comm comm = communicator_of(handle);
    struct collopt_exact_request *r = NULL;
    int err = judge(operation, type, &v, result, comm);

    *request = NULL;
    if (!err && !(r = malloc(sizeof *r)))
        err = refuse(MPI_ERR_NO_MEM, "no memory for a nonblocking sum");
    if (!err)
        err = prepare(r, type, &v, result, comm);
    if (!err)
        err = collopt_entry_Iallreduce(MPI_IN_PLACE, r->word, words_of(r), MPI_UINT64_T, MPI_SUM,
                                       comm, &r->request);
    if (!err)
        *request = r;
    else
        free(r);
    return err;
}

static int finish(struct collopt_exact_request **request, int err)
{
    if (!err)
        write_result(*request);
    free(*request);
    *request = NULL;
    return err;
}

static int exact_sum_test(struct collopt_exact_request **request, int *done)
{
    int err;

    *done = 1;
    if (!*request)
        return MPI_SUCCESS;
    err = collopt_entry_Test(&(*request)->request, done, MPI_STATUS_IGNORE);
    if (!err && !*done)
        return MPI_SUCCESS;
    return finish(request, err);
}

static int exact_sum_wait(struct collopt_exact_request **request)
{
    if (!*request)
        return MPI_SUCCESS;
    return finish(request, collopt_entry_Wait(&(*request)->request, MPI_STATUS_IGNORE));
}

const struct collopt_exact_functions collopt_exact_functions = {
    .sum = exact_sum,
    .start = exact_sum_start,
    .test = exact_sum_test,
    .wait = exact_sum_wait,
};

/* ---- the names, which are the front's where there is one ------------------------------------- */

#ifdef COLLOPT_STATIC
int collopt_exact_sum(int operation, int type, size_t n, const void *x, ptrdiff_t x_stride,
                      const void *y, ptrdiff_t y_stride, void *result, int comm)
{
    return exact_sum(operation, type, n, x, x_stride, y, y_stride, result, comm);
}

int collopt_exact_sum_start(int operation, int type, size_t n, const void *x, ptrdiff_t x_stride,
                            const void *y, ptrdiff_t y_stride, void *result, int comm,
                            struct collopt_exact_request **request)
{
    return exact_sum_start(operation, type, n, x, x_stride, y, y_stride, result, comm, request);
}

int collopt_exact_sum_test(struct collopt_exact_request **request, int *done)
{
    return exact_sum_test(request, done);
}

int collopt_exact_sum_wait(struct collopt_exact_request **request)
{
    return exact_sum_wait(request);
}
#endif
