/* MINLOC and MAXLOC on pairs of reals, and of 32 bytes, in AVX-512, by pair_lane.h's rules, where
 * the compiler makes too much of the plain loop or does not vectorize it.
 *
 *     maxloc 2double_precision, sorted, 256 KiB: plain loop 18 GB/s, here 33
 *     maxloc 2real, sorted, 256 KiB: 10.5 GB/s and 35
 *     maxloc long_double_int, random data, 256 KiB: 3.5 GB/s and 20; sorted 12 and 19 to 32 */
#ifndef COLLOPT_KERNELS_PAIRS_AVX512_H
#define COLLOPT_KERNELS_PAIRS_AVX512_H

/* ---- 2real, 2double_precision as they lie: values in even lanes, indices in odd ones --------- */

/* TYPE are pairs kept as WORD, so many PAIRS in a VECTOR of type X, with a bit for each lane in a
 * MASK. Of each pair two bits of `take`, the lower of which says whether the pair is b's; *NAN:
 * something is no number. */
#define PAIRS_OF_REALS(op, BETTER, TYPE, WORD, PAIRS, X, VECTOR, MASK) \
    enum { op##_##TYPE##_VALUES = (MASK) 0x5555 }; \
\
    static inline unsigned op##_##TYPE##_take(VECTOR x, VECTOR y, bool *nan) \
    { \
        unsigned better = _mm512_cmp_##X##_mask(y, x, BETTER); \
        unsigned same = _mm512_cmp_##X##_mask(y, x, _CMP_EQ_OQ); \
        unsigned lower = _mm512_cmp_##X##_mask(y, x, _CMP_LT_OQ); \
\
        *nan = _mm512_cmp_##X##_mask(x, y, _CMP_UNORD_Q) != 0; \
        return (better | (same & lower >> 1)) & op##_##TYPE##_VALUES; \
    } \
\
    static void op##_##TYPE##_two(void *dst, const void *const *from, size_t n) \
    { \
        const WORD *a = from[0], *b = from[1]; \
        WORD *d = dst; \
        size_t i = 0; \
\
        for (; i + PAIRS <= n; i += PAIRS) { \
            VECTOR x = _mm512_loadu_##X(a + i), y = _mm512_loadu_##X(b + i); \
            bool nan; \
            unsigned take = op##_##TYPE##_take(x, y, &nan); \
\
            if (__builtin_expect(!nan, 1)) \
                _mm512_storeu_##X(d + i, _mm512_mask_mov_##X(x, (MASK) (3 * take), y)); \
            else \
                for (size_t j = i; j < i + PAIRS; j++) \
                    d[j] = op##_##TYPE(a[j], b[j]); \
        } \
        for (; i < n; i++) \
            d[i] = op##_##TYPE(a[i], b[i]); \
    } \
\
    static bool op##_##TYPE##_stays(const void *dst, const void *const *from, size_t n) \
    { \
        const WORD *a = from[0], *b = from[1]; \
        unsigned stay = dst == b ? op##_##TYPE##_VALUES : 0; \
\
        for (size_t i = 0; i < n; i += PAIRS) { \
            MASK here = (MASK) (n - i >= PAIRS ? -1 : (1 << 2 * (n - i)) - 1); \
            bool nan; \
            VECTOR x = _mm512_maskz_loadu_##X(here, a + i); \
            VECTOR y = _mm512_maskz_loadu_##X(here, b + i); \
            unsigned take = op##_##TYPE##_take(x, y, &nan); \
\
            if (nan || ((take ^ stay) & here) != 0) \
                return false; \
        } \
        return true; \
    }

PAIRS_OF_REALS(MINLOC, _CMP_LT_OQ, 2real, u64, 8, ps, __m512, __mmask16)
PAIRS_OF_REALS(MAXLOC, _CMP_GT_OQ, 2real, u64, 8, ps, __m512, __mmask16)
PAIRS_OF_REALS(MINLOC, _CMP_LT_OQ, 2double, struct words, 4, pd, __m512d, __mmask8)
PAIRS_OF_REALS(MAXLOC, _CMP_GT_OQ, 2double, struct words, 4, pd, __m512d, __mmask8)

/* ---- long_double_int: eight pairs at a time, taken apart, as long_lane.h does it one by one -- */

/* Two pairs without their gaps: that of the last one may lie where no memory is. */
static inline __m512i two_pairs(const struct long_double_words *pairs)
{
    return _mm512_maskz_loadu_epi32(0x1f1f, pairs);
}

/* The values compared of eight pairs, in the order 0 2 1 3 4 6 5 7. */
struct eight_orders { __m512i exponent, digits, index; };

static inline struct eight_orders eight_orders_of(const struct long_double_words *pairs, int end)
{
    const __m512i evens = _mm512_setr_epi64(0, 1, 4, 5, 8, 9, 12, 13),
                  odds = _mm512_setr_epi64(2, 3, 6, 7, 10, 11, 14, 15);
    const __m512i infinite = _mm512_set1_epi64(EXTENDED_INFINITE);
    __m512i p = two_pairs(pairs), q = two_pairs(pairs + 2), r = two_pairs(pairs + 4),
            s = two_pairs(pairs + 6);
    /* digits and indices */
    __m512i low  = _mm512_unpacklo_epi64(p, q), high  = _mm512_unpacklo_epi64(r, s);
    /* exponents and padding */
    __m512i low2 = _mm512_unpackhi_epi64(p, q), high2 = _mm512_unpackhi_epi64(r, s);
    __m512i digits = _mm512_permutex2var_epi64(low, evens, high),
            index = _mm512_permutex2var_epi64(low, odds, high);
    __m512i rest = _mm512_permutex2var_epi64(low2, evens, high2),
            exponent = _mm512_and_si512(rest, infinite);
    __mmask8 nan = _mm512_mask_test_epi64_mask(_mm512_cmpeq_epi64_mask(exponent, infinite), digits,
                                               _mm512_set1_epi64(INT64_MAX));
    __m512i sign = _mm512_maskz_srai_epi64(_mm512_test_epi64_mask(digits, digits),
                                           _mm512_slli_epi64(rest, 48), 63);

    return (struct eight_orders){ _mm512_mask_mov_epi64(_mm512_xor_si512(exponent, sign), nan,
                                                        _mm512_set1_epi64(end * 0x10000)),
                                  _mm512_maskz_xor_epi64((__mmask8)~nan, digits, sign),
                                  _mm512_slli_epi64(index, 32) };
}

/* is a's value the lesser, or else, if they are equal, the index i less than j? */
static inline unsigned eight_before(struct eight_orders a, struct eight_orders b, __m512i i,
                                    __m512i j)
{
    __mmask8 same = _mm512_cmpeq_epi64_mask(a.exponent, b.exponent);
    __mmask8 same_digits = _mm512_mask_cmpeq_epi64_mask(same, a.digits, b.digits);

    return _mm512_cmplt_epi64_mask(a.exponent, b.exponent)
        | _mm512_mask_cmplt_epu64_mask(same, a.digits, b.digits)
        | _mm512_mask_cmplt_epi64_mask(same_digits, i, j);
}

/* Are eight values of x each less than y's, all of them finite, those of x of one sign and those of
 * y too?  That is the usual case where nothing changes, and needs nothing to be taken apart:
 * exponents and digits are compared where they lie. */
static inline bool eight_less(const struct long_double_words *x, const struct long_double_words *y)
{
    const __m512i fields = _mm512_setr_epi64(-1, 0xffff, 0, 0, -1, 0xffff, 0, 0),
                  none = _mm512_setzero_si512();
    const __m512i one = _mm512_setr_epi64(0, 1, 0, 0, 0, 1, 0, 0), bit = _mm512_slli_epi64(one, 15);
    const bool x_negative = (x->rest & 0x8000) != 0, y_negative = (y->rest & 0x8000) != 0;
    const __m512i x_sign = x_negative ? bit : none, y_sign = y_negative ? bit : none;
    /* of magnitudes, 8 bits of two pairs: digits, exponents, 0, 0 */
    uint32_t below = 0, above = 0, less;
    __m512i any = none;

    for (int k = 0; k < 4; k++) {
        __m512i p = _mm512_xor_si512(_mm512_and_si512(two_pairs(x + 2 * k), fields), x_sign);
        __m512i q = _mm512_xor_si512(_mm512_and_si512(two_pairs(y + 2 * k), fields), y_sign);

        below |= (uint32_t) _mm512_cmplt_epu64_mask(p, q) << 8 * k;
        above |= (uint32_t) _mm512_cmpgt_epu64_mask(p, q) << 8 * k;
        /* of an exponent that is finite and has no other sign bit 15 stays 0, and bit 16 */
        any = _mm512_or_si512(any,
                              _mm512_or_si512(_mm512_add_epi64(p, one), _mm512_add_epi64(q, one)));
    }
    if (x_negative != y_negative)
        less = x_negative ? below | above | (below | above) >> 1 : 0;
    else if (x_negative)
        /* by exponents, or, where they are equal, by digits */
        less = above >> 1 | (above & ~(below >> 1));
    else
        less = below >> 1 | (below & ~(above >> 1));
    return (less & 0x11111111) == 0x11111111
        && !_mm512_test_epi64_mask(any, _mm512_or_si512(bit, _mm512_slli_epi64(bit, 1)));
}

/* Two pairs of the eight: of `take` the lowest bit and the third say whether they are b's. */
static inline void two_chosen(struct long_double_words *d, const struct long_double_words *a,
                              const struct long_double_words *b, unsigned take)
{
    const __mmask32 fields = 0x031f031f;    /* 16-bit words of a pair that are not padding */
    __mmask8 lanes = 15 * ((take & 1) | (take & 4) << 2);

    _mm512_mask_storeu_epi16(d, fields, _mm512_mask_mov_epi64(two_pairs(a), lanes, two_pairs(b)));
}

static inline void eight_chosen(struct long_double_words *d, const struct long_double_words *a,
                                const struct long_double_words *b, unsigned take)
{
    two_chosen(d, a, b, take);
    two_chosen(d + 2, a + 2, b + 2, take >> 1);
    two_chosen(d + 4, a + 4, b + 4, take >> 4);
    two_chosen(d + 6, a + 6, b + 6, take >> 5);
}

/* The number of leading pairs, in steps of eight, in which x's values are all less than y's. */
static size_t __attribute__((noinline))
eights_less(const struct long_double_words *x, const struct long_double_words *y, size_t n)
{
    size_t i = 0;

    while (i + 8 <= n && eight_less(x + i, y + i))
        i += 8;
    return i;
}

static void __attribute__((noinline))
eights_copied(struct long_double_words *d, const struct long_double_words *from, size_t n)
{
    for (size_t i = 0; i < n && d != from; i += 8)
        eight_chosen(d + i, from + i, from + i, 0);
}

/* Where eight are all of one operand, the next eights may be, which is cheaper to find out; now and
 * then, as equal values are not less. */
#define PAIRS_OF_LONG_DOUBLES(op, BEFORE, END, LESS) \
    static size_t op##_long_double_int_settled(const struct long_double_words *better, \
                                               const struct long_double_words *other, \
                                               size_t n) \
    { \
        return LESS ? eights_less(better, other, n) : eights_less(other, better, n); \
    } \
