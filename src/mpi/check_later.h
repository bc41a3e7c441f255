/* COLLOPT_CHECK for nonblocking calls, which must not wait.
 *
 * Each nonblocking call starts a comparison: the host's MPI_Iallgather of what each rank asks for
 * (asked.h), on the program's communicator.  All ranks make these calls in one order, so the host
 * matches them.  A comparison belongs to an operation, which does not touch the receive buffer
 * before its comparison has ended.
 *
 * If the ranks differ, each of them finds the same difference, rank 0 of the communicator writes
 * the line, and tells the others by an empty message: their errors may end the job.  They do not
 * wait for it forever, as rank 0 may be in a call that waits for one of them. */
#ifndef COLLOPT_MPI_CHECK_LATER_H
#define COLLOPT_MPI_CHECK_LATER_H

#include <stdbool.h>

struct collopt_asked;
struct collopt_comm;
struct collopt_comparison;

/* Are nonblocking calls on C compared?  All ranks answer alike. */
bool collopt_checks_later(struct collopt_comm *c);
/* Starts a comparison.  Collective on C.  Returns an error code. */
int collopt_comparison_begin(struct collopt_comm *c, const struct collopt_asked *mine,
                             struct collopt_comparison **x);
/* Goes on without waiting; true: it has ended.  Any thread.  WITHIN: the host may have called us
 * while it makes progress. */
bool collopt_comparison_advance(struct collopt_comparison *x, bool within);
/* Of one that has ended: MPI_SUCCESS, or the class of the difference, or the host's error, which
 * was *RAISED by the host. */
int collopt_comparison_result(const struct collopt_comparison *x, bool *raised);
/* It has ended. */
void collopt_comparison_free(struct collopt_comparison *x);
/* C is about to be freed: waits until all ranks have made the calls on it that are compared. */
void collopt_comparisons_settle(const struct collopt_comm *c);

#endif
