/* Saves and restores error handlers; see errhandler.h. */
#include "config.h"

#include "mpi/host/errhandler.h"

MPI_Errhandler collopt_save_errhandler(MPI_Comm comm)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;       /* SMPI has none as long as none was set */

    PMPI_Comm_get_errhandler(comm, &handler);
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return handler;
}

void collopt_restore_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
    MPI_Errhandler now = MPI_ERRHANDLER_NULL;

    if (handler == MPI_ERRHANDLER_NULL)
        return;
    PMPI_Comm_get_errhandler(comm, &now);
    if (now == MPI_ERRORS_RETURN)       /* else another thread has set one */
        PMPI_Comm_set_errhandler(comm, handler);
    if (now != MPI_ERRHANDLER_NULL)
        PMPI_Errhandler_free(&now);
    PMPI_Errhandler_free(&handler);
}

int collopt_raise(MPI_Comm comm, int err)
{
    if (err != MPI_SUCCESS)
        PMPI_Comm_call_errhandler(comm, err);
    return err;
}
