/* Nonblocking reductions of the ranks of one node.
 *
 * Each rank of a communicator has a journal (shm/journal.h) and writes its input there at each
 * nonblocking reduction. All ranks make these calls in one order, so each rank numbers them alike.
 * A rank also completes them in that order, whichever the program waits for: the inputs of number N
 * arrive after those of N - 1. Peers find a journal under the context id of its owner. A record has
 * a mark of the call: ranks that have called something else get an error. Nothing is acknowledged
 * on the way; a journal grows until its readers have passed what is in it, since a bound would make
 * a start wait for them.  So a start needs no other rank, and a rank that has started may wait for
 * anything.  To bound the memory, a rank that is far ahead waits, in the completion of an
 * request, until the others have started it, as MPI allows.
 *
 * What is decided here is decided alike on all ranks without asking them: nonblocking calls must
 * not wait for anybody. A shortage on one rank is an error of all: its record says so. */
#ifndef COLLOPT_MPI_REQUEST_NONBLOCKING_H
#define COLLOPT_MPI_REQUEST_NONBLOCKING_H

#include <stdbool.h>

struct collopt_call;
struct collopt_comm;
struct collopt_request;

/* Fills in R from CALL, on C, which is taken over and on one node. NULL, or why the host serves
 * it. */
const char *collopt_nonblocking_describe(struct collopt_request *r, struct collopt_comm *c,
                                         struct collopt_call *call);
/* Starts it. An error code: this rank cannot, and nothing was started. */
int collopt_nonblocking_start(struct collopt_request *r, struct collopt_comm *c);
/* The same for CALL, which the host serves, so that the numbers of later calls agree. ERR: this
 * rank's, which does not call the host. */
int collopt_nonblocking_start_by_host(struct collopt_request *r, struct collopt_comm *c,
                                      struct collopt_call *call, int err);
/* This rank has no memory for the request of the next call: the others get an error of it. */
void collopt_nonblocking_miss(struct collopt_comm *c);
/* Advances the requests of all communicators that need no MPI.  False: none is active. */
bool collopt_nonblocking_help(void);

/* At the end, before segments are unmapped: frees the journals of communicators that are freed. */
void collopt_nonblocking_end(void);

#endif
