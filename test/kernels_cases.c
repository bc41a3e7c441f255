/* The cases and their reference: each operation on two elements, written for itself in the simplest
 * way, one element at a time, with nothing of the library's but the list of combinations. */
#include "config.h"

#include "kernels/isa.h"
#include "kernels/kernels.h"
#include "kernels_cases.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- the reference ---- */

typedef void combine_one(enum collopt_op op, void *dst, const void *left, const void *right);

static uint64_t on_integers(enum collopt_op op, uint64_t a, uint64_t b, bool less)
{
    switch (op) {
    case COLLOPT_SUM:  return a + b;
    case COLLOPT_PROD: return a * b;
    case COLLOPT_MIN:  return less ? a : b;
    case COLLOPT_MAX:  return less ? b : a;
    case COLLOPT_LAND: return a && b;
    case COLLOPT_LOR:  return a || b;
    case COLLOPT_LXOR: return !a != !b;
    case COLLOPT_BAND: return a & b;
    case COLLOPT_BOR:  return a | b;
    case COLLOPT_BXOR: return a ^ b;
    default:           abort();
    }
}

#define INTEGER(name, ctype) \
    static void name(enum collopt_op op, void *dst, const void *left, const void *right) \
    { \
        ctype a, b, d; \
        memcpy(&a, left, sizeof a); \
        memcpy(&b, right, sizeof b); \
        d = (ctype) on_integers(op, (uint64_t) a, (uint64_t) b, a < b); \
        memcpy(dst, &d, sizeof d); \
    }

INTEGER(one_int8, int8_t)
INTEGER(one_int16, int16_t)
INTEGER(one_int32, int32_t)
INTEGER(one_int64, int64_t)
INTEGER(one_uint8, uint8_t)
INTEGER(one_uint16, uint16_t)
INTEGER(one_uint32, uint32_t)
INTEGER(one_uint64, uint64_t)

/* The least of all, a NaN before any number, -0 before +0. */
static long double least(long double a, long double b)
{
    if (isnan(a) || isnan(b))
        return NAN;
    if (a == b)
        return signbit(a) ? a : b;
    return a < b ? a : b;
}

#define REAL(name, ctype) \
    static void name(enum collopt_op op, void *dst, const void *left, const void *right) \
    { \
        volatile ctype a, b, d; \
        memcpy((void *) &a, left, sizeof a); \
        memcpy((void *) &b, right, sizeof b); \
        d = op == COLLOPT_SUM ? a + b : op == COLLOPT_PROD ? a * b \
          : op == COLLOPT_MIN ? (ctype) least(a, b) : (ctype) (isnan(a) || isnan(b) ? NAN \
              : -least(-a, -b)); \
        memcpy(dst, (void *) &d, sizeof d); \
    }

REAL(one_float, float)
REAL(one_double, double)
REAL(one_long_double, long double)

/* 16-bit reals: sign, `exponent` bits of exponent, the rest digits; by arithmetic on doubles. */
static double half_to_double(uint16_t half, int exponent)
{
    int digits = 15 - exponent, bias = (1 << (exponent - 1)) - 1;
    int e = half >> digits & ((1 << exponent) - 1), m = half & ((1 << digits) - 1);
    double value = e == (1 << exponent) - 1 ? (m ? NAN : INFINITY)
        : e == 0                            ? ldexp(m, 1 - bias - digits)
                                            : ldexp(m + (1 << digits), e - bias - digits);

    return half & 0x8000 ? -value : value;
}

static uint16_t half_from_double(double x, int exponent)
{
    int digits = 15 - exponent, bias = (1 << (exponent - 1)) - 1, e;
    uint16_t sign = signbit(x) ? 0x8000 : 0, infinite = ((1 << exponent) - 1) << digits;

    if (isnan(x))
        return infinite | 1 << (digits - 1);
    if (x == 0 || isinf(x))
        return sign | (x == 0 ? 0 : infinite);
    frexp(x, &e);
    e = e - 1 < 1 - bias ? 1 - bias : e - 1;

    /* in units of the last place; a carry moves on into the exponent as it should */
    double units = nearbyint(ldexp(fabs(x), digits - e));
    uint32_t bits = (uint32_t) units + ((uint32_t) (e + bias - 1) << digits);

    return sign | (bits > infinite ? infinite : bits);
}

