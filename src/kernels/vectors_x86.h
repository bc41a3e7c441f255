/* Loops in x86 vectors, where a compiler makes too much of the plain one. The operations on vectors
 * come first, for each width; VECTOR_LOOPS makes the loops, as LOOPS does.
 *
 * MIN and MAX of float and double, by real_lane.h's rules: a plain loop becomes five comparisons
 * and selections. The instruction for MIN, given (a, b) and (b, a), differs only for zeros and NaN.
 *
 *     min double, 1 KiB, AVX-512: plain loop 37 GB/s, its fold of 4 operands 7; here 49 and 16
 *
 * The steps of a complex product (complex_lane.h): no compiler here finds the shuffles.
 *
 * SUM and PROD of float16: the processor converts.
 *
 *     sum float16, 1 KiB, AVX-512: plain loop 8 GB/s, here 30 */
#ifndef COLLOPT_KERNELS_VECTORS_X86_H
#define COLLOPT_KERNELS_VECTORS_X86_H

#include <immintrin.h>

#if defined __AVX512BW__

/* Bits as integers: for reals they are AVX-512DQ, without which 64-bit products are made of 32-bit
 * ones, and faster (prod uint64, 256 KiB: 9 GB/s with DQ's instruction, 25 without). */
#define or_512ps(x, y)  (__m512) _mm512_or_si512((__m512i) (x), (__m512i) (y))
#define or_512pd(x, y)  (__m512d) _mm512_or_si512((__m512i) (x), (__m512i) (y))
#define and_512ps(x, y) (__m512) _mm512_and_si512((__m512i) (x), (__m512i) (y))
#define and_512pd(x, y) (__m512d) _mm512_and_si512((__m512i) (x), (__m512i) (y))
#define xor_512ps(x, y) (__m512) _mm512_xor_si512((__m512i) (x), (__m512i) (y))
#define xor_512pd(x, y) (__m512d) _mm512_xor_si512((__m512i) (x), (__m512i) (y))

typedef __m512  vector_f32;
typedef __m512d vector_f64;
typedef __m256i vector_f16;

#define load_f32(p)     _mm512_loadu_ps((const void *) (p))
#define load_f64(p)     _mm512_loadu_pd((const void *) (p))
#define store_f32(p, x) _mm512_storeu_ps((void *) (p), x)
#define store_f64(p, x) _mm512_storeu_pd((void *) (p), x)
#define or_nan_f32(x, a, b) \
    _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q), _mm512_set1_ps(NAN))
#define or_nan_f64(x, a, b) \
    _mm512_mask_mov_pd(x, _mm512_cmp_pd_mask(a, b, _CMP_UNORD_Q), _mm512_set1_pd(NAN))
#define low_f32(a, b)   or_512ps(_mm512_min_ps(a, b), _mm512_min_ps(b, a))
#define low_f64(a, b)   or_512pd(_mm512_min_pd(a, b), _mm512_min_pd(b, a))
#define high_f32(a, b)  and_512ps(_mm512_max_ps(a, b), _mm512_max_ps(b, a))
#define high_f64(a, b)  and_512pd(_mm512_max_pd(a, b), _mm512_max_pd(b, a))
#define load_f16(p)     _mm256_loadu_si256((const void *) (p))
#define store_f16(p, x) _mm256_storeu_si256((void *) (p), x)
#define wide_f16(x)     _mm512_cvtph_ps(x)
#define narrow_f16(x)   _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT)
#define sum_wide(a, b)  _mm512_add_ps(a, b)
#define prod_wide(a, b) _mm512_mul_ps(a, b)

#define multiply_f32(x, y)  _mm512_mul_ps(x, y)
#define multiply_f64(x, y)  _mm512_mul_pd(x, y)
#define evens_f32(x)        _mm512_moveldup_ps(x)
#define evens_f64(x)        _mm512_movedup_pd(x)
#define odds_f32(x)         _mm512_movehdup_ps(x)
#define odds_f64(x)         _mm512_permute_pd(x, 0xff)
#define swapped_f32(x)      _mm512_permute_ps(x, 0xb1)
#define swapped_f64(x)      _mm512_permute_pd(x, 0x55)
/* not by a masked subtraction: gcc 12 would fuse that with the product, whatever -ffp-contract
 * says */
#define sub_add_f32(x, y)   _mm512_add_ps(x, xor_512ps(y, (__m512) _mm512_set1_epi64(0x80000000)))
#define sub_add_f64(x, y)   _mm512_add_pd(x, xor_512pd(y, _mm512_setr4_pd(-0.0, 0, -0.0, 0)))
#define any_nan_f32(x)      (_mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q) != 0)
#define any_nan_f64(x)      (_mm512_cmp_pd_mask(x, x, _CMP_UNORD_Q) != 0)

