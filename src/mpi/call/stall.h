/* COLLOPT_STALL: says where ranks wait, and ends the job if it is set to (recorder/stall.h). */
#ifndef COLLOPT_MPI_CALL_STALL_H
#define COLLOPT_MPI_CALL_STALL_H

/* In MPI_Init, once calls are recorded.  BEFORE: called before the job is ended. */
void collopt_stall_watch(void (*before)(void));

#endif
