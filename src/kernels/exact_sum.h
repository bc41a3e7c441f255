/* Sums of reals that are rounded once: the real number nearest to the sum of all operands, in
 * whatever order they come.
 *
 * The usual way is by error-free additions (D. E. Knuth's; T. Ogita, S. M. Rump, S. Oishi, Accurate
 * Sum and Dot Product, SIAM J. Sci. Comput. 26, 2005): sum and rest are two doubles; each operand
 * is added to the sum, what that loses to the rest, and what the rest loses is noted. If nothing
 * was, sum + rest is the exact value, and one addition rounds it. That holds where magnitudes
 * differ by less than some 2^50, so the rests are checked afterwards.  Where the check fails, as
 * for infinities and NaN, the operands are added to a superaccumulator: an integer that has a digit
 * for every bit of a double (R. M. Neal, Fast Exact Summation Using Small and Large
 * Superaccumulators, 2015).  Its value is exact for any operands, so it does not depend on their
 * order.
 *
 * Error-free additions need arithmetic that rounds to nearest, keeps subnormal numbers and raises
 * no signals.  Where the program has set the processor otherwise, only the superaccumulator is
 * used, which needs no arithmetic but that of integers.
 *
 * Included by reduce_tmpl.c. */
#ifndef COLLOPT_KERNELS_EXACT_SUM_H
#define COLLOPT_KERNELS_EXACT_SUM_H

/* ---- how the processor is set ---- */

#if defined __SSE2__ && FLT_EVAL_METHOD == 0
static inline bool usual_arithmetic(void)
{
    const unsigned masks = 0x1f80, rounding = 0x6000, flush = 0x8040;

    return (_mm_getcsr() & (masks | rounding | flush)) == masks;
}
#elif defined __aarch64__
static inline bool usual_arithmetic(void)
{
    const uint64_t traps = 0x9f00, rounding = 3 << 22, flush = 1 << 24;
    uint64_t control;

    __asm__ ("mrs %0, fpcr" : "=r" (control));
    return (control & (traps | rounding | flush)) == 0;
}
#else
static inline bool usual_arithmetic(void) { return false; }
#endif

/* ---- the sure way ---- */

enum {
    DIGIT_BITS = 32,
    /* all bits of doubles, and of the sum of 2^31 of them */
    DIGITS = 2 + (2046 + 53 + 31) / DIGIT_BITS,
};

/* A real as an integer, in units of the least subnormal double, 2^-1074. */
struct parts {
    uint64_t mantissa;
    int shift;                  /* the mantissa's last bit stands for 2^shift units */
    bool negative, infinite, nan;
};

/* Two formats: bits of mantissa with the hidden one, of exponent; where the least subnormal number
 * lies. */
struct format {
    int mantissa, exponent, least;
};

static const struct format format_f64 = { 53, 11, 0 }, format_f32 = { 24, 8, 1074 - 149 };

static inline struct parts take_apart(const struct format *f, uint64_t bits)
{
    uint64_t hidden = (uint64_t) 1 << (f->mantissa - 1), fraction = bits & (hidden - 1);
    int most = (1 << f->exponent) - 1, exponent = bits >> (f->mantissa - 1) & most;
    bool special = exponent == most;

    return (struct parts){
        .mantissa = special ? 0
            : exponent      ? fraction | hidden
                            : fraction,
        .shift = f->least + (exponent ? exponent - 1 : 0),
        .negative = bits >> (f->mantissa + f->exponent - 1) & 1,
        .infinite = special && !fraction,
        .nan = special && fraction,
    };
}

static inline struct parts parts_f64(const f64 *x)
{
    uint64_t bits;

    memcpy(&bits, x, sizeof bits);
    return take_apart(&format_f64, bits);
}

static inline struct parts parts_f32(const f32 *x)
{
    uint32_t bits;

    memcpy(&bits, x, sizeof bits);
    return take_apart(&format_f32, bits);
}

