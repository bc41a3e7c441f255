/* The order of 80-bit reals, in steps that vectorize. One lies in memory as two words: the first
 * holds the digits, their leading one included, the second sign and exponent in its lowest 16 bits;
 * the rest is padding.
 *
 * Digits and exponent of negative numbers are complemented. Then the exponents compare as signed
 * integers, and where they are equal the digits as unsigned ones, in the order of the numbers; -0
 * comes just before +0.
 *
 *     max long_double, 256 KiB: 4 GB/s by the processor's comparison, 15 by words (AVX-512)
 *     minloc long_double_int, sorted, 256 KiB: 9 GB/s and 11 */
#ifndef COLLOPT_KERNELS_LONG_LANE_H
#define COLLOPT_KERNELS_LONG_LANE_H

#define EXTENDED_INFINITE  0x7fff
#define EXTENDED_PADDING   (~INT64_C(0xffff))

struct extended { i64 digits, rest; };

static inline int64_t extended_sign(int64_t rest)
{
    return (int64_t)((uint64_t)rest << 48) >> 63;
}
static inline int64_t extended_exponent(int64_t rest) { return rest & EXTENDED_INFINITE; }

static inline int extended_nan(int64_t digits, int64_t rest)
{
    return (extended_exponent(rest) == EXTENDED_INFINITE) & ((uint64_t) digits << 1 != 0);
}

static inline int extended_less(struct extended a, struct extended b)
{
    int64_t s = extended_sign(a.rest), t = extended_sign(b.rest);
    int64_t x = extended_exponent(a.rest) ^ s, y = extended_exponent(b.rest) ^ t;

    return (x < y) | ((x == y) & ((uint64_t) (a.digits ^ s) < (uint64_t) (b.digits ^ t)));
}

static inline struct extended extended_chosen(struct extended a, struct extended b, bool take)
{
    bool nan = extended_nan(a.digits, a.rest) | extended_nan(b.digits, b.rest);

    return (struct extended) {
        nan ? (int64_t) (UINT64_C(3) << 62) : take ? b.digits : a.digits,
        nan ? EXTENDED_INFINITE : take ? b.rest : a.rest
    };
}

static inline struct extended MIN_extended(struct extended a, struct extended b)
{
    return extended_chosen(a, b, extended_less(b, a));
}

static inline struct extended MAX_extended(struct extended a, struct extended b)
{
    return extended_chosen(a, b, extended_less(a, b));
}

static inline struct extended keep_extended(struct extended old, struct extended new)
{
    return (struct extended){ new.digits,
                              (old.rest & EXTENDED_PADDING) | (new.rest & ~EXTENDED_PADDING) };
}

/* ---- with an index, by pair_lane.h's rules ---- */

struct long_double_words { i64 digits, rest, index, padding; };

/* The key that is compared. Both zeros are one, and NaN, its digits gone, is the number after all
 * numbers (end = 1) or before them (end = -1). Added rather than selected: a compiler that sees
 * the constant makes branches of it. */
struct long_double_order { int64_t exponent, digits, index; };

static inline struct long_double_order long_double_order_of(struct long_double_words x, int end)
{
    bool nan = extended_nan(x.digits, x.rest);
    int64_t sign = nan ? end >> 1 : x.digits ? extended_sign(x.rest) : 0;

    return (struct long_double_order) {
        (extended_exponent(x.rest) ^ sign) + (nan ? end : 0), nan ? 0 : x.digits ^ sign,
        (int64_t) ((uint64_t) x.index << 32)
    };
}

/* is a's value the lesser, or else, if they are equal, the index i less than j? */
static inline int long_double_before(struct long_double_order a, struct long_double_order b,
                                     int64_t i, int64_t j)
{
    bool digits = ((uint64_t) a.digits < (uint64_t) b.digits) | ((a.digits == b.digits) & (i < j));

    return (a.exponent < b.exponent) | ((a.exponent == b.exponent) & digits);
}

static inline struct long_double_words long_double_chosen(struct long_double_words a,
                                                          struct long_double_words b, bool take)
{
    return (struct long_double_words) {
        take ? b.digits : a.digits, take ? b.rest : a.rest, take ? b.index : a.index, 0
    };
}

static inline struct long_double_words MINLOC_long_double_int(struct long_double_words a,
                                                              struct long_double_words b)
{
    struct long_double_order x = long_double_order_of(a, -1), y = long_double_order_of(b, -1);

    return long_double_chosen(a, b, long_double_before(y, x, y.index, x.index));
}

static inline struct long_double_words MAXLOC_long_double_int(struct long_double_words a,
                                                              struct long_double_words b)
{
    struct long_double_order x = long_double_order_of(a, 1), y = long_double_order_of(b, 1);

    return long_double_chosen(a, b, long_double_before(x, y, y.index, x.index));
}

static inline struct long_double_words keep_long_double_int(struct long_double_words old,
                                                            struct long_double_words new)
{
    return (struct long_double_words) {
        new.digits, (old.rest & EXTENDED_PADDING) | (new.rest & ~EXTENDED_PADDING),
        (old.index & ~INT64_C(0xffffffff)) | (new.index & INT64_C(0xffffffff)), old.padding
    };
}

static inline uint64_t difference_long_double_int(struct long_double_words a,
                                                  struct long_double_words b)
{
    return (uint64_t) ((a.digits ^ b.digits) | (a.rest ^ b.rest) | (a.index ^ b.index));
}

#endif
