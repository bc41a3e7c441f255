/* The product of complex numbers, COMPLEX, whose parts are REAL, by C's rules: where both parts come out as NaN, the
 * compiler's own product is asked, which recovers infinities (Annex G). That test, made for each element, is what
 * keeps a compiler from vectorizing; so it is made once for a strip, which is then computed again.
 *
 *     prod complex_double, 256 KiB: 10 GB/s element by element, 30 by strips (AVX-512) */

static void OF(PROD)(COMPLEX *d, const COMPLEX *a, const COMPLEX *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        d[i] = a[i] * b[i];
}

/* d = a b for the parts of n numbers; true if some part is NaN */
static inline bool OF(parts)(REAL *restrict d, const REAL *a, const REAL *b, size_t n)
{
    int nan = 0;

    _Pragma("omp simd reduction(|: nan)")
    for (size_t i = 0; i < n; i++) {
        REAL re = a[2 * i] * b[2 * i] - a[2 * i + 1] * b[2 * i + 1];
        REAL im = a[2 * i] * b[2 * i + 1] + a[2 * i + 1] * b[2 * i];

        nan |= (re != re) | (im != im);
        d[2 * i] = re;
        d[2 * i + 1] = im;
    }
    return nan;
}

static void PASTE(OF(PROD), _two)(void *dst, const void *const *from, size_t n)
{
    enum { STRIP = 64 };
    const COMPLEX *a = from[0], *b = from[1];
    COMPLEX *d = dst;

    for (size_t at = 0; at < n; at += STRIP) {
        _Alignas(64) REAL product[2 * STRIP];
        size_t m = n - at < STRIP ? n - at : STRIP;

        if (OF(parts)(product, (const REAL *) (a + at), (const REAL *) (b + at), m))
            OF(PROD)(d + at, a + at, b + at, m);
        else
            memcpy(d + at, product, m * sizeof *d);
    }
}

#undef OF
#undef COMPLEX
#undef REAL
