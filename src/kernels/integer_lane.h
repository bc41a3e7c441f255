/* The operations on one integer, LANE. Everything wraps: C integers shorter than int are converted
 * back, the others are unsigned (combos.h gives signed lanes only what needs the sign). Logical
 * results are 0 or 1. */

static inline LANE OF(SUM)(LANE a, LANE b)  { return a + b; }
/* uint16_t would be promoted to int */
static inline LANE OF(PROD)(LANE a, LANE b) { return 1u * a * b; }
static inline LANE OF(MIN)(LANE a, LANE b)  { return a < b ? a : b; }
static inline LANE OF(MAX)(LANE a, LANE b)  { return a > b ? a : b; }
static inline LANE OF(LAND)(LANE a, LANE b) { return (a != 0) & (b != 0); }
static inline LANE OF(LOR)(LANE a, LANE b)  { return (a | b) != 0; }
static inline LANE OF(LXOR)(LANE a, LANE b) { return (a != 0) ^ (b != 0); }
static inline LANE OF(BAND)(LANE a, LANE b) { return a & b; }
static inline LANE OF(BOR)(LANE a, LANE b)  { return a | b; }
static inline LANE OF(BXOR)(LANE a, LANE b) { return a ^ b; }

#undef LANE
#undef OF
