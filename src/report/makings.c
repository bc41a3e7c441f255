/* See makings.h. */
#include "config.h"

#include <stdatomic.h>

#include "report/makings.h"

static _Atomic uint64_t made, time_of_all, hardly_used, reductions_there;

static void add(_Atomic uint64_t *sum, uint64_t n)
{
    atomic_fetch_add_explicit(sum, n, memory_order_relaxed);
}

void collopt_makings_made(uint64_t time)
{
    add(&made, 1);
    add(&time_of_all, time);
}

void collopt_makings_freed(uint64_t time)
{
    add(&time_of_all, time);
}

void collopt_makings_used(uint64_t reductions)
{
    if (reductions == 0 || reductions > COLLOPT_MAKINGS_FEW)
        return;
    add(&hardly_used, 1);
    add(&reductions_there, reductions);
}

struct collopt_makings collopt_makings(void)
{
    return (struct collopt_makings){ made, time_of_all, hardly_used, reductions_there };
}

void collopt_makings_reset(void)
{
    made = time_of_all = hardly_used = reductions_there = 0;
}
