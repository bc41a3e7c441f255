/* The operations on one real, LANE, with BITS the unsigned integer of its size.
 *
 * MIN and MAX are IEEE 754-2019's minimum and maximum: -0 < +0, and a NaN anywhere gives NaN
 * (always the same one), so that neither order nor position nor the shape of a tree shows in the
 * result. */

static inline BITS OF(bits)(LANE x)
{
    BITS bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline LANE OF(real)(BITS bits)
{
    LANE x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline LANE OF(SUM)(LANE a, LANE b)  { return a + b; }
static inline LANE OF(PROD)(LANE a, LANE b) { return a * b; }

/* If the operands are equal, each of the two selections takes its last operand.  So they differ
 * only for +0 and -0, whose signs the OR (or AND) combines. */
static inline LANE OF(MIN)(LANE a, LANE b)
{
    LANE low = OF(real)(OF(bits)(a < b ? a : b) | OF(bits)(b < a ? b : a));

    return __builtin_isunordered(a, b) ? (LANE) NAN : low;
}

static inline LANE OF(MAX)(LANE a, LANE b)
{
    LANE high = OF(real)(OF(bits)(a > b ? a : b) & OF(bits)(b > a ? b : a));

    return __builtin_isunordered(a, b) ? (LANE) NAN : high;
}

#undef LANE
#undef BITS
#undef OF
