/* The kernels: every combination on every instruction set against the reference, then what is
 * particular. */
#include "config.h"

#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../exact_cases.h"
#include "../kernels_cases.h"
#include "../total_cases.h"
#include "kernels/exact_words.h"
#include "kernels/isa.h"
#include "kernels/kernels.h"
#include "share.h"
#include "suite.h"

enum { COMBINATIONS = COLLOPT_OP_USER * COLLOPT_TYPE_NONE };

static int isas(void)
{
    int n = 0;

    while (collopt_isas[n].name)
        n++;
    return n;
}

/* False if this processor lacks it, which is said. */
static bool use(const struct collopt_isa *isa)
{
    char message[256];

    if (collopt_kernels_init(isa->name, message, sizeof message) == 0)
        return true;
    printf("%s did not run: %s\n", isa->name, message);
    return false;
}

/* one test for each instruction set */
TESTS(all_combinations, 0, isas())
{
    const struct collopt_isa *isa = &collopt_isas[_i];
    char message[256];
    int ran = 0;

    if (!use(isa))
        return;
    for (int i = 0; i < COMBINATIONS; i++) {
        enum collopt_op op = i / COLLOPT_TYPE_NONE;
        enum collopt_type type = i % COLLOPT_TYPE_NONE;

        if (!collopt_kernel(op, type))
            continue;

        enum depth depth = getenv("COLLOPT_CHECK_BIG") ? THOROUGH
            : test_share() > 1                         ? BRIEF
                                                       : USUAL;
        long wrong = kernel_cases_run(op, type, depth, message, sizeof message);

        ck_assert_msg(wrong == 0, "%s (%ld cases)", message, wrong);
        ran++;
    }
    printf("%s ran: %d combinations\n", isa->name, ran);
    ck_assert_int_gt(ran, 0);
}

/* one test for each instruction set */
TESTS(exact_totals, 0, isas())
{
    char message[400];

    if (use(&collopt_isas[_i]))
        ck_assert_msg(total_cases_run(message, sizeof message) == 0, "%s", message);
}

TEST(exact_rows)
{
    char message[512];

    for (enum collopt_type type = 0; type < COLLOPT_TYPE_NONE; type++)
        if (collopt_exact_kernel(type))
            ck_assert_msg(exact_rows_run(type, message, sizeof message) == 0, "%s", message);
        else
            ck_assert_uint_eq(collopt_exact_row(type, 2), 0);
}

/* one test for each instruction set */
TESTS(exact_sums, 0, isas())
{
    const struct collopt_isa *isa = &collopt_isas[_i];
    char message[512];

    if (!use(isa))
        return;
    for (enum collopt_type type = 0; type < COLLOPT_TYPE_NONE; type++) {
        bool real = type == COLLOPT_FLOAT || type == COLLOPT_DOUBLE || type == COLLOPT_COMPLEX_FLOAT
            || type == COLLOPT_COMPLEX_DOUBLE;
        int most = getenv("COLLOPT_CHECK_BIG") ? 1000 : test_share() > 1 ? 10 : 100;

        ck_assert_int_eq(collopt_exact_kernel(type) != NULL, real);
        ck_assert_msg(!real || exact_cases_run(type, most, message, sizeof message) == 0, "%s",
                      message);
    }
    ck_assert_ptr_null(collopt_exact_kernel(COLLOPT_TYPE_NONE));
}

/* ---- algebra, by hand ---- */

/* n copies of (left, right) through one kernel: all results must be `result`, wherever they lie */
static void everywhere(enum collopt_op op, enum collopt_type type, const void *left,
                       const void *right, const void *result)
{
    enum { N = 67 };
    size_t size = collopt_type_size(type);
    char a[N * 32], b[N * 32], d[N * 32];

    for (const struct collopt_isa *isa = collopt_isas; isa->name; isa++) {
        char message[256];

        if (collopt_kernels_init(isa->name, message, sizeof message))
            continue;
        for (int i = 0; i < N; i++) {
            memcpy(a + i * size, left, size);
            memcpy(b + i * size, right, size);
            memcpy(d + i * size, result, size);    /* for the padding */
        }
        collopt_kernel(op, type)->combine(d, a, b, N);
        for (int i = 0; i < N; i++)
            ck_assert_msg(memcmp(d + i * size, result, size) == 0, "%s %s isa %s element %d",
                          collopt_op_name(op), collopt_type_name(type), isa->name, i);
    }
}

