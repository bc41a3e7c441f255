/* Preloaded before collopt: an Allreduce that is wrong in one bit of the last element, on the last
 * rank, where vectors are long. A bench must notice. */
#ifndef _GNU_SOURCE
# define _GNU_SOURCE 1     /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <mpi.h>
#include <string.h>

typedef int allreduce(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    void *address = dlsym(RTLD_NEXT, "MPI_Allreduce");
    allreduce *next;
    MPI_Aint least, extent;
    int rank, ranks, err;

    memcpy(&next, &address, sizeof next);
    err = next(in, out, count, type, op, comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    MPI_Type_get_extent(type, &least, &extent);
    if (rank == ranks - 1 && count >= 100)
        ((unsigned char *)out)[(MPI_Aint)count * extent - 1] ^= 1;
    return err;
}
