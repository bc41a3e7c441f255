/* Running a plan on buffers that may be in device memory: the schedule runs on copies in host
 * memory as it would on the program's buffers. */
#ifndef COLLOPT_MPI_RUN_STAGED_H
#define COLLOPT_MPI_RUN_STAGED_H

struct collopt_comm;
struct collopt_plan;

int collopt_execute_anywhere(struct collopt_comm *c, struct collopt_plan *plan, const void *in,
                             void *out);

#endif
