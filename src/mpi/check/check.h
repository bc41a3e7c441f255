/* COLLOPT_CHECK: compares calls over the ranks. */
#ifndef COLLOPT_MPI_CHECK_CHECK_H
#define COLLOPT_MPI_CHECK_CHECK_H

#include "mpi/host/call.h"

struct collopt_comm;
struct collopt_plan;

/* Before CALL is run or falls back, checks that all ranks make this call, with matching arguments
 * and the same choice. PLAN is that of an OUTCOME of COLLOPT_RUN. If ranks differ, prints rank and
 * argument and returns an error code on all ranks. */
int collopt_check(struct collopt_comm *c, const struct collopt_call *call,
                  const struct collopt_plan *plan, enum collopt_outcome outcome);

#endif