#elif defined __AVX2__

typedef __m256  vector_f32;
typedef __m256d vector_f64;
typedef __m128i vector_f16;

#define load_f32(p)     _mm256_loadu_ps((const void *) (p))
#define load_f64(p)     _mm256_loadu_pd((const void *) (p))
#define store_f32(p, x) _mm256_storeu_ps((void *) (p), x)
#define store_f64(p, x) _mm256_storeu_pd((void *) (p), x)
# define or_nan_f32(x, a, b) \
        _mm256_blendv_ps(x, _mm256_set1_ps(NAN), _mm256_cmp_ps(a, b, _CMP_UNORD_Q))
# define or_nan_f64(x, a, b) \
        _mm256_blendv_pd(x, _mm256_set1_pd(NAN), _mm256_cmp_pd(a, b, _CMP_UNORD_Q))
# define low_f32(a, b) _mm256_or_ps(_mm256_min_ps(a, b), _mm256_min_ps(b, a))
# define low_f64(a, b) _mm256_or_pd(_mm256_min_pd(a, b), _mm256_min_pd(b, a))
# define high_f32(a, b) _mm256_and_ps(_mm256_max_ps(a, b), _mm256_max_ps(b, a))
# define high_f64(a, b) _mm256_and_pd(_mm256_max_pd(a, b), _mm256_max_pd(b, a))
# define load_f16(p) _mm_loadu_si128((const void *)(p))
# define store_f16(p, x) _mm_storeu_si128((void *)(p), x)
# define wide_f16(x) _mm256_cvtph_ps(x)
# define narrow_f16(x) _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT)
# define sum_wide(a, b) _mm256_add_ps(a, b)
# define prod_wide(a, b) _mm256_mul_ps(a, b)

# define multiply_f32(x, y) _mm256_mul_ps(x, y)
# define multiply_f64(x, y) _mm256_mul_pd(x, y)
# define evens_f32(x) _mm256_moveldup_ps(x)
# define evens_f64(x) _mm256_movedup_pd(x)
# define odds_f32(x) _mm256_movehdup_ps(x)
# define odds_f64(x) _mm256_permute_pd(x, 0xf)
# define swapped_f32(x) _mm256_permute_ps(x, 0xb1)
# define swapped_f64(x) _mm256_permute_pd(x, 0x5)
# define sub_add_f32(x, y) _mm256_addsub_ps(x, y)
# define sub_add_f64(x, y) _mm256_addsub_pd(x, y)
# define any_nan_f32(x) (_mm256_movemask_ps(_mm256_cmp_ps(x, x, _CMP_UNORD_Q)) != 0)
# define any_nan_f64(x) (_mm256_movemask_pd(_mm256_cmp_pd(x, x, _CMP_UNORD_Q)) != 0)

#else

typedef __m128  vector_f32;
typedef __m128d vector_f64;

#define load_f32(p)     _mm_loadu_ps((const void *) (p))
#define load_f64(p)     _mm_loadu_pd((const void *) (p))
#define store_f32(p, x) _mm_storeu_ps((void *) (p), x)
#define store_f64(p, x) _mm_storeu_pd((void *) (p), x)
#define select_ps(m, x, y)  _mm_or_ps(_mm_and_ps(m, x), _mm_andnot_ps(m, y))
#define select_pd(m, x, y)  _mm_or_pd(_mm_and_pd(m, x), _mm_andnot_pd(m, y))
#define or_nan_f32(x, a, b) select_ps(_mm_cmpunord_ps(a, b), _mm_set1_ps(NAN), x)
#define or_nan_f64(x, a, b) select_pd(_mm_cmpunord_pd(a, b), _mm_set1_pd(NAN), x)
#define low_f32(a, b)   _mm_or_ps(_mm_min_ps(a, b), _mm_min_ps(b, a))
#define low_f64(a, b)   _mm_or_pd(_mm_min_pd(a, b), _mm_min_pd(b, a))
#define high_f32(a, b)  _mm_and_ps(_mm_max_ps(a, b), _mm_max_ps(b, a))
#define high_f64(a, b)  _mm_and_pd(_mm_max_pd(a, b), _mm_max_pd(b, a))

