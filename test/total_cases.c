#include "config.h"

#include "total_cases.h"

#include "exact_reference.h"
#include "kernels/isa.h"
#include "kernels/superaccumulator.h"

#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined __SSE2__
#include <immintrin.h>
#endif

static uint64_t state;

static uint64_t draw(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33 ^ state << 31;
}

/* What elements are, each case for another way through the kernels. */
enum set {
    ALIKE,                      /* exponents within 20 */
    FAR,                        /* within 50 */
    ANY,                        /* all exponents, specials not */
    SMALL,                      /* near the subnormal numbers, and such */
    HIDDEN,                     /* in threes, two that cancel and one whose square is too small */
    GROWING,                    /* each block is beyond what the one before was thought to need */
    GREAT,                      /* near overflow, of both signs */
    CANCELLING,                 /* pairs of any, of which the sum is that of a few */
    ZEROS, MINUS_ZEROS,
    SPECIAL,                    /* some infinities and NaN */
    ONE_INFINITY,
    ROUND,                      /* few bits, so that ties appear */
    SETS
};

static const char *const set_names[SETS] = {
    "alike", "far", "any", "small", "hidden", "growing", "great", "cancelling",
    "zeros", "minus zeros", "special", "one infinity", "round"
};

static uint64_t element(enum set set, size_t size, size_t i)
{
    int mantissa = size == 8 ? 52 : 23, most = size == 8 ? 2047 : 255, exponent = most / 2;
    uint64_t r = draw(), fraction = draw() & (((uint64_t)1 << mantissa) - 1), sign = r & 1;

    r >>= 1;
    switch (set) {
    case FAR: exponent += (int)(r % 50); break;
    case ANY: case CANCELLING: exponent = (int)(r % (uint64_t)most); break;
    case SMALL: exponent = (int)(r % 60); break;
    case HIDDEN:
        exponent = i % 3 == 2 ? most / 5 + (int)(r % 8) : exponent;
        fraction = i % 3 == 2 ? fraction : 0;
        sign = i % 3 > 0;
        break;
    case GROWING:
        exponent = most / 8 * 3 + (int)(i / 40);
        break;
    case GREAT: exponent = most - 1 - (int)(r % 2); break;
    case ZEROS: exponent = 0, fraction = 0; break;
    case MINUS_ZEROS: exponent = 0, fraction = 0, sign = 1; break;
    case SPECIAL:
        exponent = r % 5 == 0 ? most : r % 5 == 1 ? 0 : most / 2;
        fraction = r % 25 ? 0 : 1;
        break;
    case ONE_INFINITY: exponent = i % 97 == 5 ? most : most - 2, fraction = 0, sign = 1; break;
    case ROUND: exponent += (int)(r % 60), fraction &= (uint64_t)7 << (mantissa - 3); break;
    default: exponent += (int)(r % 20);
    }
    return sign << (8 * size - 1) | (uint64_t)exponent << mantissa | fraction;
}

static void store(char *to, size_t size, uint64_t bits)
{
    uint32_t narrow = (uint32_t)bits;

    memcpy(to, size == 8 ? (void *)&bits : (void *)&narrow, size);
}

/* N elements, apart and packed.  Of those that cancel the second half is the first one, negated,
 * without the last. */
static void fill(char *apart, ptrdiff_t step, char *packed, enum set set, size_t size, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = element(set, size, i);

        if (set == CANCELLING && i >= (n + 1) / 2) {
            bits = 0;
            memcpy(&bits, packed + (i - (n + 1) / 2) * size, size);
            bits ^= (uint64_t)1 << (8 * size - 1);
        }
        store(packed + i * size, size, bits);
        store(apart + (ptrdiff_t)i * step * (ptrdiff_t)size, size, bits);
    }
}

struct vectors {
    char *x, *y, *x_packed, *y_packed;
};

/* The bits of the sum of PARTS accumulators, of which each has some of the N terms; what they have
 * travels in words of BITS bits. */
