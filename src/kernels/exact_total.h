/* The exact sum of one vector's elements, or of the products of two vectors', as what is added to a
 * superaccumulator.
 *
 * A block of terms at a time is added to a few lanes of doubles by error-free additions: to a sum,
 * what that loses to a rest, for products what the rest loses to a second rest.  If nothing was
 * lost beyond, the lanes have the block's exact sum and are added to the superaccumulator.
 *
 * First the lanes begin at constants, 1.5 * 2^k, so much greater than all terms of the block that
 * the exact error of an addition takes two operations (T. J. Dekker, A Floating-Point Technique
 * for Extending the Available Precision, Numer. Math. 18, 1971; J. Demmel, H. D. Nguyen, Parallel
 * Reproducible Summation, IEEE Trans. Comput. 64, 2015).  That is exact where the terms that are
 * not 0 differ by less than some 2^30.  Sums of other blocks are tried as in exact_sum.h, without
 * constants, which serves 2^50 for twice the time.  Where that fails too, as for infinities and
 * NaN, the terms of the block are added to the superaccumulator one by one.
 *
 * A product of doubles is two terms, the rounded product and its error, which Dekker finds.  The
 * error may have no place among doubles if the product is below 2^-960; but no constant is so small
 * that such a product is not lost, except where it is rounded to 0.  Products of floats are exact
 * as doubles.
 *
 * Lanes without a constant begin as -0, which changes no sum, not even that of other -0.
 *
 * Included by reduce_tmpl.c, after exact_sum.h. */
#ifndef COLLOPT_KERNELS_EXACT_TOTAL_H
#define COLLOPT_KERNELS_EXACT_TOTAL_H

#if defined __AVX512F__
#define VECTOR_BYTES 64
#elif defined __AVX__
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

typedef double vector __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t bits_vector __attribute__((vector_size(VECTOR_BYTES)));

typedef float narrow_vector __attribute__((vector_size(VECTOR_BYTES / 2)));

enum {
    BLOCK = 1024,               /* terms */
    WIDTH = VECTOR_BYTES / sizeof(double),
    STEP = 2 * WIDTH,           /* two vectors: additions to one are waited for by the other */
    PARTS_MOST = 3 * STEP,      /* doubles that have a block's sum */
    BLOCKS_OF_CARRY = 1 << 20,  /* a bucket has room for 2^32 additions, 2 for each product */
    /* a lane's terms are at most 2^9, and their sum less than half its constant */
    ABOVE_TERMS = 11,
    /* what an addition to a constant loses is at most 2^-53 of it: again 2^9 of them */
    CONSTANTS_APART = 43
};

/* Of the terms of one call: what the next block is tried with. */
struct guess {
    double most;                /* no term is greater; a power of 2, or 0: not known */
};

/* Element I of doubles or floats. */
INLINE vector vector_at(const void *x, size_t i, bool single)
{
    narrow_vector narrow;
    vector v;

    if (single) {
        memcpy(&narrow, (const char *)x + i * sizeof(float), sizeof narrow);
        return __builtin_convertvector(narrow, vector);
    }
    memcpy(&v, (const char *)x + i * sizeof(double), sizeof v);
    return v;
}

INLINE double element_at(const void *x, size_t i, bool single)
{
    return single ? ((const f32 *)x)[i] : ((const f64 *)x)[i];
}

INLINE vector every(double x)
{
    return x - (vector){ 0 };
}

INLINE vector magnitude_of(vector x)
{
    return (vector)((bits_vector)x & INT64_MAX);
}

/* Of masks, and of doubles that are not 0: -0 is 0. */
INLINE bool any_bit(bits_vector v)
{
    int64_t any = 0;

    for (int i = 0; i < WIDTH; i++)
        any |= v[i];
    return (any & INT64_MAX) != 0;
}

static uint64_t magnitude_bits(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits & INT64_MAX;
}

/* The least power of 2 above all magnitudes, of which BITS are the greatest's; 0: there is none
 * that is a normal number. */
static double power_above(uint64_t bits)
{
    double power;

    bits = (bits >> 52) + 1;
    if (bits < 2 || bits > 2046)
        return 0;
    bits <<= 52;
    memcpy(&power, &bits, sizeof power);
    return power;
}

static double above_elements(const void *x, size_t n, bool single)
{
    uint64_t most = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t bits = magnitude_bits(element_at(x, i, single));

        most = bits > most ? bits : most;
    }
    return power_above(most);
}