static void one_half(enum collopt_op op, void *dst, const void *left, const void *right,
                     int exponent)
{
    uint16_t x, y, d;

    memcpy(&x, left, 2);
    memcpy(&y, right, 2);

    volatile float a = half_to_double(x, exponent), b = half_to_double(y, exponent), r;

    one_float(op, (void *) &r, (void *) &a, (void *) &b);
    d = half_from_double(r, exponent);
    memcpy(dst, &d, 2);
}

static void one_float16(enum collopt_op op, void *dst, const void *left, const void *right)
{
    one_half(op, dst, left, right, 5);
}

static void one_bfloat16(enum collopt_op op, void *dst, const void *left, const void *right)
{
    one_half(op, dst, left, right, 8);
}

#define COMPLEX(name, ctype) \
    static void name(enum collopt_op op, void *dst, const void *left, const void *right) \
    { \
        ctype _Complex a, b, d; \
        memcpy(&a, left, sizeof a); \
        memcpy(&b, right, sizeof b); \
        d = op == COLLOPT_SUM ? a + b : a * b; \
        memcpy(dst, &d, sizeof d); \
    }

COMPLEX(one_complex_float, float)
COMPLEX(one_complex_double, double)
COMPLEX(one_complex_long_double, long double)

/* 1: left, 2: right */
static int winner(enum collopt_op op, long double a, long double b, long double i, long double j)
{
    long double x = op == COLLOPT_MAXLOC ? a : -a, y = op == COLLOPT_MAXLOC ? b : -b;

    if (op == COLLOPT_REPLACE)
        return 2;
    if (isnan(x) != isnan(y))
        return isnan(x) ? 1 : 2;
    if (!isnan(x) && x != y)
        return x > y ? 1 : 2;
    return j < i ? 2 : 1;
}

#define PAIR(name, ctype) \
    static void name(enum collopt_op op, void *dst, const void *left, const void *right) \
    { \
        ctype a, b, d; \
        memcpy(&a, left, sizeof a); \
        memcpy(&b, right, sizeof b); \
        d = winner(op, a.value, b.value, a.index, b.index) == 1 ? a : b; \
        memcpy((char *) dst + offsetof(ctype, value), &d.value, sizeof d.value); \
        memcpy((char *) dst + offsetof(ctype, index), &d.index, sizeof d.index); \
    }

PAIR(one_float_int, struct collopt_float_int)
PAIR(one_double_int, struct collopt_double_int)
PAIR(one_long_int, struct collopt_long_int)
PAIR(one_short_int, struct collopt_short_int)
PAIR(one_2int, struct collopt_2int)
PAIR(one_long_double_int, struct collopt_long_double_int)
PAIR(one_2real, struct collopt_2real)
PAIR(one_2double, struct collopt_2double)

static combine_one *const reference[COLLOPT_TYPE_NONE] = {
    [COLLOPT_INT8] = one_int8,
    [COLLOPT_INT16] = one_int16,
    [COLLOPT_INT32] = one_int32,
    [COLLOPT_INT64] = one_int64,
    [COLLOPT_UINT8] = one_uint8,
    [COLLOPT_UINT16] = one_uint16,
    [COLLOPT_UINT32] = one_uint32,
    [COLLOPT_UINT64] = one_uint64,
    [COLLOPT_FLOAT16] = one_float16,
    [COLLOPT_BFLOAT16] = one_bfloat16,
    [COLLOPT_FLOAT] = one_float,
    [COLLOPT_DOUBLE] = one_double,
    [COLLOPT_LONG_DOUBLE] = one_long_double,
    [COLLOPT_COMPLEX_FLOAT] = one_complex_float,
    [COLLOPT_COMPLEX_DOUBLE] = one_complex_double,
    [COLLOPT_COMPLEX_LONG_DOUBLE] = one_complex_long_double,
    [COLLOPT_BOOL] = one_uint8,
    [COLLOPT_LOGICAL1] = one_uint8,
    [COLLOPT_LOGICAL2] = one_uint16,
    [COLLOPT_LOGICAL4] = one_uint32,
    [COLLOPT_LOGICAL8] = one_uint64,
    [COLLOPT_BYTE] = one_uint8,
    [COLLOPT_FLOAT_INT] = one_float_int,
    [COLLOPT_DOUBLE_INT] = one_double_int,
    [COLLOPT_LONG_INT] = one_long_int,
    [COLLOPT_SHORT_INT] = one_short_int,
    [COLLOPT_2INT] = one_2int,
    [COLLOPT_LONG_DOUBLE_INT] = one_long_double_int,
    [COLLOPT_2REAL] = one_2real,
    [COLLOPT_2DOUBLE] = one_2double,
};

