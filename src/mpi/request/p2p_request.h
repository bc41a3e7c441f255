/* Persistent and nonblocking reductions by the host's messages, where ranks share no memory.
 *
 * Each request has an execution (execute.h) of a plan that sends all messages by the host.  The
 * execution advances in completion calls, and whenever the host makes progress (progress.h): the
 * other ranks must not wait while this rank waits for something else.  A host that does not call
 * collopt while it makes progress, as MPICH before 4.3, serves these requests itself.
 *
 * A row is a range of tags (context.h).  It keeps the messages of requests apart.  A nonblocking
 * request uses the row of its call's number; it begins when the previous request of that row is
 * complete on this rank.  A persistent request keeps one row; the ranks agree on it when they
 * make the request.  So a rank has received all messages of a row before it posts receives for
 * the next request of that row.  Messages between two ranks do not overtake each other, so each
 * receive gets the message of its own request.
 */
#ifndef COLLOPT_MPI_REQUEST_P2P_REQUEST_H
#define COLLOPT_MPI_REQUEST_P2P_REQUEST_H

#include <stdbool.h>

struct collopt_call;
struct collopt_comm;
struct collopt_request;
struct collopt_plan;

/* Can requests on C, which is taken over, use the host's messages?  All ranks answer alike. */
bool collopt_p2p_request_possible(const struct collopt_comm *c);
/* Fills in R from CALL, which PLAN is for.  Returns NULL, or why the host serves it; all ranks get
 * the same. */
const char *collopt_p2p_request_describe(struct collopt_request *r, struct collopt_comm *c,
                                         struct collopt_call *call, struct collopt_plan *plan);
/* Agrees on the row of a persistent request.  Collective.  R is NULL if this rank cannot serve
 * it.  *WHY is set, alike on all ranks, if the host serves it.  Returns an error code. */
int collopt_p2p_request_make(struct collopt_request *r, struct collopt_comm *c,
                             const char **why);
/* This rank has no memory for its latest nonblocking call on C.  Messages of the others stay in the
 * call's row, which is not used any more. */
void collopt_p2p_request_miss(struct collopt_comm *c);
/* Gives a nonblocking request its row.  Returns MPI_SUCCESS or MPI_ERR_NO_MEM. */
int collopt_p2p_request_number(struct collopt_request *r, struct collopt_comm *c);
void collopt_p2p_request_start(struct collopt_request *r);
bool collopt_p2p_request_under_way(void);
/* In the progress of the host: advances some requests.  Returns how many became complete. */
int collopt_p2p_request_go_on(void);

#endif