#define multiply_f32(x, y)  _mm_mul_ps(x, y)
#define multiply_f64(x, y)  _mm_mul_pd(x, y)
#define evens_f32(x)        _mm_shuffle_ps(x, x, 0xa0)
#define evens_f64(x)        _mm_unpacklo_pd(x, x)
#define odds_f32(x)         _mm_shuffle_ps(x, x, 0xf5)
#define odds_f64(x)         _mm_unpackhi_pd(x, x)
#define swapped_f32(x)      _mm_shuffle_ps(x, x, 0xb1)
#define swapped_f64(x)      _mm_shuffle_pd(x, x, 0x1)
#define sub_add_f32(x, y)   _mm_add_ps(x, _mm_xor_ps(y, _mm_setr_ps(-0.0f, 0, -0.0f, 0)))
#define sub_add_f64(x, y)   _mm_add_pd(x, _mm_xor_pd(y, _mm_setr_pd(-0.0, 0)))
#define any_nan_f32(x)      (_mm_movemask_ps(_mm_cmpunord_ps(x, x)) != 0)
#define any_nan_f64(x)      (_mm_movemask_pd(_mm_cmpunord_pd(x, x)) != 0)

#endif

static inline vector_f32 MIN_vector_f32(vector_f32 a, vector_f32 b)
{
    return or_nan_f32(low_f32(a, b), a, b);
}
static inline vector_f64 MIN_vector_f64(vector_f64 a, vector_f64 b)
{
    return or_nan_f64(low_f64(a, b), a, b);
}
static inline vector_f32 MAX_vector_f32(vector_f32 a, vector_f32 b)
{
    return or_nan_f32(high_f32(a, b), a, b);
}
static inline vector_f64 MAX_vector_f64(vector_f64 a, vector_f64 b)
{
    return or_nan_f64(high_f64(a, b), a, b);
}

#if defined __AVX2__
static inline vector_f16 SUM_vector_f16(vector_f16 a, vector_f16 b)
{
    return narrow_f16(sum_wide(wide_f16(a), wide_f16(b)));
}

static inline vector_f16 PROD_vector_f16(vector_f16 a, vector_f16 b)
{
    return narrow_f16(prod_wide(wide_f16(a), wide_f16(b)));
}
#endif

/* k is a constant wherever this is expanded, so that the loops over it vanish */
#define VECTOR_LOOP(op, lane, name, k) \
    INLINE void op##_##lane##_##name(void *dst, const void *const *from, size_t n) \
    { \
        enum { LANES = sizeof(vector_##lane) / sizeof(lane) }; \
        const lane *a[k]; \
        size_t i = 0; \
\
        for (int j = 0; j < k; j++) \
            a[j] = from[j]; \
        for (; i + LANES <= n; i += LANES) { \
            vector_##lane best = load_##lane(a[0] + i); \
            for (int j = 1; j < k; j++) \
                best = op##_vector_##lane(best, load_##lane(a[j] + i)); \
            store_##lane((lane *) dst + i, best); \
        } \
        for (; i < n; i++) { \
            lane best = a[0][i]; \
            for (int j = 1; j < k; j++) \
                best = op##_##lane(best, a[j][i]); \
            ((lane *) dst)[i] = best; \
        } \
    }

/* n lanes that fill whole lines of dst */
#define VECTOR_LOOP_STREAM(op, lane, name, k) \
    static void op##_##lane##_stream_##name(void *dst, const void *const *from, size_t n) \
    { \
        enum { LANES = sizeof(vector_##lane) / sizeof(lane) }; \
        const lane *a[k]; \
\
        for (int j = 0; j < k; j++) \
            a[j] = from[j]; \
        for (size_t at = 0; at < n; at += LINE / sizeof(lane)) { \
            _Alignas(LINE) char line[LINE]; \
            for (int j = 0; j < k; j++) \
                ask(a[j] + at); \
            for (size_t i = 0; i < LINE / sizeof(lane); i += LANES) { \
                vector_##lane best = load_##lane(a[0] + at + i); \
                for (int j = 1; j < k; j++) \
                    best = op##_vector_##lane(best, load_##lane(a[j] + at + i)); \
                store_##lane((lane *) line + i, best); \
            } \
            stream_line((char *) dst + at * sizeof(lane), line); \
        } \
    }

#define VECTOR_LOOPS(op, lane) \
    VECTOR_LOOP(op, lane, two, 2)        VECTOR_LOOP_STREAM(op, lane, two, 2) \
    VECTOR_LOOP(op, lane, four, 4)       VECTOR_LOOP_STREAM(op, lane, four, 4) \
    VECTOR_LOOP(op, lane, eight, 8)      VECTOR_LOOP_STREAM(op, lane, eight, 8) \
    LOOPS_ROW(op, lane, sizeof(lane))

#endif
