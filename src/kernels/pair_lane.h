/* MINLOC and MAXLOC on one pair, PAIR as the program has it; IS_NAN tests its value.
 *
 * The better value wins, the lower index among equals, the left pair if the indices are equal too.
 * NaN is better than any number and equal to itself, so that the result has it, with its index.
 * Padding is neither read nor written. */

typedef PAIR OF(pair);
typedef __typeof__(((PAIR *) NULL)->value) OF(value) LOOSE;
typedef __typeof__(((PAIR *) NULL)->index) OF(index) LOOSE;

static inline OF(value) OF(value_of)(const char *pair)
{
    return *(const OF(value) *)(pair + offsetof(PAIR, value));
}
static inline OF(index) OF(index_of)(const char *pair)
{
    return *(const OF(index) *)(pair + offsetof(PAIR, index));
}

static inline void OF(put)(char *to, const char *from)
{
    if (to == from)
        return;
    *(OF(value) *) (to + offsetof(PAIR, value)) = OF(value_of)(from);
    *(OF(index) *) (to + offsetof(PAIR, index)) = OF(index_of)(from);
}

static inline const char *OF(LOC_LOWER)(const char *left, const char *right)
{
    return OF(index_of)(right) < OF(index_of)(left) ? right : left;
}

/* one value is NaN, or both */
static inline const char *OF(LOC_NAN)(const char *left, const char *right)
{
    if (IS_NAN(OF(value_of)(left)) && IS_NAN(OF(value_of)(right)))
        return OF(LOC_LOWER)(left, right);
    return IS_NAN(OF(value_of)(left)) ? left : right;
}

static inline const char *OF(MINLOC)(const char *left, const char *right)
{
    OF(value) a = OF(value_of)(left), b = OF(value_of)(right);

    return a < b ? left
        : b < a  ? right
        : a == b ? OF(LOC_LOWER)(left, right)
                 : OF(LOC_NAN)(left, right);
}

static inline const char *OF(MAXLOC)(const char *left, const char *right)
{
    OF(value) a = OF(value_of)(left), b = OF(value_of)(right);

    return a > b ? left
        : b > a  ? right
        : a == b ? OF(LOC_LOWER)(left, right)
                 : OF(LOC_NAN)(left, right);
}

#undef PAIR
#undef IS_NAN
#undef OF