static uint64_t sum_of_parts(const struct collopt_terms *whole, size_t size, int parts, int bits)
{
    enum { MOST = 4300 };
    uint64_t sum[MOST] = { 0 }, word[MOST];
    int count = (COLLOPT_UNIT + 2048 + 63) / bits + 1;
    struct collopt_superaccumulator total;

    collopt_exact_clear(&total);
    for (int p = 0; p < parts; p++) {
        size_t first = whole->count * (size_t)p / (size_t)parts,
               end = whole->count * (size_t)(p + 1) / (size_t)parts;
        struct collopt_terms t = *whole;
        struct collopt_superaccumulator a;

        t.x = (const char *)t.x + (ptrdiff_t)first * t.x_step * (ptrdiff_t)size;
        t.y = t.y ? (const char *)t.y + (ptrdiff_t)first * t.y_step * (ptrdiff_t)size : NULL;
        t.count = end - first;
        collopt_exact_clear(&a);
        collopt_add_terms(&a, &t);
        collopt_exact_to_words(&a, 0, bits, word, count);
        for (int i = 0; i < count; i++)
            sum[i] += word[i];
        total.plus |= a.plus;
        total.minus |= a.minus;
        total.minus_zero |= a.minus_zero;
        total.other |= a.other;
    }
    collopt_exact_add_words(&total, 0, bits, sum, count);
    return collopt_exact_rounded(&total, size == 8 ? &collopt_format_f64 : &collopt_format_f32);
}

enum kind { SUM, PRODUCTS, SQUARES, KINDS };

static const char *const kind_names[KINDS] = { "sum", "products", "squares" };

static bool right_case(const struct vectors *v, enum set set, size_t size, enum kind kind, size_t n,
                       const char *words, char *message, size_t room)
{
    static const ptrdiff_t steps[] = { 1, 1, 2, 3 };
    ptrdiff_t x_step = steps[draw() % 4], y_step = steps[draw() % 4];
    int parts = 1 + (int)(draw() % 5), bits = parts == 1 ? 64 : 32 + (int)(draw() % 30);
    bool negative = draw() % 4 == 0;
    struct collopt_terms t = { v->x, kind == SUM ? NULL : kind == SQUARES ? v->x : v->y,
                               x_step, kind == SQUARES ? x_step : y_step, n, size == 4, negative,
                               COLLOPT_REALS };
    uint64_t sum, right;

    fill(v->x, x_step, v->x_packed, set, size, n);
    fill(v->y, y_step, v->y_packed, set == CANCELLING ? ROUND : set, size, n);
    for (size_t i = 0; set == HIDDEN && i < n; i++) {
        v->y_packed[(i + 1) * size - 1] &= 0x7f;
        v->y[((ptrdiff_t)i * y_step + 1) * (ptrdiff_t)size - 1] &= 0x7f;
    }
    if (set == CANCELLING)      /* the same factor for both of a pair */
        for (size_t i = (n + 1) / 2; i < n; i++) {
            memcpy(v->y_packed + i * size, v->y_packed + (i - (n + 1) / 2) * size, size);
            memcpy(v->y + (ptrdiff_t)i * y_step * (ptrdiff_t)size,
                   v->y_packed + (i - (n + 1) / 2) * size, size);
        }
    if (kind == SQUARES)
        memcpy(v->y_packed, v->x_packed, n * size);
    for (size_t i = 0; negative && i < n; i++)
        v->x_packed[(i + 1) * size - 1] ^= (char)0x80;
    sum = sum_of_parts(&t, size, parts, bits);
    right = exact_reference_products(size, v->x_packed, kind == SUM ? NULL : v->y_packed,
                                     n);
    if (sum != right)
        snprintf(message, room,
                 "isa %s, %s: %s%s of %zu %s, %s, steps %td %td, %d parts, words of %d bits: "
                 "%llx, should be %llx", collopt_kernels_isa(), words, negative ? "minus " : "",
                 kind_names[kind], n, size == 8 ? "doubles" : "floats",
                 set_names[set], x_step, y_step, parts, bits, (unsigned long long)sum,
                 (unsigned long long)right);
    return sum == right;
}

