/* Running a plan: the steps of each strand in turn, against the addresses of a call. */
#ifndef COLLOPT_MPI_RUN_EXECUTE_H
#define COLLOPT_MPI_RUN_EXECUTE_H

#include <stdbool.h>
#include <stdint.h>

struct collopt_comm;
struct collopt_execution;
struct collopt_plan;

/* Runs PLAN to its end; MPI_SUCCESS or an error code, the host's or MPI_ERR_NO_MEM.  ENTERED,
 * unless NULL: when this rank entered the call, or has sent the message that a short one begins
 * with, by collopt_timing_begin(). */
int collopt_execute(struct collopt_comm *c, struct collopt_plan *plan, const void *in, void *out,
                    uint64_t *entered);
/* Of C's latest call: bytes sent by the host because a channel had no room. */
uint64_t collopt_execution_diverted(const struct collopt_comm *c);

/* The same in four functions.  begin() sends nothing; the caller then sets CALL and TAGS and
 * zeroes the steps. advance() goes on as far as possible without waiting; *DONE: to the end.
 * end() then rounds sums that have travelled as exact accumulators. clear() frees the scratch,
 * after an error or if it is PASSING. */
int collopt_execution_begin(struct collopt_execution *e, struct collopt_comm *c,
                            struct collopt_plan *plan, const void *in, void *out);
int collopt_execution_advance(struct collopt_execution *e, bool *done);
void collopt_execution_end(struct collopt_execution *e);
void collopt_execution_clear(struct collopt_execution *e, int err);

#endif
