/* Fault tolerance: where it is on, reductions are the host's.
 *
 * Open MPI, if its launcher is told to (mpirun --with-ft ulfm), lets a job go on when a process has failed: calls return errors,
 * and MPIX_Comm_revoke wakes those who wait on a communicator.  Our messages travel on a communicator that nobody revokes, so
 * ranks that wait for each other there, and not for the process that failed, would wait for good.  To wake them, every wait
 * would have to look for revocations, which for short messages takes as long as the message.  A job that asks for fault
 * tolerance asks for more than speed. */
#include "config.h"

#include "call.h"

/* Set in MPI_Init by Open MPI from 5.0 on, alike on all ranks; other libraries have none. */
extern bool ompi_ftmpi_enabled __attribute__((weak));

bool collopt_fault_tolerant(void)
{
    return &ompi_ftmpi_enabled != NULL && ompi_ftmpi_enabled;
}
