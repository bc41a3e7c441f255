/* What a program says to the hostile host that collopt runs on in it; hostile.c has the rest.  The
 * program defines it, and is linked with -rdynamic; in one that does not, all memory is there. */
#ifndef COLLOPT_TEST_HOSTILE_HOSTILE_H
#define COLLOPT_TEST_HOSTILE_HOSTILE_H

#include <stdatomic.h>

struct hostile_memory {
    atomic_long left;           /* so many of collopt's allocations from now on, the last of them
                                 * fails; 0: none does */
    atomic_long failed;         /* how many did */
};

extern struct hostile_memory hostile_memory __attribute__((weak));

#endif
