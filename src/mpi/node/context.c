/* Hands out the context ids of this process; see context.h.  No MPI here. */
#include "config.h"

#include "mpi/node/context.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

enum { WORDS = 1024, BITS = 64 };       /* 65536 ids: all that tags up to 2^31 - 1 have room for */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t taken[WORDS];
static int ids;

void collopt_contexts_begin(int tag_ub)
{
    pthread_mutex_lock(&lock);
    memset(taken, 0, sizeof taken);
    taken[0] = 1;
    ids = (int)(((int64_t)tag_ub + 1) / COLLOPT_CONTEXT_TAGS);
    pthread_mutex_unlock(&lock);
}

/* The lowest free id: the search looks at few words, however many ids there are. */
int collopt_context_take(void)
{
    int id = -1;

    pthread_mutex_lock(&lock);
    for (int w = 0; w < WORDS && id < 0; w++)
        if (~taken[w])
            id = w * BITS + __builtin_ctzll(~taken[w]);
    if (id >= ids)
        id = -1;
    if (id >= 0)
        taken[id / BITS] |= (uint64_t)1 << id % BITS;
    pthread_mutex_unlock(&lock);
    return id;
}

void collopt_context_give_back(int id)
{
    pthread_mutex_lock(&lock);
    taken[id / BITS] &= ~((uint64_t)1 << id % BITS);
    pthread_mutex_unlock(&lock);
}
