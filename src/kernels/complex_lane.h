/* The product of one complex, LANE, by C's rules (Annex G: infinities are recovered from NaN). */

static inline LANE OF(PROD)(LANE a, LANE b) { return a * b; }

#undef LANE
#undef OF
