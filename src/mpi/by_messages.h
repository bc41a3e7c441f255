/* Persistent and nonblocking reductions by the host's messages, where ranks share no memory.
 *
 * Each has an execution of its own (execute.h) of a plan that sends all by the host.  It goes on in
 * the calls that complete requests, and whenever the host makes progress (progress.h): a rank that
 * waits for something else must not keep the others waiting.  A host that does not lend that serves
 * these calls itself.
 *
 * Messages are told apart by their rows of tags (context.h).  A nonblocking reduction has the row
 * of its call, and begins only when the one that had the row before it is complete on this rank.
 * A persistent one keeps a row, which the ranks agree on when it is made.  So a rank has received
 * all that was sent to it in a row before it posts receives for the next operation there; messages
 * between two ranks do not overtake each other, so none is taken for another's.
 */
#ifndef COLLOPT_MPI_BY_MESSAGES_H
#define COLLOPT_MPI_BY_MESSAGES_H

#include <stdbool.h>

struct collopt_call;
struct collopt_comm;
struct collopt_operation;
struct collopt_plan;

/* May reductions on C, which is taken over, go this way?  All its ranks answer alike. */
bool collopt_by_messages(const struct collopt_comm *c);
/* Fills in OP from CALL, which PLAN is for.  NULL, or why the host serves it, alike on all
 * ranks. */
const char *collopt_by_messages_describe(struct collopt_operation *op, struct collopt_comm *c,
                                         struct collopt_call *call, struct collopt_plan *plan);
/* The row of a persistent one.  Collective; OP is NULL where this rank cannot serve it.  *WHY: none
 * can, alike on all ranks.  An error code: this rank cannot go on. */
int collopt_by_messages_make(struct collopt_operation *op, struct collopt_comm *c,
                             const char **why);
/* Numbers a nonblocking one.  An error code: this rank cannot. */
int collopt_by_messages_number(struct collopt_operation *op, struct collopt_comm *c);
void collopt_by_messages_start(struct collopt_operation *op);
/* Goes on without waiting; true: it is DONE.  Any thread. */
bool collopt_by_messages_advance(struct collopt_operation *op);
bool collopt_by_messages_under_way(void);
/* Gives back what it was given; it is not under way. */
void collopt_by_messages_free(struct collopt_operation *op);

#endif