static double above_products(const f64 *x, const f64 *y, size_t n)
{
    uint64_t most = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t bits = magnitude_bits(x[i] * y[i]);

        most = bits > most ? bits : most;
    }
    return power_above(most);
}

/* The constant for terms below MOST; 0: there is none, or none for the rests. */
static double constant_above(double most)
{
    double constant = most * (1.5 * (1 << ABOVE_TERMS));

    return most > 0x1p-800 && constant < INFINITY ? constant : 0;
}

static double constant_of_rests(double constant)
{
    return constant * 0x1p-43;
}

_Static_assert(CONSTANTS_APART == 43, "the power above");

/* ---- sums, by constants ---------------------------------------------------------------------- */

struct constant_lanes {
    vector sum, rest;
    bits_vector failed;         /* something was lost, or greater than thought */
};

/* Adds X to *SUM, of a constant; what is lost. */
INLINE vector add_below(vector *sum, vector x)
{
    vector before = *sum;

    *sum = before + x;
    return x - (*sum - before);
}

INLINE void add_sum_below(struct constant_lanes *s, vector x, double most)
{
    s->failed |= magnitude_of(x) >= most;
    s->failed |= (bits_vector)add_below(&s->rest, add_below(&s->sum, x));
}

/* Stores doubles whose exact sum is that of the N of X, which are below MOST, and returns their
 * number; 0: they are not, or something was lost.  MOST is above a term of this call that is not 0,
 * so the signs of zeros do not matter any more. */
INLINE int sum_below(double *parts, const void *x, size_t n, bool single, double most)
{
    double first = constant_above(most), second = constant_of_rests(first), tail[STEP];
    struct constant_lanes a = { .sum = every(first), .rest = every(second) }, b = a;
    vector result[4];
    size_t i;

    for (i = 0; i + STEP <= n; i += STEP) {
        add_sum_below(&a, vector_at(x, i, single), most);
        add_sum_below(&b, vector_at(x, i + WIDTH, single), most);
    }
    for (size_t j = 0; j < STEP; j++)
        tail[j] = i + j < n ? element_at(x, i + j, single) : 0;
    add_sum_below(&a, vector_at(tail, 0, false), most);
    add_sum_below(&b, vector_at(tail, WIDTH, false), most);
    if (first == 0 || any_bit(a.failed | b.failed))
        return 0;
    result[0] = a.sum - first;
    result[1] = b.sum - first;
    result[2] = a.rest - second;
    result[3] = b.rest - second;
    memcpy(parts, result, sizeof result);
    return 4 * WIDTH;
}

static int sum_below_f64(double *parts, const void *x, size_t n, double most)
{
    return sum_below(parts, x, n, false, most);
}

static int sum_below_f32(double *parts, const void *x, size_t n, double most)
{
    return sum_below(parts, x, n, true, most);
}

/* ---- sums, without them ---------------------------------------------------------------------- */

struct sum_lanes {
    vector sum, rest;
    bits_vector lost;
};

/* Adds X to *SUM; what is lost. */
INLINE vector add_to(vector *sum, vector x)
{
    vector before = *sum, part;

    *sum = before + x;
    part = *sum - before;
    return (before - (*sum - part)) + (x - part);
}

INLINE void add_sum(struct sum_lanes *s, vector x)
{
    s->lost |= (bits_vector)add_to(&s->rest, add_to(&s->sum, x));
}

INLINE int sum_of_block(double *parts, const void *x, size_t n, bool single)
{
    struct sum_lanes a = { .sum = every(-0.0) }, b = a;
    double tail[STEP];
    size_t i;

    for (i = 0; i + STEP <= n; i += STEP) {
        add_sum(&a, vector_at(x, i, single));
        add_sum(&b, vector_at(x, i + WIDTH, single));
    }
    for (size_t j = 0; j < STEP; j++)
        tail[j] = i + j < n ? element_at(x, i + j, single) : -0.0;
    add_sum(&a, vector_at(tail, 0, false));
    add_sum(&b, vector_at(tail, WIDTH, false));
    if (any_bit(a.lost | b.lost))
        return 0;
    memcpy(parts, (vector[]){ a.sum, b.sum, a.rest, b.rest }, 4 * sizeof(vector));
    return 4 * WIDTH;
}

static int sum_of_f64(double *parts, const void *x, size_t n)
{
    return sum_of_block(parts, x, n, false);
}

static int sum_of_f32(double *parts, const void *x, size_t n)
{
    return sum_of_block(parts, x, n, true);
}

