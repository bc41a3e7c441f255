/* An MPI library that nobody knows, of one rank. It comes in two: MPI_X in front of PMPI_X, as all
 * do.
 *
 *     -DCALLED="..."      what it calls itself
 *     -DABI=N             it has MPI_Abi_get_version, which answers N as the major version;
 *                         -DABI_STATUS=E: and returns
 * E */

#include <string.h>

#ifndef CALLED
# define CALLED "Strange MPI 1.0"
#endif
#ifndef ABI_STATUS
# define ABI_STATUS 0
#endif

int PMPI_Get_library_version(char *version, int *length)
{
    strcpy(version, CALLED "\nof no importance");
    *length = (int)strlen(version);
    return 0;
}

#ifdef ABI
int PMPI_Abi_get_version(int *major, int *minor)
{
    *major = ABI;
    *minor = ABI < 0 ? ABI : 0;
    return ABI_STATUS;
}
int MPI_Abi_get_version(int *, int *) __attribute__((weak, alias("PMPI_Abi_get_version")));
#endif

int PMPI_Allreduce(const void *in, void *out, int count, long type, long op, long comm)
{
    (void)type, (void)op, (void)comm;
    memcpy(out, in, (size_t)count);
    return 0;
}

int PMPI_Reduce_local(const void *in, void *out, int count, long type, long op)
{
    (void)in, (void)out, (void)type, (void)op;
    return count;
}

int PMPI_Finalize(void)
{
    return 0;
}

int MPI_Allreduce(const void *, void *, int, long, long, long)
    __attribute__((weak, alias("PMPI_Allreduce")));
int MPI_Reduce_local(const void *, void *, int, long, long)
    __attribute__((weak, alias("PMPI_Reduce_local")));
int MPI_Finalize(void) __attribute__((weak, alias("PMPI_Finalize")));
