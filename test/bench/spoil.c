/* Preloaded before collopt: an Allreduce, in each of its forms, that is wrong in one bit of the
 * last element, on the last rank, where vectors are long. A bench must notice. */
#ifndef _GNU_SOURCE
# define _GNU_SOURCE 1     /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <string.h>

typedef int allreduce(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
typedef int iallreduce(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *);
typedef int allreduce_init(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info,
                           MPI_Request *);
typedef int wait_for(MPI_Request *, MPI_Status *);
typedef int free_request(MPI_Request *);

/* The request whose result is to be spoilt, and where; a bench has one at a time. */
static MPI_Request request_of;
static unsigned char *last_byte;

/* The next library's function NAME, by *FUNCTION. */
static void look_up(const char *name, void *function)
{
    void *address = dlsym(RTLD_NEXT, name);

    memcpy(function, &address, sizeof address);
}

/* The last byte of the result, NULL where it is left alone. */
static unsigned char *spot(void *out, int count, MPI_Datatype type, MPI_Comm comm)
{
    MPI_Aint least, extent;
    int rank, ranks;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    MPI_Type_get_extent(type, &least, &extent);
    if (rank != ranks - 1 || count < 100)
        return NULL;
    return (unsigned char *)out + (MPI_Aint)count * extent - 1;
}

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    unsigned char *last = spot(out, count, type, comm);
    allreduce *next;
    int err;

    look_up("MPI_Allreduce", &next);
    err = next(in, out, count, type, op, comm);
    if (last)
        *last ^= 1;
    return err;
}

int MPI_Iallreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request)
{
    iallreduce *next;
    int err;

    look_up("MPI_Iallreduce", &next);
    err = next(in, out, count, type, op, comm, request);
    last_byte = spot(out, count, type, comm);
    request_of = *request;
    return err;
}

/* Open MPI 4.1 spells it MPIX_. */
#define ALLREDUCE_INIT(name) \
    int name(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request *); \
    int name(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, \
             MPI_Info info, MPI_Request *request) \
    { \
        allreduce_init *next; \
        int err; \
        look_up(#name, &next); \
        err = next(in, out, count, type, op, comm, info, request); \
        last_byte = spot(out, count, type, comm); \
        request_of = *request; \
        return err; \
    }
ALLREDUCE_INIT(MPI_Allreduce_init)
ALLREDUCE_INIT(MPIX_Allreduce_init)

/* The handle of one that is gone may come back for another's. */
static void forget(MPI_Request request, bool gone)
{
    if (gone && request == request_of)
        last_byte = NULL;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    MPI_Request waited = *request;
    wait_for *next;
    int err;

    look_up("MPI_Wait", &next);
    err = next(request, status);
    if (last_byte && waited == request_of)
        *last_byte ^= 1;
    forget(waited, *request == MPI_REQUEST_NULL);
    return err;
}

int MPI_Request_free(MPI_Request *request)
{
    free_request *next;

    look_up("MPI_Request_free", &next);
    forget(*request, true);
    return next(request);
}