/* ---- products -------------------------------------------------------------------------------- */

struct product_lanes {
    vector sum, rest, rest2;
    bits_vector failed, zero;
};

/* The upper half of X's mantissa, rounded; X - upper has the lower half. */
INLINE vector upper_half(vector x)
{
    const int64_t lower = ((int64_t)1 << 27) - 1;

    return (vector)(((bits_vector)x + (lower + 1) / 2) & ~lower);
}

INLINE void add_product(struct product_lanes *s, vector x, vector y, double most)
{
    vector product = x * y;
    vector x1 = upper_half(x), y1 = upper_half(y), x2 = x - x1, y2 = y - y1;
    vector error = ((x1 * y1 - product) + x1 * y2 + x2 * y1) + x2 * y2;

    s->failed |= magnitude_of(product) >= most;
    s->zero |= product == 0;
    error = add_below(&s->rest, error);
    product = add_below(&s->rest, add_below(&s->sum, product));
    s->failed |= (bits_vector)add_below(&s->rest2, product);
    s->failed |= (bits_vector)add_below(&s->rest2, error);
}

/* Products may be 0, but not by rounding. */
static bool zeros_exact(const f64 *x, const f64 *y, size_t n)
{
    bool exact = true;

    for (size_t i = 0; i < n; i++)
        exact &= x[i] * y[i] != 0 || x[i] == 0 || y[i] == 0;
    return exact;
}

static int products_below(double *parts, const f64 *x, const f64 *y, size_t n, double most)
{
    double first = constant_above(most), second = constant_of_rests(first),
           third = constant_of_rests(second), x_tail[STEP], y_tail[STEP];
    struct product_lanes a = { .sum = every(first), .rest = every(second), .rest2 = every(third) },
                         b = a;
    vector result[6];
    size_t i;

    for (i = 0; i + STEP <= n; i += STEP) {
        add_product(&a, vector_at(x, i, false), vector_at(y, i, false), most);
        add_product(&b, vector_at(x, i + WIDTH, false), vector_at(y, i + WIDTH, false), most);
    }
    if (any_bit(a.zero | b.zero) && !zeros_exact(x, y, i))
        return 0;
    for (size_t j = 0; j < STEP; j++) {
        x_tail[j] = i + j < n ? x[i + j] : 0;
        y_tail[j] = i + j < n ? y[i + j] : 0;
    }
    add_product(&a, vector_at(x_tail, 0, false), vector_at(y_tail, 0, false), most);
    add_product(&b, vector_at(x_tail, WIDTH, false), vector_at(y_tail, WIDTH, false), most);
    if (first == 0 || any_bit(a.failed | b.failed) || !zeros_exact(x_tail, y_tail, STEP))
        return 0;
    result[0] = a.sum - first;
    result[1] = b.sum - first;
    result[2] = a.rest - second;
    result[3] = b.rest - second;
    result[4] = a.rest2 - third;
    result[5] = b.rest2 - third;
    memcpy(parts, result, sizeof result);
    return 6 * WIDTH;
}

/* ---- one by one ------------------------------------------------------------------------------ */

/* Adds X * 2^SHIFT, SHIFT below 32, negated if NEGATIVE is -1 instead of 0.  In halves, for which
 * compilers make better code than for a shift of 128 bits. */
INLINE void add_shifted(__int128 *bucket, uint64_t x, int shift, int64_t negative)
{
    uint64_t low = x << shift ^ (uint64_t)negative,
             high = x >> 1 >> (63 - shift) ^ (uint64_t)negative;

    *bucket += (__int128)((unsigned __int128)high << 64 | low) - negative;
}

INLINE bool is_normal(int exponent)
{
    return (unsigned)exponent - 1 < 2046;
}

/* All buckets of A are valid. */
INLINE void add_one(struct collopt_superaccumulator *a, const f64 *x)
{
    const uint64_t hidden = (uint64_t)1 << 52;
    uint64_t bits;
    int exponent, at;

    memcpy(&bits, x, sizeof bits);
    exponent = (int)(bits >> 52 & 0x7ff);
    if (!is_normal(exponent)) {
        collopt_exact_accumulate(a, collopt_parts_f64(x));
        return;
    }
    at = COLLOPT_UNIT - 1074 + exponent - 1;
    a->other = true;
    add_shifted(a->bucket + at / COLLOPT_BUCKET_BITS, (bits & (hidden - 1)) | hidden,
                at % COLLOPT_BUCKET_BITS, (int64_t)bits >> 63);
}

