#include "exact_reference.h"

#include <stdbool.h>

/* ---- the reference: one counter for each bit of a double ---- */

enum { BITS = 2300, ZERO = 60 };        /* counter ZERO is for 2^-1074; those below stay 0 */

struct format {
    int mantissa, exponent;     /* bits, the hidden one too */
    int least;                  /* the counter of the least subnormal number */
};

static const struct format of_double = { 53, 11, ZERO }, of_float = { 24, 8, ZERO + 1074 - 149 };

struct sum {
    int64_t bit[BITS];
    bool nan, plus, minus;      /* infinities */
    bool only_minus_zero;
};

static void add(struct sum *s, const struct format *f, uint64_t bits)
{
    uint64_t fraction = bits & ((1ull << (f->mantissa - 1)) - 1);
    int exponent = (int)(bits >> (f->mantissa - 1) & ((1u << f->exponent) - 1));
    bool minus = bits >> (f->mantissa - 1 + f->exponent) & 1;

    if (exponent == (1 << f->exponent) - 1) {
        s->nan |= fraction != 0;
        s->plus |= fraction == 0 && !minus;
        s->minus |= fraction == 0 && minus;
        return;
    }
    s->only_minus_zero &= minus && exponent == 0 && fraction == 0;
    if (exponent > 0)
        fraction |= 1ull << (f->mantissa - 1);
    for (int i = 0; i < f->mantissa; i++)
        if (fraction >> i & 1)
            s->bit[f->least + i + (exponent > 0 ? exponent - 1 : 0)] += minus ? -1 : 1;
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
        return s->only_minus_zero ? minus : 0;
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

uint64_t exact_reference_double(const uint64_t *bits, int k)
{
    struct sum s = { .only_minus_zero = true };

    for (int j = 0; j < k; j++)
        add(&s, &of_double, bits[j]);
    return reference(&of_double, &s);
}

uint32_t exact_reference_float(const uint32_t *bits, int k)
{
    struct sum s = { .only_minus_zero = true };

    for (int j = 0; j < k; j++)
        add(&s, &of_float, bits[j]);
    return (uint32_t)reference(&of_float, &s);
}