#define EVERYWHERE(op, type, ctype, left, right, result) \
    everywhere(COLLOPT_##op, COLLOPT_##type, &(ctype){ left }, &(ctype){ right }, \
               &(ctype){ result })

TEST(integers_wrap)
{
    EVERYWHERE(SUM, INT8, int8_t, 100, 100, -56);
    EVERYWHERE(SUM, UINT8, uint8_t, 200, 100, 44);
    EVERYWHERE(SUM, INT16, int16_t, INT16_MAX, 1, INT16_MIN);
    EVERYWHERE(SUM, INT32, int32_t, INT32_MIN, -1, INT32_MAX);
    EVERYWHERE(SUM, INT64, int64_t, INT64_MAX, 1, INT64_MIN);
    EVERYWHERE(PROD, INT8, int8_t, -128, -1, -128);
    EVERYWHERE(PROD, UINT16, uint16_t, 65535, 65535, 1);
    EVERYWHERE(PROD, INT32, int32_t, INT32_MIN, -1, INT32_MIN);
    EVERYWHERE(PROD, UINT64, uint64_t, UINT64_MAX, UINT64_MAX, 1);
}

TEST(unsigned_compare)
{
    EVERYWHERE(MAX, UINT8, uint8_t, 0x80, 1, 0x80);
    EVERYWHERE(MIN, UINT16, uint16_t, 0x8000, 1, 1);
    EVERYWHERE(MAX, UINT32, uint32_t, 0x80000000, 1, 0x80000000);
    EVERYWHERE(MIN, UINT64, uint64_t, UINT64_C(1) << 63, 1, 1);
    EVERYWHERE(MIN, INT64, int64_t, INT64_MIN, 1, INT64_MIN);
}

TEST(logical_results)
{
    EVERYWHERE(LAND, INT32, int32_t, 2, 1, 1);
    EVERYWHERE(LAND, INT8, int8_t, -1, 0, 0);
    EVERYWHERE(LOR, UINT64, uint64_t, UINT64_C(1) << 40, 0, 1);
    EVERYWHERE(LXOR, INT16, int16_t, 2, 4, 0);
    EVERYWHERE(LXOR, LOGICAL4, uint32_t, UINT32_MAX, 0, 1);
    EVERYWHERE(LAND, LOGICAL8, uint64_t, UINT64_MAX, 1, 1);
    EVERYWHERE(LOR, BOOL, uint8_t, 0, 1, 1);
}

TEST(least_and_greatest)
{
    float nan = -NAN, canonical = NAN;

    for (int swap = 0; swap < 2; swap++) {
        EVERYWHERE(MIN, DOUBLE, double, swap ? -0.0 : 0.0, swap ? 0.0 : -0.0, -0.0);
        EVERYWHERE(MAX, DOUBLE, double, swap ? -0.0 : 0.0, swap ? 0.0 : -0.0, 0.0);
        EVERYWHERE(MIN, FLOAT, float, swap ? nan : -INFINITY, swap ? -INFINITY : nan, canonical);
        EVERYWHERE(MAX, FLOAT, float, swap ? nan : INFINITY, swap ? INFINITY : nan, canonical);
        EVERYWHERE(MAX, FLOAT16, uint16_t, swap ? 0x8000 : 0, swap ? 0 : 0x8000, 0);
        EVERYWHERE(MIN, BFLOAT16, uint16_t, swap ? 0xffc1 : 0, swap ? 0 : 0xffc1, 0x7fc0);
    }
}