static void add_any_product(struct collopt_superaccumulator *a, const f64 *x, const f64 *y)
{
    struct collopt_parts p = collopt_parts_f64(x), q = collopt_parts_f64(y);
    bool x_zero = p.mantissa == 0 && !p.infinite, y_zero = q.mantissa == 0 && !q.infinite;
    unsigned __int128 product = (unsigned __int128)p.mantissa * q.mantissa;
    int shift = p.shift + q.shift - COLLOPT_UNIT;
    struct collopt_parts r = {
        .mantissa = product != 0,
        .negative = p.negative != q.negative,
        .nan = p.nan || q.nan || (p.infinite && y_zero) || (q.infinite && x_zero),
        .infinite = p.infinite || q.infinite,
    };

    if (!collopt_exact_note(a, r))
        return;
    collopt_exact_add_units(a, r.negative, (uint64_t)product, shift);
    collopt_exact_add_units(a, r.negative, (uint64_t)(product >> 64), shift + 64);
}

/* A product of mantissas has 106 bits. */
INLINE void add_one_product(struct collopt_superaccumulator *a, const f64 *x, const f64 *y)
{
    const uint64_t hidden = (uint64_t)1 << 52;
    uint64_t p, q;
    int p_exponent, q_exponent;

    memcpy(&p, x, sizeof p);
    memcpy(&q, y, sizeof q);
    p_exponent = (int)(p >> 52 & 0x7ff);
    q_exponent = (int)(q >> 52 & 0x7ff);
    if (!is_normal(p_exponent) || !is_normal(q_exponent)) {
        add_any_product(a, x, y);
        return;
    }

    unsigned __int128 product = (unsigned __int128)((p & (hidden - 1)) | hidden)
        * ((q & (hidden - 1)) | hidden);
    int at = p_exponent + q_exponent - 2, shift = at % COLLOPT_BUCKET_BITS;
    __int128 *bucket = a->bucket + at / COLLOPT_BUCKET_BITS;
    int64_t negative = (int64_t)(p ^ q) >> 63;

    a->other = true;
    add_shifted(bucket, (uint64_t)product, shift, negative);
    add_shifted(bucket + 64 / COLLOPT_BUCKET_BITS, (uint64_t)(product >> 64), shift, negative);
}

/* ---- any vector ------------------------------------------------------------------------------ */

/* A float as a double, without arithmetic, which may be set to flush subnormal ones. */
static double widened(const f32 *x)
{
    uint32_t bits;
    double wide;

    memcpy(&bits, x, sizeof bits);

    uint64_t minus = (uint64_t)(bits >> 31) << 63, fraction = bits & 0x7fffff,
             result = fraction << 29;
    int exponent = bits >> 23 & 0xff;

    if (exponent == 0xff) {
        result |= (uint64_t)0x7ff << 52;
    } else if (exponent) {
        result |= (uint64_t)(exponent + 1023 - 127) << 52;
    } else if (fraction) {
        int top = 63 - __builtin_clzll(fraction);

        result = (fraction << (52 - top) & (((uint64_t)1 << 52) - 1))
            | (uint64_t)(top + 1023 - 149) << 52;
    }
    result |= minus;
    memcpy(&wide, &result, sizeof wide);
    return wide;
}

static void gather(double *to, const struct collopt_terms *t, const void *from, ptrdiff_t step,
                   size_t at, size_t n, bool usual)
{
    const f64 *wide = (const f64 *)from + (ptrdiff_t)at * step;
    const f32 *narrow = (const f32 *)from + (ptrdiff_t)at * step;

    if (!t->single)
        for (size_t i = 0; i < n; i++)
            to[i] = wide[(ptrdiff_t)i * step];
    else if (!usual)
        for (size_t i = 0; i < n; i++)
            to[i] = widened(narrow + (ptrdiff_t)i * step);
    else if (step == 1)
        for (size_t i = 0; i < n; i++)
            to[i] = narrow[i];
    else
        for (size_t i = 0; i < n; i++)
            to[i] = narrow[(ptrdiff_t)i * step];
}

/* N elements as they are, or gathered into BUFFER. */
static const f64 *block_of(double *buffer, const struct collopt_terms *t, const void *from,
                              ptrdiff_t step, size_t at, size_t n, bool usual)
{
    if (!t->single && step == 1)
        return (const f64 *)from + at;
    gather(buffer, t, from, step, at, n, usual);
    return buffer;
}