/* Digits may be negative and longer than DIGIT_BITS until they are settled. */
struct superaccumulator {
    int64_t digit[DIGITS];
    int low, high;              /* digits low to high - 1 may be other than 0 */
    bool positive, negative, nan;       /* infinities */
    bool minus_zero;            /* nothing but -0 so far */
};

static void grow_to(struct superaccumulator *a, int low, int high)
{
    for (; a->low > low; a->low--)
        a->digit[a->low - 1] = 0;
    for (; a->high < high; a->high++)
        a->digit[a->high] = 0;
}

static void accumulate(struct superaccumulator *a, struct parts x)
{
    int at = x.shift / DIGIT_BITS;
    unsigned __int128 wide = (unsigned __int128) x.mantissa << x.shift % DIGIT_BITS;
    int64_t sign = x.negative ? -1 : 1;

    a->nan |= x.nan;
    a->positive |= x.infinite && !x.negative;
    a->negative |= x.infinite && x.negative;
    a->minus_zero &= x.mantissa == 0 && x.negative;
    if (x.mantissa == 0)
        return;
    if (a->low == a->high)
        a->low = a->high = at;
    grow_to(a, at, at + 3);
    for (int i = 0; i < 3; i++)
        a->digit[at + i] += sign * (int64_t) (uint32_t) (wide >> i * DIGIT_BITS);
}

/* Every digit from 0 to 2^32 - 1; what is carried beyond the last one: negative if the number
 * is. */
static int64_t carry(struct superaccumulator *a)
{
    int64_t over = 0;

    for (int i = a->low; i < a->high; i++) {
        int64_t digit = a->digit[i] + over;

        a->digit[i] = digit & UINT32_MAX;
        over = digit >> DIGIT_BITS;
    }
    return over;
}

/* Leaves the magnitude; true if it is that of a negative number. */
static bool settle(struct superaccumulator *a)
{
    bool negative;

    /* one more digit, for the carries of all operands */
    grow_to(a, a->low, a->high < DIGITS ? a->high + 1 : a->high);
    negative = carry(a) < 0;
    if (negative) {
        for (int i = a->low; i < a->high; i++)
            a->digit[i] = -a->digit[i];
        carry(a);
    }
    while (a->high > a->low && a->digit[a->high - 1] == 0)
        a->high--;
    return negative;
}

static inline uint64_t digit_at(const struct superaccumulator *a, int i)
{
    return i >= a->low && i < a->high ? (uint64_t) a->digit[i] : 0;
}

/* The bits of A from bit AT on: at least 64 - DIGIT_BITS of them. */
static uint64_t bits_from(const struct superaccumulator *a, int at)
{
    int i = at / DIGIT_BITS;
    unsigned __int128 wide = (unsigned __int128)digit_at(a, i + 2) << 2 * DIGIT_BITS
        | digit_at(a, i + 1) << DIGIT_BITS | digit_at(a, i);

    return (uint64_t) (wide >> at % DIGIT_BITS);
}

static bool any_below(const struct superaccumulator *a, int at)
{
    for (int i = a->low; i < a->high && i < at / DIGIT_BITS; i++)
        if (a->digit[i])
            return true;
    return digit_at(a, at / DIGIT_BITS) & (((uint64_t) 1 << at % DIGIT_BITS) - 1);
}

/* The bits of the magnitude in FORMAT, to nearest, ties to even. */
static uint64_t round_magnitude(const struct superaccumulator *a, const struct format *f)
{
    uint64_t infinity = (((uint64_t) 1 << f->exponent) - 1) << (f->mantissa - 1), kept;
    int last, top;

    if (a->high == a->low)
        return 0;
    top = (a->high - 1) * DIGIT_BITS + 63 - __builtin_clzll((uint64_t) a->digit[a->high - 1]);
    last = top - (f->mantissa - 1);
    if (last <= f->least)       /* subnormal, or the least normal exponent: exact */
        return bits_from(a, f->least) & (((uint64_t) 1 << f->mantissa) - 1);
    kept = bits_from(a, last) & (((uint64_t) 1 << f->mantissa) - 1);
    if ((bits_from(a, last - 1) & 1) && ((kept & 1) || any_below(a, last - 1)))
        kept++;
    if (last - f->least >= 1 << f->exponent)
        return infinity;
    kept += (uint64_t) (last - f->least) << (f->mantissa - 1);
    return kept < infinity ? kept : infinity;
}