/* ---- values ---- */

enum { POISON = 0xa5 };    /* what nobody may write: around operands, in the padding of pairs */

static uint64_t random_bits(void)
{
    static uint64_t state = 88172645463325252;

    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static double random_real(void)
{
    static const double special[] = {
        0.0,        -0.0,      1,          -1,        INFINITY,       -INFINITY,
        NAN,        0x1p-1074, -0x1p-1022, 0x1p-149,  0x1p-126,       0x1p-133,
        0x1p-24,    0x1p-14,   65504,      65520,     0x1.fffffep127, 0x1.fffffffffffffp1023,
        0x1.fep127, 3,         1.5,        0x1.001p0, 0x1.01p0,       0x1.003p0,
    };
    uint64_t bits = random_bits();

    if (bits % 4 == 0)
        return special[bits / 4 % (sizeof special / sizeof *special)];
    if (bits % 4 == 1)
        return ldexp((double) (int64_t) bits, (int) (bits >> 8 & 511) - 256 - 63);
    return (double) (int64_t) bits * 0x1p-60;
}

static void put_real(char *to, enum collopt_type type)
{
    double x = random_real();
    float f = x;
    long double l = x * (1 + 0x1p-60L * (random_bits() % 15));
    uint16_t half = random_bits() % 2 ? random_bits()
                                      : half_from_double(f, type == COLLOPT_FLOAT16 ? 5 : 8);

    switch (type) {
    case COLLOPT_FLOAT:       memcpy(to, &f, sizeof f); break;
    case COLLOPT_DOUBLE:      memcpy(to, &x, sizeof x); break;
    case COLLOPT_LONG_DOUBLE: memcpy(to, &l, sizeof l); break;
    default:                  memcpy(to, &half, sizeof half);
    }
}

static enum collopt_type part_of(enum collopt_type type)
{
    return type == COLLOPT_COMPLEX_FLOAT ? COLLOPT_FLOAT
         : type == COLLOPT_COMPLEX_DOUBLE ? COLLOPT_DOUBLE : COLLOPT_LONG_DOUBLE;
}

static void put_pair_of(char *to, enum collopt_type type, double value, int whole, int index)
{
#define PUT(ctype, v) do { ctype p; p.value = v; p.index = index; \
        memcpy(to + offsetof(ctype, value), &p.value, sizeof p.value); \
        memcpy(to + offsetof(ctype, index), &p.index, sizeof p.index); } while (0)
    switch (type) {
    case COLLOPT_FLOAT_INT:       PUT(struct collopt_float_int, value); break;
    case COLLOPT_DOUBLE_INT:      PUT(struct collopt_double_int, value); break;
    case COLLOPT_LONG_INT:        PUT(struct collopt_long_int, whole * 0x100000001L); break;
    case COLLOPT_SHORT_INT:       PUT(struct collopt_short_int, whole); break;
    case COLLOPT_2INT:            PUT(struct collopt_2int, whole); break;
    case COLLOPT_LONG_DOUBLE_INT: PUT(struct collopt_long_double_int, value); break;
    case COLLOPT_2REAL:           PUT(struct collopt_2real, value); break;
    case COLLOPT_2DOUBLE:         PUT(struct collopt_2double, value); break;
    default:                      abort();
    }
#undef PUT
}

/* Few different values and indices, so that there are ties. */
static void put_pair(char *to, enum collopt_type type)
{
    static const double values[] = { 0.0,       -0.0, 1, 2, -1, 300, NAN, INFINITY,
                                     -INFINITY, -2,   7, 8, 9,  10,  11,  12 };
    double value = values[random_bits() % 16];
    int index = (int) (random_bits() % 5) - 2, whole = (int) (random_bits() % 5) - 2;

    if (random_bits() % 16 == 0) {
        index = random_bits() % 2 ? INT32_MAX : INT32_MIN;
        whole = random_bits() % 2 ? INT16_MAX : INT16_MIN;
    }
    put_pair_of(to, type, value, whole, index);
}

/* Pairs that win or lose, but for two in SELDOM of the losers, one of which is any pair, one as
 * good as the winners; of one sign, of the other, of both. */
