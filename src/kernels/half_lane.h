/* The operations on one 16-bit real, LANE, whose infinity is INFINITE.
 *
 * Sums and products are computed in float (WIDEN, NARROW) and rounded once: a float has more than
 * twice the digits, so the result is the correctly rounded one. MIN and MAX are those of
 * real_lane.h, compared as integers: `ordered` maps the bits to an integer in the order of the
 * numbers, and is its own inverse. */

static inline LANE OF(SUM)(LANE a, LANE b)  { return NARROW(WIDEN(a) + WIDEN(b)); }
static inline LANE OF(PROD)(LANE a, LANE b) { return NARROW(WIDEN(a) * WIDEN(b)); }

static inline int16_t OF(ordered)(int16_t x)   { return x ^ (x >> 15 & 0x7fff); }
static inline bool OF(unordered)(LANE a, LANE b)
{
    return ((a & 0x7fff) > INFINITE) | ((b & 0x7fff) > INFINITE);
}

static inline LANE OF(MIN)(LANE a, LANE b)
{
    int16_t x = OF(ordered)(a), y = OF(ordered)(b), low = x < y ? x : y;

    return OF(unordered)(a, b) ? HALF_NAN : OF(ordered)(low);
}

static inline LANE OF(MAX)(LANE a, LANE b)
{
    int16_t x = OF(ordered)(a), y = OF(ordered)(b), high = x > y ? x : y;

    return OF(unordered)(a, b) ? HALF_NAN : OF(ordered)(high);
}

#undef LANE
#undef OF
#undef WIDEN
#undef NARROW
#undef INFINITE
#undef HALF_NAN
