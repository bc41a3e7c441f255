/* The combine kernels of one instruction set: this file is compiled once for each, with its flags,
 * and its name in COLLOPT_ISA.
 *
 * From the top: the *_lane.h and *_pair.h files say what each operation does to two values; LOOPS
 * makes loops over vectors of two, four and eight operands of it; vector_combine() builds the rest
 * on these loops, once for all types; the table at the end has a row for each combination in
 * combos.h. */
#include "config.h"

#include "kernels/isa.h"
#include "kernels/kernels.h"
#include "kernels/superaccumulator.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "half.h"

#if defined __SSE2__
#include <immintrin.h>
#elif defined __aarch64__
#include <arm_neon.h>
#endif

#ifndef COLLOPT_ISA
#define COLLOPT_ISA generic
#endif

/* long double is the 80-bit one, in 16 bytes */
#if LDBL_MANT_DIG == 64 && defined __LP64__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define EXTENDED 1
#endif

#define JOIN(a, b)   a##b
#define PASTE(a, b)  JOIN(a, b)

/* ---- lanes: what lies in the caller's memory, of any alignment and any effective type ---- */

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

/* ---- operations on two values ---- */

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
#define INFINITE 0x7c00
#define HALF_NAN 0x7e00
#include "half_lane.h"
#define OF(op) op##_bf16
#define LANE bf16
#define WIDEN bfloat16_widen
#define NARROW bfloat16_narrow
#define INFINITE 0x7f80
#define HALF_NAN 0x7fc0
#include "half_lane.h"

static inline fl SUM_fl(fl a, fl b)  { return a + b; }
static inline fl PROD_fl(fl a, fl b) { return a * b; }

#ifndef EXTENDED
/* As in real_lane.h, without vectors: the usual result first; it stands unless it may be a zero or
 * hide a NaN. */
static inline fl MIN_fl(fl a, fl b)
{
    fl low = a < b ? a : b;

    if (islessgreater(low, 0) && !isnan(a))
        return low;
    return isunordered(a, b) ? (fl) NAN : a == b && signbit(a) ? a : low;
}

static inline fl MAX_fl(fl a, fl b)
{
    fl high = a > b ? a : b;

    if (islessgreater(high, 0) && !isnan(a))
        return high;
    return isunordered(a, b) ? (fl) NAN : a == b && signbit(b) ? a : high;
}
#endif

/* ---- lines of a cache ---- */

enum {
    LINE  = 64,
    AHEAD = 2048    /* distance in bytes at which operands in memory are prefetched */
};

static inline void ask(const void *near)
{
    __builtin_prefetch((const char *) near + AHEAD);
}

/* Writing past the caches, a line at a time. Not on aarch64: its cores stop fetching what is
 * overwritten by themselves when they see line after line written. */
#if defined __AVX512F__
#define VECTOR_BYTES 64
#define STREAM(to, from) _mm512_stream_si512((void *) (to), _mm512_loadu_si512(from))
#elif defined __AVX__
#define VECTOR_BYTES 32
# define STREAM(to, from) \
        _mm256_stream_si256((void *)(to), _mm256_loadu_si256((const void *)(from)))
#elif defined __SSE2__
#define VECTOR_BYTES 16
#define STREAM(to, from) _mm_stream_si128((void *) (to), _mm_loadu_si128((const void *) (from)))
#endif

#ifdef STREAM
enum { STREAMS = true };

static inline void stream_line(char *to, const char *from)
{
    for (size_t part = 0; part < LINE; part += VECTOR_BYTES)
        STREAM(to + part, from + part);
}

static inline void stream_end(void) { _mm_sfence(); }
#else
enum { STREAMS = false };

static inline void stream_line(char *to, const char *from) { memcpy(to, from, LINE); }
static inline void stream_end(void) { }
#endif

/* ---- loops over vectors ---- */

/* short vectors are gone through in the kernel itself: without, 2 ns more for a few doubles */
#define INLINE static inline __attribute__((always_inline))

/* dst = from[0] op from[1] ..., n lanes */
typedef void loop(void *dst, const void *const *from, size_t n);
/* has dst, one of from, what two() makes it? */
typedef bool look(const void *dst, const void *const *from, size_t n);

/* The loops of one operation on one lane. Those of four and eight operands may be missing. Loops
 * that stream need whole lines of dst and prefetch their operands; they may be missing too. */
struct loops {
    loop *two, *four, *eight;
    loop *stream_two, *stream_four, *stream_eight;
    look *stays;     /* may be missing */
    size_t size;     /* of a lane */
    bool solid;      /* all bytes of a lane are its value */
    bool slow;       /* arithmetic takes longer than memory */
};

