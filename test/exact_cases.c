#include "config.h"

#include "exact_cases.h"
#include "exact_reference.h"
#include "kernels/exact_words.h"
#include "kernels/isa.h"
#include "kernels/kernels.h"

#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined __SSE2__
#include <immintrin.h>
#endif

struct format {
    int mantissa, exponent;     /* bits, the hidden one too */
};

static const struct format of_double = { 53, 11 }, of_float = { 24, 8 };

static uint64_t reference(const struct format *f, const uint64_t *column, int k)
{
    uint32_t narrow[1024];

    if (f == &of_double)
        return exact_reference_double(column, k);
    for (int j = 0; j < k; j++)
        narrow[j] = (uint32_t)column[j];
    return exact_reference_float(narrow, k);
}

/* ---- numbers that hurt ---- */

static uint64_t drawn = 1;

static uint64_t draw(void)
{
    uint64_t x = drawn += 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

enum kind { SIMILAR, SPREAD, WIDE, ANY, SUBNORMAL, HUGE_ONES, HALVES, ZEROS, SPECIAL, KINDS };

static uint64_t compose(const struct format *f, bool minus, int exponent, uint64_t fraction)
{
    uint64_t mask = (1ull << (f->mantissa - 1)) - 1;

    return (uint64_t)minus << (f->mantissa - 1 + f->exponent)
        | (uint64_t)exponent << (f->mantissa - 1) | (fraction & mask);
}

static uint64_t special(const struct format *f)
{
    int most = (1 << f->exponent) - 1;

    switch (draw() % 4) {
    case 0:
        return compose(f, draw() & 1, most, 0);
    case 1:
        return compose(f, draw() & 1, most, draw() % 6 ? 0 : 1 | draw());
    case 2:
        return compose(f, draw() & 1, 0, 0);
    default:
        return compose(f, draw() & 1, (int)(draw() % (uint64_t)most), draw());
    }
}

static uint64_t number(const struct format *f, enum kind kind)
{
    int most = (1 << f->exponent) - 2, middle = most / 2;
    uint64_t r = draw();

    switch (kind) {
    case SIMILAR:
        return compose(f, r & 1, middle + (int)(r >> 1 & 3), draw());
    case SPREAD:
        return compose(f, r & 1, middle + (int)(r >> 1 & 31), draw());
    case WIDE:
        return compose(f, r & 1, middle + (int)(r >> 1 & 127) - 64, draw());
    case ANY:
        return compose(f, r & 1, (int)(draw() % (uint64_t)(most + 1)), draw());
    case SUBNORMAL:
        return compose(f, r & 1, (int)(r >> 1 & 7) == 0, draw() >> (r >> 8 & 31));
    case HUGE_ONES:
        return compose(f, r & 1, most - (int)(r >> 1 & 1), draw() | ((r & 4) ? ~0ull : 0));
    /* powers of two: sums that lie half-way, or beside it by something tiny */
    case HALVES:
        return compose(f, (r & 7) == 0, middle - (int)(r >> 3) % (2 * f->mantissa + 3),
                       (r & 8) ? 0 : ~0ull);
    case ZEROS:
        return compose(f, r % 5 != 0, 0, 0);
    default:
        return special(f);
    }
}

/* COLUMN: K numbers, some of which cancel one another. */
static void draw_column(const struct format *f, uint64_t *column, int k)
{
    enum kind kind = (enum kind)(draw() % KINDS);
    uint64_t minus = 1ull << (f->mantissa - 1 + f->exponent);
    bool cancels = draw() % 3 == 0;

    for (int j = 0; j < k; j++) {
        column[j] = number(f, kind);
        if (cancels && j > 0 && draw() % 2)
            column[j] = column[draw() % (uint64_t)j] ^ minus;
        if (draw() % 300 == 0)
            column[j] = special(f);
    }
}

/* ---- cases ---- */

enum { LANES = 300, ROOM = 2 * LANES * 8 + 64 };

struct operands {
    char *memory;               /* K rows of ROOM bytes, and one more for the result */
    const void *at[1024];
};

static uint64_t load(const char *at, size_t size)
{
    uint32_t half;
    uint64_t whole;

    memcpy(size == 4 ? (void *)&half : &whole, at, size);
    return size == 4 ? half : whole;
}

static void store(char *at, size_t size, uint64_t bits)
{
    uint32_t half = (uint32_t)bits;

    memcpy(at, size == 4 ? (void *)&half : &bits, size);
}

/* Some of the prefixes of K operands, first to last; the reference takes its time. */
static int next_prefix(int j, int k)
{
    int step = k < 16 ? 1 : k / 8;

    return j + step < k || j == k - 1 ? j + step : k - 1;
}

/* All prefixes of K operands of N elements each, and nothing but them. */
static long run_prefixes(const struct collopt_kernel *kernel, size_t size, size_t lanes, int k,
                         size_t n, const char *words, char *message, size_t room)
{
    const struct format *f = size == 4 ? &of_float : &of_double;
    char *memory = calloc((size_t)k, ROOM);
    uint64_t *column = malloc(n * lanes * (size_t)k * sizeof *column);
    void *at[1024];
    long wrong = 0;

    for (int j = 0; j < k; j++) {
        at[j] = memory + (size_t)j * ROOM + draw() % 8 * (draw() % 2);
        memset((char *)at[j] + n * lanes * size, 0x5a, 8);
    }
    for (size_t i = 0; i < n * lanes; i++) {
        draw_column(f, &column[i * (size_t)k], k);
        for (int j = 0; j < k; j++)
            store((char *)at[j] + i * size, size, column[i * (size_t)k + (size_t)j]);
    }
    kernel->prefixes(at, k, n);
    for (size_t i = 0; i < n * lanes; i++)
        for (int j = 0; j < k; j = next_prefix(j, k)) {
            uint64_t found = load((char *)at[j] + i * size, size), *own = &column[i * (size_t)k];
            uint64_t right = j == 0 ? own[0] : reference(f, own, j + 1);

            if (found != right && wrong++ == 0)
                snprintf(message, room,
                         "%s, n %zu, prefix %d of %d, lane %zu: %llx, should be %llx", words, n, j,
                         k, i, (unsigned long long)found, (unsigned long long)right);
        }
    for (int j = 0; j < k; j++)
        for (int i = 0; i < 8; i++)
            if (((char *)at[j])[n * lanes * size + (size_t)i] != 0x5a && wrong++ == 0)
                snprintf(message, room, "%s, prefixes of %d, n %zu: writes behind operand %d",
                         words, k, n, j);
    free(column);
    free(memory);
    return wrong;
}

/* One fold of K operands of N elements each; IN_PLACE: the result is that operand, or apart if
 * negative. */
static long run_case(const struct collopt_kernel *kernel, size_t size, size_t lanes, int k,
                     size_t n, int in_place, const char *words, char *message, size_t room)
{
    const struct format *f = size == 4 ? &of_float : &of_double;
    struct operands o = { .memory = calloc((size_t)k + 1, ROOM) };
    uint64_t column[1024], right[2 * LANES];
    long wrong = 0;

    for (int j = 0; j < k; j++)
        o.at[j] = o.memory + (size_t)j * ROOM + draw() % 8 * (draw() % 2);
    for (size_t i = 0; i < n * lanes; i++) {
        draw_column(f, column, k);
        for (int j = 0; j < k; j++)
            store((char *)o.at[j] + i * size, size, column[j]);
        right[i] = reference(f, column, k);
    }

    char *result = in_place < 0 ? o.memory + (size_t)k * ROOM : (char *)o.at[in_place];

    memset(result + n * lanes * size, 0x5a, 8);
    if (k == 2)
        kernel->combine(result, o.at[0], o.at[1], n);
    else
        kernel->fold(result, o.at, k, n);
    for (size_t i = 0; i < n * lanes; i++)
        if (load(result + i * size, size) != right[i] && wrong++ == 0)
            snprintf(
                message, room,
                "%s, k %d, n %zu, result in place of operand %d, lane %zu: %llx, should be %llx",
                words, k, n, in_place, i, (unsigned long long)load(result + i * size, size),
                (unsigned long long)right[i]);
    for (int i = 0; i < 8; i++)
        if (result[n * lanes * size + i] != 0x5a && wrong++ == 0)
            snprintf(message, room, "%s, k %d, n %zu: writes behind the result", words, k, n);
    free(o.memory);
    return wrong;
}

/* ---- rows on their way ---- */

/* Adds the rows of K operands, of WORDS words each, two at a time in any order; returns the one
 * that has the sum. */
static const int64_t *add_rows(int64_t *row, size_t words, int k)
{
    int64_t *left[1024];

    for (int j = 0; j < k; j++)
        left[j] = row + (size_t)j * words;
    for (; k > 1; k--) {
        int to = (int)(draw() % (uint64_t)(k - 1));

        for (size_t i = 0; i < words; i++)
            left[to][i] += left[k - 1][i];
        if (draw() % 2) {
            int64_t *first = left[0];

            left[0] = left[to];
            left[to] = first;
        }
    }
    return left[0];
}

/* K operands of N elements, on RANKS ranks; a single one must come back. */
static long run_rows(enum collopt_type type, size_t size, size_t lanes, int k, size_t n, int ranks,
                     const char *words, char *message, size_t room)
{
    const struct format *f = size == 4 ? &of_float : &of_double;
    struct collopt_exact_words w;
    bool served = collopt_exact_words_of(type, ranks, &w);
    int64_t *row = malloc((size_t)k * n * w.words * sizeof *row);
    uint64_t column[1024], right[2 * LANES];
    char *memory = calloc((size_t)k + 1, ROOM), *result = memory + (size_t)k * ROOM;
    long wrong = !served || collopt_exact_row(type, ranks) != w.words * sizeof *row;

    for (size_t i = 0; i < n * lanes; i++) {
        draw_column(f, column, k);
        for (int j = 0; j < k; j++)
            store(memory + (size_t)j * ROOM + i * size, size, column[j]);
        right[i] = k == 1 ? column[0] : reference(f, column, k);
    }
    for (int j = 0; j < k; j++)
        collopt_exact_load(&w, row + (size_t)j * n * w.words, memory + (size_t)j * ROOM, n);
    memset(result + n * lanes * size, 0x5a, 8);
    collopt_exact_round(&w, result, add_rows(row, n * w.words, k), n, k);
    for (size_t i = 0; i < n * lanes; i++)
        if (load(result + i * size, size) != right[i] && wrong++ == 0)
            snprintf(message, room, "%s, rows, k %d of %d, n %zu, lane %zu: %llx, should be %llx",
                     words, k, ranks, n, i, (unsigned long long)load(result + i * size, size),
                     (unsigned long long)right[i]);
    for (int i = 0; i < 8; i++)
        if (result[n * lanes * size + (size_t)i] != 0x5a && wrong++ == 0)
            snprintf(message, room, "%s, rows, n %zu: writes behind the result", words, n);
    free(memory);
    free(row);
    return wrong;
}

/* RANKS times the same number fit the words, and are rounded once. */
static long run_many(int ranks, uint64_t bits, char *message, size_t room)
{
    struct collopt_exact_words w;
    int64_t row[2 + 2200 / 32];
    double often = ranks;
    uint64_t right = exact_reference_products(sizeof bits, &bits, &often, 1), found;
    bool fits = collopt_exact_words_of(COLLOPT_DOUBLE, ranks, &w);

    collopt_exact_load(&w, row, &bits, 1);
    for (size_t i = 0; i < w.words; i++)
        fits &= !__builtin_mul_overflow(row[i], (int64_t)ranks, &row[i]);
    collopt_exact_round(&w, &found, row, 1, ranks);
    if (fits && found == right)
        return 0;
    snprintf(message, room, "rows, %d times %llx: %llx, should be %llx%s", ranks,
             (unsigned long long)bits, (unsigned long long)found, (unsigned long long)right,
             fits ? "" : "; a word overflows");
    return 1;
}

long exact_rows_run(enum collopt_type type, char *message, size_t room)
{
    static const int ranks[] = { 1, 2, 3, 64, 100, 1025, 1 << 20, (1 << 21) - 1 };
    static const uint64_t number[] = { 0x7fefffffffffffff, 0xffefffffffffffff, 0x000fffffffffffff,
                                       0x8000000000000001, 0x3ff5555555555555, 0x8000000000000000,
                                       0x7ff0000000000000, 0x5cffffffffffffff };
    bool complex = collopt_type_layout(type) == COLLOPT_LAYOUT_COMPLEX;
    size_t lanes = complex ? 2 : 1, size = collopt_type_size(type) / lanes;
    struct collopt_exact_words w;
    long wrong = collopt_exact_words_of(type, 1 << 21, &w);

    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        for (size_t x = 0; x < sizeof number / sizeof *number && !wrong; x++)
            wrong += run_many(ranks[i], number[x], message, room);
        for (int k = 1; k <= ranks[i] && k <= 100 && !wrong; k += k < 5 ? 1 : k)
            wrong += run_rows(type, size, lanes, k, k < 5 ? 40 : 5, ranks[i],
                              collopt_type_name(type), message, room);
    }
    return wrong;
}

