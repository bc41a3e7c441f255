/* MINLOC and MAXLOC on pairs of 16 and 32 bytes in AVX-512, by pair_lane.h's rules, where the compiler makes too much of
 * the plain loop or does not vectorize it.
 *
 *     maxloc 2double_precision, sorted, 256 KiB: plain loop 18 GB/s, here 33
 *     maxloc long_double_int, random data, 256 KiB: 3.5 GB/s and 20; sorted 12 and 24 */

/* ---- 2double_precision: four pairs at a time, compared as they lie, the value in even lanes, the index in odd ones ---- */

/* Of four pairs two bits each, the lower of which says whether the pair is b's; *NAN: some value is no number. */
#define PAIRS_OF_DOUBLES(op, BETTER) \
    static inline unsigned op##_2double_take(__m512d x, __m512d y, bool *nan) \
    { \
        unsigned better = _mm512_cmp_pd_mask(y, x, BETTER), same = _mm512_cmp_pd_mask(y, x, _CMP_EQ_OQ); \
        unsigned lower = _mm512_cmp_pd_mask(y, x, _CMP_LT_OQ); \
\
        *nan = (_mm512_cmp_pd_mask(x, y, _CMP_UNORD_Q) & 0x55) != 0; \
        return (better | (same & lower >> 1)) & 0x55; \
    } \
\
    static void op##_2double_two(void *dst, const void *const *from, size_t n) \
    { \
        const struct words *a = from[0], *b = from[1]; \
        struct words *d = dst; \
        size_t i = 0; \
\
        for (; i + 4 <= n; i += 4) { \
            __m512d x = _mm512_loadu_pd(a + i), y = _mm512_loadu_pd(b + i); \
            bool nan; \
            unsigned take = op##_2double_take(x, y, &nan); \
\
            if (__builtin_expect(!nan, 1)) \
                _mm512_storeu_pd(d + i, _mm512_mask_mov_pd(x, 3 * take, y)); \
            else \
                for (size_t j = i; j < i + 4; j++) \
                    d[j] = op##_2double(a[j], b[j]); \
        } \
        for (; i < n; i++) \
            d[i] = op##_2double(a[i], b[i]); \
    } \
\
    static bool op##_2double_stays(const void *dst, const void *const *from, size_t n) \
    { \
        const struct words *a = from[0], *b = from[1]; \
        unsigned stay = dst == b ? 0x55 : 0; \
\
        for (size_t i = 0; i < n; i += 4) { \
            __mmask8 here = (__mmask8) (n - i >= 4 ? 0xff : (1 << 2 * (n - i)) - 1); \
            bool nan; \
            unsigned take = op##_2double_take(_mm512_maskz_loadu_pd(here, a + i), _mm512_maskz_loadu_pd(here, b + i), &nan); \
\
            if (nan || ((take ^ stay) & here) != 0) \
                return false; \
        } \
        return true; \
    }

PAIRS_OF_DOUBLES(MINLOC, _CMP_LT_OQ)
PAIRS_OF_DOUBLES(MAXLOC, _CMP_GT_OQ)

/* ---- long_double_int: eight pairs at a time, taken apart, as long_lane.h does it one by one ---- */

/* What is compared of eight pairs, in the order 0 2 1 3 4 6 5 7. */
struct eight_orders { __m512i exponent, digits, index; };

