/* Choices as numbers, so that an algorithm can be the parameter of another: parameters are numbers,
 * compared and kept as such.
 *
 * A choice that has a number is never changed nor forgotten. There is no limit, since processes
 * with different histories would reach it at different calls and then choose differently. Presets
 * make few choices: segments are powers of two. Numbers differ between processes, so nothing may
 * depend on which one a choice has.
 *
 * Readers take no lock. Block k holds the choices numbered 2^k to 2^(k+1) - 1 and never moves; a
 * hash table of chains that only grow at their heads leads from a choice to its number. */
#include "config.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/choice.h"
#include "base/hash.h"

enum { BLOCKS = 64, CHAINS = 1024 };

struct numbered {
    struct collopt_choice choice;
    size_t number;
    struct numbered *next;
};

static _Atomic(struct numbered **) block[BLOCKS];
static _Atomic(struct numbered *) chain[CHAINS];
static _Atomic(size_t) used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint misses;      /* in all threads: a failure in another thread counts too, which is
                                 * safe */

static size_t chain_of(const struct collopt_choice *c)
{
    uint64_t h = collopt_hash_bytes(COLLOPT_HASH_START, c->value, sizeof c->value);

    h = (h ^ (uint64_t)(uintptr_t)c->algorithm) * COLLOPT_HASH_PRIME;
    return (size_t)(h >> 32) % CHAINS;
}

static size_t find(const struct collopt_choice *c, size_t at)
{
    const struct numbered *n = atomic_load_explicit(&chain[at], memory_order_acquire);

    while (n
           && (n->choice.algorithm != c->algorithm
               || memcmp(n->choice.value, c->value, sizeof c->value) != 0))
        n = n->next;
    return n ? n->number : 0;
}

static int block_of(size_t number)
{
    return 63 - __builtin_clzll(number);
}

/* The place for NUMBER, the next one; NULL: no memory. */
static struct numbered **place_of(size_t number)
{
    int k = block_of(number);
    size_t size = (size_t)1 << k;
    struct numbered **b = atomic_load_explicit(&block[k], memory_order_relaxed);

    if (!b && (b = calloc(size, sizeof *b)) != NULL)
        atomic_store_explicit(&block[k], b, memory_order_relaxed);
    return b ? &b[number - size] : NULL;
}

static size_t add(const struct collopt_choice *c, size_t at)
{
    size_t number = atomic_load_explicit(&used, memory_order_relaxed) + 1;
    struct numbered *n = malloc(sizeof *n), **place = n ? place_of(number) : NULL;

    if (!place) {
        free(n);
        atomic_fetch_add(&misses, 1);
        return 0;
    }
    *n = (struct numbered){ .choice = *c, .number = number,
                            .next = atomic_load_explicit(&chain[at], memory_order_relaxed) };
    *place = n;
    atomic_store_explicit(&used, number, memory_order_release);
    atomic_store_explicit(&chain[at], n, memory_order_release);
    return number;
}

size_t collopt_choice_number(const struct collopt_choice *c)
{
    size_t at = chain_of(c), number = find(c, at);

    if (number)
        return number;
    pthread_mutex_lock(&lock);
    number = find(c, at);
    if (!number)
        number = add(c, at);
    pthread_mutex_unlock(&lock);
    return number;
}

const struct collopt_choice *collopt_choice_numbered(size_t number)
{
    size_t n = atomic_load_explicit(&used, memory_order_acquire);

    if (number == 0 || number > n)
        return NULL;

    struct numbered **b = atomic_load_explicit(&block[block_of(number)], memory_order_relaxed);

    return &b[number - ((size_t)1 << block_of(number))]->choice;
}

unsigned collopt_choice_misses(void)
{
    return atomic_load(&misses);
}