/* The first KINDS kinds.  Squares are products of their own in usual arithmetic only. */
static long run(const char *words, int kinds, char *message, size_t room)
{
    static const size_t lengths[] = { 0, 1, 2, 3, 7, 16, 17, 40, 150, 1024, 3000 };
    enum { LENGTHS = sizeof lengths / sizeof *lengths, MOST = 3000, STEP_MOST = 3 };
    struct vectors v = { malloc(8 * STEP_MOST * MOST), malloc(8 * STEP_MOST * MOST),
                         malloc(8 * MOST), malloc(8 * MOST) };
    long wrong = 0;

    state = 1;
    for (int i = 0; i < SETS * 2 * kinds * LENGTHS && v.x && v.y && v.x_packed && v.y_packed; i++) {
        enum set set = (enum set)(i % SETS);
        enum kind kind = (enum kind)(i / SETS / 2 % kinds);
        size_t n = lengths[i / SETS / 2 / kinds], size = i / SETS % 2 ? 4 : 8;

        if (kind == SQUARES && n > 1024)
            continue;                           /* see squares_less_products */
        for (int again = n < 10 ? 20 : set == GROWING || set == HIDDEN ? 8 : 1; again > 0; again--)
            wrong += !right_case(&v, set, size, kind, n, words, message, wrong ? 0 : room);
    }
    wrong += !v.x || !v.y || !v.x_packed || !v.y_packed;
    free(v.x);
    free(v.y);
    free(v.x_packed);
    free(v.y_packed);
    return wrong;
}

static double rounded(const struct collopt_superaccumulator *a)
{
    uint64_t bits = collopt_exact_rounded(a, &collopt_format_f64);
    double sum;

    memcpy(&sum, &bits, sizeof sum);
    return sum;
}

static double total(const struct collopt_terms *t)
{
    struct collopt_superaccumulator a;

    collopt_exact_clear(&a);
    collopt_add_terms(&a, t);
    return rounded(&a);
}

/* So many equal elements that what was gained by them must be put away in between: twice as many as
 * lanes have room for. */
static long many(char *message, size_t room)
{
    static const double element = 0x1.fffffffffffffp0;
    const char *isa = collopt_kernels_isa();
    const size_t n = strcmp(isa, "avx512") == 0 ? 64 << 20 : strcmp(isa, "avx2") == 0 ? 32 << 20
                                                                                     : 16 << 20;
    const double right = (double)(n * (((unsigned __int128)1 << 53) - 1)) * 0x1p-52;
    struct collopt_terms t = { .x = &element, .x_step = 0, .count = n };
    double sum = total(&t);

    if (sum != right)
        snprintf(message, room, "isa %s, %zu times %a: %a, should be %a", isa, n, element, sum,
                 right);
    return sum != right;
}

/* The same for squares, for which fewer are enough. */
static long many_squares(char *message, size_t room)
{
    static const double element = 0x1.fffffdfffffffp0;  /* the greatest first limb below 2^23 */
    const unsigned __int128 square =
        (unsigned __int128)0x1fffffdfffffff * 0x1fffffdfffffff;
    const size_t n = 1 << 20;
    const double right = (double)(n * square) * 0x1p-104;
    struct collopt_terms t = { .x = &element, .y = &element, .count = n };
    double sum = total(&t);

    if (sum != right)
        snprintf(message, room, "isa %s, %zu times the square of %a: %a, should be %a",
                 collopt_kernels_isa(), n, element, sum, right);
    return sum != right;
}

/* Powers of 2, whose sums reach the limits of doubles' bits exactly: no other sum shows what
 * rounding loses there.  A block of 0.5 calls for constants of its size; in the next one a lane of
 * WIDTH has so many great numbers and then small ones. */
struct powers {
    int width, great, exponent, small_exponent;
    int factors;                /* 1: a sum; 2: squares; 3: products of two equal vectors */
    bool single;
};

enum {
    POWERS_TERMS = 128, POWERS_WIDEST = 8,
    POWERS_MOST = 2 * POWERS_TERMS * POWERS_WIDEST
};

static void set_power(void *at, bool single, int i, int exponent)
{
    if (single)
        ((float *)at)[i] = ldexpf(1, exponent);
    else
        ((double *)at)[i] = ldexp(1, exponent);
}

static void set_powers(void *at, const struct powers *p)
{
    int n = POWERS_TERMS * p->width;

    memset(at, 0, POWERS_MOST * sizeof(double));
    for (int i = 0; i < n; i++)
        set_power(at, p->single, i, -1);
    for (int i = 0; i < POWERS_TERMS; i++)
        set_power(at, p->single, n + i * p->width,
                  i < p->great ? p->exponent : p->small_exponent);
}

