/* Warns of a load order in which no call comes to us.
 *
 * Where libcollopt.so is linked behind the MPI library, the loader finds MPI_X and PMPI_X there
 * first. Then nothing of ours is ever called, and only a constructor can say so. It looks up three
 * names and calls no MPI; in a process without MPI, and where we come first, it finds our own
 * MPI_Allreduce and is silent. */

#include "config.h"

#include <dlfcn.h>
#include <stddef.h>

#include "front/find.h"
#include "front/binding.h"
#include "front/say.h"

/* The object where the process finds NAME first; NULL: nowhere. */
static void *base_of(const char *name, Dl_info *where)
{
    void *address = dlsym(RTLD_DEFAULT, name);

    return address && dladdr(address, where) ? where->dli_fbase : NULL;
}

/* A profiling tool in front of us is none of our business: it may go on to the next MPI_X. So the
 * PMPI_X, which tools call, must be the MPI library's, too. */
__attribute__((constructor)) static void warn_of_order(void)
{
    struct collopt_span ours = collopt_span_of(collopt_front_names);
    const void *called = dlsym(RTLD_DEFAULT, "MPI_Allreduce");
    Dl_info of_call, of_mpi;
    void *mpi;

    if (!called || collopt_spans(ours, called) || !dladdr(called, &of_call))
        return;
    mpi = base_of("PMPI_Get_library_version", &of_mpi);
    if (mpi && base_of("PMPI_Allreduce", &of_mpi) == mpi)
        collopt_front_warn("libcollopt.so is loaded behind %s, whose MPI_Allreduce the program "
                           "calls: link it before the MPI library, or preload it",
                           of_call.dli_fname);
}
