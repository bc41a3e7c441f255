/* Context ids: one at a time for each communicator, also between threads. */
#include "config.h"

#include "mpi/node/context.h"
#include "suite.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

TEST(numbers)
{
    collopt_contexts_begin(INT_MAX);
    ck_assert_int_eq(collopt_context_take(), 1);
    ck_assert_int_eq(collopt_context_take(), 2);
    ck_assert_int_eq(collopt_context_take(), 3);
    collopt_context_give_back(2);
    ck_assert_int_eq(collopt_context_take(), 2);
    ck_assert_int_eq(collopt_context_take(), 4);
}

/* Tag bounds: what MPI promises, MPICH 4.0, MPICH 5.0, Open MPI. */
static const struct {
    int tag_ub, ids;
} bounds[] = { { 32767, 0 },
               { 65535, 1 },
               { 65534, 0 },
               { (1 << 28) - 1, 8191 },
               { (1 << 29) - 1, 16383 },
               { INT_MAX, 65535 } };

TESTS(tags_suffice, 0, sizeof bounds / sizeof *bounds)
{
    int n = 0, id;

    collopt_contexts_begin(bounds[_i].tag_ub);
    while ((id = collopt_context_take()) >= 0) {
        ck_assert_int_eq(id, ++n);
        ck_assert_int_le((long long)id * COLLOPT_CONTEXT_TAGS + COLLOPT_CONTEXT_TAGS - 1,
                         bounds[_i].tag_ub);
    }
    ck_assert_int_eq(n, bounds[_i].ids);
    ck_assert_int_eq(collopt_context_take(), -1);
    if (n > 0) {
        collopt_context_give_back(n);
        ck_assert_int_eq(collopt_context_take(), n);
    }
}

enum { THREADS = 4, HELD = 8, ROUNDS = 20000 };

static atomic_int holders[THREADS * HELD + 1];

static void *take_and_give_back(void *data)
{
    int held[HELD] = { 0 };
    unsigned seed = *(unsigned *)data;

    for (int i = 0; i < ROUNDS; i++) {
        int *h = &held[rand_r(&seed) % HELD];

        if (*h) {
            atomic_fetch_sub(&holders[*h], 1);
            collopt_context_give_back(*h);
            *h = 0;
        } else {
            *h = collopt_context_take();
            if (*h < 1 || *h > THREADS * HELD || atomic_fetch_add(&holders[*h], 1) != 0)
                return data;
        }
    }
    return NULL;
}

TEST(threads)
{
    pthread_t thread[THREADS];
    unsigned seed[THREADS];
    void *wrong;

    collopt_contexts_begin(INT_MAX);
    for (unsigned t = 0; t < THREADS; t++) {
        seed[t] = t;
        pthread_create(&thread[t], NULL, take_and_give_back, &seed[t]);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(thread[t], &wrong);
        ck_assert_msg(!wrong, "thread %d got an id that another one has", t);
    }
}

int main(void)
{
    return suite_run("context");
}
