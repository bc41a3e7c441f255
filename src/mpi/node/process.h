/* The whole process: it is prepared before its first call, and switched on or off. */
#ifndef COLLOPT_MPI_NODE_PROCESS_H
#define COLLOPT_MPI_NODE_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>

extern atomic_bool collopt_switched_on;         /* MPI_Pcontrol, where agreed; COLLOPT=off */
extern atomic_bool collopt_reporting;   /* calls that fall back are timed */

static inline bool collopt_is_off(void)
{
    return !atomic_load_explicit(&collopt_switched_on, memory_order_relaxed);
}

/* The part that needs no MPI_Init, for processes that use sessions only.  Any number of times. */
void collopt_prepare(void);

#endif
