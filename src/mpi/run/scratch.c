/* Makes scratch memory and counts what is kept of it; see scratch.h. */
#include "config.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "mpi/run/scratch.h"
#include "settings/settings.h"

enum { LINE = 64 };

static atomic_size_t kept;

/* Not by aligned_alloc(): before glibc 2.38 that rarely uses again what it was given back (bug
 * 14581).  The word before the memory says where it begins. */
void *collopt_scratch_make(size_t size)
{
    char *begin = size <= SIZE_MAX - 2 * LINE ? malloc(size + 2 * LINE) : NULL;
    void **at;

    if (!begin)
        return NULL;
    at = (void **)(((uintptr_t)begin + sizeof begin + LINE - 1) & ~((uintptr_t)LINE - 1));
    at[-1] = begin;
    return at;
}

void collopt_scratch_free(void *scratch)
{
    if (scratch)
        free(((void **)scratch)[-1]);
}

bool collopt_scratch_keep(size_t size)
{
    size_t most = collopt_settings()->scratch, now = atomic_load(&kept);

    do
        if (size > most || now > most - size)
            return false;
    while (!atomic_compare_exchange_weak(&kept, &now, now + size));
    return true;
}

void collopt_scratch_release(size_t size)
{
    atomic_fetch_sub(&kept, size);
}