\
    static void op##_long_double_int_two(void *dst, const void *const *from, size_t n) \
    { \
        const struct long_double_words *a = from[0], *b = from[1]; \
        struct long_double_words *d = dst; \
        size_t i = 0; \
        int wait = 0; \
\
        for (; i + 8 <= n; i += 8) { \
            struct eight_orders x = eight_orders_of(a + i, END), y = eight_orders_of(b + i, END); \
            unsigned take = BEFORE; \
\
            eight_chosen(d + i, a + i, b + i, take); \
            if (__builtin_expect((take == 0 || take == 0xff) && wait-- <= 0, 0)) { \
                const struct long_double_words *better = (take ? b : a) + i + 8; \
                const struct long_double_words *other = (take ? a : b) + i + 8; \
                size_t more = op##_long_double_int_settled(better, other, n - i - 8); \
\
                eights_copied(d + i + 8, better, more); \
                wait = more ? 0 : 16; \
                i += more; \
            } \
        } \
        for (; i < n; i++) \
            put_one_long_double_int(d + i, \
                                    op##_long_double_int(get_long_double_int(a + i), \
                                                         get_long_double_int(b + i))); \
    } \
\
    static bool op##_long_double_int_stays(const void *dst, const void *const *from, size_t n) \
    { \
        const struct long_double_words *a = from[0], *b = from[1]; \
        unsigned stay = dst == b ? 0xff : 0; \
        size_t i = op##_long_double_int_settled(stay ? b : a, stay ? a : b, n); \
\
        for (; i + 8 <= n; i += 8) { \
            struct eight_orders x = eight_orders_of(a + i, END), y = eight_orders_of(b + i, END); \
\
            if ((BEFORE) != stay) \
                return false; \
        } \
        return i == n; \
    }

PAIRS_OF_LONG_DOUBLES(MINLOC, eight_before(y, x, y.index, x.index), -1, true)
PAIRS_OF_LONG_DOUBLES(MAXLOC, eight_before(x, y, y.index, x.index), 1, false)

#endif