static double sum_of_powers(const struct powers *p)
{
    enum { UNIT = 60 };
    int times = p->factors == 1 ? 1 : 2;
    __int128 units = ((__int128)(POWERS_TERMS * p->width) << (UNIT - times))
        + ((__int128)p->great << (UNIT + times * p->exponent))
        + ((__int128)(POWERS_TERMS - p->great) << (UNIT + times * p->small_exponent));

    return (double)units * 0x1p-60;
}

static long one_of_powers(const struct powers *p, char *message, size_t room)
{
    static double x[POWERS_MOST], y[POWERS_MOST];
    struct collopt_terms t = { .x = x, .x_step = 1, .y_step = 1, .single = p->single,
                               .count = 2 * (size_t)(POWERS_TERMS * p->width) };
    double sum, right = sum_of_powers(p);

    set_powers(x, p);
    set_powers(y, p);
    t.y = p->factors == 1 ? NULL : p->factors == 2 ? x : y;
    sum = total(&t);
    if (sum != right)
        snprintf(message, room, "isa %s, %s, %d factors, lanes of %d, %d of 2^%d and %d of 2^%d: "
                                "%a, should be %a", collopt_kernels_isa(),
                 p->single ? "floats" : "doubles", p->factors, p->width, p->great, p->exponent,
                 POWERS_TERMS - p->great, p->small_exponent, sum, right);
    return sum != right;
}

static long all_of_powers(struct powers *p, char *message, size_t room)
{
    long wrong = 0;

    for (p->width = 1; p->width <= POWERS_WIDEST; p->width *= 2)
        for (p->great = 1; p->great <= 64; p->great *= 2)
            for (p->exponent = -4; p->exponent <= 8; p->exponent += 2)
                for (p->small_exponent = -30; p->small_exponent <= -15; p->small_exponent += 3)
                    wrong += wrong ? 0 : one_of_powers(p, message, room);
    return wrong;
}

static long powers(char *message, size_t room)
{
    long wrong = 0;
    struct powers p;

    for (int single = 0; single < 2; single++)
        for (p.factors = 1; p.factors <= 3; p.factors++) {
            p.single = single;
            wrong += wrong ? 0 : all_of_powers(&p, message, room);
        }
    return wrong;
}

/* Factors that are 0 by turns, of both vectors: all products are -0. */
static long zero_products(char *message, size_t room)
{
    enum { MOST = 3000 };
    static const size_t lengths[] = { 1, 2, 16, 17, 1024, MOST };
    static float x[MOST], y[MOST];
    static double wide_x[MOST], wide_y[MOST];
    long wrong = 0;

    for (size_t i = 0; i < MOST; i++) {
        wide_x[i] = x[i] = i % 2 ? -0.0f : 3;
        wide_y[i] = y[i] = i % 2 ? 5 : -0.0f;
    }
    for (size_t i = 0; i < 2 * sizeof lengths / sizeof *lengths; i++) {
        bool single = i % 2;
        size_t n = lengths[i / 2];
        struct collopt_terms t = { single ? (void *)x : (void *)wide_x,
                                   single ? (void *)y : (void *)wide_y, 1, 1, n, single, false,
                                   COLLOPT_REALS };
        struct collopt_superaccumulator a;

        collopt_exact_clear(&a);
        collopt_add_terms(&a, &t);
        if (collopt_exact_rounded(&a, &collopt_format_f64) == (uint64_t)1 << 63)
            continue;
        snprintf(message, room, "isa %s: the sum of %zu products of %s that are -0 is not -0",
                 collopt_kernels_isa(), n, single ? "floats" : "doubles");
        wrong++;
    }
    return wrong;
}

/* Squares less the same as products: nothing may be left.  A sum of squares alone would not show
 * that its last bits are wrong. */
