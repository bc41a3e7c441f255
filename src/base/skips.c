/* The skips of Traeff's circulant graphs: a rank talks to those skip[k] above and below, and every
 * distance below p is a sum of different skips. */
#include "config.h"

#include "base/skips.h"
#include "base/numbers.h"

int collopt_skips(int ranks, int skip[COLLOPT_SKIPS])
{
    int q = log2_ceil(ranks);

    skip[q] = ranks;
    for (int k = q - 1; k >= 0; k--)
        skip[k] = (skip[k + 1] + 1) / 2;
    return q;
}
