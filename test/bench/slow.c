/* Preloaded before collopt: an Allreduce that takes 20 ms more.  The guidelines must notice. */
#ifndef _GNU_SOURCE
# define _GNU_SOURCE 1     /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <mpi.h>
#include <string.h>
#include <time.h>

typedef int allreduce(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    void *address = dlsym(RTLD_NEXT, "MPI_Allreduce");
    const struct timespec pause = { 0, 20000000 };
    allreduce *next;

    memcpy(&next, &address, sizeof next);
    nanosleep(&pause, NULL);
    return next(in, out, count, type, op, comm);
}
