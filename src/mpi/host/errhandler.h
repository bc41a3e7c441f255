/* Error handlers of the program: errors are raised there, and attempts of collopt's own are not. */
#ifndef COLLOPT_MPI_HOST_ERRHANDLER_H
#define COLLOPT_MPI_HOST_ERRHANDLER_H

#include "mpi/host/host.h"

/* Errors on COMM return from now on, until its handler is restored.  Those of other threads do so
 * as well, so never while this rank may have to wait. */
MPI_Errhandler collopt_save_errhandler(MPI_Comm comm);
void collopt_restore_errhandler(MPI_Comm comm, MPI_Errhandler handler);
/* Calls the handler of COMM unless ERR is MPI_SUCCESS; returns ERR. */
int collopt_raise(MPI_Comm comm, int err);

#endif
