/* The combine kernels of one instruction set: this file is compiled once for each, with its flags and its name
 * in COLLOPT_ISA.
 *
 * From below: the *_lane.h files give each operation on two values; LOOPS makes the loops over vectors of them, of two
 * and of four operands; combine() and fold() are built on those, once for all types; the table at the end has a
 * row for each combination in combos.h. */
#include <config.h>

#include "kernels.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#include "half.h"

#ifndef COLLOPT_ISA
#define COLLOPT_ISA generic
#endif

#define JOIN(a, b)   a##b
#define PASTE(a, b)  JOIN(a, b)

/* Lanes as they lie in the caller's memory: of any alignment, of any effective type. */
#define LOOSE __attribute__((aligned(1), may_alias))

typedef uint8_t  u8  LOOSE;
typedef uint16_t u16 LOOSE;
typedef uint32_t u32 LOOSE;
typedef uint64_t u64 LOOSE;
typedef int8_t   i8  LOOSE;
typedef int16_t  i16 LOOSE;
typedef int32_t  i32 LOOSE;
typedef int64_t  i64 LOOSE;
typedef uint16_t f16 LOOSE;
typedef uint16_t bf16 LOOSE;
typedef float    f32 LOOSE;
typedef double   f64 LOOSE;
typedef long double fl LOOSE;
typedef float _Complex       c32 LOOSE;
typedef double _Complex      c64 LOOSE;
typedef long double _Complex cl  LOOSE;

#define OF(op) op##_u8
#define LANE u8
#include "integer_lane.h"
#define OF(op) op##_u16
#define LANE u16
#include "integer_lane.h"
#define OF(op) op##_u32
#define LANE u32
#include "integer_lane.h"
#define OF(op) op##_u64
#define LANE u64
#include "integer_lane.h"
#define OF(op) op##_i8
#define LANE i8
#include "integer_lane.h"
#define OF(op) op##_i16
#define LANE i16
#include "integer_lane.h"
#define OF(op) op##_i32
#define LANE i32
#include "integer_lane.h"
#define OF(op) op##_i64
#define LANE i64
#include "integer_lane.h"

#define OF(op) op##_f32
#define LANE f32
#define BITS uint32_t
#include "real_lane.h"
#define OF(op) op##_f64
#define LANE f64
#define BITS uint64_t
#include "real_lane.h"

#define OF(op) op##_f16
#define LANE f16
#define WIDEN float16_widen
#define NARROW float16_narrow
#include "half_lane.h"
#define OF(op) op##_bf16
#define LANE bf16
#define WIDEN bfloat16_widen
#define NARROW bfloat16_narrow
#include "half_lane.h"

#define OF(op) op##_c32
#define LANE c32
#include "complex_lane.h"
#define OF(op) op##_c64
#define LANE c64
#include "complex_lane.h"
#define OF(op) op##_cl
#define LANE cl
#include "complex_lane.h"

static inline fl SUM_fl(fl a, fl b)  { return a + b; }
static inline fl PROD_fl(fl a, fl b) { return a * b; }

/* As in real_lane.h; here only the sign can be had as an integer. */
static inline fl MIN_fl(fl a, fl b)
{
    return isunordered(a, b) ? (fl) NAN : a < b || (a == b && signbit(a)) ? a : b;
}

static inline fl MAX_fl(fl a, fl b)
{
    return isunordered(a, b) ? (fl) NAN : a > b || (a == b && signbit(b)) ? a : b;
}

#define OF(op) op##_float_int
#define PAIR struct collopt_float_int
#define IS_NAN(x) isnan(x)
#include "pair_lane.h"
#define OF(op) op##_double_int
#define PAIR struct collopt_double_int
#define IS_NAN(x) isnan(x)
#include "pair_lane.h"
#define OF(op) op##_long_int
#define PAIR struct collopt_long_int
#define IS_NAN(x) 0
#include "pair_lane.h"
#define OF(op) op##_short_int
#define PAIR struct collopt_short_int
#define IS_NAN(x) 0
#include "pair_lane.h"
#define OF(op) op##_2int
#define PAIR struct collopt_2int
#define IS_NAN(x) 0
#include "pair_lane.h"
#define OF(op) op##_long_double_int
#define PAIR struct collopt_long_double_int
#define IS_NAN(x) isnan(x)
#include "pair_lane.h"
#define OF(op) op##_2real
#define PAIR struct collopt_2real
#define IS_NAN(x) isnan(x)
#include "pair_lane.h"
#define OF(op) op##_2double
#define PAIR struct collopt_2double
#define IS_NAN(x) isnan(x)
#include "pair_lane.h"

/* The loops of an operation on a lane. `size` is that of the lane. */
struct loops {
    void (*two)(void *dst, const void *const *from, size_t n);
    void (*four)(void *dst, const void *const *from, size_t n);
    size_t size;
};

#define TWO(op, lane) \
    static void op##_##lane##_two(void *dst, const void *const *from, size_t n) \
    { \
        const lane *a = from[0], *b = from[1]; \
        lane *d = dst; \
\
        _Pragma("omp simd") \
        for (size_t i = 0; i < n; i++) \
            d[i] = op##_##lane(a[i], b[i]); \
    }

