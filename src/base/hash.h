/* FNV-1a (G. Fowler, L. C. Noll, P. Vo): hashes by which ranks compare what must be equal on all.
 * Not cryptographic. */
#ifndef COLLOPT_BASE_HASH_H
#define COLLOPT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define COLLOPT_HASH_START  0xcbf29ce484222325u
#define COLLOPT_HASH_PRIME  0x100000001b3u

static inline uint64_t collopt_hash_bytes(uint64_t h, const void *bytes, size_t n)
{
    for (const unsigned char *b = bytes; n > 0; n--, b++)
        h = (h ^ *b) * COLLOPT_HASH_PRIME;
    return h;
}

static inline uint64_t collopt_hash_text(uint64_t h, const char *text)
{
    return collopt_hash_bytes(h, text, strlen(text));
}

/* Makes each bit of X affect the others. */
static inline size_t collopt_mix(size_t x)
{
    x ^= x >> 29;
    x *= (size_t)0x9e3779b97f4a7c15u;
    return x ^ x >> 32;
}

#endif