#define PAIRS(op, type, ctype, v, i, w, j, x, k) \
    do { \
        ctype left, right, result; \
        memset(&left, 0, sizeof left), memset(&right, 0, sizeof right), memset(&result, 0, \
            sizeof result); \
        left.value = v, left.index = i, right.value = w, right.index = j, result.value = x, \
            result.index = k; \
        everywhere(COLLOPT_##op, COLLOPT_##type, &left, &right, &result); \
    } while (0)

TEST(ties_go_to_the_lowest_index)
{
    PAIRS(MAXLOC, DOUBLE_INT, struct collopt_double_int, 3, 7, 3, 2, 3, 2);
    PAIRS(MINLOC, DOUBLE_INT, struct collopt_double_int, 3, -7, 3, 2, 3, -7);
    PAIRS(MAXLOC, FLOAT_INT, struct collopt_float_int, -0.0f, 5, 0, 6, -0.0f, 5);
    PAIRS(MINLOC, SHORT_INT, struct collopt_short_int, -1, 5, -1, 4, -1, 4);
    PAIRS(MAXLOC, 2INT, struct collopt_2int, INT32_MIN, INT32_MAX, INT32_MIN, INT32_MIN, INT32_MIN,
          INT32_MIN);
    PAIRS(MAXLOC, LONG_INT, struct collopt_long_int, 1L << 40, 1, 1, 0, 1L << 40, 1);
    PAIRS(MINLOC, LONG_DOUBLE_INT, struct collopt_long_double_int, 1, 3, 1, 2, 1, 2);
    PAIRS(MAXLOC, FLOAT_INT, struct collopt_float_int, INFINITY, 0, NAN, 9, NAN, 9);
    PAIRS(MINLOC, DOUBLE_INT, struct collopt_double_int, NAN, 8, NAN, 1, NAN, 1);
}

TEST(infinite_products)
{
    union {
        double part[2];
        double _Complex whole;
    } a = { { INFINITY, INFINITY } }, b = { { 1, 0 } }, d;
    char message[256];

    for (const struct collopt_isa *isa = collopt_isas; isa->name; isa++) {
        if (collopt_kernels_init(isa->name, message, sizeof message))
            continue;
        collopt_kernel(COLLOPT_PROD, COLLOPT_COMPLEX_DOUBLE)->combine(&d, &a, &b, 1);
        ck_assert_msg(isinf(d.part[0]) || isinf(d.part[1]), "(inf,inf) * 1 isa %s", isa->name);
    }
}

/* Operands that would count as zero, results that would be made zero, were the processor told to
 * flush: gcc's -ffast-math, when it links, tells every thread to. Compared with a reference of the
 * same process nobody would see it. */
TEST(subnormal_numbers_are_kept)
{
    EVERYWHERE(SUM, DOUBLE, double, 0x1p-1074, 0x1p-1074, 0x1p-1073);
    EVERYWHERE(SUM, DOUBLE, double, 0x1p-1023, 0x1p-1023, 0x1p-1022);
    EVERYWHERE(SUM, DOUBLE, double, 0x1p-1022, -0x1p-1074, 0x0.fffffffffffffp-1022);
    EVERYWHERE(PROD, DOUBLE, double, 0x1p-600, 0x1p-450, 0x1p-1050);
    EVERYWHERE(PROD, DOUBLE, double, 0x1p-1074, -0x1p60, -0x1p-1014);
    EVERYWHERE(MIN, DOUBLE, double, 0x1p-1073, 0x1p-1074, 0x1p-1074);
    EVERYWHERE(MAX, DOUBLE, double, 0x1p-1074, 0.0, 0x1p-1074);

    EVERYWHERE(SUM, FLOAT, float, 0x1p-149f, 0x1p-149f, 0x1p-148f);
    EVERYWHERE(SUM, FLOAT, float, 0x1p-127f, 0x1p-127f, 0x1p-126f);
    EVERYWHERE(SUM, FLOAT, float, 0x1p-126f, -0x1p-149f, 0x0.fffffep-126f);
    EVERYWHERE(PROD, FLOAT, float, 0x1p-70f, 0x1p-70f, 0x1p-140f);
    EVERYWHERE(PROD, FLOAT, float, 0x1p-149f, -0x1p30f, -0x1p-119f);
    EVERYWHERE(MIN, FLOAT, float, 0x1p-148f, 0x1p-149f, 0x1p-149f);
    EVERYWHERE(MAX, FLOAT, float, 0x1p-149f, 0.0f, 0x1p-149f);

    EVERYWHERE(SUM, FLOAT16, uint16_t, 0x0001, 0x0001, 0x0002);
    EVERYWHERE(SUM, FLOAT16, uint16_t, 0x0200, 0x0200, 0x0400);
    EVERYWHERE(SUM, FLOAT16, uint16_t, 0x0400, 0x8001, 0x03ff);
    EVERYWHERE(PROD, FLOAT16, uint16_t, 0x0400, 0x3800, 0x0200);        /* 2^-14 and a half */
    EVERYWHERE(PROD, FLOAT16, uint16_t, 0x0001, 0xe400, 0x8400);        /* 2^-24 and -2^10 */
    EVERYWHERE(SUM, BFLOAT16, uint16_t, 0x0001, 0x0001, 0x0002);
    EVERYWHERE(SUM, BFLOAT16, uint16_t, 0x0040, 0x0040, 0x0080);
    EVERYWHERE(SUM, BFLOAT16, uint16_t, 0x0080, 0x8001, 0x007f);
    EVERYWHERE(PROD, BFLOAT16, uint16_t, 0x0080, 0x3f00, 0x0040);       /* 2^-126 and a half */
    EVERYWHERE(PROD, BFLOAT16, uint16_t, 0x0001, 0xc480, 0x8200);       /* 2^-133 and -2^10 */

    EVERYWHERE(SUM, COMPLEX_DOUBLE, double _Complex, 0x1p-1074 - 0x1p-1022i, 0x1p-1074 + 0x1p-1074i,
               0x1p-1073 - 0x0.fffffffffffffp-1022i);
    EVERYWHERE(PROD, COMPLEX_DOUBLE, double _Complex, 0x1p-600 + 0x1p-601i, 0x1p-450,
               0x1p-1050 + 0x1p-1051i);
    EVERYWHERE(PROD, COMPLEX_DOUBLE, double _Complex, 0x1p-1074 + 0x1p-1073i, 0x1p60,
               0x1p-1014 + 0x1p-1013i);
    EVERYWHERE(SUM, COMPLEX_FLOAT, float _Complex, 0x1p-149f - 0x1p-126fi, 0x1p-149f + 0x1p-149fi,
               0x1p-148f - 0x0.fffffep-126fi);
    EVERYWHERE(PROD, COMPLEX_FLOAT, float _Complex, 0x1p-70f + 0x1p-71fi, 0x1p-70f,
               0x1p-140f + 0x1p-141fi);
    EVERYWHERE(PROD, COMPLEX_FLOAT, float _Complex, 0x1p-149f + 0x1p-148fi, 0x1p30f,
               0x1p-119f + 0x1p-118fi);
}

/* ---- tables ---- */

TEST(what_mpi_allows)
{
    ck_assert(collopt_valid(COLLOPT_SUM, COLLOPT_CLASS_COMPLEX));
    ck_assert(!collopt_valid(COLLOPT_MAX, COLLOPT_CLASS_COMPLEX));
    ck_assert(!collopt_valid(COLLOPT_SUM, COLLOPT_CLASS_BYTE));
    ck_assert(collopt_valid(COLLOPT_BXOR, COLLOPT_CLASS_BYTE));
    ck_assert(!collopt_valid(COLLOPT_LAND, COLLOPT_CLASS_FORTRAN_INTEGER));
    ck_assert(!collopt_valid(COLLOPT_LAND, COLLOPT_CLASS_MULTI_LANGUAGE));
    ck_assert(!collopt_valid(COLLOPT_BAND, COLLOPT_CLASS_LOGICAL));
    ck_assert(collopt_valid(COLLOPT_MINLOC, COLLOPT_CLASS_PAIR));
    ck_assert(!collopt_valid(COLLOPT_REPLACE, COLLOPT_CLASS_C_INTEGER));
    ck_assert(!collopt_valid(COLLOPT_OP_USER, COLLOPT_CLASS_C_INTEGER));
}

TEST(names_lead_back)
{
    for (enum collopt_op op = 0; op < COLLOPT_OP_USER; op++)
        ck_assert_int_eq(collopt_op_named(collopt_op_name(op)), op);
    for (enum collopt_type type = 0; type < COLLOPT_TYPE_NONE; type++)
        ck_assert_int_eq(collopt_type_named(collopt_type_name(type)), type);
    ck_assert_int_eq(collopt_op_named("average"), COLLOPT_OP_USER);
    ck_assert_int_eq(collopt_type_named("int7"), COLLOPT_TYPE_NONE);
    ck_assert_ptr_null(collopt_kernel(COLLOPT_SUM, COLLOPT_TYPE_NONE));
    ck_assert_ptr_null(collopt_kernel(COLLOPT_OP_USER, COLLOPT_INT32));
    ck_assert_ptr_null(collopt_kernel(COLLOPT_SUM, COLLOPT_BYTE));
}

/* ---- gaps ---- */

enum { PAIRS = 700 };

/* One type's gaps, counted up by a thread of their own while kernels write between them. */
struct owner {
    unsigned char *vector;
    size_t each, from, to;      /* of an element, and where in it a gap is */
    atomic_bool stop, seen;
    long lost;
};

static void *count_up(void *data)
{
    struct owner *o = data;

    for (unsigned char count = 1; !atomic_load(&o->stop); count++) {
        for (size_t e = 0; e < PAIRS; e++)
            for (size_t i = o->from; i < o->to; i++)
                ((volatile unsigned char *) o->vector)[e * o->each + i] = count;
        sched_yield();
        for (size_t e = 0; e < PAIRS; e++)
            for (size_t i = o->from; i < o->to; i++)
                o->lost += ((volatile unsigned char *) o->vector)[e * o->each + i] != count;
        atomic_store(&o->seen, true);
    }
    return NULL;
}

static const struct {
    enum collopt_type type;
    size_t from, to;
} gaps[] = {
    { COLLOPT_SHORT_INT, 2, 4 }, { COLLOPT_DOUBLE_INT, 12, 16 }, { COLLOPT_LONG_INT, 12, 16 },
    { COLLOPT_LONG_DOUBLE_INT, 20, 32 }
};

/* What is read and written back loses what the other thread wrote meanwhile. */
TEST(gaps_are_not_written)
{
    static const enum collopt_op ops[] = { COLLOPT_MINLOC, COLLOPT_MAXLOC, COLLOPT_REPLACE };
    static unsigned char vector[2][PAIRS * 32];

    for (const struct collopt_isa *isa = collopt_isas; isa->name; isa++)
        for (size_t g = 0; use(isa) && g < sizeof gaps / sizeof *gaps; g++) {
            size_t each = collopt_type_size(gaps[g].type);
            struct owner o = { .vector = vector[0],
                               .each = each,
                               .from = gaps[g].from,
                               .to = gaps[g].to };
            pthread_t thread;

            ck_assert_uint_ge(each, gaps[g].to);
            ck_assert_int_eq(pthread_create(&thread, NULL, count_up, &o), 0);
            for (long i = 0; i < 3000 || (!atomic_load(&o.seen) && i < 100000000); i++) {
                enum collopt_op op = ops[i % 3];

                for (size_t e = 0; e < PAIRS; e++)      /* either operand wins */
                    vector[1][e * each] = (unsigned char) (i + (long) e);
                collopt_far_from = i % 2 ? 4096 : SIZE_MAX;
                collopt_kernel(op, gaps[g].type)
                    ->combine(vector[0], vector[i % 5 != 0], vector[1], PAIRS - (size_t)i % 9);
            }
            atomic_store(&o.stop, true);
            pthread_join(thread, NULL);
            ck_assert_msg(o.lost == 0, "%s %s: %ld bytes in gaps were written", isa->name,
                          collopt_type_name(gaps[g].type), o.lost);
        }
}

/* ---- choice ---- */

/* Elements that all are 1, or the pair of 1 and 1. */
static void put_ones(char *at, enum collopt_type type, size_t n)
{
    size_t size = collopt_type_size(type);
    char one[32] = { 0 };

    switch (type) {
    case COLLOPT_FLOAT16: memcpy(one, &(uint16_t){ 0x3c00 }, 2); break;
    case COLLOPT_BFLOAT16: memcpy(one, &(uint16_t){ 0x3f80 }, 2); break;
    case COLLOPT_FLOAT: case COLLOPT_COMPLEX_FLOAT: memcpy(one, &(float){ 1 }, 4); break;
    case COLLOPT_DOUBLE: case COLLOPT_COMPLEX_DOUBLE: memcpy(one, &(double){ 1 }, 8); break;
    case COLLOPT_LONG_DOUBLE: case COLLOPT_COMPLEX_LONG_DOUBLE:
        memcpy(one, &(long double){ 1 }, sizeof(long double));
        break;
    case COLLOPT_FLOAT_INT: *(struct collopt_float_int *)(void *)one =
            (struct collopt_float_int){ 1, 1 }; break;
    case COLLOPT_DOUBLE_INT: *(struct collopt_double_int *)(void *)one =
            (struct collopt_double_int){ 1, 1 }; break;
    case COLLOPT_LONG_DOUBLE_INT: *(struct collopt_long_double_int *)(void *)one =
            (struct collopt_long_double_int){ 1, 1 }; break;
    case COLLOPT_2REAL: *(struct collopt_2real *)(void *)one = (struct collopt_2real){ 1, 1 };
        break;
    case COLLOPT_2DOUBLE: *(struct collopt_2double *)(void *)one =
            (struct collopt_2double){ 1, 1 }; break;
    default: one[0] = 1;
    }
    for (size_t i = 0; i < n; i++)
        memcpy(at + i * size, one, size);
}

/* Signalling NaNs of any size. */
static void put_nans(char *at, size_t bytes)
{
    static const unsigned char nan[8] = { 1, 0, 0xa0, 0x7f, 1, 0, 0xf4, 0x7f };

    for (size_t i = 0; i < bytes; i++)
        at[i] = (char)nan[i % sizeof nan];
}

enum { RAISING_MOST = 300, RAISING_ROOM = (RAISING_MOST + 16) * 32 };

static _Alignas(64) char ones[COLLOPT_FOLD_MAX][RAISING_ROOM], raised_to[RAISING_ROOM];

static void raises_nothing(const struct collopt_kernel *kernel, enum collopt_type type,
                           const char *isa, const char *op)
{
    static const size_t lengths[] = { 1, 2, 3, 7, 17, 33, 100, RAISING_MOST };
    const void *operands[COLLOPT_FOLD_MAX];

    for (int k = 2; k <= COLLOPT_FOLD_MAX; k++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            put_nans(raised_to, sizeof raised_to);
            for (int i = 0; i < k; i++) {
                put_nans(ones[i], sizeof ones[i]);
                put_ones(ones[i] + 32, type, lengths[l]);
                operands[i] = ones[i] + 32;
            }
            feclearexcept(FE_ALL_EXCEPT);
            kernel->fold(raised_to + 32, operands, k, lengths[l]);
            if (k == 2)
                kernel->combine(raised_to + 32, operands[0], operands[1], lengths[l]);
            ck_assert_msg(fetestexcept(FE_ALL_EXCEPT) == 0,
                          "%s: %s of %d vectors of %zu %s raises 0x%x", isa, op, k, lengths[l],
                          collopt_type_name(type), (unsigned)fetestexcept(FE_ALL_EXCEPT));
        }
}

/* Ones are combined without rounding, and what is around the vectors is not looked at: a program
 * may trap exceptions.  One test for each instruction set. */
TESTS(exact_data_raise_nothing, 0, isas())
{
    const struct collopt_isa *isa = &collopt_isas[_i];

    if (!use(isa))
        return;
    for (int i = 0; i < COMBINATIONS; i++) {
        enum collopt_op op = i / COLLOPT_TYPE_NONE;
        enum collopt_type type = i % COLLOPT_TYPE_NONE;

        if (collopt_kernel(op, type))
            raises_nothing(collopt_kernel(op, type), type, isa->name, collopt_op_name(op));
    }
    for (int type = 0; type < COLLOPT_TYPE_NONE; type++)
        if (collopt_exact_kernel((enum collopt_type)type))
            raises_nothing(collopt_exact_kernel((enum collopt_type)type), (enum collopt_type)type,
                           isa->name, "exact sum");
}

TEST(choice_of_instruction_set)
{
    struct collopt_processor here, without_f16c, without_fma, plain = { .near_cache = 0 };
    char message[256] = "";

    /* before any choice; tests run in processes of their own */
    ck_assert_str_eq(collopt_kernels_isa(), "generic");
    collopt_processor_detect(&here);
    ck_assert_int_eq(collopt_kernels_init(NULL, message, sizeof message), 0);
    ck_assert_str_eq(collopt_kernels_isa(), collopt_isa_best(&here)->name);

    ck_assert_int_eq(collopt_kernels_init("abacus", message, sizeof message), -1);
    ck_assert_msg(strstr(message, "abacus") && strstr(message, "generic"), "message: %s", message);
    ck_assert_str_eq(collopt_kernels_isa(), collopt_isa_best(&here)->name);

    ck_assert_int_eq(collopt_kernels_init("generic", message, sizeof message), 0);
    ck_assert_str_eq(collopt_kernels_isa(), "generic");

    /* a processor that has nothing, or 512-bit registers that the system does not save */
    const char *least = collopt_isa_best(&plain)->name;

    ck_assert(strcmp(least, "generic") == 0 || strcmp(least, "neon") == 0);
    here.avx512 = false;
    ck_assert_str_ne(collopt_isa_best(&here)->name, "avx512");
    without_f16c = without_fma = here;
    without_f16c.f16c = false;
    ck_assert_str_ne(collopt_isa_best(&without_f16c)->name, "avx2");
    without_fma.fma = false;
    ck_assert_str_ne(collopt_isa_best(&without_fma)->name, "avx2");
}

int main(void)
{
    tcase_set_timeout(suite_tests(), 0);
    return suite_run("kernels");
}
