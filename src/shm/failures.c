/* Writes and reads failed calls; see failures.h. */
#include "config.h"

#include "shm/failures.h"

static uint64_t code(uint32_t context, uint32_t call)
{
    return (uint64_t)context << 32 | call;
}

/* Nothing else is to be seen with a call, and readers look again and again. */
void collopt_failures_add(struct collopt_failures *f, uint32_t context, uint32_t call)
{
    uint32_t n = atomic_fetch_add_explicit(&f->count, 1, memory_order_relaxed);

    atomic_store_explicit(&f->call[n % COLLOPT_FAILURES], code(context, call),
                          memory_order_relaxed);
}

/* Context ids are not 0. */
bool collopt_failures_has(const struct collopt_failures *f, uint32_t context, uint32_t call)
{
    if (atomic_load_explicit(&f->count, memory_order_relaxed) == 0)
        return false;
    for (int i = 0; i < COLLOPT_FAILURES; i++)
        if (atomic_load_explicit(&f->call[i], memory_order_relaxed) == code(context, call))
            return true;
    return false;
}
