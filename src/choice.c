/* Choices as numbers, so that an algorithm can be the parameter of another: parameters are numbers, compared and kept as such.
 *
 * A choice that has a number is never changed nor forgotten.  Rules and presets make few of them; if there were ever more than
 * there is room for, all ranks would run out of it at the same one. */
#include "config.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum { ROOM = 8192 };

static struct collopt_choice *numbered[ROOM];
static _Atomic(size_t) used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool same(const struct collopt_choice *a, const struct collopt_choice *b)
{
    return a->algorithm == b->algorithm && memcmp(a->value, b->value, sizeof a->value) == 0;
}

static size_t find(const struct collopt_choice *c, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (same(numbered[i], c))
            return i + 1;
    return 0;
}

static size_t add(const struct collopt_choice *c, size_t n)
{
    struct collopt_choice *copy = n < ROOM ? malloc(sizeof *copy) : NULL;

    if (!copy)
        return 0;
    *copy = *c;
    numbered[n] = copy;
    atomic_store_explicit(&used, n + 1, memory_order_release);
    return n + 1;
}

size_t collopt_choice_number(const struct collopt_choice *c)
{
    size_t seen = atomic_load_explicit(&used, memory_order_acquire), number = find(c, 0, seen), n;

    if (number)
        return number;
    pthread_mutex_lock(&lock);
    n = atomic_load_explicit(&used, memory_order_relaxed);
    number = find(c, seen, n);
    if (!number)
        number = add(c, n);
    pthread_mutex_unlock(&lock);
    return number;
}

const struct collopt_choice *collopt_choice_numbered(size_t number)
{
    return number > 0 && number <= atomic_load_explicit(&used, memory_order_acquire) ? numbered[number - 1] : NULL;
}