#define FOUR(op, lane) \
    static void op##_##lane##_four(void *dst, const void *const *from, size_t n) \
    { \
        const lane *a = from[0], *b = from[1], *e = from[2], *f = from[3]; \
        lane *d = dst; \
\
        _Pragma("omp simd") \
        for (size_t i = 0; i < n; i++) \
            d[i] = op##_##lane(op##_##lane(op##_##lane(a[i], b[i]), e[i]), f[i]); \
    }

#define PAIR_TWO(op, lane) \
    static void op##_##lane##_two(void *dst, const void *const *from, size_t n) \
    { \
        const char *a = from[0], *b = from[1]; \
        char *d = dst; \
\
        for (size_t i = 0; i < n * sizeof(pair_##lane); i += sizeof(pair_##lane)) \
            put_##lane(d + i, op##_##lane(get_##lane(a + i), get_##lane(b + i))); \
    }

#define LOOPS(op, lane) \
    TWO(op, lane) \
    FOUR(op, lane) \
    static const struct loops op##_##lane##_loops = { op##_##lane##_two, op##_##lane##_four, sizeof(lane) };

#define PAIR_LOOPS(op, lane) \
    PAIR_TWO(op, lane) \
    static const struct loops op##_##lane##_loops = { op##_##lane##_two, NULL, sizeof(pair_##lane) };

#define UNSIGNED_LOOPS(lane) \
    LOOPS(SUM, lane) LOOPS(PROD, lane) LOOPS(MIN, lane) LOOPS(MAX, lane) LOOPS(LAND, lane) \
    LOOPS(LOR, lane) LOOPS(LXOR, lane) LOOPS(BAND, lane) LOOPS(BOR, lane) LOOPS(BXOR, lane)
#define SIGNED_LOOPS(lane) \
    LOOPS(MIN, lane) LOOPS(MAX, lane)
#define REAL_LOOPS(lane) \
    LOOPS(SUM, lane) LOOPS(PROD, lane) LOOPS(MIN, lane) LOOPS(MAX, lane)
#define PAIR_OPS(lane) \
    PAIR_LOOPS(MINLOC, lane) PAIR_LOOPS(MAXLOC, lane)

UNSIGNED_LOOPS(u8)
UNSIGNED_LOOPS(u16)
UNSIGNED_LOOPS(u32)
UNSIGNED_LOOPS(u64)
SIGNED_LOOPS(i8)
SIGNED_LOOPS(i16)
SIGNED_LOOPS(i32)
SIGNED_LOOPS(i64)
REAL_LOOPS(f16)
REAL_LOOPS(bf16)
REAL_LOOPS(f32)
REAL_LOOPS(f64)
REAL_LOOPS(fl)
LOOPS(PROD, c32)
LOOPS(PROD, c64)
LOOPS(PROD, cl)
PAIR_OPS(float_int)
PAIR_OPS(double_int)
PAIR_OPS(long_int)
PAIR_OPS(short_int)
PAIR_OPS(2int)
PAIR_OPS(long_double_int)
PAIR_OPS(2real)
PAIR_OPS(2double)

/* n in lanes, here and below */
static inline void combine(const struct loops *loops, void *dst, const void *left, const void *right, size_t n)
{
    loops->two(dst, (const void *[]) { left, right }, n);
}

/* All operands of one strip: partial results stay in the first-level cache, in a strip of their own because dst
 * may be an operand that is still to be read. */
static void fold_strip(const struct loops *loops, void *dst, const void *const *operands, int k, size_t n)
{
    _Alignas(64) char partial[4096];
    const void *from[4] = { operands[0] };

    for (int done = 1; done < k; from[0] = partial) {
        int take = loops->four && k - done >= 3 ? 3 : 1;
        void *to = done + take == k ? dst : partial;

        for (int i = 0; i < take; i++)
            from[1 + i] = operands[done++];
        (take == 3 ? loops->four : loops->two)(to, from, n);
    }
}

static void fold(const struct loops *loops, void *dst, const void *const *operands, int k, size_t n)
{
    const size_t strip = 4096 / loops->size;

    for (size_t at = 0; at < n; at += strip) {
        size_t offset = at * loops->size;
        const void *here[COLLOPT_FOLD_MAX];

        for (int i = 0; i < k; i++)
            here[i] = (const char *) operands[i] + offset;
        fold_strip(loops, (char *) dst + offset, here, k, n - at < strip ? n - at : strip);
    }
}

#define KERNEL(op, type, lane, lanes) \
    static void combine_##op##_##type(void *dst, const void *left, const void *right, size_t n) \
    { \
        combine(&op##_##lane##_loops, dst, left, right, n * lanes); \
    } \
\
    static void fold_##op##_##type(void *dst, const void *const *operands, int k, size_t n) \
    { \
        fold(&op##_##lane##_loops, dst, operands, k, n * lanes); \
    }

COLLOPT_KERNELS(KERNEL)

#define ROW(op, type, lane, lanes) [COLLOPT_##op][COLLOPT_##type] = { combine_##op##_##type, fold_##op##_##type },

extern const collopt_kernel_table PASTE(collopt_kernels_, COLLOPT_ISA);

const collopt_kernel_table PASTE(collopt_kernels_, COLLOPT_ISA) = {
    COLLOPT_KERNELS(ROW)
};
