#include "exact_reference.h"

#include <stdbool.h>

/* ---- the reference: one counter for each bit of a double, or of a product of two ---- */

enum { BITS = 4420, UNIT = 60 };        /* counter UNIT is for 2^-2148; those below stay 0 */

struct format {
    int mantissa, exponent;     /* bits, the hidden one too */
    int least;                  /* the counter of the least subnormal number */
};

static const struct format of_double = { 53, 11, UNIT + 2148 - 1074 },
                           of_float = { 24, 8, UNIT + 2148 - 149 };

struct sum {
    int64_t bit[BITS];
    bool nan, plus, minus;      /* infinities */
    bool only_minus_zero, empty;
};

struct real {
    uint64_t fraction;
    int last;                   /* the counter of its last bit */
    bool minus, infinite, nan;
};

static struct real real_of(const struct format *f, uint64_t bits)
{
    uint64_t hidden = 1ull << (f->mantissa - 1), fraction = bits & (hidden - 1);
    int exponent = (int)(bits >> (f->mantissa - 1) & ((1u << f->exponent) - 1));
    bool special = exponent == (1 << f->exponent) - 1;

    return (struct real){
        .fraction = special ? 0 : exponent > 0 ? fraction | hidden : fraction,
        .last = f->least + (exponent > 0 ? exponent - 1 : 0),
        .minus = bits >> (f->mantissa - 1 + f->exponent) & 1,
        .infinite = special && fraction == 0,
        .nan = special && fraction != 0,
    };
}

static void add_special(struct sum *s, bool zero, struct real r)
{
    s->nan |= r.nan;
    s->plus |= r.infinite && !r.minus;
    s->minus |= r.infinite && r.minus;
    s->only_minus_zero &= zero && r.minus;
    s->empty = false;
}

static void add(struct sum *s, const struct format *f, uint64_t bits)
{
    struct real r = real_of(f, bits);

    add_special(s, r.fraction == 0 && !r.infinite && !r.nan, r);
    for (int i = 0; i < f->mantissa; i++)
        if (r.fraction >> i & 1)
            s->bit[r.last + i] += r.minus ? -1 : 1;
}

static void add_product(struct sum *s, const struct format *f, uint64_t left, uint64_t right)
{
    struct real a = real_of(f, left), b = real_of(f, right);
    bool a_zero = a.fraction == 0 && !a.infinite && !a.nan,
         b_zero = b.fraction == 0 && !b.infinite && !b.nan;
    struct real r = { .minus = a.minus != b.minus };

    r.nan = a.nan || b.nan || (a.infinite && b_zero) || (b.infinite && a_zero);
    r.infinite = !r.nan && (a.infinite || b.infinite);
    add_special(s, (a_zero || b_zero) && !r.nan, r);
    for (int i = 0; i < f->mantissa; i++)
        for (int j = 0; j < f->mantissa; j++)
            if ((a.fraction >> i & 1) && (b.fraction >> j & 1))
                s->bit[a.last + i + b.last + j - UNIT - 2148] += r.minus ? -1 : 1;
}

/* Every counter 0 or 1; negative if the number is. */
static int64_t carry(struct sum *s)
{
    int64_t over = 0;

    for (int i = 0; i < BITS; i++) {
        int64_t now = s->bit[i] + over;

        s->bit[i] = now & 1;
        over = (now - s->bit[i]) / 2;
    }
    return over;
}

/* The same of the magnitude; true if the number was negative. */
static bool settle(struct sum *s)
{
    bool negative = carry(s) < 0;

    for (int i = 0; i < BITS && negative; i++)
        s->bit[i] = -s->bit[i];
    if (negative)
        carry(s);
    return negative;
}

static uint64_t reference(const struct format *f, struct sum *s)
{
    const uint64_t infinity = ((1ull << f->exponent) - 1) << (f->mantissa - 1),
                   minus = 1ull << (f->mantissa - 1 + f->exponent);
    uint64_t kept = 0;
    int top = BITS - 1, last;
    bool negative, below = false;

    if (s->nan || (s->plus && s->minus))
        return infinity | 1ull << (f->mantissa - 2);
    if (s->plus || s->minus)
        return infinity | (s->minus ? minus : 0);
    negative = settle(s);
    while (top >= 0 && !s->bit[top])
        top--;
    if (top < 0)
        return s->only_minus_zero && !s->empty ? minus : 0;
    last = top - f->mantissa + 1 > f->least ? top - f->mantissa + 1 : f->least;
    for (int i = top; i >= last; i--)
        kept = 2 * kept + (uint64_t)s->bit[i];
    for (int i = 0; i < last - 1; i++)
        below |= s->bit[i] != 0;
    if (s->bit[last - 1] && (below || (kept & 1)))
        kept++;
    if (last - f->least > 1 << f->exponent)
        kept = infinity;
    else
        kept += (uint64_t)(last - f->least) << (f->mantissa - 1);
    return (kept < infinity ? kept : infinity) | (negative ? minus : 0);
}

static uint64_t sum_of(const struct format *f, size_t size, const void *x, const void *y, size_t k)
{
    struct sum s = { .only_minus_zero = true, .empty = true };

    for (size_t j = 0; j < k; j++) {
        uint64_t a = size == 8 ? ((const uint64_t *)x)[j] : ((const uint32_t *)x)[j],
                 b = !y ? 0 : size == 8 ? ((const uint64_t *)y)[j] : ((const uint32_t *)y)[j];

        if (y)
            add_product(&s, f, a, b);
        else
            add(&s, f, a);
    }
    return reference(f, &s);
}

uint64_t exact_reference_double(const uint64_t *bits, int k)
{
    return sum_of(&of_double, 8, bits, NULL, (size_t)k);
}

uint32_t exact_reference_float(const uint32_t *bits, int k)
{
    return (uint32_t)sum_of(&of_float, 4, bits, NULL, (size_t)k);
}

uint64_t exact_reference_products(size_t size, const void *x, const void *y, size_t k)
{
    return sum_of(size == 8 ? &of_double : &of_float, size, x, y, k);
}
