/* MINLOC and MAXLOC on one pair, PAIR as the program has it; IS_NAN tells of its value.
 *
 * The better value wins, the lower index among equals, the left pair if the indices are equal too. NaN is better
 * than any number and equal to itself, so that it is found, and where. Padding is neither read nor written. */

typedef PAIR OF(pair);

static inline PAIR OF(get)(const char *from)
{
    PAIR p;

    memcpy(&p.value, from + offsetof(PAIR, value), sizeof p.value);
    memcpy(&p.index, from + offsetof(PAIR, index), sizeof p.index);
    return p;
}

static inline void OF(put)(char *to, PAIR p)
{
    memcpy(to + offsetof(PAIR, value), &p.value, sizeof p.value);
    memcpy(to + offsetof(PAIR, index), &p.index, sizeof p.index);
}

static inline bool OF(less)(PAIR a, PAIR b)    { return !(a.value >= b.value) & !IS_NAN(b.value); }
static inline bool OF(greater)(PAIR a, PAIR b) { return !(a.value <= b.value) & !IS_NAN(b.value); }

static inline PAIR OF(MINLOC)(PAIR a, PAIR b)
{
    return OF(less)(b, a) | (!OF(less)(a, b) & (b.index < a.index)) ? b : a;
}

static inline PAIR OF(MAXLOC)(PAIR a, PAIR b)
{
    return OF(greater)(b, a) | (!OF(greater)(a, b) & (b.index < a.index)) ? b : a;
}

#undef PAIR
#undef IS_NAN
#undef OF