static void put_settled(char *to, const struct kernel_case *c, bool wins)
{
    enum { SELDOM = 400, WIDTH = 4 };
    static const int lowest[] = { 1, -2 * WIDTH, -WIDTH };
    size_t size = collopt_type_size(c->type);

    for (size_t e = 0; e < c->n; e++) {
        uint64_t seldom = random_bits() % SELDOM;
        bool good = wins || seldom == 1;
        int value = lowest[c->settled - 1] + (good == (c->op == COLLOPT_MAXLOC) ? WIDTH : 0)
            + (int)(random_bits() % WIDTH);

        if (!wins && seldom == 0)
            put_pair(to + e * size, c->type);
        else
            put_pair_of(to + e * size, c->type, value, value, (int) (random_bits() % 5));
    }
}

static void put(char *to, enum collopt_type type)
{
    size_t size = collopt_type_size(type);
    uint64_t bits = random_bits();

    switch (collopt_type_layout(type)) {
    case COLLOPT_LAYOUT_REAL:
        put_real(to, type);
        break;
    case COLLOPT_LAYOUT_COMPLEX:
        put_real(to, part_of(type));
        put_real(to + size / 2, part_of(type));
        break;
    case COLLOPT_LAYOUT_PAIR:
        put_pair(to, type);
        break;
    default:
        bits = type == COLLOPT_BOOL ? bits & 1
            : bits % 8 == 0         ? 0
            : bits % 8 == 1         ? ~UINT64_C(0)
                                    : bits >> 3;
        memcpy(to, &bits, size);
    }
}

/* n elements out of a stock of them, made anew for each type and operation */
static void fill(char *to, const struct kernel_case *c)
{
    enum { STOCK = 4001 };
    static char stock[STOCK * 64];
    static enum collopt_type made = COLLOPT_TYPE_NONE;
    static enum collopt_op made_for;
    size_t size = collopt_type_size(c->type), from = random_bits() % STOCK;

    if (made != c->type || made_for != c->op) {
        memset(stock, POISON, sizeof stock);
        for (size_t i = 0; i < STOCK; i++)
            put(stock + i * size, c->type);
        made = c->type;
        made_for = c->op;
    }
    for (size_t left = c->n; left > 0; from = 0) {
        size_t take = left < STOCK - from ? left : STOCK - from;

        memcpy(to, stock + from * size, take * size);
        to += take * size;
        left -= take;
    }
}

/* ---- are they the same? ---- */

static bool same_part(enum collopt_type part, enum collopt_op op, const char *a, const char *b)
{
    size_t size = collopt_type_size(part);
    long double x, y;
    float f, g;
    double d, e;
    uint16_t h, i;

    if (part != COLLOPT_LONG_DOUBLE && memcmp(a, b, size) == 0)
        return true;
    switch (part) {
    case COLLOPT_FLOAT:
        memcpy(&f, a, size), memcpy(&g, b, size), x = f, y = g;
        break;
    case COLLOPT_DOUBLE:
        memcpy(&d, a, size), memcpy(&e, b, size), x = d, y = e;
        break;
    case COLLOPT_LONG_DOUBLE:
        memcpy(&x, a, size), memcpy(&y, b, size);
        if (!isnan(x) && x == y && !signbit(x) == !signbit(y))
            return true;
        break;
    default:
        memcpy(&h, a, size), memcpy(&i, b, size);
        x = half_to_double(h, part == COLLOPT_FLOAT16 ? 5 : 8);
        y = half_to_double(i, part == COLLOPT_FLOAT16 ? 5 : 8);
    }

    /* which NaN a sum or product gives is the processor's affair */
    return isnan(x) && isnan(y)
        && (op == COLLOPT_SUM || op == COLLOPT_PROD || part == COLLOPT_LONG_DOUBLE);
}

static bool same(enum collopt_type type, enum collopt_op op, const char *a, const char *b)
{
    size_t size = collopt_type_size(type);

    switch (collopt_type_layout(type)) {
    case COLLOPT_LAYOUT_REAL:
        return same_part(type, op, a, b);
    case COLLOPT_LAYOUT_COMPLEX:
        return same_part(part_of(type), op, a, b)
            && same_part(part_of(type), op, a + size / 2, b + size / 2);
    case COLLOPT_LAYOUT_PAIR:
        if (type == COLLOPT_LONG_DOUBLE_INT)
            return same_part(COLLOPT_LONG_DOUBLE, op, a, b)
                && memcmp(a + sizeof(long double), b + sizeof(long double),
                          size - sizeof(long double))
                == 0;
        return memcmp(a, b, size) == 0;    /* padding too, which must not have changed */
    default:
        return memcmp(a, b, size) == 0;
    }
}

