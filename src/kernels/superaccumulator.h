/* An integer with room for the exact sum of any 2^63 doubles, or products of two (R. M. Neal, Fast
 * Exact Summation Using Small and Large Superaccumulators, 2015).
 *
 * Its unit is 2^-2148, the product of the two least subnormal doubles, so every float, double and
 * product of two of them is a whole number of units.  It consists of buckets, 32 bits apart, of 128
 * bits each: a mantissa goes to the bucket of its last bit, whole, and what is carried is looked at
 * only at the end.  An addition is exact, so the order of additions does not matter, and neither
 * does it into how many superaccumulators the operands were dealt.  All arithmetic is that of
 * integers.
 *
 * Room: an operand has at most 64 bits, shifted by up to 31, so 2^32 additions fit a bucket. */
#ifndef COLLOPT_KERNELS_SUPERACCUMULATOR_H
#define COLLOPT_KERNELS_SUPERACCUMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    COLLOPT_UNIT = 2148,        /* the unit is 2^-2148 */
    COLLOPT_BUCKET_BITS = 32,
    /* all bits of 2^63 products, the sign, and what the last bucket carries */
    COLLOPT_BUCKETS = (COLLOPT_UNIT + 2048 + 63) / COLLOPT_BUCKET_BITS + 3
};

/* Begins as COLLOPT_NOTHING_ADDED.  Buckets below low and from high on have no value: those that
 * follow are not even initialized. */
struct collopt_superaccumulator {
    int low, high;
    bool plus, minus;           /* infinities; a NaN is both */
    bool minus_zero;            /* -0 was among the operands */
    bool other;                 /* anything but -0 was */
    __int128 bucket[COLLOPT_BUCKETS];
};

/* Two formats: bits of mantissa with the hidden one, and of exponent; where in units the least
 * subnormal number is. */
struct collopt_format {
    int mantissa, exponent, least;
};

extern const struct collopt_format collopt_format_f64, collopt_format_f32;

/* A real of one of them. */
struct collopt_parts {
    uint64_t mantissa;
    int shift;                  /* units of the mantissa's last bit: 2^shift */
    bool negative, infinite, nan;
};

static inline void collopt_exact_clear(struct collopt_superaccumulator *a)
{
    memset(a, 0, offsetof(struct collopt_superaccumulator, bucket));
}

static inline struct collopt_parts collopt_exact_take_apart(struct collopt_format f, uint64_t bits)
{
    uint64_t hidden = (uint64_t)1 << (f.mantissa - 1), fraction = bits & (hidden - 1);
    int most = (1 << f.exponent) - 1, exponent = (int)(bits >> (f.mantissa - 1)) & most;
    bool special = exponent == most;

    return (struct collopt_parts){
        .mantissa = special ? 0
            : exponent      ? fraction | hidden
                            : fraction,
        .shift = f.least + (exponent ? exponent - 1 : 0),
        .negative = bits >> (f.mantissa + f.exponent - 1) & 1,
        .infinite = special && !fraction,
        .nan = special && fraction,
    };
}

static inline struct collopt_parts collopt_parts_f64(const void *x)
{
    uint64_t bits;

    memcpy(&bits, x, sizeof bits);
    return collopt_exact_take_apart((struct collopt_format){ 53, 11, COLLOPT_UNIT - 1074 }, bits);
}

static inline struct collopt_parts collopt_parts_f32(const void *x)
{
    uint32_t bits;

    memcpy(&bits, x, sizeof bits);
    return collopt_exact_take_apart((struct collopt_format){ 24, 8, COLLOPT_UNIT - 149 }, bits);
}

/* Makes buckets FROM to TO - 1 valid. */
static inline void collopt_exact_widen(struct collopt_superaccumulator *a, int from, int to)
{
    if (a->low == a->high)
        a->low = a->high = from;
    for (; a->low > from; a->low--)
        a->bucket[a->low - 1] = 0;
    for (; a->high < to; a->high++)
        a->bucket[a->high] = 0;
}

/* Adds MAGNITUDE * 2^SHIFT units to a bucket that is valid. */
static inline void collopt_exact_add_units(struct collopt_superaccumulator *a, bool negative,
                                           uint64_t magnitude, int shift)
{
    __int128 wide = (__int128)((unsigned __int128)magnitude << shift % COLLOPT_BUCKET_BITS);

    a->bucket[shift / COLLOPT_BUCKET_BITS] += negative ? -wide : wide;
}

/* Notes what an operand is beside its value; true if it has one other than 0. */
static inline bool collopt_exact_note(struct collopt_superaccumulator *a, struct collopt_parts x)
{
    bool zero = x.mantissa == 0 && !x.infinite && !x.nan;

    a->plus |= x.nan || (x.infinite && !x.negative);
    a->minus |= x.nan || (x.infinite && x.negative);
    a->minus_zero |= zero && x.negative;
    a->other |= !(zero && x.negative);
    return x.mantissa != 0;
}

static inline void collopt_exact_accumulate(struct collopt_superaccumulator *a,
                                            struct collopt_parts x)
{
    if (!collopt_exact_note(a, x))
        return;
    collopt_exact_widen(a, x.shift / COLLOPT_BUCKET_BITS, x.shift / COLLOPT_BUCKET_BITS + 1);
    collopt_exact_add_units(a, x.negative, x.mantissa, x.shift);
}

/* Makes room in all buckets for another 2^32 - 1 additions.  The value stays. */
void collopt_exact_carry(struct collopt_superaccumulator *a);

/* The bits of the value in FORMAT, rounded to nearest, ties to even.  0 is -0 only if all operands
 * were -0, and +0 if there were none; what is too small for FORMAT keeps its sign. */
uint64_t collopt_exact_rounded(const struct collopt_superaccumulator *a,
                               const struct collopt_format *f);

/* Bits of a digit of which RANKS are added up in a signed integer of 8 bytes. */
int collopt_exact_digit_bits(int ranks);

/* Adds COUNT digits, BITS bits apart, of which the first stands for 2^FROM units. */
void collopt_exact_add_digits(struct collopt_superaccumulator *a, int from, int bits,
                              const int64_t *digit, int count);

/* The value in two's complement, of COUNT words with BITS bits each; the first stands for 2^FROM
 * units, below which there must be nothing.  COUNT * BITS must be enough for the value. */
void collopt_exact_to_words(const struct collopt_superaccumulator *a, int from, int bits,
                            uint64_t *word, int count);

/* Adds such an integer, or the sum, word by word, of up to 2^(64 - BITS) of them; COUNT * BITS must
 * be enough for its value. */
void collopt_exact_add_words(struct collopt_superaccumulator *a, int from, int bits,
                             const uint64_t *word, int count);

#endif
