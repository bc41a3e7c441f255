/* Superaccumulators at their end: carrying, rounding, and the words in which they travel. */
#include "config.h"

#include "kernels/superaccumulator.h"

const struct collopt_format collopt_format_f64 = { 53, 11, COLLOPT_UNIT - 1074 },
                            collopt_format_f32 = { 24, 8, COLLOPT_UNIT - 149 };

/* What a bucket carries reaches up to three buckets further. */
static void make_room(struct collopt_superaccumulator *a)
{
    int high = a->high + 3 < COLLOPT_BUCKETS ? a->high + 3 : COLLOPT_BUCKETS;

    if (a->low < a->high)
        collopt_exact_widen(a, a->low, high);
}

/* Leaves a digit from 0 to 2^32 - 1 in every bucket, and returns what is carried out of the last
 * one: -1 if the value is negative, 0 if not. */
static __int128 carry(struct collopt_superaccumulator *a)
{
    __int128 over = 0;

    for (int i = a->low; i < a->high; i++) {
        __int128 sum = a->bucket[i] + over;

        a->bucket[i] = (uint32_t)sum;
        over = sum >> COLLOPT_BUCKET_BITS;
    }
    return over;
}

void collopt_exact_carry(struct collopt_superaccumulator *a)
{
    __int128 over;

    make_room(a);
    over = carry(a);
    if (over)
        a->bucket[a->high - 1] += over * ((__int128)1 << COLLOPT_BUCKET_BITS);
}

static struct collopt_superaccumulator copy_of(const struct collopt_superaccumulator *a)
{
    struct collopt_superaccumulator b;

    memcpy(&b, a, offsetof(struct collopt_superaccumulator, bucket));
    memcpy(b.bucket + a->low, a->bucket + a->low, (size_t)(a->high - a->low) * sizeof *a->bucket);
    return b;
}

/* Leaves the digits of the magnitude, the first one not 0; true if the value is negative. */
static bool settle(struct collopt_superaccumulator *a)
{
    bool negative;

    make_room(a);
    negative = carry(a) < 0;
    if (negative) {
        for (int i = a->low; i < a->high; i++)
            a->bucket[i] = -a->bucket[i];
        carry(a);
    }
    while (a->high > a->low && a->bucket[a->high - 1] == 0)
        a->high--;
    return negative;
}

/* Of settled digits; NEGATIVE: of two's complement, whose sign goes on for ever. */
static uint64_t digit_at(const struct collopt_superaccumulator *a, int i, bool negative)
{
    if (i < a->low)
        return 0;
    return i < a->high ? (uint64_t)a->bucket[i] : negative ? UINT32_MAX : 0;
}

/* The bits from AT on, at least 64 of them. */
static uint64_t bits_from(const struct collopt_superaccumulator *a, int at, bool negative)
{
    int i = at / COLLOPT_BUCKET_BITS;
    unsigned __int128 wide =
        (unsigned __int128)digit_at(a, i + 2, negative) << 2 * COLLOPT_BUCKET_BITS
        | digit_at(a, i + 1, negative) << COLLOPT_BUCKET_BITS | digit_at(a, i, negative);

    return (uint64_t)(wide >> at % COLLOPT_BUCKET_BITS);
}

static bool any_below(const struct collopt_superaccumulator *a, int at)
{
    for (int i = a->low; i < a->high && i < at / COLLOPT_BUCKET_BITS; i++)
        if (a->bucket[i])
            return true;
    return bits_from(a, at / COLLOPT_BUCKET_BITS * COLLOPT_BUCKET_BITS, false)
        & (((uint64_t)1 << at % COLLOPT_BUCKET_BITS) - 1);
}

static uint64_t infinity_of(const struct collopt_format *f)
{
    return (((uint64_t)1 << f->exponent) - 1) << (f->mantissa - 1);
}

/* Of settled digits that are not all 0. */
static uint64_t round_magnitude(const struct collopt_superaccumulator *a,
                                const struct collopt_format *f)
{
    int top = (a->high - 1) * COLLOPT_BUCKET_BITS + 63
        - __builtin_clzll((uint64_t)a->bucket[a->high - 1]);
    int last = top - (f->mantissa - 1) > f->least ? top - (f->mantissa - 1) : f->least;
    uint64_t kept = bits_from(a, last, false) & (((uint64_t)1 << f->mantissa) - 1);

    if (last - f->least >= 1 << f->exponent)
        return infinity_of(f);
    if ((bits_from(a, last - 1, false) & 1) && ((kept & 1) || any_below(a, last - 1)))
        kept++;
    /* the hidden bit, if there is one, adds 1 to the exponent */
    kept += (uint64_t)(last - f->least) << (f->mantissa - 1);
    return kept < infinity_of(f) ? kept : infinity_of(f);
}

uint64_t collopt_exact_rounded(const struct collopt_superaccumulator *a,
                               const struct collopt_format *f)
{
    uint64_t minus = (uint64_t)1 << (f->mantissa + f->exponent - 1);

    if (a->plus && a->minus)
        return infinity_of(f) | (uint64_t)1 << (f->mantissa - 2);
    if (a->plus || a->minus)
        return infinity_of(f) | (a->minus ? minus : 0);

    struct collopt_superaccumulator b = copy_of(a);
    bool negative = settle(&b);

    if (b.low == b.high)
        return a->minus_zero && !a->other ? minus : 0;
    return round_magnitude(&b, f) | (negative ? minus : 0);
}

int collopt_exact_digit_bits(int ranks)
{
    int log = 0;

    while ((int64_t)1 << log < ranks)
        log++;
    return 63 - log;
}

void collopt_exact_add_digits(struct collopt_superaccumulator *a, int from, int bits,
                              const int64_t *digit, int count)
{
    collopt_exact_widen(a, from / COLLOPT_BUCKET_BITS,
                        (from + (count - 1) * bits) / COLLOPT_BUCKET_BITS + 1);
    for (int i = 0; i < count; i++) {
        uint64_t magnitude = digit[i] < 0 ? -(uint64_t)digit[i] : (uint64_t)digit[i];

        collopt_exact_add_units(a, digit[i] < 0, magnitude, from + i * bits);
    }
}

static uint64_t mask_of(int bits)
{
    return UINT64_MAX >> (64 - bits);
}

void collopt_exact_to_words(const struct collopt_superaccumulator *a, int from, int bits,
                            uint64_t *word, int count)
{
    struct collopt_superaccumulator b = copy_of(a);
    bool negative;

    make_room(&b);
    negative = carry(&b) < 0;
    for (int i = 0; i < count; i++)
        word[i] = bits_from(&b, from + i * bits, negative) & mask_of(bits);
}

void collopt_exact_add_words(struct collopt_superaccumulator *a, int from, int bits,
                             const uint64_t *word, int count)
{
    int end = from + count * bits;
    uint64_t digit = 0;
    unsigned __int128 over = 0;

    collopt_exact_widen(a, from / COLLOPT_BUCKET_BITS, end / COLLOPT_BUCKET_BITS + 1);
    for (int i = 0; i < count; i++) {
        over += word[i];
        digit = (uint64_t)over & mask_of(bits);
        collopt_exact_add_units(a, false, digit, from + i * bits);
        over >>= bits;
    }
    if (digit >> (bits - 1))                    /* the sign */
        collopt_exact_add_units(a, true, 1, end);
}
