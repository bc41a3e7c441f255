/* What programs do with requests, some of which are persistent operations. */
#ifndef COLLOPT_MPI_REQUESTS_H
#define COLLOPT_MPI_REQUESTS_H

#include <stdbool.h>

#include "mpi/host.h"

/* The program frees a handle that an operation needs: it is freed with the last of these, and
 * *HANDLE is null. False: none needs it. */
bool collopt_requests_keep_op(MPI_Op *op);
bool collopt_requests_keep_type(MPI_Datatype *type);
/* Before MPI_Finalize. */
void collopt_requests_end(void);

#endif
