/* In the place of the C library's aligned_alloc() and free(), for collopt too: behind each block
 * come 4 KiB of a pattern.  An operation of the user's may write the whole extent of each of its
 * elements, and where a slot of scratch has no room for that of the last one, the pattern is no
 * longer what it was.  Where memory is watched by a sanitizer, there are no zones. */
#ifndef _GNU_SOURCE
# define _GNU_SOURCE 1     /* RTLD_NEXT */
#endif
#include "zones.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || defined TEST_SIMULATED
size_t zones_overwritten(void)
{
    return 0;
}

unsigned zones_made(void)
{
    return 1;
}
#else
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ZONE = 4096, PATTERN = 0xa7, BLOCKS = 32 };

/* Only the thread that has, or frees, a block looks at its zone; others may free memory of theirs
 * meanwhile. */
static struct {
    _Atomic(char *) block;
    unsigned char *zone;
} zoned[BLOCKS];
static atomic_uint made;
static atomic_size_t lost;      /* bytes of zones whose blocks were freed */

static size_t look_at(unsigned char *zone)
{
    size_t n = 0;

    for (size_t i = 0; i < ZONE; i++)
        n += zone[i] != PATTERN;
    memset(zone, PATTERN, ZONE);
    return n;
}

static void watch(char *block, size_t size)
{
    for (int i = 0; i < BLOCKS; i++)
        if (!atomic_load(&zoned[i].block)) {
            zoned[i].zone = (unsigned char *)block + size;
            memset(zoned[i].zone, PATTERN, ZONE);
            atomic_store(&zoned[i].block, block);
            made++;
            return;
        }
}

static void forget(const char *block)
{
    for (int i = 0; i < BLOCKS && block; i++)
        if (atomic_load(&zoned[i].block) == block) {
            lost += look_at(zoned[i].zone);
            atomic_store(&zoned[i].block, NULL);
        }
}

__attribute__((visibility("default")))
void *aligned_alloc(size_t alignment, size_t size)
{
    void *(*next)(size_t alignment, size_t size);
    void *block;

    *(void **)&next = dlsym(RTLD_NEXT, "aligned_alloc");
    block = next(alignment, size + ZONE);
    if (block)
        watch(block, size);
    return block;
}

__attribute__((visibility("default")))
void free(void *block)
{
    static _Atomic(void *) known;
    void (*next)(void *block);
    void *address = atomic_load(&known);

    if (!address)
        atomic_store(&known, address = dlsym(RTLD_NEXT, "free"));
    *(void **)&next = address;
    forget(block);
    next(block);
}

size_t zones_overwritten(void)
{
    size_t n = atomic_exchange(&lost, 0);

    for (int i = 0; i < BLOCKS; i++)
        if (atomic_load(&zoned[i].block))
            n += look_at(zoned[i].zone);
    return n;
}

unsigned zones_made(void)
{
    return made;
}
#endif
