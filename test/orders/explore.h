/* Runs a few threads in every order, and with every outcome that C11 allows for their atomics, as
 * far as explore.c says.  The code that is explored is the library's own: the compiler reports each
 * access (-fsanitize=thread), and explore.c stands where the runtime of ThreadSanitizer would.
 *
 * Relacy, which Debian has, explores such programs as well, but they would have to be written a
 * second time, in C++ with its types.
 *
 * An execution fails if two accesses race, if a model says so, or if threads wait for good.  So
 * that each memory order is shown to be needed, each is weakened in turn: some execution must fail
 * then. */
#ifndef COLLOPT_TEST_ORDERS_EXPLORE_H
#define COLLOPT_TEST_ORDERS_EXPLORE_H

#include <stdbool.h>
#include <stddef.h>

enum { EXPLORE_THREADS = 3 };

struct explore_model {
    const char *name;
    void (*begin)(void);        /* before the threads; it is not explored */
    void (*thread[EXPLORE_THREADS])(void);
    void (*end)(void);          /* when all have ended, or NULL */
};

/* Explores MODELS, whose last one has no name, and each memory order. An exit status. */
int explore(const struct explore_model *models);
/* Does no execution of MODEL fail?  The orders are as they are. */
bool explore_holds(const struct explore_model *model);

/* The execution fails unless it holds. */
void explore_check(bool holds, const char *what);
/* Repeats CONDITION until it is true; in between the thread waits for another value of an atomic
 * that it has read. */
#define explore_until(condition) \
    for (explore_poll(); !(condition); explore_wait()) \
        continue
void explore_poll(void);
void explore_wait(void);
/* Each thread has these bytes for itself (_Thread_local), though here all have the same. */
void explore_private(const void *at, size_t size);
/* Memory of zeros, for this execution. */
void *explore_memory(size_t size);
/* The segment of a process, which all threads see (segment.c); its base. */
char *explore_segment(void);

/* What the explored code is to call instead (explored.h). */
void *explore_copy(void *to, const void *from, size_t n);
void *explore_set(void *to, int byte, size_t n);
int explore_compare(const void *a, const void *b, size_t n);
void *explore_calloc(size_t n, size_t size);
void explore_free(void *piece);
int explore_lock(void *mutex);
int explore_unlock(void *mutex);

#endif
