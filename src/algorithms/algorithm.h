/* What an algorithm's file is written with: the calls of schedule.h under short names, and the arithmetic that many share. */
#ifndef COLLOPT_ALGORITHM_H
#define COLLOPT_ALGORITHM_H

#include "schedule.h"

static inline struct collopt_block block(int partition, int first, int parts)
{
    return (struct collopt_block){ partition, first, parts };
}

static inline struct collopt_block whole(void)
{
    return block(COLLOPT_WHOLE, 0, 1);
}

static inline struct collopt_region at(int place, struct collopt_block b)
{
    return (struct collopt_region){ .place = place, .blocks = 1, .block = b };
}

static inline struct collopt_region at_list(int place, int blocks, const struct collopt_block *list)
{
    return (struct collopt_region){ .place = place, .blocks = blocks, .list = list };
}

static inline struct collopt_region in(struct collopt_block b)
{
    return at(COLLOPT_IN, b);
}

static inline struct collopt_region out(struct collopt_block b)
{
    return at(COLLOPT_OUT, b);
}

/* The largest power of two not above N, and its exponent; ceil(log2(n)). */
static inline int log2_floor(int n)
{
    int e = 0;

    while (n >> (e + 1))
        e++;
    return e;
}

static inline int log2_ceil(int n)
{
    return n <= 1 ? 0 : log2_floor(n - 1) + 1;
}

#endif
