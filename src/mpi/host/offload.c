/* Asks the loader what is loaded, and the MPI library what it uses (MPI_T); see offload.h. */
#include "config.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/host/offload.h"
#include "model/offload.h"
#include "mpi/host/host.h"

#ifdef COLLOPT_HOST_SMPI        /* a simulated network has no libraries */

int collopt_host_offload(void)
{
    return 0;
}

#else

/* ---- libraries ------------------------------------------------------------------------------- */

static int begins_so(struct dl_phdr_info *info, size_t size, void *data)
{
    const char *file = strrchr(info->dlpi_name, '/'), *wanted = data;

    (void)size;
    file = file ? file + 1 : info->dlpi_name;
    return strncmp(file, wanted, strlen(wanted)) == 0;
}

static bool loaded(const char *library)
{
    return dl_iterate_phdr(begins_so, (void *)(uintptr_t)library) != 0;
}

/* ---- variables ------------------------------------------------------------------------------- */

/* Not linked: an MPI library may lack MPI_T. */
#define MPI_T_FUNCTION(name) ((__typeof__(&PMPI_T_##name))(uintptr_t)dlsym(RTLD_DEFAULT, \
                                                                           "PMPI_T_" #name))

/* Of the type int, as switches and priorities are. */
static bool read_number(int index, char *value, size_t size)
{
    __typeof__(&PMPI_T_cvar_handle_alloc) open = MPI_T_FUNCTION(cvar_handle_alloc);
    __typeof__(&PMPI_T_cvar_handle_free) close = MPI_T_FUNCTION(cvar_handle_free);
    __typeof__(&PMPI_T_cvar_read) read = MPI_T_FUNCTION(cvar_read);
    __typeof__(&PMPI_T_cvar_get_info) look = MPI_T_FUNCTION(cvar_get_info);
    MPI_T_cvar_handle handle;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    int n = 0, verbosity, bind, scope, number = 0;
    bool done;

    if (!open || !close || !read || !look
        || look(index, NULL, &n, &verbosity, &type, NULL, NULL, &n, &bind, &scope)
        || type != MPI_INT || open(index, NULL, &handle, &n))
        return false;
    done = n == 1 && read(handle, &number) == MPI_SUCCESS;
    close(&handle);
    snprintf(value, size, "%d", number);
    return done;
}

static bool read_control(const char *name, char *value, size_t size)
{
    __typeof__(&PMPI_T_cvar_get_index) find = MPI_T_FUNCTION(cvar_get_index);
    int index;

    return find && find(name, &index) == MPI_SUCCESS && read_number(index, value, size);
}

/* Open MPI's control variables may be given in the environment, also to a library that has none. */
static bool read_environment(const char *name, char *value, size_t size)
{
    char mca[64];
    const char *set = getenv(name);

    snprintf(mca, sizeof mca, "OMPI_MCA_%s", name);
    if (!set)
        set = getenv(mca);
    if (set)
        snprintf(value, size, "%s", set);
    return set != NULL;
}

static bool setting(const char *name, char *value, size_t size)
{
    return read_control(name, value, size) || read_environment(name, value, size);
}

int collopt_host_offload(void)
{
    static const struct collopt_offload_asked ask = { loaded, setting };
    __typeof__(&PMPI_T_init_thread) begin = MPI_T_FUNCTION(init_thread);
    __typeof__(&PMPI_T_finalize) end = MPI_T_FUNCTION(finalize);
    int level, found;
    bool begun = false, any = false;

    for (int i = 0; collopt_offloads[i].name && !any; i++)
        any = loaded(collopt_offloads[i].library);
    if (!any)                   /* MPI_T takes its time */
        return 0;
    begun = begin && end && begin(MPI_THREAD_MULTIPLE, &level) == MPI_SUCCESS;
    found = collopt_offload_find(&ask);
    if (begun)
        end();
    return found;
}

#endif