static void negate(double *to, const f64 *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;

        memcpy(&bits, from + i, sizeof bits);
        bits ^= (uint64_t)1 << 63;
        memcpy(to + i, &bits, sizeof bits);
    }
}

static void add_parts(struct collopt_superaccumulator *a, const double *parts, int n)
{
    for (int i = 0; i < n; i++)
        if (i < STEP || parts[i] != 0)          /* a rest of 0 is no operand */
            add_one(a, parts + i);
}

/* By constants for the terms of the blocks before, then for those of this one. */
static int sum_by_constants(double *parts, const void *x, size_t n, bool single,
                            struct guess *guess)
{
    int (*sum)(double *, const void *, size_t, double) = single ? sum_below_f32 : sum_below_f64;
    double most = guess->most;
    int found = most ? sum(parts, x, n, most) : 0;

    if (found == 0)
        guess->most = above_elements(x, n, single);
    return guess->most == most ? found : sum(parts, x, n, guess->most);
}

static int products_by_constants(double *parts, const f64 *x, const f64 *y, size_t n,
                                 struct guess *guess)
{
    double most = guess->most;
    int found = most ? products_below(parts, x, y, n, most) : 0;

    if (found == 0)
        guess->most = above_products(x, y, n);
    return guess->most == most ? found : products_below(parts, x, y, n, guess->most);
}

static void add_sum_block(struct collopt_superaccumulator *a, const void *x, size_t n, bool single,
                          struct guess *guess)
{
    double parts[PARTS_MOST] = { 0 };
    int found = guess ? sum_by_constants(parts, x, n, single, guess) : 0;

    if (guess && found == 0)
        found = single ? sum_of_f32(parts, x, n) : sum_of_f64(parts, x, n);
    add_parts(a, parts, found);
    for (size_t i = 0; found == 0 && i < n; i++)
        if (single) {
            double wide = widened((const f32 *)x + i);

            add_one(a, &wide);
        } else {
            add_one(a, (const f64 *)x + i);
        }
}

static void add_product_block(struct collopt_superaccumulator *a, const f64 *x, const f64 *y,
                              size_t n, struct guess *guess)
{
    double parts[PARTS_MOST] = { 0 };
    int found = guess ? products_by_constants(parts, x, y, n, guess) : 0;

    add_parts(a, parts, found);
    for (size_t i = 0; found == 0 && i < n; i++)
        add_one_product(a, x + i, y + i);
}

/* GUESS: NULL if there is no usual arithmetic. */
static void add_block(struct collopt_superaccumulator *a, const struct collopt_terms *t, size_t at,
                      size_t n, struct guess *guess)
{
    double x_buffer[BLOCK], y_buffer[BLOCK];
    const f64 *x, *y;

    if (t->single && !t->y && t->x_step == 1 && !t->negative) {
        add_sum_block(a, (const f32 *)t->x + at, n, true, guess);
        return;
    }
    x = block_of(x_buffer, t, t->x, t->x_step, at, n, guess != NULL);
    if (t->negative) {
        negate(x_buffer, x, n);
        x = x_buffer;
    }
    if (!t->y) {
        add_sum_block(a, x, n, false, guess);
        return;
    }
    y = block_of(y_buffer, t, t->y, t->y_step, at, n, guess != NULL);
    if (t->single && guess) {
        for (size_t i = 0; i < n; i++)
            x_buffer[i] = x[i] * y[i];
        add_sum_block(a, x_buffer, n, false, guess);
    } else {
        add_product_block(a, x, y, n, guess);
    }
}

void PASTE(collopt_add_terms_, COLLOPT_ISA)(struct collopt_superaccumulator *a,
                                            const struct collopt_terms *t);

void PASTE(collopt_add_terms_, COLLOPT_ISA)(struct collopt_superaccumulator *a,
                                            const struct collopt_terms *t)
{
    struct guess guess = { 0 };
    bool usual = usual_arithmetic();
    size_t blocks = 0;

    collopt_exact_widen(a, 0, COLLOPT_BUCKETS);
    for (size_t at = 0; at < t->count; at += BLOCK) {
        add_block(a, t, at, t->count - at < BLOCK ? t->count - at : BLOCK, usual ? &guess : NULL);
        if (++blocks % BLOCKS_OF_CARRY == 0)
            collopt_exact_carry(a);
    }
    collopt_exact_carry(a);
}

#endif