#define OPERANDS_two(lane)    const lane *a = from[0], *b = from[1];
#define OPERANDS_four(lane)   OPERANDS_two(lane) const lane *c = from[2], *d = from[3];
#define OPERANDS_eight(lane) \
    OPERANDS_four(lane) const lane *e = from[4], *f = from[5], *g = from[6], *h = from[7];
#define VALUE_two(op, lane, i)   op##_##lane(a[i], b[i])
#define VALUE_four(op, lane, i)  op##_##lane(op##_##lane(VALUE_two(op, lane, i), c[i]), d[i])
#define VALUE_eight(op, lane, i) \
    op##_##lane(op##_##lane(op##_##lane(op##_##lane(VALUE_four(op, lane, i), e[i]), f[i]), g[i]), \
                h[i])
#define ASK_two    ask(a + at), ask(b + at)
#define ASK_four   ASK_two, ask(c + at), ask(d + at)
#define ASK_eight  ASK_four, ask(e + at), ask(f + at), ask(g + at), ask(h + at)

#define LOOP(op, lane, name) \
    INLINE void op##_##lane##_##name(void *dst, const void *const *from, size_t n) \
    { \
        OPERANDS_##name(lane) \
        lane *to = dst; \
        _Pragma("omp simd") \
        for (size_t i = 0; i < n; i++) \
            to[i] = VALUE_##name(op, lane, i); \
    }

#define LOOP_STREAM(op, lane, name) \
    static void op##_##lane##_stream_##name(void *dst, const void *const *from, size_t n) \
    { \
        enum { LANES = LINE / sizeof(lane) }; \
        OPERANDS_##name(lane) \
        for (size_t at = 0; at < n; at += LANES) { \
            _Alignas(LINE) char line[LINE]; \
            ASK_##name; \
            _Pragma("omp simd") \
            for (size_t i = 0; i < LANES; i++) \
                ((lane *) line)[i] = VALUE_##name(op, lane, at + i); \
            stream_line((char *) dst + at * sizeof(lane), line); \
        } \
    }

/* long double, which no vector holds */
#define LOOP_SCALAR(op, lane) \
    INLINE void op##_##lane##_two(void *dst, const void *const *from, size_t n) \
    { \
        const lane *a = from[0], *b = from[1]; \
        lane *d = dst; \
        _Pragma("GCC unroll 4") \
        for (size_t i = 0; i < n; i++) \
            d[i] = op##_##lane(a[i], b[i]); \
    }

/* Pairs as the program declares them, field by field because the padding is the caller's. */
#define LOOP_PAIR(op, lane) \
    static void op##_##lane##_two(void *dst, const void *const *from, size_t n) \
    { \
        const char *a = from[0], *b = from[1]; \
        char *d = dst; \
        for (size_t i = 0; i < n * sizeof(pair_##lane); i += sizeof(pair_##lane)) \
            put_##lane(d + i, op##_##lane(a + i, b + i)); \
    }

/* Pairs as words, and 80-bit reals, whose padding counts as theirs: it is first taken from dst. */
#define LOOP_WORDS(op, lane, word) \
    INLINE void op##_##lane##_two(void *dst, const void *const *from, size_t n) \
    { \
        const word *a = from[0], *b = from[1]; \
        word *d = dst; \
        _Pragma("omp simd") \
        for (size_t i = 0; i < n; i++) \
            d[i] = keep_##lane(d[i], op##_##lane(a[i], b[i])); \
    }

#define LOOK_WORDS(op, lane, word) \
    static bool op##_##lane##_stays(const void *dst, const void *const *from, size_t n) \
    { \
        const word *a = from[0], *b = from[1], *d = dst; \
        u64 changed = 0; \
        _Pragma("omp simd reduction(|:changed)") \
        for (size_t i = 0; i < n; i++) \
            changed |= difference_##lane(d[i], keep_##lane(d[i], op##_##lane(a[i], b[i]))); \
        return changed == 0; \
    }

/* Pairs with gaps, as words.  Gaps are not written, not even with what they hold: they may be
 * another thread's.  So results are made in strips, and put_LANE() stores their fields.  Between
 * elements gaps are read along; behind the last one the memory may end, so its fields are loaded
 * one by one. */
enum { STRIP = 64 };            /* pairs */

#define LOOP_GAPS(op, lane, word) \
    static void op##_##lane##_two(void *dst, const void *const *from, size_t n) \
    { \
        _Alignas(LINE) word strip[STRIP]; \
        const word *a = from[0], *b = from[1]; \
        word *d = dst; \
\
        for (size_t at = 0, some; at + 1 < n; at += some) { \
            some = n - 1 - at < STRIP ? n - 1 - at : STRIP; \
            _Pragma("omp simd") \
            for (size_t i = 0; i < some; i++) \
                strip[i] = op##_##lane(a[at + i], b[at + i]); \
            put_##lane(d + at, strip, some); \
        } \
        if (n > 0) \
            put_one_##lane(d + n - 1, op##_##lane(get_##lane(a + n - 1), get_##lane(b + n - 1))); \
    }

#define LOOK_GAPS(op, lane, word) \
    static bool op##_##lane##_stays(const void *dst, const void *const *from, size_t n) \
    { \
        const word *a = from[0], *b = from[1], *d = dst; \
        u64 changed = 0; \
        _Pragma("omp simd reduction(|:changed)") \
        for (size_t i = 0; i < n - 1; i++) \
            changed |= difference_##lane(d[i], keep_##lane(d[i], op##_##lane(a[i], b[i]))); \
        return changed == 0 \
            && !difference_##lane(get_##lane(d + n - 1), \
                                  op##_##lane(get_##lane(a + n - 1), get_##lane(b + n - 1))); \
    }

#define LOOPS_ROW(op, lane, size) \
    static const struct loops op##_##lane##_loops = { \
        op##_##lane##_two, op##_##lane##_four, op##_##lane##_eight, \
        op##_##lane##_stream_two, op##_##lane##_stream_four, op##_##lane##_stream_eight, \
        NULL, size, true, false \
    };

#define LOOPS_ROW_OF_PICK(op, lane, stays, size, solid) \
    static const struct loops op##_##lane##_loops = { \
        op##_##lane##_two, NULL, NULL, NULL, NULL, NULL, stays, size, solid, false \
    };