/* ---- all of them ---- */

static long run_cases(enum collopt_type type, int most, const char *set, char *message, size_t room)
{
    static const size_t lengths[] = { 1, 2, 7, 128, 131, LANES };
    bool complex = collopt_type_layout(type) == COLLOPT_LAYOUT_COMPLEX;
    const struct collopt_kernel *kernel = collopt_exact_kernel(type);
    size_t size = collopt_type_size(type) / (complex ? 2 : 1);
    long wrong = 0;
    char words[100];

    snprintf(words, sizeof words, "exact sum of %s, isa %s, %s", collopt_type_name(type),
             collopt_kernels_isa(), set);
    wrong += run_prefixes(kernel, size, complex ? 2 : 1, 1, LANES, words, message, room);
    for (int k = 2; k <= most; k += k < 9 ? 1 : k / 3)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            int in_place = draw() % 2 ? -1 : (int)(draw() % (uint64_t)k);
            char here[300];
            long bad = run_case(kernel, size, complex ? 2 : 1, k, lengths[i], in_place, words, here,
                                sizeof here);

            bad += bad ? 0
                       : run_prefixes(kernel, size, complex ? 2 : 1, k, lengths[i], words, here,
                                      sizeof here);
            if (bad && !wrong)
                snprintf(message, room, "%s", here);
            wrong += bad;
        }
    return wrong;
}

long exact_cases_run(enum collopt_type type, int most, char *message, size_t room)
{
    long wrong = run_cases(type, most, "usual arithmetic", message, room);

    /* however the program has set the processor */
    fesetround(FE_UPWARD);
    wrong += wrong ? 0 : run_cases(type, 8, "rounding upward", message, room);
    fesetround(FE_TONEAREST);
#if defined __SSE2__
    unsigned was = _mm_getcsr();

    _mm_setcsr(was | 0x8040);
    wrong += wrong ? 0 : run_cases(type, 8, "flushing subnormals", message, room);
    _mm_setcsr(was);
#endif
    return wrong;
}
