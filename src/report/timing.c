/* One word has the number of threads that are in reductions and the time since when there are any,
 * so that both change at once and without a lock. */
#include "config.h"

#include "report/timing.h"
#include "base/clock.h"

#include <stdatomic.h>

enum { BITS = 12 };             /* bits for the threads; the others hold the time, which wraps in 52
                                 * days */
static const uint64_t threads = (UINT64_C(1) << BITS) - 1;

static _Atomic uint64_t inside, covered;

bool collopt_timing_overlaps = true;

static uint64_t one_more(uint64_t before, uint64_t now)
{
    return before & threads ? before + 1 : now << BITS | 1;
}

uint64_t collopt_timing_begin(void)
{
    uint64_t now = collopt_now(), before = atomic_load_explicit(&inside, memory_order_relaxed);

    if (!collopt_timing_overlaps) {
        atomic_store_explicit(&inside, one_more(before, now), memory_order_relaxed);
        return now;
    }
    while (!atomic_compare_exchange_weak_explicit(&inside, &before, one_more(before, now),
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
    return now;
}

/* One thread less; the state before. */
static uint64_t one_less(void)
{
    uint64_t before;

    if (collopt_timing_overlaps)
        return atomic_fetch_sub_explicit(&inside, 1, memory_order_relaxed);
    before = atomic_load_explicit(&inside, memory_order_relaxed);
    atomic_store_explicit(&inside, before - 1, memory_order_relaxed);
    return before;
}

void collopt_timing_cover(uint64_t time)
{
    if (collopt_timing_overlaps)
        atomic_fetch_add_explicit(&covered, time, memory_order_relaxed);
    else
        atomic_store_explicit(&covered,
                              atomic_load_explicit(&covered, memory_order_relaxed) + time,
                              memory_order_relaxed);
}

uint64_t collopt_timing_end(uint64_t begun)
{
    uint64_t now = collopt_now();
    uint64_t before = one_less();

    if ((before & threads) == 1)
        collopt_timing_cover(((now << BITS) - (before & ~threads)) >> BITS);
    return now - begun;
}

uint64_t collopt_timing_covered(void)
{
    uint64_t state = atomic_load_explicit(&inside, memory_order_relaxed),
             sum = atomic_load_explicit(&covered, memory_order_relaxed);

    return state & threads ? sum + (((collopt_now() << BITS) - (state & ~threads)) >> BITS) : sum;
}

void collopt_timing_reset(void)
{
    atomic_store_explicit(&covered, 0, memory_order_relaxed);
}
