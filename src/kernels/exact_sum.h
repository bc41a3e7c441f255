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

#define SURELY(lane, word) \
    static lane surely_##lane(const void *const *from, int k, size_t i) \
    { \
        struct collopt_superaccumulator a; \
        lane sum; \
        collopt_exact_clear(&a); \
        for (int j = 0; j < k; j++) \
            collopt_exact_accumulate(&a, collopt_parts_##lane((const lane *) from[j] + i)); \
        word bits = (word) collopt_exact_rounded(&a, &collopt_format_##lane); \
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
static void exactly(struct collopt_superaccumulator *a, const struct running *r, size_t i)
{
    collopt_exact_clear(a);
    collopt_exact_accumulate(a, collopt_parts_f64(&r->sum[i]));
    if (r->rest[i] != 0)
        collopt_exact_accumulate(a, collopt_parts_f64(&r->rest[i]));
}

/* Lane I of all vectors from FIRST on the sure way, behind what R has; the operands before are no
 * longer there.  Then the strip at a time: of R and what follows it, the one that FIRST was added
 * to is kept until nothing is known to be lost. */
#define PREFIXES(lane, word) \
    static void surely_go_on_##lane(struct collopt_superaccumulator *a, void *const *vector, \
                                    int first, int k, size_t i) \
    { \
        for (int j = first; j < k; j++) { \
            lane *at = (lane *) vector[j] + i; \
            collopt_exact_accumulate(a, collopt_parts_##lane(at)); \
            word bits = (word) collopt_exact_rounded(a, &collopt_format_##lane); \
            memcpy(at, &bits, sizeof bits); \
        } \
    } \
    static void surely_prefixes_##lane(void *const *vector, int k, size_t i) \
    { \
        struct collopt_superaccumulator a; \
        collopt_exact_clear(&a); \
        collopt_exact_accumulate(&a, collopt_parts_##lane((const lane *) vector[0] + i)); \
        surely_go_on_##lane(&a, vector, 1, k, i); \
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
            sure[i] = !(r->lost[i] == 0); \
            if (sure[i]) { \
                struct collopt_superaccumulator a; \
                exactly(&a, before, i); \
                surely_go_on_##lane(&a, vector, j, k, at + i); \
            } else { \
                to[i] = sums[i]; \
            } \
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