#define LOOPS_ROW_OF_TWO(op, lane, size, solid) LOOPS_ROW_OF_PICK(op, lane, NULL, size, solid)

#define LOOPS_OF(op, lane) \
    LOOP(op, lane, two)        LOOP(op, lane, four)        LOOP(op, lane, eight) \
    LOOP_STREAM(op, lane, two) LOOP_STREAM(op, lane, four) LOOP_STREAM(op, lane, eight)
#define LOOPS(op, lane) LOOPS_OF(op, lane) LOOPS_ROW(op, lane, sizeof(lane))
#define INTEGER_LOOPS(lane) \
    LOOPS(SUM, lane)  LOOPS(LAND, lane) LOOPS(LOR, lane)  LOOPS(LXOR, lane) \
    LOOPS(BAND, lane) LOOPS(BOR, lane)  LOOPS(BXOR, lane) LOOPS(MIN, lane) LOOPS(MAX, lane)
#define PAIR_LOOPS(lane) \
    LOOP_PAIR(MINLOC, lane) LOOPS_ROW_OF_TWO(MINLOC, lane, sizeof(pair_##lane), false) \
    LOOP_PAIR(MAXLOC, lane) LOOPS_ROW_OF_TWO(MAXLOC, lane, sizeof(pair_##lane), false)
#define WORD_LOOPS(lane, word, solid) \
    WORD_LOOPS_OF(MINLOC, lane, word, solid) WORD_LOOPS_OF(MAXLOC, lane, word, solid)
#define WORD_LOOPS_OF(op, lane, word, solid) \
    LOOP_WORDS(op, lane, word) LOOK_WORDS(op, lane, word) \
    LOOPS_ROW_OF_PICK(op, lane, op##_##lane##_stays, sizeof(word), solid)
#define GAP_LOOPS(lane, word)  GAP_LOOPS_OF(MINLOC, lane, word) GAP_LOOPS_OF(MAXLOC, lane, word)
#define GAP_LOOPS_OF(op, lane, word) \
    LOOP_GAPS(op, lane, word) LOOK_GAPS(op, lane, word) \
    LOOPS_ROW_OF_PICK(op, lane, op##_##lane##_stays, sizeof(word), false)

INTEGER_LOOPS(u8)
INTEGER_LOOPS(u16)
INTEGER_LOOPS(u32)
INTEGER_LOOPS(u64)
LOOPS(PROD, u16)
LOOPS(PROD, u32)
LOOPS(PROD, u64)
LOOPS(MIN, i8)
LOOPS(MAX, i8)
LOOPS(MIN, i16)
LOOPS(MAX, i16)
LOOPS(MIN, i32)
LOOPS(MAX, i32)
LOOPS(MIN, i64)
LOOPS(MAX, i64)

/* No processor multiplies bytes: two at a time, as the halves of a 16-bit product. The last of an
 * odd number is multiplied alone. */
typedef u16 u8x2;

static inline u8x2 PROD_u8x2(u8x2 a, u8x2 b)
{
    return (1u * a * b & 0x00ff) | (a >> 8) * (b & 0xff00u);
}

LOOPS_OF(PROD, u8x2)

static void last_u8(void *dst, const void *const *from, int k, size_t n)
{
    u8 product = 1;

    if (n % 2 == 0)
        return;
    for (int j = 0; j < k; j++)
        product *= ((const u8 *) from[j])[n - 1];
    ((u8 *) dst)[n - 1] = product;
}

#define LOOP_U8(name, k) \
    static void PROD_u8_##name(void *dst, const void *const *from, size_t n) \
    { \
        last_u8(dst, from, k, n); \
        PROD_u8x2_##name(dst, from, n / 2); \
    }

LOOP_U8(two, 2)
LOOP_U8(four, 4)
LOOP_U8(eight, 8)
LOOP_U8(stream_two, 2)
LOOP_U8(stream_four, 4)
LOOP_U8(stream_eight, 8)
LOOPS_ROW(PROD, u8, sizeof(u8))

/* ---- reals ---- */

LOOPS(SUM, f32)
LOOPS(SUM, f64)
LOOPS(PROD, f32)
LOOPS(PROD, f64)

#if defined __SSE2__
#include "vectors_x86.h"
VECTOR_LOOPS(MIN, f32)
VECTOR_LOOPS(MIN, f64)
VECTOR_LOOPS(MAX, f32)
VECTOR_LOOPS(MAX, f64)
#else
LOOPS(MIN, f32)
LOOPS(MIN, f64)
LOOPS(MAX, f32)
LOOPS(MAX, f64)
#endif

#if defined __AVX2__
VECTOR_LOOPS(SUM, f16)
VECTOR_LOOPS(PROD, f16)
#else
#ifdef __clang__                /* leaves these two to the scalar unit, and says so */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
LOOPS(SUM, f16)
LOOPS(PROD, f16)
#ifdef __clang__
#pragma clang diagnostic pop
#endif
#endif
LOOPS(SUM, bf16)
LOOPS(PROD, bf16)
LOOP(MIN, f16, two)
LOOP(MAX, f16, two)
LOOP(MIN, bf16, two)
LOOP(MAX, bf16, two)
LOOPS_ROW_OF_TWO(MIN, f16, sizeof(f16), true)
LOOPS_ROW_OF_TWO(MAX, f16, sizeof(f16), true)
LOOPS_ROW_OF_TWO(MIN, bf16, sizeof(bf16), true)
LOOPS_ROW_OF_TWO(MAX, bf16, sizeof(bf16), true)

#define SCALAR_ROW(op, lane) \
    static const struct loops op##_##lane##_loops = { \
        op##_##lane##_two, NULL, NULL, NULL, NULL, NULL, NULL, sizeof(lane), false, true \
    };
#define SCALAR_LOOPS(op, lane) LOOP_SCALAR(op, lane) SCALAR_ROW(op, lane)

SCALAR_LOOPS(SUM, fl)
SCALAR_LOOPS(PROD, fl)

#ifdef EXTENDED
#include "long_lane.h"
LOOP_WORDS(MIN, extended, struct extended)
LOOP_WORDS(MAX, extended, struct extended)
LOOPS_ROW_OF_TWO(MIN, extended, sizeof(fl), false)
LOOPS_ROW_OF_TWO(MAX, extended, sizeof(fl), false)
#define MIN_fl_two MIN_extended_two
#define MAX_fl_two MAX_extended_two
#define MIN_fl_loops MIN_extended_loops
#define MAX_fl_loops MAX_extended_loops
#else
SCALAR_LOOPS(MIN, fl)
SCALAR_LOOPS(MAX, fl)
#endif

/* ---- products of complex numbers ---- */

#define OF(op) op##_c32
#define COMPLEX c32
#define REAL f32
#if defined __SSE2__
#define VECTOR(of) of##_f32
#endif
#include "complex_lane.h"
#define OF(op) op##_c64
#define COMPLEX c64
#define REAL f64
#if defined __SSE2__
#define VECTOR(of) of##_f64
#endif
#include "complex_lane.h"

static void __attribute__((noinline, cold)) PROD_cl_again(cl *d, const cl *a, const cl *b)
{
    *d = *a * *b;
}

/* C asks for more than the plain formula only where both parts are NaN.  In that case the operands
 * are loaded again: the loop then need not keep them on the register stack. */
static void PROD_cl_two(void *dst, const void *const *from, size_t n)
{
    const fl *a = from[0], *b = from[1];
    fl *d = dst;

    _Pragma("GCC unroll 1")
    for (size_t i = 0; i < 2 * n; i += 2) {
        long double re = a[i] * b[i] - a[i + 1] * b[i + 1], im = a[i] * b[i + 1] + a[i + 1] * b[i];

        if (__builtin_expect(isnan(re), 0)) {
            PROD_cl_again((cl *) (d + i), (const cl *) (a + i), (const cl *) (b + i));
        } else {
            d[i] = re;
            d[i + 1] = im;
        }
    }
}

LOOPS_ROW_OF_TWO(PROD, c32, sizeof(c32), true)
LOOPS_ROW_OF_TWO(PROD, c64, sizeof(c64), true)
SCALAR_ROW(PROD, cl)

/* ---- pairs ---- */

/* REPLACE of pairs that are taken field by field */
#define REPLACE_PAIRS(lane) \
    static inline const char *REPLACE_##lane(const char *left, const char *right) \
    { \
        (void) left; \
        return right; \
    } \
    LOOP_PAIR(REPLACE, lane) LOOPS_ROW_OF_TWO(REPLACE, lane, sizeof(pair_##lane), false)

#if defined __LP64__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

/* The float in the upper half of `word` as an integer; the lower half is zero. Sign and magnitude
 * become two's complement, in which both zeros are one. */
static inline int64_t float_order(uint64_t word, int64_t nan)
{
    int64_t sign = (int64_t) word >> 63, magnitude = word & INT64_MAX;

    return magnitude > INT64_C(0x7f800000) << 32 ? nan & ~INT64_C(0xffffffff)
                                                 : (magnitude ^ sign) - sign;
}

#define OF(op) op##_float_int
#define VALUE(word, nan) float_order((word) << 32, nan)
#define ORDER(word)      (int64_t) ((word) >> 32 ^ 0x80000000)
#define PADDING UINT64_C(0)
#include "word_pair.h"
#define OF(op) op##_2int
#define VALUE(word, nan) (int64_t) ((word) << 32)
#define ORDER(word)      (int64_t) ((word) >> 32 ^ 0x80000000)
#define PADDING UINT64_C(0)
#include "word_pair.h"
#define OF(op) op##_short_int
#define VALUE(word, nan) (int64_t) ((word) << 48)
#define ORDER(word)      (int64_t) ((word) >> 32 ^ 0x80000000)
#define PADDING UINT64_C(0xffff0000)
#include "word_pair.h"
#define OF(op) op##_2real
#define VALUE(word, nan) float_order((word) << 32, nan)
#define ORDER(word) \
    (int64_t) ((uint64_t) float_order((word) & ~UINT64_C(0xffffffff), INT64_MAX) >> 32 ^ 0x80000000)
#define PADDING UINT64_C(0)
#include "word_pair.h"

struct words { i64 first, second; };

static inline double as_double(int64_t word)
{
    double x;

    memcpy(&x, &word, sizeof x);
    return x;
}

#define INDEX_INT(word)  (int64_t) ((uint64_t) (word) << 32)
#define NEVER(value)     false

#define OF(op) op##_double_int
#define VALUE as_double
#define INDEX INDEX_INT
#define IS_NAN isnan
#define PADDING ~INT64_C(0xffffffff)
#include "wide_pair.h"
#define OF(op) op##_long_int
#define VALUE
#define INDEX INDEX_INT
#define IS_NAN NEVER
#define PADDING ~INT64_C(0xffffffff)
#include "wide_pair.h"
#define OF(op) op##_2double
#define VALUE as_double
#define INDEX as_double
#define IS_NAN isnan
#define PADDING INT64_C(0)
#include "wide_pair.h"

/* The fields of one pair, and nothing else, as a word; and the fields of n pairs from words to
 * words, whose gaps are neither read nor written. */
static inline u64 get_short_int(const u64 *from)
{
    const char *p = (const char *) from;

    return *(const u16 *) p | (u64) *(const u32 *) (p + 4) << 32;
}

static inline struct words get_words(const struct words *from)
{
    return (struct words) { from->first, *(const i32 *) &from->second };
}

static inline void put_one_short_int(u64 *to, u64 pair)
{
    *(u16 *) to = (u16) pair;
    ((u32 *) to)[1] = (u32) (pair >> 32);
}

static inline void put_one_words(struct words *to, struct words pair)
{
    to->first = pair.first;
    *(i32 *) &to->second = (i32) pair.second;
}

#if defined __AVX512BW__
/* MASK: of 16-bit or 32-bit words, those that are fields. */
#define PUT(name, word, BITS, MASK) \
    static inline void put_##name(word *to, const word *from, size_t n) \
    { \
        enum { PAIRS = 64 / sizeof(word), EACH = 512 / BITS / PAIRS }; \
        const uint64_t fields = UINT64_C(MASK); \
        size_t i = 0; \
\
        for (; i + PAIRS <= n; i += PAIRS) \
            _mm512_mask_storeu_epi##BITS(to + i, fields, \
                                         _mm512_maskz_loadu_epi##BITS(fields, from + i)); \
        if (i < n) { \
            uint64_t left = fields & ((UINT64_C(1) << EACH * (n - i)) - 1); \
            _mm512_mask_storeu_epi##BITS(to + i, left, \
                                         _mm512_maskz_loadu_epi##BITS(left, from + i)); \
        } \
    }

PUT(short_int, u64, 16, 0xdddddddd)
PUT(words, struct words, 32, 0x7777)
#else
static inline void put_short_int(u64 *to, const u64 *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_one_short_int(to + i, get_short_int(from + i));
}

static inline void put_words(struct words *to, const struct words *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_one_words(to + i, get_words(from + i));
}
#endif

#define get_double_int     get_words
#define put_double_int     put_words
#define put_one_double_int put_one_words
#define get_long_int       get_words
#define put_long_int       put_words
#define put_one_long_int   put_one_words

WORD_LOOPS(float_int, u64, true)
WORD_LOOPS(2int, u64, true)
GAP_LOOPS(short_int, u64)
GAP_LOOPS(double_int, struct words)
GAP_LOOPS(long_int, struct words)

/* REPLACE: the right pair, whatever the left one is. */
#define REPLACE_GAPS(lane, word) \
    static void REPLACE_##lane##_two(void *dst, const void *const *from, size_t n) \
    { \
        put_##lane(dst, from[1], n); \
    } \
    LOOPS_ROW_OF_TWO(REPLACE, lane, sizeof(word), false)

REPLACE_GAPS(short_int, u64)
REPLACE_GAPS(double_int, struct words)
REPLACE_GAPS(long_int, struct words)

#ifdef EXTENDED
static inline struct long_double_words get_long_double_int(const struct long_double_words *from)
{
    return (struct long_double_words){ from->digits, *(const u16 *)&from->rest,
                                       *(const i32 *)&from->index, 0 };
}

static inline void put_one_long_double_int(struct long_double_words *to,
                                           struct long_double_words pair)
{
    to->digits = pair.digits;
    *(u16 *) &to->rest = (u16) pair.rest;
    *(i32 *) &to->index = (i32) pair.index;
}

#if defined __AVX512BW__
PUT(long_double_int, struct long_double_words, 16, 0x031f031f)
#else
static inline void put_long_double_int(struct long_double_words *to,
                                       const struct long_double_words *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_one_long_double_int(to + i, get_long_double_int(from + i));
}
#endif
#endif

#if defined __AVX512BW__ && defined EXTENDED
#include "pairs_avx512.h"
LOOPS_ROW_OF_PICK(MINLOC, 2real, MINLOC_2real_stays, sizeof(u64), true)
LOOPS_ROW_OF_PICK(MAXLOC, 2real, MAXLOC_2real_stays, sizeof(u64), true)
LOOPS_ROW_OF_PICK(MINLOC, 2double, MINLOC_2double_stays, sizeof(struct words), true)
LOOPS_ROW_OF_PICK(MAXLOC, 2double, MAXLOC_2double_stays, sizeof(struct words), true)
LOOPS_ROW_OF_PICK(MINLOC, long_double_int, MINLOC_long_double_int_stays,
                  sizeof(struct long_double_words), false)
LOOPS_ROW_OF_PICK(MAXLOC, long_double_int, MAXLOC_long_double_int_stays,
                  sizeof(struct long_double_words), false)
REPLACE_GAPS(long_double_int, struct long_double_words)
#define LONG_DOUBLE_PAIRS
#else
WORD_LOOPS(2real, u64, true)
WORD_LOOPS(2double, struct words, true)
#endif

#else

#define OF(op) op##_float_int
#define PAIR struct collopt_float_int
#define IS_NAN isnan
#include "pair_lane.h"
#define OF(op) op##_double_int
#define PAIR struct collopt_double_int
#define IS_NAN isnan
#include "pair_lane.h"
#define OF(op) op##_long_int
#define PAIR struct collopt_long_int
#define IS_NAN(value) false
#include "pair_lane.h"
#define OF(op) op##_short_int
#define PAIR struct collopt_short_int
#define IS_NAN(value) false
#include "pair_lane.h"
#define OF(op) op##_2int
#define PAIR struct collopt_2int
#define IS_NAN(value) false
#include "pair_lane.h"
#define OF(op) op##_2real
#define PAIR struct collopt_2real
#define IS_NAN isnan
#include "pair_lane.h"
#define OF(op) op##_2double
#define PAIR struct collopt_2double
#define IS_NAN isnan
#include "pair_lane.h"

PAIR_LOOPS(float_int)
PAIR_LOOPS(2int)
PAIR_LOOPS(short_int)
PAIR_LOOPS(2real)
PAIR_LOOPS(double_int)
PAIR_LOOPS(long_int)
PAIR_LOOPS(2double)

REPLACE_PAIRS(short_int)
REPLACE_PAIRS(double_int)
REPLACE_PAIRS(long_int)

#endif

#ifndef LONG_DOUBLE_PAIRS
#ifdef EXTENDED
GAP_LOOPS(long_double_int, struct long_double_words)
REPLACE_GAPS(long_double_int, struct long_double_words)
#else
#define OF(op) op##_long_double_int
#define PAIR struct collopt_long_double_int
#define IS_NAN isnan
#include "pair_lane.h"
PAIR_LOOPS(long_double_int)
REPLACE_PAIRS(long_double_int)
#endif
#endif

/* ---- vectors too long for the caches ---- */

enum {
    PARTIAL = 4096,    /* bytes of partial results, which stay in the first-level cache */
    WRITTEN = 8,       /* strips that are written without a comparison after one that differed */
    RESULT  = 512      /* bytes of results on their way past the caches */
};

/* Prefetches what lies AHEAD of the bytes at OFFSET. */
static inline void ask_all(const void *const *operands, int k, size_t offset, size_t bytes)
{
    for (int j = 0; j < k; j++)
        for (size_t at = 0; at < bytes; at += LINE)
            ask((const char *) operands[j] + offset + at);
}

/* Writes whole lines past the caches, and what lies before and after them by memcpy(). */
static void stream(char *to, const char *from, size_t bytes)
{
    size_t head = -(uintptr_t) to % LINE, at;

    if (head > bytes)
        head = bytes;
    memcpy(to, from, head);
    for (at = head; at + LINE <= bytes; at += LINE)
        stream_line(to + at, from + at);
    memcpy(to + at, from + at, bytes - at);
}

/* dst = operands[0] op ... op operands[k-1] for at most PARTIAL bytes. Intermediate results
 * go to a place of their own: dst may be an operand that is still to be read. */
static inline void strip_combine(const struct loops *loops, void *dst, const void *const *operands,
                                 int k, size_t n)
{
    _Alignas(LINE) char partial[PARTIAL];
    const void *from[COLLOPT_FOLD_MAX] = { operands[0] };

    for (int done = 1; done < k; from[0] = partial) {
        int left = k - done,
            take = loops->eight && left >= 7 ? 7
            : loops->four && left >= 3       ? 3
                                             : 1;
        void *to = take == left ? dst : partial;

        for (int j = 1; j <= take; j++)
            from[j] = operands[done++];
        (take == 7 ? loops->eight : take == 3 ? loops->four : loops->two)(to, from, n);
    }
}

static bool apart(const void *dst, const void *const *operands, int k)
{
    for (int j = 0; j < k; j++)
        if (operands[j] == dst)
            return false;
    return true;
}

/* How a vector is gone through. Measured on a server core (doc/kernels.md): streaming saves the
 * fetching of what is overwritten, 15 to 30 %. Asking for operands in advance helps a result in
 * place, 5 to 15 %, and together with streaming, if they lie in memory; in the last-level cache
 * it costs 3 %, with pairs of 16 bytes and more 20 %. In place, if the result is one of two
 * operands, a strip that would not change is not written: lines that are only read need not go
 * back to memory. Sorted pairs become a quarter faster, random ones are as fast as before. */
enum way { PLAIN, LOOKING, ADVANCE, STREAMING };

static inline enum way choose(const struct loops *loops, const void *dst,
                              const void *const *operands, int k, size_t n)
{
    size_t bytes = n * loops->size;

    if (bytes * k <= collopt_far_from || loops->slow)
        return PLAIN;
    if (!apart(dst, operands, k))
        return bytes * k > collopt_stream_from ? ADVANCE : loops->stays ? LOOKING : PLAIN;
    return STREAMS && collopt_stream_from && bytes * (k + 1) >= collopt_stream_from
        && loops->solid && (uintptr_t) dst % loops->size == 0 ? STREAMING : PLAIN;
}

/* Bytes of each operand that are taken at a time. Streaming likes them short, so that reading and
 * writing alternate; loops that exist for two operands only, and those on lanes of 16 bytes, have
 * much to do before and after. */
static inline size_t strip_bytes(const struct loops *loops, enum way way)
{
    if (way == STREAMING)
        return loops->four ? RESULT / 2 : RESULT;
    return way <= LOOKING ? PARTIAL : loops->size < 16 ? 512 : 1024;
}

/* Combines n elements in strips. */
static void strips(const struct loops *loops, void *dst, const void *const *operands, int k,
                   size_t n, enum way way)
{
    const size_t size = loops->size, bytes = n * size, strip = strip_bytes(loops, way);
    /* so that all further strips begin at a line of dst */
    size_t take = way == STREAMING ? strip - (uintptr_t) dst % LINE : strip;
    int writing = 0;            /* strips to come that are written without a comparison */

    for (size_t at = 0; at < bytes; at += take, take = strip) {
        _Alignas(LINE) char result[RESULT];
        const void *here[COLLOPT_FOLD_MAX];
        char *to = (char *) dst + at;

        if (take > bytes - at)
            take = bytes - at;
        if (way > LOOKING && bytes - at > AHEAD + strip)
            ask_all(operands, k, at, strip);
        for (int j = 0; j < k; j++)
            here[j] = (const char *) operands[j] + at;
        if (loops->stays && k == 2 && way != STREAMING && writing-- <= 0) {
            if (loops->stays(to, here, take / size))
                continue;
            writing = WRITTEN;
        }
        strip_combine(loops, way == STREAMING ? result : to, here, k, take / size);
        if (way == STREAMING)
            stream(to, result, take);
    }
    if (way == STREAMING)
        stream_end();
}

static inline loop *of_operands(int k, loop *two, loop *four, loop *eight)
{
    return k == 2 ? two : k == 4 ? four : k == 8 ? eight : NULL;
}

/* The whole by a loop that streams; what is before and behind the lines of dst, by the usual
 * one. */
static void stream_whole(const struct loops *loops, void *dst, const void *const *operands, int k,
                         size_t n)
{
    loop *plain = of_operands(k, loops->two, loops->four, loops->eight);
    loop *stream = of_operands(k, loops->stream_two, loops->stream_four, loops->stream_eight);
    const size_t size = loops->size, head = -(uintptr_t)dst % LINE / size,
                 lines = (n - head) * size / LINE;
    const void *here[COLLOPT_FOLD_MAX], *last[COLLOPT_FOLD_MAX];
    const size_t tail = head * size + lines * LINE;

    for (int j = 0; j < k; j++) {
        here[j] = (const char *) operands[j] + head * size;
        last[j] = (const char *) operands[j] + tail;
    }
    plain(dst, operands, head);
    stream((char *) dst + head * size, here, lines * LINE / size);
    stream_end();
    plain((char *) dst + tail, last, n - tail / size);
}

static void __attribute__((noinline))
vector_combine(const struct loops *loops, void *dst, const void *const *operands, int k, size_t n)
{
    enum way way = choose(loops, dst, operands, k, n);
    loop *plain = of_operands(k, loops->two, loops->four, loops->eight);

    if (way == PLAIN && plain)
        plain(dst, operands, n);
    else if (way == STREAMING
             && of_operands(k, loops->stream_two, loops->stream_four, loops->stream_eight))
        stream_whole(loops, dst, operands, k, n);
    else
        strips(loops, dst, operands, k, n, way);
}

/* ---- the table ---- */

enum { SHORT = 256 };    /* elements: so few fit into the near caches, whatever their type */

#define KERNEL(op, type, lane, lanes) \
    static void combine_##op##_##type(void *dst, const void *left, const void *right, size_t n) \
    { \
        const void *const operands[] = { left, right }; \
        if (n < SHORT) \
            op##_##lane##_two(dst, operands, n * lanes); \
        else \
            vector_combine(&op##_##lane##_loops, dst, operands, 2, n * lanes); \
    } \
    static void fold_##op##_##type(void *dst, const void *const *operands, int k, size_t n) \
    { \
        vector_combine(&op##_##lane##_loops, dst, operands, k, n * lanes); \
    }

COLLOPT_KERNELS(KERNEL)

#define ROW(op, type, lane, lanes) \
    [COLLOPT_##op][COLLOPT_##type] = { combine_##op##_##type, fold_##op##_##type, NULL },

extern const collopt_kernel_table PASTE(collopt_kernels_, COLLOPT_ISA);

const collopt_kernel_table PASTE(collopt_kernels_, COLLOPT_ISA) = {
    COLLOPT_KERNELS(ROW)
};

/* ---- sums that are rounded once ---- */

#include "exact_sum.h"
#include "exact_total.h"
