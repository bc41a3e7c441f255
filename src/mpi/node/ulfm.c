/* Fault tolerance: where it is on, reductions are the host's.
 *
 * Open MPI, if its launcher is told to (mpirun --with-ft ulfm), lets a job go on when a process has
 * failed: calls return errors, and MPIX_Comm_revoke wakes those who wait on a communicator.
 * collopt's messages travel on a communicator that is never revoked, so ranks that wait for each
 * other there, and not for the process that failed, would wait for good.  To wake them, every wait
 * would have to look for revocations, which for short messages takes as long as the message.  A job
 * that asks for fault tolerance asks for more than speed.
 *
 * MPICH has a variable for it.  With its device ch4 that means an assertion in MPI_Test and
 * MPI_Wait of a request that is not complete, which its own short collectives do not come by and
 * ours do. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "mpi/node/ulfm.h"
#include "settings/search_path.h"

/* Open MPI from 5.0 on sets it in MPI_Init, on all ranks to the same value; other libraries have
 * none. */
extern bool ompi_ftmpi_enabled __attribute__((weak));

/* Reads the variables as MPICH does: any of these names, in this order. */
static bool mpich_asked(void)
{
    static const char *const names[] = { "MPIR_CVAR_ENABLE_FT", "MPIR_PARAM_ENABLE_FT",
                                         "MPICH_ENABLE_FT" };
    static const char *const yes[] = { "YES", "ON", "TRUE", "1" };
    const char *text = NULL;

    for (size_t i = 0; i < sizeof names / sizeof *names && !text; i++)
        text = getenv(names[i]);
    for (size_t i = 0; i < sizeof yes / sizeof *yes && text; i++)
        if (strcasecmp(text, yes[i]) == 0)
            return true;
    return false;
}

bool collopt_fault_tolerant(void)
{
    if (&ompi_ftmpi_enabled != NULL && ompi_ftmpi_enabled)
        return true;
    return strcmp(collopt_host_name, "mpich") == 0 && mpich_asked();
}
