/* Writes and reads rows of exact sums; see exact_words.h. */
#include "config.h"

#include <string.h>

#include "kernels/exact_words.h"
#include "kernels/superaccumulator.h"

enum {
    COUNT_BITS = 21,            /* a word has three counts */
    RANKS_MOST = (1 << COUNT_BITS) - 1,
    HALF = 32                   /* bits; no digit has fewer */
};

static const struct {
    size_t real;
    int reals;
} parts[COLLOPT_TYPE_NONE] = {
#define PARTS(type, lane, lanes) [COLLOPT_##type] = { LANE_SIZE_##lane, lanes },
#define LANE_SIZE_f32 sizeof(float)
#define LANE_SIZE_f64 sizeof(double)
    COLLOPT_EXACT_SUMS(PARTS)
};

static const struct collopt_format *format_of(const struct collopt_exact_words *w)
{
    return w->real == sizeof(double) ? &collopt_format_f64 : &collopt_format_f32;
}

bool collopt_exact_words_of(enum collopt_type type, int ranks, struct collopt_exact_words *w)
{
    const struct collopt_format *f;

    if (type >= COLLOPT_TYPE_NONE || parts[type].reals == 0 || ranks > RANKS_MOST)
        return false;
    *w = (struct collopt_exact_words){ .reals = parts[type].reals,
                                       .real = parts[type].real,
                                       .bits = collopt_exact_digit_bits(ranks) };
    f = format_of(w);
    w->digits = ((1 << f->exponent) + f->mantissa + w->bits - 1) / w->bits;
    w->words = (size_t)w->reals * (size_t)(1 + w->digits);
    return true;
}

size_t collopt_exact_row(enum collopt_type type, int ranks)
{
    struct collopt_exact_words w;

    return collopt_exact_words_of(type, ranks, &w) ? w.words * sizeof(int64_t) : 0;
}

/* ---- loading --------------------------------------------------------------------------------- */

static int64_t counts_of(struct collopt_parts x)
{
    bool plus = x.nan || (x.infinite && !x.negative), minus = x.nan || (x.infinite && x.negative),
         minus_zero = x.negative && !x.mantissa && !x.infinite && !x.nan;

    return plus | (int64_t)minus << COUNT_BITS | (int64_t)!minus_zero << 2 * COUNT_BITS;
}

static void put_digits(const struct collopt_exact_words *w, int64_t *digit, struct collopt_parts x)
{
    int at = x.shift - format_of(w)->least;
    unsigned __int128 rest = (unsigned __int128)x.mantissa << at % w->bits;
    uint64_t mask = ((uint64_t)1 << w->bits) - 1;

    for (digit += at / w->bits; rest; rest >>= w->bits, digit++) {
        int64_t value = (int64_t)((uint64_t)rest & mask);

        *digit = x.negative ? -value : value;
    }
}

static void load(const struct collopt_exact_words *w, int64_t *row, const char *from)
{
    uint64_t bits = 0;
    uint32_t narrow;
    struct collopt_parts x;

    if (w->real == sizeof bits) {
        memcpy(&bits, from, sizeof bits);
    } else {
        memcpy(&narrow, from, sizeof narrow);
        bits = narrow;
    }
    x = collopt_exact_take_apart(*format_of(w), bits);
    memset(row, 0, (size_t)(1 + w->digits) * sizeof *row);
    row[0] = counts_of(x);
    if (x.nan) {                /* for one that is alone */
        row[1] = (int64_t)(bits & UINT32_MAX);
        row[2] = (int64_t)(bits >> HALF);
    } else {
        put_digits(w, row + 1, x);
    }
}

void collopt_exact_load(const struct collopt_exact_words *w, int64_t *to, const void *from,
                        size_t n)
{
    const char *real = from;

    for (size_t i = 0; i < n * (size_t)w->reals; i++, real += w->real, to += 1 + w->digits)
        load(w, to, real);
}

/* ---- rounding -------------------------------------------------------------------------------- */

static bool counted(int64_t counts, int which)
{
    return counts >> which * COUNT_BITS & RANKS_MOST;
}

/* Adds the digits, but for zeros at either end. */
static void add_digits(struct collopt_superaccumulator *a, const struct collopt_exact_words *w,
                       const int64_t *digit)
{
    int first = 0, end = w->digits;

    while (first < end && digit[first] == 0)
        first++;
    while (first < end && digit[end - 1] == 0)
        end--;
    if (first < end)
        collopt_exact_add_digits(a, format_of(w)->least + first * w->bits, w->bits, digit + first,
                                 end - first);
}

static uint64_t rounded(const struct collopt_exact_words *w, const int64_t *row, int operands)
{
    struct collopt_superaccumulator a;

    collopt_exact_clear(&a);
    a.plus = counted(row[0], 0);
    a.minus = counted(row[0], 1);
    a.other = counted(row[0], 2);
    a.minus_zero = !a.other;
    if (a.plus && a.minus && operands == 1)
        return (uint64_t)row[2] << HALF | (uint64_t)row[1];
    if (!a.plus && !a.minus)
        add_digits(&a, w, row + 1);
    return collopt_exact_rounded(&a, format_of(w));
}

void collopt_exact_round(const struct collopt_exact_words *w, void *to, const int64_t *from,
                         size_t n, int operands)
{
    char *real = to;

    for (size_t i = 0; i < n * (size_t)w->reals; i++, real += w->real, from += 1 + w->digits) {
        uint64_t bits = rounded(w, from, operands);
        uint32_t narrow = (uint32_t)bits;

        memcpy(real, w->real == sizeof bits ? (void *)&bits : (void *)&narrow, w->real);
    }
}