static uint64_t rounded(struct superaccumulator *a, const struct format *f)
{
    uint64_t infinity = (((uint64_t) 1 << f->exponent) - 1) << (f->mantissa - 1);
    uint64_t minus = (uint64_t) 1 << (f->mantissa + f->exponent - 1);

    if (a->nan || (a->positive && a->negative))
        return infinity | (uint64_t) 1 << (f->mantissa - 2);
    if (a->positive || a->negative)
        return infinity | (a->negative ? minus : 0);
    if (a->low == a->high)
        return a->minus_zero ? minus : 0;

    bool negative = settle(a);
    uint64_t magnitude = round_magnitude(a, f);

    return magnitude | (negative && magnitude ? minus : 0);
}

#define SURELY(lane, word) \
    static lane surely_##lane(const void *const *from, int k, size_t i) \
    { \
        struct superaccumulator a = { .minus_zero = true }; \
        lane sum; \
        for (int j = 0; j < k; j++) \
            accumulate(&a, parts_##lane((const lane *) from[j] + i)); \
        word bits = rounded(&a, &format_##lane); \
        memcpy(&sum, &bits, sizeof sum); \
        return sum; \
    }

SURELY(f64, uint64_t)
SURELY(f32, uint32_t)

/* ---- the usual way: a strip of lanes at a time, operand after operand ---- */

enum { STRIP_LANES = 128 };

struct running {
    double sum[STRIP_LANES], rest[STRIP_LANES];
    double lost[STRIP_LANES];   /* 0: sum + rest is exact */
};

/* The rounding error of a + b, rounded to SUM. */
static inline double error_of(double a, double b, double sum)
{
    double part = sum - a;

    return (a - (sum - part)) + (b - part);
}

#define ADD(lane) \
    INLINE void begin_##lane(struct running *r, const lane *x, const lane *y, size_t n) \
    { \
        _Pragma("omp simd") \
        for (size_t i = 0; i < n; i++) { \
            double a = x[i], b = y[i], sum = a + b; \
            r->sum[i] = sum; \
            r->rest[i] = error_of(a, b, sum); \
            r->lost[i] = 0 * r->rest[i]; \
        } \
    } \
    INLINE void add_##lane(struct running *to, const struct running *r, const lane *x, size_t n) \
    { \
        _Pragma("omp simd") \
        for (size_t i = 0; i < n; i++) { \
            double a = r->sum[i], b = x[i], sum = a + b; \
            double error = error_of(a, b, sum), rest = r->rest[i] + error; \
            to->lost[i] = r->lost[i] + fabs(error_of(r->rest[i], error, rest)); \
            to->sum[i] = sum; \
            to->rest[i] = rest; \
        } \
    }

ADD(f64)
ADD(f32)

/* -0 stays only where there is nothing to add. */
INLINE void end_f64(f64 *to, const struct running *r, size_t n)
{
    _Pragma("omp simd")
    for (size_t i = 0; i < n; i++)
        to[i] = r->rest[i] == 0 ? r->sum[i] : r->sum[i] + r->rest[i];
}

/* Rounding to double and then to float would round twice, but not if the double is rounded to odd:
 * the one of both neighbours whose last bit is set stands for all that lies between them (S. Boldo,
 * G. Melquiond, Emulation of FMA and Correctly Rounded Sums, IEEE Trans. Comput. 57, 2008). */
INLINE void end_f32(f32 *to, const struct running *r, size_t n)
{
    _Pragma("omp simd")
    for (size_t i = 0; i < n; i++) {
        double sum = r->rest[i] == 0 ? r->sum[i] : r->sum[i] + r->rest[i],
               error = error_of(r->sum[i], r->rest[i], sum), odd;
        int64_t bits, away = (error > 0) == (sum > 0) ? 1 : -1;

        memcpy(&bits, &sum, sizeof bits);
        bits += error != 0 && !(bits & 1) ? away : 0;
        memcpy(&odd, &bits, sizeof odd);
        to[i] = (float) odd;
    }
}

static bool lost_any(const struct running *r, size_t n)
{
    double lost = 0;

    _Pragma("omp simd reduction(+: lost)")
    for (size_t i = 0; i < n; i++)
        lost += r->lost[i];
    return !(lost == 0);
}

#define EXACT_SUM(lane) \
    static void exact_strip_##lane(lane *to, const void *const *from, int k, size_t at, size_t n) \
    { \
        struct running r; \
        lane sums[STRIP_LANES]; \
        begin_##lane(&r, (const lane *) from[0] + at, (const lane *) from[1] + at, n); \
        for (int j = 2; j < k; j++) \
            add_##lane(&r, &r, (const lane *) from[j] + at, n); \
        if (!lost_any(&r, n)) { \
            end_##lane(to, &r, n); \
            return; \
        } \
        end_##lane(sums, &r, n); \
        for (size_t i = 0; i < n; i++) \
            to[i] = r.lost[i] == 0 ? sums[i] : surely_##lane(from, k, at + i); \
    } \
    static void exact_##lane(void *dst, const void *const *from, int k, size_t n) \
    { \
        bool usual = usual_arithmetic(); \
        for (size_t at = 0; at < n; at += STRIP_LANES) { \
            size_t some = n - at < STRIP_LANES ? n - at : STRIP_LANES; \
            lane *to = (lane *) dst + at; \
            if (usual) \
                exact_strip_##lane(to, from, k, at, some); \
            else \
                for (size_t i = 0; i < some; i++) \
                    to[i] = surely_##lane(from, k, at + i); \
        } \
    }

EXACT_SUM(f64)
EXACT_SUM(f32)

/* ---- prefixes, each where its last operand was ---- */

/* R's value in lane I, as an integer. -0 appears only if there was nothing else. */
static struct superaccumulator exactly(const struct running *r, size_t i)
{
    struct superaccumulator a = { .minus_zero = true };

    accumulate(&a, parts_f64(&r->sum[i]));
    if (r->rest[i] != 0)
        accumulate(&a, parts_f64(&r->rest[i]));
    return a;
}

/* Settling changes the digits, so a copy of those in use is settled. */
static uint64_t rounded_so_far(const struct superaccumulator *a, const struct format *f)
{
    struct superaccumulator b;

    memcpy((char *)&b + offsetof(struct superaccumulator, low),
           (const char *)a + offsetof(struct superaccumulator, low),
           sizeof b - offsetof(struct superaccumulator, low));
    memcpy(b.digit + a->low, a->digit + a->low, (size_t) (a->high - a->low) * sizeof *a->digit);
    return rounded(&b, f);
}

/* Lane I of all vectors from FIRST on the sure way, behind what R has; the operands before are no
 * longer there.  Then the strip at a time: of R and what follows it, the one that FIRST was added
 * to is kept until nothing is known to be lost. */
#define PREFIXES(lane, word) \
    static void surely_go_on_##lane(struct superaccumulator a, void *const *vector, \
                                    int first, int k, size_t i) \
    { \
        for (int j = first; j < k; j++) { \
            lane *at = (lane *) vector[j] + i; \
            accumulate(&a, parts_##lane(at)); \
            word bits = rounded_so_far(&a, &format_##lane); \
            memcpy(at, &bits, sizeof bits); \
        } \
    } \
    static void surely_prefixes_##lane(void *const *vector, int k, size_t i) \
    { \
        struct superaccumulator a = { .minus_zero = true }; \
        accumulate(&a, parts_##lane((const lane *) vector[0] + i)); \
        surely_go_on_##lane(a, vector, 1, k, i); \
    } \
    static void start_##lane(struct running *r, const lane *x, size_t n) \
    { \
        for (size_t i = 0; i < n; i++) { \
            r->sum[i] = x[i]; \
            r->rest[i] = 0; \
            r->lost[i] = 0 * r->sum[i]; \
        } \
    } \
    static void keep_good_##lane(const struct running *before, const struct running *r, \
                                 void *const *vector, int j, int k, \
                                 size_t at, size_t n, bool *sure) \
    { \
        lane *to = (lane *) vector[j] + at, sums[STRIP_LANES]; \
        end_##lane(sums, r, n); \
        for (size_t i = 0; i < n; i++) { \
            if (sure[i]) \
                continue; \
            if (r->lost[i] == 0) \
                to[i] = sums[i]; \
            else \
                surely_go_on_##lane(exactly(before, i), vector, j, k, at + i); \
            sure[i] = !(r->lost[i] == 0); \
        } \
    } \
    static void prefixes_strip_##lane(void *const *vector, int k, size_t at, size_t n) \
    { \
        struct running r[2]; \
        bool sure[STRIP_LANES] = { false }; \
        start_##lane(&r[0], (const lane *) vector[0] + at, n); \
        for (int j = 1; j < k; j++) { \
            lane *to = (lane *) vector[j] + at; \
            const struct running *before = &r[(j - 1) % 2]; \
            struct running *now = &r[j % 2]; \
            add_##lane(now, before, to, n); \
            if (!lost_any(now, n)) \
                end_##lane(to, now, n); \
            else \
                keep_good_##lane(before, now, vector, j, k, at, n, sure); \
        } \
    } \
    static void prefixes_##lane(void *const *vector, int k, size_t n) \
    { \
        bool usual = usual_arithmetic(); \
        for (size_t at = 0; at < n; at += STRIP_LANES) { \
            size_t some = n - at < STRIP_LANES ? n - at : STRIP_LANES; \
            if (usual) \
                prefixes_strip_##lane(vector, k, at, some); \
            else \
                for (size_t i = 0; i < some; i++) \
                    surely_prefixes_##lane(vector, k, at + i); \
        } \
    }

PREFIXES(f64, uint64_t)
PREFIXES(f32, uint32_t)

/* Every addition of two operands is correct, but which NaN results depends on their order. */
#define EXACT_PAIR(lane) \
    static void exact_pair_##lane(void *dst, const void *left, const void *right, size_t n) \
    { \
        const lane *a = left, *b = right; \
        lane *to = dst; \
        if (!usual_arithmetic()) { \
            exact_##lane(dst, (const void *const[]) { left, right }, 2, n); \
            return; \
        } \
        _Pragma("omp simd") \
        for (size_t i = 0; i < n; i++) { \
            lane sum = a[i] + b[i]; \
            to[i] = sum == sum ? sum : (lane) NAN; \
        } \
    }

EXACT_PAIR(f64)
EXACT_PAIR(f32)

#define EXACT_KERNEL(type, lane, lanes) \
    static void exact_combine_##type(void *dst, const void *left, const void *right, size_t n) \
    { \
        exact_pair_##lane(dst, left, right, n * lanes); \
    } \
    static void exact_fold_##type(void *dst, const void *const *operands, int k, size_t n) \
    { \
        exact_##lane(dst, operands, k, n * lanes); \
    } \
    static void exact_prefixes_##type(void *const *vectors, int k, size_t n) \
    { \
        prefixes_##lane(vectors, k, n * lanes); \
    }

COLLOPT_EXACT_SUMS(EXACT_KERNEL)

#define EXACT_ROW(type, lane, lanes) \
    [COLLOPT_##type] = { exact_combine_##type, exact_fold_##type, exact_prefixes_##type },

extern const collopt_exact_table PASTE(collopt_exact_sums_, COLLOPT_ISA);

const collopt_exact_table PASTE(collopt_exact_sums_, COLLOPT_ISA) = {
    COLLOPT_EXACT_SUMS(EXACT_ROW)
};

#endif
