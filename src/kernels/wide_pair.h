/* MINLOC and MAXLOC on pairs of two words, by pair_lane.h's rules, in steps that vectorize: VALUE
 * and INDEX make of a word what is compared, IS_NAN tells of a value; PADDING are the bits of the
 * second word that belong to nothing.
 *
 *     maxloc double_int, random data, 256 KiB: 2.0 GB/s by comparing fields, 16 by words
 * (AVX-512) */

static inline struct words OF(MINLOC)(struct words a, struct words b)
{
    int win  = (int) !(VALUE(a.first) <= VALUE(b.first)) & (int) !IS_NAN(VALUE(a.first));
    int lose = (int) !(VALUE(b.first) <= VALUE(a.first)) & (int) !IS_NAN(VALUE(b.first));
    int take = win | ((int) !lose & (INDEX(b.second) < INDEX(a.second)));

    return (struct words) { take ? b.first : a.first, take ? b.second : a.second };
}

static inline struct words OF(MAXLOC)(struct words a, struct words b)
{
    int win  = (int) !(VALUE(b.first) <= VALUE(a.first)) & (int) !IS_NAN(VALUE(a.first));
    int lose = (int) !(VALUE(a.first) <= VALUE(b.first)) & (int) !IS_NAN(VALUE(b.first));
    int take = win | ((int) !lose & (INDEX(b.second) < INDEX(a.second)));

    return (struct words) { take ? b.first : a.first, take ? b.second : a.second };
}

static inline struct words OF(keep)(struct words old, struct words new)
{
    return (struct words) { new.first, (old.second & PADDING) | (new.second & ~PADDING) };
}

static inline uint64_t OF(difference)(struct words a, struct words b)
{
    return (uint64_t) ((a.first ^ b.first) | (a.second ^ b.second));
}

#undef OF
#undef VALUE
#undef INDEX
#undef IS_NAN
#undef PADDING
