/* The exact sum of one vector's elements, or of the products of two vectors', as what is added to a
 * superaccumulator.
 *
 * A block of terms at a time is added to a few lanes of doubles by error-free additions: to a sum,
 * what that loses to a rest, for products what the rest loses to a second rest, and to a third.  If
 * nothing was lost beyond, the lanes have the block's exact sum and are added to the
 * superaccumulator.
 *
 * Floats that differ by less than some 2^18 lose nothing when added as doubles.  For other terms
 * the lanes begin at constants, 1.5 * 2^k, so much greater than all terms of the block that the
 * exact error of an addition takes two operations (T. J. Dekker, A Floating-Point Technique for
 * Extending the Available Precision, Numer. Math. 18, 1971; J. Demmel, H. D. Nguyen, Parallel
 * Reproducible Summation, IEEE Trans. Comput. 64, 2015).  That is exact where the terms that are
 * not 0 differ by less than some 2^30.  Sums of other blocks are tried as in exact_sum.h, without
 * constants, which serves 2^50 for twice the time.  Where that fails too, as for infinities and
 * NaN, the terms of the block are added to the superaccumulator one by one.
 *
 * A product of doubles is two terms, the rounded product and its error, which a fused multiply-add
 * finds, or Dekker's halves.  Two rests are enough where products differ by less than some 2^20,
 * three for 2^60.  The error may have no place among doubles if the product is below 2^-960; but no
 * constant is so small that such a product is not lost, except where it is rounded to 0.
 *
 * Squares of doubles: a double is cut into three limbs, so short that products of limbs, and the
 * sums of a block of them, are exact as doubles (K. Ozaki, T. Ogita, S. Oishi, S. M. Rump,
 * Error-Free Transformations of Matrix Multiplication, Numer. Algorithms 59, 2012).  That serves
 * doubles that differ by less than 2^18, by 16 operations instead of 23 or 29.  Products of two
 * vectors would need 33: nine products of limbs, and twice the cutting.
 *
 * Products of floats are exact as doubles.  Where the exponents of the factors say that a rest
 * loses nothing, no addition is checked.
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

/* SSE2 has no minimum of integers: there it takes less time to check additions of products than to
 * find the range of factors. */
#if defined __SSE2__ && !defined __SSE4_1__
enum { PRODUCTS_BY_RANGE = false };
#else
enum { PRODUCTS_BY_RANGE = true };
#endif

typedef double vector __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t bits_vector __attribute__((vector_size(VECTOR_BYTES)));

typedef float narrow_vector __attribute__((vector_size(VECTOR_BYTES / 2)));

enum {
    BLOCK = 1024,               /* terms */
    WIDTH = VECTOR_BYTES / sizeof(double),
    STEP = 2 * WIDTH,           /* two vectors: additions to one are waited for by the other */
    CHAINS = 4,                 /* as STEP, where few other operations are between two additions */
    PARTS_MOST = 2 * STEP,      /* doubles that have a block's sum */
    BLOCKS_OF_CARRY = 1 << 20,  /* a bucket has room for 2^32 additions, 2 for each product */
    /* a lane's terms are at most 2^9, and their sum less than half its constant */
    ABOVE_TERMS = 11,
    /* what an addition to a constant loses is at most 2^-53 of it: again 2^9 of them */
    CONSTANTS_APART = 43,
    LEVELS_MOST = 4             /* constants */
};

enum {
    LIMBS = 3,
    SUMS = LIMBS * (LIMBS + 1) / 2,             /* of products of two limbs */
    /* a limb is at most 2^23 units, a product 2^46, a sum of 2^7 of them 2^53 */
    LIMB_BITS = 24,
    SQUARES = WIDTH << 7,                       /* terms */
    SQUARES_MOST = 1 << 9,                      /* blocks of 2^53 that an integer has room for */
    SKIPPED = 8                                 /* blocks after one that failed */
};

/* The sums of one call's blocks so far, in units of each sum. */
struct squares {
    double most;                /* no term is greater; a power of 2, or 0: not known */
    bits_vector gained[SUMS];
    int blocks, skip;
};

/* The blocks of one call that were added by constants, and what the next one is tried with.  What
 * lanes have gained is a difference of bits, as they keep the exponents of their constants. */
struct constants {
    int parts;                  /* accumulators, 1 or 2; lanes belong to them by turns */
    double most;                /* no term is greater; a power of 2, or 0: not known */
    bits_vector gained[LEVELS_MOST];    /* in units of the last bits of the constants */
    int blocks;                 /* in GAINED */
    bool wide;                  /* products have needed all levels */
    struct squares squares;
};

enum { BLOCKS_MOST = 1 << 10 }; /* the lanes of a block gain at most 2^52 */

/* Terms that are summed as doubles. */
enum kind { DOUBLES, FLOATS, FLOAT_PRODUCTS };

struct operands {
    const void *x, *y;          /* Y: the other factors, else NULL */
    size_t n;
};

INLINE vector doubles_at(const double *x, size_t i)
{
    vector v;

    memcpy(&v, x + i, sizeof v);
    return v;
}

/* gcc 12 takes four instructions for the general form, where there is one: sums of floats take 1.3
 * times as long. */