static inline struct eight_orders eight_orders_of(const struct long_double_words *pairs, int end)
{
    const __m512i evens = _mm512_setr_epi64(0, 1, 4, 5, 8, 9, 12, 13), odds = _mm512_setr_epi64(2, 3, 6, 7, 10, 11, 14, 15);
    const __m512i infinite = _mm512_set1_epi64(EXTENDED_INFINITE);
    __m512i p = _mm512_loadu_si512(pairs),     q = _mm512_loadu_si512(pairs + 2);
    __m512i r = _mm512_loadu_si512(pairs + 4), s = _mm512_loadu_si512(pairs + 6);
    __m512i low  = _mm512_unpacklo_epi64(p, q), high  = _mm512_unpacklo_epi64(r, s);    /* digits and indices */
    __m512i low2 = _mm512_unpackhi_epi64(p, q), high2 = _mm512_unpackhi_epi64(r, s);    /* exponents and padding */
    __m512i digits = _mm512_permutex2var_epi64(low, evens, high), index = _mm512_permutex2var_epi64(low, odds, high);
    __m512i rest = _mm512_permutex2var_epi64(low2, evens, high2), exponent = _mm512_and_si512(rest, infinite);
    __mmask8 nan = _mm512_mask_test_epi64_mask(_mm512_cmpeq_epi64_mask(exponent, infinite), digits,
                                               _mm512_set1_epi64(INT64_MAX));
    __m512i sign = _mm512_maskz_srai_epi64(_mm512_test_epi64_mask(digits, digits), _mm512_slli_epi64(rest, 48), 63);

    return (struct eight_orders) {
        _mm512_mask_mov_epi64(_mm512_xor_si512(exponent, sign), nan, _mm512_set1_epi64(end * 0x10000)),
        _mm512_maskz_xor_epi64((__mmask8) ~nan, digits, sign),
        _mm512_slli_epi64(index, 32)
    };
}

/* is a's value the lesser, or else, if they are equal, the index i less than j? */
static inline unsigned eight_before(struct eight_orders a, struct eight_orders b, __m512i i, __m512i j)
{
    __mmask8 same = _mm512_cmpeq_epi64_mask(a.exponent, b.exponent);
    __mmask8 same_digits = _mm512_mask_cmpeq_epi64_mask(same, a.digits, b.digits);

    return _mm512_cmplt_epi64_mask(a.exponent, b.exponent) | _mm512_mask_cmplt_epu64_mask(same, a.digits, b.digits)
        | _mm512_mask_cmplt_epi64_mask(same_digits, i, j);
}

/* Two pairs of the eight: of `take` the lowest bit and the third say whether they are b's. */
static inline void two_chosen(struct long_double_words *d, const struct long_double_words *a,
                              const struct long_double_words *b, unsigned take)
{
    const __mmask32 fields = 0x031f031f;    /* 16-bit words of a pair that are not padding */
    __mmask8 lanes = 15 * ((take & 1) | (take & 4) << 2);

    _mm512_mask_storeu_epi16(d, fields, _mm512_mask_mov_epi64(_mm512_loadu_si512(a), lanes, _mm512_loadu_si512(b)));
}

#define PAIRS_OF_LONG_DOUBLES(op, BEFORE, END) \
    static void op##_long_double_int_two(void *dst, const void *const *from, size_t n) \
    { \
        const struct long_double_words *a = from[0], *b = from[1]; \
        struct long_double_words *d = dst; \
        size_t i = 0; \
\
        for (; i + 8 <= n; i += 8) { \
            struct eight_orders x = eight_orders_of(a + i, END), y = eight_orders_of(b + i, END); \
            unsigned take = BEFORE; \
\
            two_chosen(d + i, a + i, b + i, take); \
            two_chosen(d + i + 2, a + i + 2, b + i + 2, take >> 1); \
            two_chosen(d + i + 4, a + i + 4, b + i + 4, take >> 4); \
            two_chosen(d + i + 6, a + i + 6, b + i + 6, take >> 5); \
        } \
        for (; i < n; i++) \
            d[i] = keep_long_double_int(d[i], op##_long_double_int(a[i], b[i])); \
    } \
\
    static bool op##_long_double_int_stays(const void *dst, const void *const *from, size_t n) \
    { \
        const struct long_double_words *a = from[0], *b = from[1]; \
        unsigned stay = dst == b ? 0xff : 0; \
        size_t i = 0; \
\
        for (; i + 8 <= n; i += 8) { \
            struct eight_orders x = eight_orders_of(a + i, END), y = eight_orders_of(b + i, END); \
\
            if ((BEFORE) != stay) \
                return false; \
        } \
        return i == n; \
    }

PAIRS_OF_LONG_DOUBLES(MINLOC, eight_before(y, x, y.index, x.index), -1)
PAIRS_OF_LONG_DOUBLES(MAXLOC, eight_before(x, y, y.index, x.index), 1)
