/* The operations on one 16-bit real, LANE, computed in float and rounded once: WIDEN and NARROW convert. The float has
 * more than twice the digits, so the rounded sum or product is the correctly rounded one. */

static inline LANE OF(SUM)(LANE a, LANE b)  { return NARROW(WIDEN(a) + WIDEN(b)); }
static inline LANE OF(PROD)(LANE a, LANE b) { return NARROW(WIDEN(a) * WIDEN(b)); }
static inline LANE OF(MIN)(LANE a, LANE b)  { return NARROW(MIN_f32(WIDEN(a), WIDEN(b))); }
static inline LANE OF(MAX)(LANE a, LANE b)  { return NARROW(MAX_f32(WIDEN(a), WIDEN(b))); }

#undef LANE
#undef OF
#undef WIDEN
#undef NARROW
