/* Which MPI library does this process use, and do we have a backend for it?
 *
 * MPI may be linked to the program, or to an extension module that was opened RTLD_LOCAL, where
 * neither RTLD_DEFAULT nor RTLD_NEXT sees it. So the question is put to the object that made the
 * call, then to the program, then to every object in the process. It is PMPI_Get_library_version
 * that is looked up, which no tool defines and which may be called at any time; the object where it
 * lies is the host, and all host functions are taken from there. */

#include "config.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "front/find.h"

typedef int version_function(char *version, int *length);
typedef int abi_function(int *major, int *minor);

/* A host with an ABI of its own is known by its version text and by a symbol that it defines:
 * libraries that translate between MPIs repeat the version text of others. */
static const struct known {
    const char *word, *symbol;
    const char *name;
    int unsupported;
} known[] = {
    { "Open MPI",     "ompi_mpi_comm_world",  "openmpi", 52 },
    { "MPICH",        "MPIR_Err_create_code", "mpich",   44 },
    { "MVAPICH",      "MPIR_Err_create_code", "mpich",   44 },
    { "Intel(R) MPI", "MPIR_Err_create_code", "mpich",   44 },
};

/* The standard ABI of MPI 5, from any MPI library: MPI_Abi_get_version alone decides. The ordinary
 * libraries of the same makers have it too, and answer -1: their handles are those of their own
 * mpi.h. */
enum { STANDARD_UNSUPPORTED = 55 };         /* its MPI_ERR_UNSUPPORTED_OPERATION */

static bool has_standard_abi(void *handle)
{
    abi_function *version = (abi_function *)(uintptr_t)dlsym(handle, "PMPI_Abi_get_version");
    int major = -1, minor = -1;

    return version && version(&major, &minor) == 0 && major >= 1;
}

static void identify(struct collopt_mpi *mpi)
{
    version_function *version =
        (version_function *)(uintptr_t)dlsym(mpi->handle, "PMPI_Get_library_version");
    int length = 0;

    mpi->name = NULL;
    mpi->unsupported = 1;
    if (version(mpi->version, &length))
        mpi->version[0] = '\0';
    if (has_standard_abi(mpi->handle)) {
        mpi->name = "abi";
        mpi->unsupported = STANDARD_UNSUPPORTED;
        return;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(mpi->version, known[i].word) && dlsym(mpi->handle, known[i].symbol)) {
            mpi->name = known[i].name;
            mpi->unsupported = known[i].unsupported;
            return;
        }
}

struct sought {
    uintptr_t address;
    struct collopt_span span;
};

static int note_span(struct dl_phdr_info *object, size_t size, void *data)
{
    struct sought *s = data;
    struct collopt_span span = { UINTPTR_MAX, 0 };

    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t from = object->dlpi_addr + segment->p_vaddr, to = from + segment->p_memsz;

        if (segment->p_type == PT_LOAD) {
            span.from = from < span.from ? from : span.from;
            span.to = to > span.to ? to : span.to;
        }
    }
    if (s->address < span.from || s->address >= span.to)
        return 0;
    s->span = span;
    return 1;
}

struct collopt_span collopt_span_of(const void *address)
{
    struct sought s = { .address = (uintptr_t)address };

    dl_iterate_phdr(note_span, &s);
    return s.span;
}

/* Does FILE (NULL: the program) or what it needs define MPI? */
static bool leads_to_mpi(const char *file, struct collopt_mpi *mpi)
{
    void *handle = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
    void *version = handle ? dlsym(handle, "PMPI_Get_library_version") : NULL;
    Dl_info where;

    if (handle)
        dlclose(handle);
    if (!version || !dladdr(version, &where))
        return false;
    mpi->span = collopt_span_of(version);
    mpi->path = where.dli_fname;
    mpi->handle = dlopen(mpi->path, RTLD_LAZY | RTLD_NOLOAD);
    if (!mpi->handle) {                     /* the program itself has the empty name */
        mpi->path = NULL;
        mpi->handle = dlopen(NULL, RTLD_LAZY);
    }
    return true;
}

struct objects {
    char **path;
    size_t count;
};

static int note_object(struct dl_phdr_info *object, size_t size, void *data)
{
    struct objects *all = data;
    char **longer = realloc(all->path, (all->count + 1) * sizeof *longer);

    (void)size;
    if (!longer)
        return 1;
    all->path = longer;
    if (object->dlpi_name && object->dlpi_name[0]
        && (all->path[all->count] = strdup(object->dlpi_name)))
        all->count++;
    return 0;
}

/* Objects are noted first and opened afterwards: dl_iterate_phdr holds a lock of the loader. */
static bool some_object_leads_to_mpi(struct collopt_mpi *mpi)
{
    struct objects all = { NULL, 0 };
    bool found = false;

    dl_iterate_phdr(note_object, &all);
    for (size_t i = 0; i < all.count; i++) {
        found = found || leads_to_mpi(all.path[i], mpi);
        free(all.path[i]);
    }
    free(all.path);
    return found;
}

bool collopt_find_mpi(const void *caller, struct collopt_mpi *mpi)
{
    Dl_info where;
    bool found = dladdr(caller, &where) && leads_to_mpi(where.dli_fname, mpi);

    if (!found && !leads_to_mpi(NULL, mpi) && !some_object_leads_to_mpi(mpi))
        return false;
    identify(mpi);
    return true;
}