/* ---- places between guard pages ---- */

enum { MARGIN = 128 };

struct place {
    char *map, *low, *high;    /* from low to high may be used */
};

static struct place places[COLLOPT_FOLD_MAX + 1];

static void places_make(void)
{
    size_t page = sysconf(_SC_PAGESIZE), room = CASE_BYTES_MAX + 2 * page;

    for (int i = 0; i <= COLLOPT_FOLD_MAX && !places[i].map; i++) {
        char *map = mmap(NULL, room + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                         -1, 0);

        if (map == MAP_FAILED || mprotect(map, page, PROT_NONE)
            || mprotect(map + page + room, page, PROT_NONE)) {
            perror("guard pages");
            abort();
        }
        places[i] = (struct place) { map, map + page, map + page + room };
    }
}

/* Up to the end of the last element's data: behind it a pair may have a gap that is not there. */
static size_t bytes_of(const struct kernel_case *c)
{
    return c->n ? (c->n - 1) * collopt_type_size(c->type) + collopt_type_end(c->type) : 0;
}

/* Where operand i of the case begins: for an offset of zero against the guard, low or high. */
static char *begin(const struct kernel_case *c, int i)
{
    size_t bytes = bytes_of(c);
    int offset = (c->offset + 11 * i) % 64;

    return c->high ? places[i].high - bytes - offset : places[i].low + offset;
}

/* Poison around an operand, as far as there is room. */
static void surround(struct place p, char *at, size_t bytes)
{
    char *from = at - p.low < MARGIN ? p.low : at - MARGIN;
    char *to = p.high - (at + bytes) < MARGIN ? p.high : at + bytes + MARGIN;

    memset(from, POISON, at - from);
    memset(at + bytes, POISON, to - (at + bytes));
}

static bool surrounded(struct place p, const char *at, size_t bytes)
{
    for (const char *x = at - p.low < MARGIN ? p.low : at - MARGIN; x < at; x++)
        if (*(const unsigned char *) x != POISON)
            return false;
    for (const char *x = at + bytes; x < p.high && x < at + bytes + MARGIN; x++)
        if (*(const unsigned char *) x != POISON)
            return false;
    return true;
}

/* ---- a case ---- */

static bool complain(const struct kernel_case *c, const char *what, size_t where, char *message,
                     size_t size)
{
    char form[32] = "combine";

    if (c->k)
        snprintf(form, sizeof form, "fold %d", c->k);
    snprintf(message, size,
             "%s %s %s isa %s n %zu alias %d same %d offset %d high %d settled %d: %s %zu",
             collopt_op_name(c->op), collopt_type_name(c->type), form, collopt_kernels_isa(), c->n,
             c->alias, c->same, c->offset, c->high, c->settled, what, where);
    return false;
}

bool kernel_case_run(const struct kernel_case *c, char *message, size_t size)
{
    static char before[COLLOPT_FOLD_MAX + 1][CASE_BYTES_MAX], expected[CASE_BYTES_MAX],
        got[CASE_BYTES_MAX];
    const struct collopt_kernel *kernel = collopt_kernel(c->op, c->type);
    size_t each = collopt_type_size(c->type), bytes = bytes_of(c);
    int k = c->k ? c->k : 2, target = c->alias < 0 ? k : c->same ? 0 : c->alias;
    const void *operands[COLLOPT_FOLD_MAX];
    char *at[COLLOPT_FOLD_MAX + 1];

    places_make();
    for (int i = 0; i <= k; i++) {
        at[i] = begin(c, i);
        memset(before[i], POISON, c->n * each);
        if (i < k && c->settled)
            put_settled(before[i], c, i == target);
        else if (i < k)
            fill(before[i], c);
        surround(places[i], at[i], bytes);
        memcpy(at[i], before[i], bytes);
        if (i < k)
            operands[i] = c->same ? at[0] : at[i];
    }

    memcpy(expected, before[target], c->n * each);      /* for the padding */
    for (size_t e = 0; e < c->n; e++) {
        _Alignas(64) char sum[64];

        memcpy(sum, before[0] + e * each, each);
        for (int i = 1; i < k; i++)
            reference[c->type](c->op, sum, sum, before[c->same ? 0 : i] + e * each);
        /* the fields alone: it wins against itself */
        if (collopt_type_layout(c->type) == COLLOPT_LAYOUT_PAIR)
            reference[c->type](c->op, expected + e * each, sum, sum);
        else
            memcpy(expected + e * each, sum, each);
    }

    if (c->k)
        kernel->fold(at[target], operands, k, c->n);
    else
        kernel->combine(at[target], operands[0], operands[1], c->n);

    memcpy(got, expected, c->n * each);
    memcpy(got, at[target], bytes);
    for (size_t e = 0; e < c->n; e++)
        if (!same(c->type, c->op, got + e * each, expected + e * each))
            return complain(c, "differs at element", e, message, size);
    for (int i = 0; i <= k; i++) {
        if (!surrounded(places[i], at[i], bytes))
            return complain(c, "written outside operand", i, message, size);
        if (i != target && memcmp(at[i], before[i], bytes) != 0)
            return complain(c, "changed operand", i, message, size);
    }
    return true;
}

