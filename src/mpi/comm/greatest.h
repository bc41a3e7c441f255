/* The ranks of a communicator that is taken over agree on numbers, by messages on the hidden
 * communicator: errors there are not the user's, and nobody's error handler is touched while a rank
 * waits. */
#ifndef COLLOPT_MPI_COMM_GREATEST_H
#define COLLOPT_MPI_COMM_GREATEST_H

struct collopt_comm;

/* GREATEST[i] of all ranks' MINE[i].  Collective on C, which is taken over and has several ranks.
 * An error code: not raised yet. */
int collopt_greatest(struct collopt_comm *c, const long long *mine, long long *greatest, int n);

#endif
