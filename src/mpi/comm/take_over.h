/* A communicator is taken over: its ranks exchange how messages reach them, and collopt runs its
 * reductions from then on. */
#ifndef COLLOPT_MPI_COMM_TAKE_OVER_H
#define COLLOPT_MPI_COMM_TAKE_OVER_H

#include <stddef.h>

struct collopt_comm;

/* Counts a call with a vector of BYTES on a NEW communicator and, when due, takes it over or leaves
 * it to the host for good. Collective. An error code: this rank alone cannot go on; it is
 * raised. */
int collopt_comm_take_over(struct collopt_comm *c, size_t bytes);
/* Counts a nonblocking call, which cannot take C over: the next blocking one may. A communicator of
 * one rank is taken over here too. */
void collopt_comm_note(struct collopt_comm *c, size_t bytes);
/* Takes over MPI_COMM_WORLD in MPI_Init, where it is cheapest, unless COLLOPT_AFTER is a number.
 * Collective. */
void collopt_comm_take_over_world(void);

#endif