/* ---- all cases of a combination ---- */

/* The shapes take turns: every aliasing of combine; every k of fold with every aliasing. */
static struct kernel_case shaped(struct kernel_case c, unsigned turn)
{
    int k = turn % 2 ? 2 + turn / 2 % 7 : 0, operands = k ? k : 2,
        alias = (int)(turn / 14 % (operands + 2)) - 1;

    c.k = k;
    c.same = alias == operands;
    c.alias = c.same ? 0 : alias;
    c.high = turn / 3 % 2;
    return c;
}

static bool wanted(size_t n, enum collopt_op op, enum collopt_type type, enum depth depth)
{
    return depth != BRIEF || n < 4 || (n + op * 7 + type) % 16 == 0;
}

long kernel_cases_run(enum collopt_op op, enum collopt_type type, enum depth depth, char *message,
                      size_t size)
{
    static const size_t large[] = { 1000, 4099, 1023, 4096, 2049, 65537 };
    static unsigned turn;
    long wrong = 0;

    for (size_t n = 0; n <= 257; n++)
        for (int i = 0; i < (depth == THOROUGH ? 64 : 2) && wanted(n, op, type, depth); i++) {
            int offset = depth == THOROUGH ? i : (int) (n * 2 + i) % 64;
            struct kernel_case c = { .op = op, .type = type, .offset = offset, .n = n };

            c = shaped(c, turn++);
            wrong += !kernel_case_run(&c, wrong ? NULL : message, wrong ? 0 : size);
        }

    /* with far and near memory, with streaming and without */
    size_t far_from = collopt_far_from, stream_from = collopt_stream_from;

    for (int i = 0; i < (depth == THOROUGH ? 96 : depth == BRIEF ? 4 : 12); i++) {
        struct kernel_case c = { .op = op,
                                 .type = type,
                                 .offset = depth == THOROUGH ? i % 64 : i * 16 % 80 };

        c.n = large[i % 6];
        if (c.n * collopt_type_size(type) > CASE_BYTES_MAX)
            c.n = CASE_BYTES_MAX / collopt_type_size(type) - 1;
        collopt_far_from = i % 4 == 3 ? SIZE_MAX : 4096;
        collopt_stream_from = i % 2 ? 0 : 4096;
        c = shaped(c, i % 4 == 0 ? 2 * turn++ % 14 : turn++);
        wrong += !kernel_case_run(&c, wrong ? NULL : message, wrong ? 0 : size);
    }
    for (int i = 0; i < 18 && collopt_type_layout(type) == COLLOPT_LAYOUT_PAIR; i++) {
        struct kernel_case c = { .op = op,
                                 .type = type,
                                 .k = i % 3 == 2 ? 3 : 0,
                                 .alias = i % 2,
                                 .offset = i % 6 * 16,
                                 .n = 9000 + (size_t)i,
                                 .settled = 1 + i / 6 };

        collopt_far_from = 4096;
        collopt_stream_from = i % 6 < 3 ? 4096 : SIZE_MAX;
        wrong += !kernel_case_run(&c, wrong ? NULL : message, wrong ? 0 : size);
    }
    collopt_far_from = far_from;
    collopt_stream_from = stream_from;
    return wrong;
}
