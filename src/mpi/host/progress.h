/* Makes the host call collopt whenever the host makes progress, so that collopt does too. */
#ifndef COLLOPT_MPI_HOST_PROGRESS_H
#define COLLOPT_MPI_HOST_PROGRESS_H

#include <stdbool.h>

#include "mpi/host/host.h"

/* In MPI_Init: can every rank's host call us while it makes progress?  Collective on HIDDEN. */
void collopt_progress_agree(MPI_Comm hidden);
/* The answer, the same on all ranks of MPI_COMM_WORLD; false before collopt_progress_agree(). */
bool collopt_progress_lent(void);
/* From now on the host calls GO_ON whenever it makes progress, if it can.  GO_ON returns the number
 * of operations that it has completed.  The first GO_ON counts. */
void collopt_progress_begin(int (*go_on)(void));
/* Tests REQUEST in GO_ON.  Does not make the host progress if the host forbids that there. */
int collopt_progress_test(MPI_Request *request, bool *done);
/* In GO_ON or elsewhere: is REQUEST complete, inactive or null? */
bool collopt_progress_peek(MPI_Request request);
/* Before MPI_Finalize. */
void collopt_progress_end(void);

#endif
