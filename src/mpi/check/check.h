/* COLLOPT_CHECK: compares calls over the ranks. */
#ifndef COLLOPT_MPI_CHECK_CHECK_H
#define COLLOPT_MPI_CHECK_CHECK_H

struct collopt_call;
struct collopt_comm;
struct collopt_plan;

/* Before CALL is run or passed on, checks that all ranks make this call, with matching arguments
 * and the same choice. OUTCOME is dispatch.c's: MPI_SUCCESS (PLAN is the plan), COLLOPT_DECLINED
 * or an error code. If ranks differ, prints rank and argument and returns an error code on all
 * ranks. */
int collopt_check(struct collopt_comm *c, const struct collopt_call *call,
                  const struct collopt_plan *plan, int outcome);

#endif
