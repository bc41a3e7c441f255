/* COLLOPT_CHECK for nonblocking calls, which must not wait.
 *
 * Each nonblocking call starts a comparison: an MPI_Iallgather of the descriptions (signature.h) on
 * the program's communicator.  All ranks make these calls in one order, so the host matches them.
 * A comparison belongs to a request, which writes the receive buffer only after the comparison.
 *
 * If the calls differ, all ranks find the same difference.  Rank 0 of the communicator writes the
 * message to the user, then sends an empty message to the other ranks.  These wait for it, since
 * their errors may end the job; but not forever, since rank 0 may wait for one of them. */
#ifndef COLLOPT_MPI_CHECK_COMPARISON_H
#define COLLOPT_MPI_CHECK_COMPARISON_H

#include <stdbool.h>

struct collopt_signature;
struct collopt_comm;
struct collopt_comparison;

/* Are nonblocking calls on C compared?  All ranks answer alike. */
bool collopt_checks_later(struct collopt_comm *c);
/* Starts a comparison.  Collective on C.  Returns an error code; *RAISED: the host has raised
 * it. */
int collopt_comparison_begin(struct collopt_comm *c, const struct collopt_signature *mine,
                             struct collopt_comparison **x, bool *raised);
/* Advances it without waiting.  True: it has ended.  Any thread.  WITHIN: the host may be in a
 * progress callback. */
bool collopt_comparison_advance(struct collopt_comparison *x, bool within);
/* The result of a comparison that has ended: MPI_SUCCESS, the error class of the difference, or the
 * host's error.  *RAISED: the host has already raised it. */
int collopt_comparison_result(const struct collopt_comparison *x, bool *raised);
/* Frees a comparison that has ended. */
void collopt_comparison_free(struct collopt_comparison *x);

#endif
