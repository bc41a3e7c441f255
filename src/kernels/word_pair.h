/* MINLOC and MAXLOC on pairs of 8 bytes, each taken as one word, by pair_lane.h's rules.
 *
 * VALUE(word, nan) puts the value into the upper half of a signed integer, in the order of the
 * values, with NaN at the end given by the sign of `nan`. ORDER(word) puts the index, in the order
 * of unsigned integers, into the lower half. One comparison of the whole then decides: nothing
 * branches and nothing is taken apart. PADDING are the bits of the word that belong to neither.
 *
 *     maxloc float_int, random data, 256 KiB: 1.0 GB/s by comparing fields, 20 by words
 * (AVX-512) */

static inline u64 OF(MINLOC)(u64 a, u64 b)
{
    int64_t x = VALUE(a, INT64_MIN) | ORDER(a);
    int64_t y = VALUE(b, INT64_MIN) | ORDER(b);

    return y < x ? b : a;
}

static inline u64 OF(MAXLOC)(u64 a, u64 b)
{
    int64_t x = VALUE(a, INT64_MAX) | (ORDER(a) ^ UINT32_MAX);
    int64_t y = VALUE(b, INT64_MAX) | (ORDER(b) ^ UINT32_MAX);

    return y > x ? b : a;
}

static inline u64 OF(keep)(u64 old, u64 new) { return (old & (PADDING)) | (new & ~(PADDING)); }

static inline u64 OF(difference)(u64 a, u64 b) { return a ^ b; }

#undef OF
#undef VALUE
#undef ORDER
#undef PADDING
