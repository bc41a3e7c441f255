/* The product of complex numbers, COMPLEX of two REAL, by C's rules: where both parts come out as
 * NaN, C recovers infinities (Annex G), for which the compiler calls a function. Its test, made for
 * each element, is what keeps it from vectorizing. Here it is made for several numbers at once, and
 * only if some part is NaN are these given to the compiler's own product.
 *
 *     prod complex_double, 256 KiB: 6.5 GB/s element by element, 25 in vectors (AVX-512) */

static inline COMPLEX OF(PROD)(COMPLEX a, COMPLEX b) { return a * b; }

static void OF(PROD_each)(COMPLEX *d, const COMPLEX *a, const COMPLEX *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        d[i] = OF(PROD)(a[i], b[i]);
}

#ifdef VECTOR

/* (a.re b.re - a.im b.im, a.im b.re + a.re b.im) */
static void PASTE(OF(PROD), _two)(void *dst, const void *const *from, size_t n)
{
    enum { NUMBERS = sizeof(VECTOR(vector)) / sizeof(COMPLEX) };
    const COMPLEX *a = from[0], *b = from[1];
    COMPLEX *d = dst;
    size_t i = 0;

    for (; i + NUMBERS <= n; i += NUMBERS) {
        VECTOR(vector)
        x = VECTOR(load)((const REAL *)(a + i)),
        y = VECTOR(load)((const REAL *)(b + i));
        VECTOR(vector) straight = VECTOR(multiply)(x, VECTOR(evens)(y));
        VECTOR(vector) across = VECTOR(multiply)(VECTOR(swapped)(x), VECTOR(odds)(y));
        VECTOR(vector) product = VECTOR(sub_add)(straight, across);

        if (__builtin_expect(VECTOR(any_nan)(product), 0))
            OF(PROD_each)(d + i, a + i, b + i, NUMBERS);
        else
            VECTOR(store)((REAL *) (d + i), product);
    }
    OF(PROD_each)(d + i, a + i, b + i, n - i);
}

#else

/* d = a b for the parts of n numbers; true if some part is NaN */
static inline bool OF(PROD_parts)(REAL *restrict d, const REAL *a, const REAL *b, size_t n)
{
    int nan = 0;

    _Pragma("omp simd reduction(|: nan)")
    for (size_t i = 0; i < 2 * n; i += 2) {
        REAL re = a[i] * b[i] - a[i + 1] * b[i + 1];
        REAL im = a[i + 1] * b[i] + a[i] * b[i + 1];

        nan |= (re != re) | (im != im);
        d[i] = re;
        d[i + 1] = im;
    }
    return nan;
}

static void PASTE(OF(PROD), _two)(void *dst, const void *const *from, size_t n)
{
    enum { NUMBERS = 64 };
    const COMPLEX *a = from[0], *b = from[1];
    COMPLEX *d = dst;

    for (size_t i = 0; i < n; i += NUMBERS) {
        _Alignas(64) REAL product[2 * NUMBERS];
        size_t m = n - i < NUMBERS ? n - i : NUMBERS;

        if (OF(PROD_parts)(product, (const REAL *) (a + i), (const REAL *) (b + i), m))
            OF(PROD_each)(d + i, a + i, b + i, m);
        else
            memcpy(d + i, product, m * sizeof *d);
    }
}

#endif

#undef OF
#undef COMPLEX
#undef REAL
#undef VECTOR