INLINE vector floats_at(const f32 *x, size_t i)
{
    narrow_vector narrow;

    memcpy(&narrow, x + i, sizeof narrow);
#if defined __AVX512F__
    return (vector)_mm512_cvtps_pd((__m256)narrow);
#elif defined __AVX__
    return (vector)_mm256_cvtps_pd((__m128)narrow);
#else
    return __builtin_convertvector(narrow, vector);
#endif
}

INLINE vector terms_at(const struct operands *o, size_t i, enum kind kind)
{
    return kind == DOUBLES ? doubles_at(o->x, i)
        : kind == FLOATS   ? floats_at(o->x, i)
                           : floats_at(o->x, i) * floats_at(o->y, i);
}

INLINE double term_at(const struct operands *o, size_t i, enum kind kind)
{
    return kind == DOUBLES ? ((const f64 *)o->x)[i]
        : kind == FLOATS   ? ((const f32 *)o->x)[i]
                           : (double)((const f32 *)o->x)[i] * ((const f32 *)o->y)[i];
}

/* The terms from I on, fewer than STEP, and NOTHING. */
INLINE void tail_of(double *tail, const struct operands *o, size_t i, enum kind kind,
                    double nothing)
{
    for (size_t j = 0; j < STEP; j++)
        tail[j] = i + j < o->n ? term_at(o, i + j, kind) : nothing;
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

INLINE double above_terms(const struct operands *o, enum kind kind)
{
    uint64_t most = 0;

    for (size_t i = 0; i < o->n; i++) {
        uint64_t bits = magnitude_bits(term_at(o, i, kind));

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

    return most > 0x1p-750 && constant < INFINITY ? constant : 0;
}

static double constant_of_rests(double constant)
{
    return constant * 0x1p-43;
}

_Static_assert(CONSTANTS_APART == 43, "the power above");

/* The last bit of the second constant for terms below MOST. */
static double last_of_rests(double most)
{
    return most * (0x1p-52 * 0x1p-43 * (1 << ABOVE_TERMS));
}

/* Of 2, as a normal number. */
static double power(int exponent)
{
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;

    memcpy(&power, &bits, sizeof power);
    return power;
}

/* ---- floats, by their range ------------------------------------------------------------------ */

/* The exponent bits of the greatest, and of the least that is not 0. */
struct range {
    int least, most;
};

enum { FLOAT_MANTISSA = 23, FLOAT_BIAS = 127, FLOAT_GREATEST = 0xfe };

/* Signed, as SSE2 compares nothing else. */
static struct range range_of(const f32 *x, size_t n)
{
    int32_t most = 0, least = INT32_MAX;
    struct range r;

    for (size_t i = 0; i < n; i++) {
        int32_t bits;

        memcpy(&bits, x + i, sizeof bits);
        bits &= INT32_MAX;
        most = bits > most ? bits : most;
        bits = (bits - 1) & INT32_MAX;          /* of 0: the greatest there is */
        least = bits < least ? bits : least;
    }
    r.most = most >> FLOAT_MANTISSA;
    r.least = least < INT32_MAX ? (least + 1) >> FLOAT_MANTISSA : 1;
    if (r.least < 1)
        r.least = 1;                            /* subnormal numbers */
    return r;
}

/* Are all partial sums of X exact as doubles?  They are whole numbers of the last bit of the least,
 * and must need no more than 53 bits for them. */
static bool in_range(const f32 *x, size_t n)
{
    const int room = 53 - FLOAT_MANTISSA - 1 - __builtin_ctz(BLOCK);
    struct range r = range_of(x, n);

    return r.most <= FLOAT_GREATEST && r.most - r.least <= room;
}

/* SUM[0] = the sum of O, or of every second term, and SUM[1] that of the others, for two PARTS;
 * false: they are not exact. */
INLINE bool sum_in_range(double *sum, int parts, const struct operands *o)
{
    vector a[CHAINS];
    double tail[STEP];
    size_t i;

    if (!in_range(o->x, o->n))
        return false;
    for (int k = 0; k < CHAINS; k++)
        a[k] = every(-0.0);
    for (i = 0; i + CHAINS * WIDTH <= o->n; i += CHAINS * WIDTH)
        for (size_t k = 0; k < CHAINS; k++)
            a[k] += terms_at(o, i + k * WIDTH, FLOATS);
    for (; i + WIDTH <= o->n; i += WIDTH)
        a[0] += terms_at(o, i, FLOATS);
    tail_of(tail, o, i, FLOATS, -0.0);
    a[0] += doubles_at(tail, 0);
    for (int k = 1; k < CHAINS; k++)
        a[0] += a[k];
    sum[0] = sum[parts - 1] = -0.0;
    for (i = 0; i < WIDTH; i++)
        sum[(int)i % parts] += a[0][i];
    return true;
}

/* ---- sums, by constants ---------------------------------------------------------------------- */

struct constant_lanes {
    vector sum, rest;
    bits_vector strayed, lost;
};

/* Adds X to *SUM, of a constant; what is lost. */
INLINE vector add_below(vector *sum, vector x)
{
    vector before = *sum;

    *sum = before + x;
    return x - (*sum - before);
}

/* Adds X, and its rounding error to the rest.  The error is exact while the sum has the exponent of
 * FIRST: then no term is greater than the sum. */
INLINE void add_sum_below(struct constant_lanes *s, vector x, vector first)
{
    x = add_below(&s->sum, x);
    s->strayed |= (bits_vector)s->sum ^ (bits_vector)first;
    s->lost |= (bits_vector)add_below(&s->rest, x);
}

/* Any sign or exponent that is another than it should be. */
INLINE bool any_stray(bits_vector v)
{
    return any_bit(v >> 52);
}

/* What A and B, which began at FIRST, have gained. */
INLINE bits_vector gained_by(vector a, vector b, vector first)
{
    return (bits_vector)a - (bits_vector)first + ((bits_vector)b - (bits_vector)first);
}

/* Adds O, of which no term is greater than C's; false: one is, or something was lost. */
INLINE bool sum_below(struct constants *c, const struct operands *o, enum kind kind)
{
    vector first = every(constant_above(c->most)), second = every(constant_of_rests(first[0]));
    struct constant_lanes a = { .sum = first, .rest = second }, b = a;
    double tail[STEP];
    size_t i;

    for (i = 0; i + STEP <= o->n; i += STEP) {
        add_sum_below(&a, terms_at(o, i, kind), first);
        add_sum_below(&b, terms_at(o, i + WIDTH, kind), first);
    }
    tail_of(tail, o, i, kind, 0);
    add_sum_below(&a, doubles_at(tail, 0), first);
    add_sum_below(&b, doubles_at(tail, WIDTH), first);
    if (first[0] == 0 || any_stray(a.strayed | b.strayed) || any_bit(a.lost | b.lost))
        return false;
    c->gained[0] += gained_by(a.sum, b.sum, first);
    c->gained[1] += gained_by(a.rest, b.rest, second);
    c->blocks++;
    return true;
}

/* A function of its own: inlined in several places it takes 0.31 ns for a term with AVX2 and gcc
 * 12, here 0.26. */
__attribute__((noinline))
static bool doubles_below(struct constants *c, const struct operands *o)
{
    return sum_below(c, o, DOUBLES);
}

INLINE bool lanes_below(struct constants *c, const struct operands *o, enum kind kind)
{
    return kind == DOUBLES ? doubles_below(c, o) : sum_below(c, o, kind);
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

INLINE int sum_of_block(double *parts, const struct operands *o, enum kind kind)
{
    struct sum_lanes a = { .sum = every(-0.0) }, b = a;
    double tail[STEP];
    size_t i;

    for (i = 0; i + STEP <= o->n; i += STEP) {
        add_sum(&a, terms_at(o, i, kind));
        add_sum(&b, terms_at(o, i + WIDTH, kind));
    }
    tail_of(tail, o, i, kind, -0.0);
    add_sum(&a, doubles_at(tail, 0));
    add_sum(&b, doubles_at(tail, WIDTH));
    if (any_bit(a.lost | b.lost))
        return 0;
    memcpy(parts, (vector[]){ a.sum, b.sum, a.rest, b.rest }, 4 * sizeof(vector));
    return 4 * WIDTH;
}

/* ---- products -------------------------------------------------------------------------------- */

struct product_lanes {
    vector level[LEVELS_MOST];
    bits_vector strayed, lost, zero;
};

#if defined __AVX512F__
INLINE vector multiply_add(vector x, vector y, vector z)
{
    return (vector)_mm512_fmadd_pd((__m512d)x, (__m512d)y, (__m512d)z);
}
#elif defined __FMA__
INLINE vector multiply_add(vector x, vector y, vector z)
{
    return (vector)_mm256_fmadd_pd((__m256d)x, (__m256d)y, (__m256d)z);
}
#elif defined __aarch64__
INLINE vector multiply_add(vector x, vector y, vector z)
{
    return (vector)vfmaq_f64((float64x2_t)z, (float64x2_t)x, (float64x2_t)y);
}
#else
#define NOT_FUSED
INLINE vector multiply_add(vector x, vector y, vector z)
{
    return x * y + z;
}

/* The upper half of X's mantissa, rounded; X - upper has the lower half. */
INLINE vector upper_half(vector x)
{
    const int64_t lower = ((int64_t)1 << 27) - 1;

    return (vector)(((bits_vector)x + (lower + 1) / 2) & ~lower);
}

INLINE vector product_error(vector x, vector y, vector product)
{
    vector x1 = upper_half(x), y1 = upper_half(y), x2 = x - x1, y2 = y - y1;

    return ((x1 * y1 - product) + x1 * y2 + x2 * y1) + x2 * y2;
}
#endif

#ifndef NOT_FUSED
INLINE vector product_error(vector x, vector y, vector product)
{
    return multiply_add(x, y, -product);
}
#endif

INLINE void add_product(struct product_lanes *s, vector x, vector y, vector first, int levels)
{
    vector product = x * y, error = product_error(x, y, product);

    s->zero |= product == 0;
    product = add_below(&s->level[0], product);
    s->strayed |= (bits_vector)s->level[0] ^ (bits_vector)first;
    for (int k = 1; k < levels; k++) {
        error = add_below(&s->level[k], error);
        product = add_below(&s->level[k], product);
    }
    s->lost |= (bits_vector)product | (bits_vector)error;
}

/* Products may be 0, but not by rounding. */
static bool zeros_exact(const f64 *x, const f64 *y, size_t n)
{
    bool exact = true;

    for (size_t i = 0; i < n; i++)
        exact &= x[i] * y[i] != 0 || x[i] == 0 || y[i] == 0;
    return exact;
}

INLINE bool products_on(struct constants *c, const f64 *x, const f64 *y, size_t n, int levels)
{
    struct product_lanes a = { .strayed = { 0 } }, b;
    double first = constant_above(c->most), constant = first, x_tail[STEP], y_tail[STEP];
    size_t i;

    for (int k = 0; k < levels; k++, constant = constant_of_rests(constant))
        a.level[k] = every(constant);
    b = a;
    for (i = 0; i + STEP <= n; i += STEP) {
        add_product(&a, doubles_at(x, i), doubles_at(y, i), every(first), levels);
        add_product(&b, doubles_at(x, i + WIDTH), doubles_at(y, i + WIDTH), every(first), levels);
    }
    if (any_bit(a.zero | b.zero) && !zeros_exact(x, y, i))
        return false;
    tail_of(x_tail, &(struct operands){ x, NULL, n }, i, DOUBLES, 0);
    tail_of(y_tail, &(struct operands){ y, NULL, n }, i, DOUBLES, 0);
    add_product(&a, doubles_at(x_tail, 0), doubles_at(y_tail, 0), every(first), levels);
    add_product(&b, doubles_at(x_tail, WIDTH), doubles_at(y_tail, WIDTH), every(first), levels);
    if (first == 0 || any_stray(a.strayed | b.strayed) || any_bit(a.lost | b.lost)
        || !zeros_exact(x_tail, y_tail, STEP))
        return false;
    for (int k = 0; k < levels; k++, first = constant_of_rests(first))
        c->gained[k] += gained_by(a.level[k], b.level[k], every(first));
    c->blocks++;
    return true;
}

/* Not inlined, for test/no_fma.sh. */
__attribute__((noinline))
static bool products_below(struct constants *c, const f64 *x, const f64 *y, size_t n)
{
    return c->wide ? products_on(c, x, y, n, LEVELS_MOST)
                   : products_on(c, x, y, n, LEVELS_MOST - 1);
}

/* ---- squares, in limbs ----------------------------------------------------------------------- */

/* Of 2: how far below the greatest term the units of limbs and of sums are. */
enum { FIRST_UNIT = LIMB_BITS - 1 };

/* Sum number K is that of products of limbs I and J, I <= J. */
static const struct {
    int i, j;
} limbs_of_sum[SUMS] = { { 0, 0 }, { 0, 1 }, { 0, 2 }, { 1, 1 }, { 1, 2 }, { 2, 2 } };

/* Adding it to what is at most 2^51 UNIT, and subtracting it, rounds that to UNIT. */
static double constant_of(double unit)
{
    return unit * 0x1.8p52;
}

static double limb_unit(double most, int limb)
{
    return most * power(-FIRST_UNIT - limb * LIMB_BITS);
}

static double sum_unit(double most, int k)
{
    return limb_unit(most, limbs_of_sum[k].i) * limb_unit(most, limbs_of_sum[k].j);
}

/* No unit of a sum may be subnormal, nor a sum overflow. */
static bool limbs_fit(double most)
{
    return most > 0x1p-400 && most < 0x1p500;
}

struct square_lanes {
    vector sum[SUMS];
    bits_vector lost;
};

/* X, at most 2^51 of the unit of CONSTANT, as a multiple of it. */
INLINE vector rounded_by(vector x, vector constant)
{
    return (x + constant) - constant;
}

/* Both roundings are of X itself, so that neither waits for the other. */
INLINE void add_square(struct square_lanes *s, vector x, const vector *constant)
{
    vector first = rounded_by(x, constant[0]), both = rounded_by(x, constant[1]),
           limb[LIMBS] = { first, both - first, x - both };

    s->lost |= (bits_vector)limb[2] ^ (bits_vector)rounded_by(limb[2], constant[2]);
    for (int k = 0; k < SUMS; k++)
        s->sum[k] = multiply_add(limb[limbs_of_sum[k].i], limb[limbs_of_sum[k].j], s->sum[k]);
}

/* SUM, at most 2^53 of UNIT, as integers: in two steps, as a constant has room for 2^51. */
INLINE bits_vector units_of(vector sum, double unit)
{
    vector coarse = every(constant_of(4 * unit)), fine = every(constant_of(unit)),
           upper = sum + coarse, lower = sum - (upper - coarse) + fine;

    return ((bits_vector)upper - (bits_vector)coarse) * 4
        + ((bits_vector)lower - (bits_vector)fine);
}

/* Is every sum of first limbs' squares less than 2^53 units?  Then all were exact: terms are not
 * negative, so no sum was greater before (one that reaches 2^53 may stay there, whatever is added),
 * and sums of products are not greater than those of squares (Cauchy and Schwarz). */
INLINE bool sums_fit(vector sum, double unit)
{
    bits_vector fit = sum < every(unit * 0x1p53);

    return !any_bit(~fit);
}

/* Adds N squares, at most SQUARES of them; false: one is too great, or something was lost.  Not
 * inlined, for test/no_fma.sh. */
__attribute__((noinline))
static bool squares_below(struct squares *s, const f64 *x, size_t n)
{
    struct square_lanes a = { .lost = { 0 } };
    vector constant[LIMBS];
    double tail[STEP];
    size_t i;

    for (int k = 0; k < LIMBS; k++)
        constant[k] = every(constant_of(limb_unit(s->most, k)));
    for (i = 0; i + WIDTH <= n; i += WIDTH)
        add_square(&a, doubles_at(x, i), constant);
    tail_of(tail, &(struct operands){ x, NULL, n }, i, DOUBLES, 0);
    add_square(&a, doubles_at(tail, 0), constant);
    if (any_bit(a.lost) || !sums_fit(a.sum[0], sum_unit(s->most, 0)))
        return false;
    for (int k = 0; k < SUMS; k++)
        s->gained[k] += units_of(a.sum[k], sum_unit(s->most, k));
    s->blocks++;
    return true;
}

/* ---- products of floats, by their range ------------------------------------------------------ */

struct float_product_lanes {
    vector sum, rest;
};

/* A product of floats is exact as a double, so here it does not matter what is fused. */
INLINE void add_float_product(struct float_product_lanes *s, vector x, vector y)
{
    vector before = s->sum;

    s->sum = multiply_add(x, y, before);
    s->rest += multiply_add(x, y, before - s->sum);
}

INLINE void add_float_products_at(struct float_product_lanes *s, const f32 *x, const f32 *y,
                                  size_t i, bool squares)
{
    vector factor = floats_at(x, i);

    add_float_product(s, factor, squares ? factor : floats_at(y, i));
}

/* Adds products that C is known to be fit for.  False: they come to 0, and may all be -0. */
INLINE bool float_products_on(struct constants *c, const f32 *x, const f32 *y, size_t n,
                              bool squares)
{
    vector first = every(constant_above(c->most)), second = every(constant_of_rests(first[0])),
           one = every(1);
    struct float_product_lanes a[CHAINS];
    bits_vector gained = { 0 }, rest = { 0 };
    double tail[STEP];
    size_t i;

    for (int k = 0; k < CHAINS; k++)
        a[k] = (struct float_product_lanes){ first, second };
    for (i = 0; i + CHAINS * WIDTH <= n; i += CHAINS * WIDTH)
        for (size_t k = 0; k < CHAINS; k++)
            add_float_products_at(&a[k], x, y, i + k * WIDTH, squares);
    for (; i + WIDTH <= n; i += WIDTH)
        add_float_products_at(&a[0], x, y, i, squares);
    tail_of(tail, &(struct operands){ x, y, n }, i, FLOAT_PRODUCTS, 0);
    add_float_product(&a[0], doubles_at(tail, 0), one);
    for (int k = 0; k < CHAINS; k++) {
        gained += (bits_vector)a[k].sum - (bits_vector)first;
        rest += (bits_vector)a[k].rest - (bits_vector)second;
    }
    if (!any_bit(gained | rest))
        return false;
    c->gained[0] += gained;
    c->gained[1] += rest;
    c->blocks++;
    return true;
}

/* Not inlined, for test/no_fma.sh. */
__attribute__((noinline))
static bool float_products_below(struct constants *c, const f32 *x, const f32 *y, size_t n)
{
    return x == y ? float_products_on(c, x, y, n, true) : float_products_on(c, x, y, n, false);
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

/* Every second element, as of complex numbers, is gathered by vectors, if compilers see the 2. */
#define GATHER(real) \
    static void gather_##real(real *to, const real *from, ptrdiff_t step, size_t n) \
    { \
        if (step == 2) \
            for (size_t i = 0; i < n; i++) \
                to[i] = from[2 * i]; \
        else \
            for (size_t i = 0; i < n; i++) \
                to[i] = from[(ptrdiff_t)i * step]; \
    }

GATHER(f64)
GATHER(f32)

/* N elements as they are, or gathered into BUFFER; floats widened, in any arithmetic. */
static const f64 *block_of(double *buffer, const struct collopt_terms *t, const void *from,
                           ptrdiff_t step, size_t at, size_t n)
{
    const f64 *wide = (const f64 *)from + (ptrdiff_t)at * step;
    const f32 *narrow = (const f32 *)from + (ptrdiff_t)at * step;

    if (!t->single && step == 1)
        return wide;
    if (!t->single)
        gather_f64(buffer, wide, step, n);
    else
        for (size_t i = 0; i < n; i++)
            buffer[i] = widened(narrow + (ptrdiff_t)i * step);
    return buffer;
}

static const f32 *floats_of(float *buffer, const void *from, ptrdiff_t step, size_t at, size_t n)
{
    const f32 *x = (const f32 *)from + (ptrdiff_t)at * step;

    if (step == 1)
        return x;
    gather_f32(buffer, x, step, n);
    return buffer;
}

#define NEGATE(real, word) \
    static void negate_##real(void *to, const real *from, size_t n) \
    { \
        for (size_t i = 0; i < n; i++) { \
            word bits; \
            memcpy(&bits, from + i, sizeof bits); \
            bits ^= (word)1 << (8 * sizeof bits - 1); \
            memcpy((real *)to + i, &bits, sizeof bits); \
        } \
    }

NEGATE(f64, uint64_t)
NEGATE(f32, uint32_t)

static void add_parts(struct collopt_superaccumulator *a, const double *parts, int n)
{
    for (int i = 0; i < n; i++)
        if (i < STEP || parts[i] != 0)          /* a rest of 0 is no operand */
            add_one(a, parts + i);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Of X's last bit, in units of superaccumulators. */
static int shift_of_last(double x)
{
    return (int)(magnitude_bits(x) >> 52) - 1 + COLLOPT_UNIT - 1074;
}

/* To PARTS accumulators. */
static void add_units(struct collopt_superaccumulator *a, int parts, bits_vector units, int shift)
{
    for (int i = 0; i < WIDTH; i++)
        collopt_exact_add_units(a + i % parts, units[i] < 0,
                                units[i] < 0 ? -(uint64_t)units[i] : (uint64_t)units[i], shift);
}

/* Adds what was gained by constants: units of their last bits. */
static void flush(struct collopt_superaccumulator *a, struct constants *c)
{
    double constant = constant_above(c->most);

    a->other |= c->blocks > 0 && c->parts == 1;
    for (int k = 0; k < LEVELS_MOST && c->blocks > 0; k++) {
        add_units(a, c->parts, c->gained[k], shift_of_last(constant));
        c->gained[k] = (bits_vector){ 0 };
        constant = constant_of_rests(constant);
    }
    c->blocks = 0;
}

/* Products of two limbs count twice. */
static void flush_squares(struct collopt_superaccumulator *a, struct squares *s)
{
    a->other |= s->blocks > 0;
    for (int k = 0; k < SUMS && s->blocks > 0; k++) {
        double constant = constant_of(sum_unit(s->most, k));
        int twice = limbs_of_sum[k].i != limbs_of_sum[k].j;

        add_units(a, 1, s->gained[k], shift_of_last(constant) + twice);
        s->gained[k] = (bits_vector){ 0 };
    }
    s->blocks = 0;
}

/* Makes room for a block.  False: none can be tried with another constant. */
static bool try_below(struct collopt_superaccumulator *a, struct constants *c, double most)
{
    if (c->most == most)
        return false;
    flush(a, c);
    c->most = most;
    return most > 0;
}

/* By constants for the terms of the blocks before, then for those of this one. */
INLINE bool add_below_constants(struct collopt_superaccumulator *a, const struct operands *o,
                                enum kind kind, struct constants *c)
{
    if (c->blocks == BLOCKS_MOST)
        flush(a, c);
    return (c->most > 0 && lanes_below(c, o, kind))
        || (try_below(a, c, above_terms(o, kind)) && lanes_below(c, o, kind));
}

/* C: NULL if there is no usual arithmetic. */
INLINE void add_sum_block(struct collopt_superaccumulator *a, const struct operands *o,
                          enum kind kind, struct constants *c)
{
    double parts[PARTS_MOST] = { 0 };
    int found;

    if (c && add_below_constants(a, o, kind, c))
        return;
    found = c ? sum_of_block(parts, o, kind) : 0;
    add_parts(a, parts, found);
    for (size_t i = 0; found == 0 && i < o->n; i++) {
        double term = kind == FLOATS ? widened((const f32 *)o->x + i) : term_at(o, i, kind);

        add_one(a, &term);
    }
}

static void add_doubles(struct collopt_superaccumulator *a, const f64 *x, size_t n,
                        struct constants *c)
{
    add_sum_block(a, &(struct operands){ x, NULL, n }, DOUBLES, c);
}

static void add_floats(struct collopt_superaccumulator *a, const f32 *x, size_t n,
                       struct constants *c)
{
    struct operands o = { x, NULL, n };
    double sum;

    if (c && sum_in_range(&sum, 1, &o))
        add_one(a, &sum);
    else
        add_sum_block(a, &o, FLOATS, c);
}

/* Is it known of all products that none is greater than C's terms, nor has bits that rests lose?
 * Makes C fit for them where that helps. */
static bool products_in_range(struct collopt_superaccumulator *a, const struct operands *o,
                              struct constants *c)
{
    const int least_bits = 2 * (FLOAT_BIAS + FLOAT_MANTISSA), above = 2 * (FLOAT_BIAS - 1);
    struct range x = range_of(o->x, o->n), y = o->x == o->y ? x : range_of(o->y, o->n);
    double last = power(x.least + y.least - least_bits), most = power(x.most + y.most - above);

    if (x.most > FLOAT_GREATEST || y.most > FLOAT_GREATEST || last < last_of_rests(most))
        return false;
    if (c->blocks == BLOCKS_MOST || most > c->most || last < last_of_rests(c->most)) {
        flush(a, c);
        c->most = most;
    }
    return true;
}

/* In usual arithmetic. */
static void add_float_products(struct collopt_superaccumulator *a, const f32 *x, const f32 *y,
                               size_t n, struct constants *c)
{
    struct operands o = { x, y, n };

    if (PRODUCTS_BY_RANGE && products_in_range(a, &o, c)) {
        if (float_products_below(c, x, y, n))
            return;
        flush(a, c);
        c->most = 0;                            /* there may be no term above 0 */
    }
    add_sum_block(a, &o, FLOAT_PRODUCTS, c);
}

/* By constants for the products of the blocks before, then for those of this one, then with one
 * constant more, from there on. */
static bool add_products_below(struct collopt_superaccumulator *a, const f64 *x, const f64 *y,
                               size_t n, struct constants *c)
{
    if (c->blocks == BLOCKS_MOST)
        flush(a, c);
    if ((c->most > 0 && products_below(c, x, y, n))
        || (try_below(a, c, above_products(x, y, n)) && products_below(c, x, y, n)))
        return true;
    if (c->wide || c->most == 0)
        return false;
    c->wide = true;
    if (products_below(c, x, y, n))
        return true;
    c->wide = false;
    return false;
}

static void add_products(struct collopt_superaccumulator *a, const f64 *x, const f64 *y, size_t n,
                         struct constants *c)
{
    if (c && add_products_below(a, x, y, n, c))
        return;
    for (size_t i = 0; i < n; i++)
        add_one_product(a, x + i, y + i);
}

/* By limbs for the terms of the blocks before, then for those of this one. */
static bool add_squares_below(struct collopt_superaccumulator *a, const f64 *x, size_t n,
                              struct squares *s)
{
    double most;

    if (s->skip > 0) {
        s->skip--;
        return false;
    }
    if (s->blocks == SQUARES_MOST)
        flush_squares(a, s);
    if (s->most > 0 && squares_below(s, x, n))
        return true;
    most = above_terms(&(struct operands){ x, NULL, n }, DOUBLES);
    if (limbs_fit(most) && most != s->most) {
        flush_squares(a, s);
        s->most = most;
        if (squares_below(s, x, n))
            return true;
    }
    s->skip = SKIPPED;
    return false;
}

static void add_squares(struct collopt_superaccumulator *a, const f64 *x, size_t n,
                        struct constants *c)
{
    for (size_t at = 0; at < n; at += SQUARES) {
        size_t some = n - at < SQUARES ? n - at : SQUARES;

        if (!c || !add_squares_below(a, x + at, some, &c->squares))
            add_products(a, x + at, x + at, some, c);
    }
}

static void add_block_of_floats(struct collopt_superaccumulator *a, const struct collopt_terms *t,
                                size_t at, size_t n, struct constants *c)
{
    float x_buffer[BLOCK], y_buffer[BLOCK];
    const f32 *x = floats_of(x_buffer, t->x, t->x_step, at, n);

    if (t->negative) {
        negate_f32(x_buffer, x, n);
        x = x_buffer;
    }
    if (t->y)
        add_float_products(a, x, floats_of(y_buffer, t->y, t->y_step, at, n), n, c);
    else
        add_floats(a, x, n, c);
}

static void add_block(struct collopt_superaccumulator *a, const struct collopt_terms *t, size_t at,
                      size_t n, struct constants *c)
{
    double x_buffer[BLOCK], y_buffer[BLOCK];
    const f64 *x;

    if (t->single && (c || !t->y)) {
        add_block_of_floats(a, t, at, n, c);
        return;
    }
    x = block_of(x_buffer, t, t->x, t->x_step, at, n);
    if (t->negative) {
        negate_f64(x_buffer, x, n);
        x = x_buffer;
    }
    if (t->y == t->x && t->y_step == t->x_step && !t->negative)
        add_squares(a, x, n, c);
    else if (t->y)
        add_products(a, x, block_of(y_buffer, t, t->y, t->y_step, at, n), n, c);
    else
        add_doubles(a, x, n, c);
}

/* ---- sums of complex numbers, both parts at once where they have no gaps --------------------- */

/* Which zeros are among the terms of each part.  Of a block it is not known which part has gained
 * nothing because it consists of -0. */
static void note_zeros(struct collopt_superaccumulator *a, const struct collopt_terms *t, int part)
{
    for (size_t i = 0; i < t->count && !a->other; i++) {
        ptrdiff_t at = 2 * (ptrdiff_t)i * t->x_step + part;
        double term = t->single ? widened((const f32 *)t->x + at) : ((const f64 *)t->x)[at];

        a->other = magnitude_bits(term) != 0 || !signbit(term);
        a->minus_zero |= !a->other;
    }
}

/* False: it must be tried part by part. */
static bool add_both(struct collopt_superaccumulator *a, const struct operands *o, bool single,
                     struct constants *c)
{
    double sum[2];

    if (!single)
        return add_below_constants(a, o, DOUBLES, c);
    if (!sum_in_range(sum, 2, o))
        return add_below_constants(a, o, FLOATS, c);
    add_one(a, &sum[0]);
    add_one(a + 1, &sum[1]);
    return true;
}

struct complex_constants {
    struct constants both, of_part[2];
};

/* N complex numbers. */
static void add_complex_block(struct collopt_superaccumulator *a, const struct collopt_terms *t,
                              size_t at, size_t n, struct complex_constants *c)
{
    size_t size = t->single ? sizeof(f32) : sizeof(f64);
    struct operands o = { (const char *)t->x + 2 * at * size, NULL, 2 * n };

    if (c && t->x_step == 1 && add_both(a, &o, t->single, &c->both))
        return;
    for (int k = 0; k < 2; k++) {
        struct collopt_terms part = *t;

        part.x = (const char *)t->x + (size_t)k * size;
        part.x_step = 2 * t->x_step;
        add_block(a + k, &part, at, n, c ? &c->of_part[k] : NULL);
    }
}

static void add_complex_sum(struct collopt_superaccumulator *a, const struct collopt_terms *t)
{
    struct complex_constants c = { { .parts = 2 }, { { .parts = 1 }, { .parts = 1 } } };
    bool usual = usual_arithmetic();
    size_t blocks = 0;

    for (int k = 0; k < 2; k++) {
        collopt_exact_widen(a + k, 0, COLLOPT_BUCKETS);
        note_zeros(a + k, t, k);
    }
    for (size_t at = 0; at < t->count; at += BLOCK) {
        size_t n = t->count - at < BLOCK ? t->count - at : BLOCK;

        add_complex_block(a, t, at, n, usual ? &c : NULL);
        if (++blocks % BLOCKS_OF_CARRY == 0) {
            collopt_exact_carry(a);
            collopt_exact_carry(a + 1);
        }
    }
    flush(a, &c.both);
    for (int k = 0; k < 2; k++) {
        flush(a + k, &c.of_part[k]);
        collopt_exact_carry(a + k);
    }
}

/* ---- products of complex numbers ------------------------------------------------------------- */

enum { HALF_BLOCK = BLOCK / 2 };                /* four buffers of it fit the first cache */

static const void *part_of(void *buffer, const struct collopt_terms *t, const void *from,
                           ptrdiff_t step, size_t at, size_t n, bool narrow)
{
    return narrow ? (const void *)floats_of(buffer, from, 2 * step, at, n)
                  : block_of(buffer, t, from, 2 * step, at, n);
}

static void add_real_products(struct collopt_superaccumulator *a, const void *x, const void *y,
                              size_t n, bool narrow, struct constants *c)
{
    if (narrow)
        add_float_products(a, x, y, n, c);
    else
        add_products(a, x, y, n, c);
}

/* N of them.  Each part is gathered once, and used for two products; of those with x's imaginary
 * part one is subtracted. */
static void add_complex_products(struct collopt_superaccumulator *a, const struct collopt_terms *t,
                                 size_t at, size_t n, struct constants *c)
{
    union { double f64[HALF_BLOCK]; float f32[HALF_BLOCK]; } buffer[4];
    bool narrow = t->single && c;
    size_t size = t->single ? sizeof(f32) : sizeof(f64);
    const char *x = t->x, *y = t->y;
    const void *x_re = part_of(&buffer[0], t, x, t->x_step, at, n, narrow),
               *x_im = part_of(&buffer[1], t, x + size, t->x_step, at, n, narrow),
               *y_re = part_of(&buffer[2], t, y, t->y_step, at, n, narrow),
               *y_im = part_of(&buffer[3], t, y + size, t->y_step, at, n, narrow);
    int minus = t->numbers == COLLOPT_CONJUGATED ? 1 : 0;       /* the part that is less */
    struct constants *of_part[2] = { c, c ? c + 1 : NULL };

    add_real_products(a, x_re, y_re, n, narrow, of_part[0]);
    add_real_products(a + 1, x_re, y_im, n, narrow, of_part[1]);
    add_real_products(a + !minus, x_im, minus ? y_im : y_re, n, narrow, of_part[!minus]);
    if (narrow)
        negate_f32(buffer[1].f32, x_im, n);
    else
        negate_f64(buffer[1].f64, x_im, n);
    add_real_products(a + minus, &buffer[1], minus ? y_re : y_im, n, narrow, of_part[minus]);
}

static void add_complex_dot(struct collopt_superaccumulator *a, const struct collopt_terms *t)
{
    struct constants c[2] = { { .parts = 1 }, { .parts = 1 } };
    bool usual = usual_arithmetic();
    size_t blocks = 0;

    collopt_exact_widen(a, 0, COLLOPT_BUCKETS);
    collopt_exact_widen(a + 1, 0, COLLOPT_BUCKETS);
    for (size_t at = 0; at < t->count; at += HALF_BLOCK) {
        size_t n = t->count - at < HALF_BLOCK ? t->count - at : HALF_BLOCK;

        add_complex_products(a, t, at, n, usual ? c : NULL);
        if (++blocks % BLOCKS_OF_CARRY == 0) {
            collopt_exact_carry(a);
            collopt_exact_carry(a + 1);
        }
    }
    for (int k = 0; k < 2; k++) {
        flush(a + k, &c[k]);
        collopt_exact_carry(a + k);
    }
}

static void add_real_terms(struct collopt_superaccumulator *a, const struct collopt_terms *t)
{
    struct constants constants = { .parts = 1 };
    bool usual = usual_arithmetic();
    size_t blocks = 0;

    collopt_exact_widen(a, 0, COLLOPT_BUCKETS);
    for (size_t at = 0; at < t->count; at += BLOCK) {
        size_t n = t->count - at < BLOCK ? t->count - at : BLOCK;

        add_block(a, t, at, n, usual ? &constants : NULL);
        if (++blocks % BLOCKS_OF_CARRY == 0)
            collopt_exact_carry(a);
    }
    flush(a, &constants);
    flush_squares(a, &constants.squares);
    collopt_exact_carry(a);
}

void PASTE(collopt_add_terms_, COLLOPT_ISA)(struct collopt_superaccumulator *a,
                                            const struct collopt_terms *t);

void PASTE(collopt_add_terms_, COLLOPT_ISA)(struct collopt_superaccumulator *a,
                                            const struct collopt_terms *t)
{
    if (t->numbers == COLLOPT_REALS)
        add_real_terms(a, t);
    else if (t->y)
        add_complex_dot(a, t);
    else
        add_complex_sum(a, t);
}

#endif
