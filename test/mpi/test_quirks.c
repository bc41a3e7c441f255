/* Every row of the table of quirks (src/mpi/host/quirks.c) is held against the MPI library that
 * runs this, without collopt: does it do so, and does no other?  Two ranks. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "common.h"
#include "mpi/host/quirks.h"

#if defined OPEN_MPI
# define ABI "openmpi"
#elif defined MPICH_VERSION
# define ABI "mpich"
#else
# define ABI "abi"
#endif

static char version[MPI_MAX_LIBRARY_VERSION_STRING];

static void expect(enum collopt_quirk quirk, bool does, const char *what)
{
    bool said = collopt_quirks_of(ABI, version) >> quirk & 1;

    check(does == said, "%s: it does%s, the table says it does%s", what, does ? "" : " not",
          said ? "" : " not");
}

/* Are arguments looked at, at all?  MPICH may be built without that, and Open MPI be told to. */
static bool checks_arguments(void)
{
    int x = 1;

    return MPI_Reduce(&x, &x, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_SELF) != MPI_SUCCESS;
}

static void aliases(void)
{
    int x = 1;

    expect(COLLOPT_REFUSES_EVERY_ALIAS,
           MPI_Allreduce(&x, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF) != MPI_SUCCESS,
           "MPI_Allreduce of one element refuses equal buffers");
    expect(COLLOPT_REFUSES_EVERY_ALIAS,
           MPI_Scan(&x, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF) != MPI_SUCCESS,
           "MPI_Scan refuses equal buffers");
    expect(COLLOPT_REFUSES_EVERY_ALIAS,
           MPI_Reduce_scatter_block(&x, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF) != MPI_SUCCESS,
           "MPI_Reduce_scatter_block refuses equal buffers");
    expect(COLLOPT_LOOKS_AT_UNUSED_OUT,
           MPI_Exscan(&x, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF) != MPI_SUCCESS,
           "MPI_Exscan looks at the receive buffer of rank 0");
}

/* Rank 1 duplicates only after rank 0 has looked, so nothing can be complete by then. */
static void duplicates(void)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request;

    if (world_rank > 0)
        MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
    if (world_rank == 0) {
        /* a library that is not relied on may set it all the same: Open MPI 6 does, and goes on
         * making the communicator */
        if (collopt_quirks_of(ABI, version) >> COLLOPT_IDUP_AT_ONCE & 1)
            check(made != MPI_COMM_NULL,
                  "MPI_Comm_idup does not set the handle at once, the table says it does");
        for (int to = 1; to < world_ranks; to++)
            MPI_Send(NULL, 0, MPI_INT, to, 1, MPI_COMM_WORLD);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&made);
}

static bool frees(MPI_Request *request)
{
    bool freed = MPI_Request_free(request) == MPI_SUCCESS;

    if (*request != MPI_REQUEST_NULL)
        MPI_Wait(request, MPI_STATUS_IGNORE);
    return freed;
}

/* As in duplicates(), rank 0's is under way.  The answers of a library that frees none say nothing
 * about those. */
static void frees_of_requests(void)
{
    static int in, out;
    MPI_Request request;

    MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF, &request);
    if (!frees(&request))
        return;
    if (world_rank > 0)
        MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    if (world_rank == 0) {
        bool freed = MPI_Request_free(&request) == MPI_SUCCESS;

        expect(COLLOPT_FREES_UNDER_WAY, freed, "MPI_Request_free frees a reduction under way");
        for (int to = 1; to < world_ranks; to++)
            MPI_Send(NULL, 0, MPI_INT, to, 1, MPI_COMM_WORLD);
    }
    if (request != MPI_REQUEST_NULL)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

#ifdef OPEN_MPI
typedef void fortran_reduce_scatter(const int *in, int *out, MPI_Fint *counts, MPI_Fint *type,
                                    MPI_Fint *op, MPI_Fint *comm, MPI_Fint *request,
                                    MPI_Fint *err);

/* Does the request contain this address?  OF_A_REQUEST: bytes of the host's own requests. */
static bool has_address(MPI_Request request, const void *address)
{
    enum { OF_A_REQUEST = 0xd0 };

    for (size_t at = 0; at < OF_A_REQUEST; at += sizeof address)
        if (memcmp((const char *)request + at, &address, sizeof address) == 0)
            return true;
    return false;
}

/* As in duplicates(), rank 0's is under way.  Version 6 has another library, and is not asked. */
static void counts_of_requests(void)
{
    static int in[2], out;
    static MPI_Fint counts[] = { 1, 1 };
    MPI_Fint type = MPI_Type_c2f(MPI_INT), op = MPI_Op_c2f(MPI_SUM),
             comm = MPI_Comm_c2f(MPI_COMM_WORLD), made = 0, err = 0;
    void *library = dlopen("libmpi_mpifh.so.40", RTLD_NOW),
         *symbol = library ? dlsym(library, "pmpi_ireduce_scatter_") : NULL;
    fortran_reduce_scatter *ireduce_scatter;
    MPI_Request request;

    if (!symbol)
        return;
    memcpy(&ireduce_scatter, &symbol, sizeof symbol);
    if (world_rank > 0)
        MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ireduce_scatter(in, &out, counts, &type, &op, &comm, &made, &err);
    request = MPI_Request_f2c(made);
    if (world_rank == 0) {
        expect(COLLOPT_WRITES_BEHIND_REQUEST, has_address(request, counts),
               "Fortran's MPI_Ireduce_scatter writes to requests");
        for (int to = 1; to < world_ranks; to++)
            MPI_Send(NULL, 0, MPI_INT, to, 1, MPI_COMM_WORLD);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}
#else
static void counts_of_requests(void)
{
}
#endif

int main(int argc, char **argv)
{
    int length;

    begin(&argc, &argv, "test_quirks");
    MPI_Get_library_version(version, &length);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    at("quirks");
    if (checks_arguments())
        aliases();
    else if (world_rank == 0)
        printf("test_quirks: arguments are not checked: equal buffers were not tried\n");
    duplicates();
    frees_of_requests();
    counts_of_requests();
    if (world_rank == 0)
        printf("test_quirks: %s, %.*s\n", collopt_implementation(ABI, version),
               (int)strcspn(version, ",\n"), version);
    return end();
}