static long squares_less_products(char *message, size_t room)
{
    enum { MOST = 3000 };
    static const size_t lengths[] = { 1, 7, 150, 1024, MOST };
    static char x[8 * MOST], packed[8 * MOST];
    long wrong = 0;

    state = 1;
    for (size_t i = 0; i < SPECIAL * 2 * sizeof lengths / sizeof *lengths; i++) {
        enum set set = (enum set)(i % SPECIAL);
        size_t size = i / SPECIAL % 2 ? 4 : 8, n = lengths[i / SPECIAL / 2];
        struct collopt_terms squares = { x, x, 1, 1, n, size == 4, false, COLLOPT_REALS },
                             products = squares;
        struct collopt_superaccumulator a;

        fill(x, 1, packed, set, size, n);
        products.negative = true;
        collopt_exact_clear(&a);
        collopt_add_terms(&a, &squares);
        collopt_add_terms(&a, &products);
        if (collopt_exact_rounded(&a, &collopt_format_f64) == 0)
            continue;
        snprintf(message, room, "isa %s: %zu squares of %s, %s, less the same products are not 0",
                 collopt_kernels_isa(), n, size == 8 ? "doubles" : "floats", set_names[set]);
        wrong++;
    }
    return wrong;
}

/* Sums of complex numbers whose parts are of any two sets; in two steps, of which the first is
 * often short. */
static long complex_sums(const char *words, char *message, size_t room)
{
    enum { MOST = 1500 };
    static const size_t lengths[] = { 0, 1, 7, 150, MOST };
    static char x[32 * MOST], packed[2][8 * MOST];
    long wrong = 0;

    state = 1;
    for (size_t i = 0; i < 2 * SETS * 2 * sizeof lengths / sizeof *lengths; i++) {
        enum set set[2] = { (enum set)(i % SETS), (enum set)(draw() % SETS) };
        size_t size = i / SETS % 2 ? 4 : 8, n = lengths[i / SETS / 4], some = draw() % (n + 1);
        struct collopt_terms t = { .x = x, .count = some, .single = size == 4,
                                   .x_step = 1 + (ptrdiff_t)(i % 2),
                                   .numbers = COLLOPT_COMPLEX };
        struct collopt_superaccumulator a[2];

        for (int k = 0; k < 2; k++) {
            fill(x + (size_t)k * size, 2 * t.x_step, packed[k], set[k], size, n);
            collopt_exact_clear(&a[k]);
        }
        collopt_add_terms(a, &t);
        t.x = x + 2 * size * (size_t)t.x_step * some;
        t.count = n - some;
        collopt_add_terms(a, &t);
        for (int k = 0; k < 2; k++) {
            uint64_t right = exact_reference_products(size, packed[k], NULL, n),
                     sum = collopt_exact_rounded(&a[k], size == 8 ? &collopt_format_f64
                                                                  : &collopt_format_f32);

            if (sum == right)
                continue;
            snprintf(message, room, "isa %s, %s: part %d of the sum of %zu complex %s, %s and %s, "
                     "is %llx, should be %llx", collopt_kernels_isa(), words, k, n,
                     size == 8 ? "doubles" : "floats", set_names[set[0]], set_names[set[1]],
                     (unsigned long long)sum, (unsigned long long)right);
            wrong++;
        }
    }
    return wrong;
}

long total_cases_run(char *message, size_t room)
{
    long wrong = many(message, room);

    wrong += wrong ? 0 : many_squares(message, room);
    wrong += wrong ? 0 : powers(message, room);
    wrong += wrong ? 0 : zero_products(message, room);
    wrong += wrong ? 0 : squares_less_products(message, room);
    wrong += wrong ? 0 : complex_sums("usual arithmetic", message, room);
    wrong += wrong ? 0 : run("usual arithmetic", KINDS, message, room);

    fesetround(FE_DOWNWARD);
    wrong += wrong ? 0 : complex_sums("rounding downward", message, room);
    wrong += wrong ? 0 : run("rounding downward", SQUARES, message, room);
    fesetround(FE_TONEAREST);
#if defined __SSE2__
    unsigned was = _mm_getcsr();

    _mm_setcsr(was | 0x8040);
    wrong += wrong ? 0 : run("flushing subnormals", SQUARES, message, room);
    _mm_setcsr(was & ~0x1fbfu);                 /* no exceptions so far, all unmasked */
    wrong += wrong ? 0 : run("trapping", SQUARES, message, room);
    _mm_setcsr(was);
#endif
    return wrong;
}
