/* Levels on which several ranks do something together: what the number of ranks is a product of. */
#include "config.h"

#include "algorithm.h"

struct collopt_levels collopt_factors(int ranks, int radix)
{
    struct collopt_levels f = { .levels = 0, .ranks = ranks };
    int left = ranks;

    while (left > 1) {
        int take = least(radix, left);

        while (take > 1 && left % take)
            take--;
        if (take == 1)
            return (struct collopt_levels){ .levels = 0 };
        f.radix[f.levels++] = take;
        left /= take;
    }
    return f;
}
