/* The first intercepted call of a process: decide once what every name does from now on. */

#include "config.h"

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front.h"
#include "../public.h"

_Atomic(const struct collopt_binding *) collopt_bound;

#define SPELLED(function, id, ID, needs, parameters, arguments) #function,
static const char *const names[COLLOPT_NAME_COUNT] = { COLLOPT_NAMES(SPELLED) "MPI_Pcontrol" };

/* One rank speaks for the job, by the launcher's word; a process without a launcher speaks for itself. */
static bool speaks(void)
{
    static const char *const rank[] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID" };

    for (size_t i = 0; i < sizeof rank / sizeof *rank; i++) {
        const char *is = getenv(rank[i]);

        if (is)
            return strcmp(is, "0") == 0;
    }
    return true;
}

/* Switched off by COLLOPT, the backend is loaded all the same, because ranks agree on that too; but where it cannot be,
 * nobody misses it. */
static bool switched_off(void)
{
    static const char *const off[] = { "off", "0", "no", "false" };
    const char *setting = getenv("COLLOPT");

    for (size_t i = 0; setting && i < sizeof off / sizeof *off; i++)
        if (strcmp(setting, off[i]) == 0)
            return true;
    return false;
}

static void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void warn(const char *format, ...)
{
    char text[2 * PATH_MAX];
    va_list list;

    if (!speaks() || switched_off())
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    fprintf(stderr, "collopt: %s; the MPI library's own collectives are used\n", text);
}

static const void *base_of(const void *address)
{
    Dl_info where;

    return dladdr(address, &where) ? where.dli_fbase : NULL;
}

bool collopt_is_ours(const void *address)
{
    return base_of(address) == base_of(names);
}

/* ---- where we are ---- */

/* The loader remembers the path we were opened by; if that was relative, it means nothing after a chdir. */
static bool mapped_path(char path[PATH_MAX])
{
    FILE *maps = fopen("/proc/self/maps", "r");
    uintptr_t here = (uintptr_t)names;
    char line[PATH_MAX + 128];
    bool found = false;

    while (maps && !found && fgets(line, sizeof line, maps)) {
        unsigned long long from, to;
        char *file = strchr(line, '/');

        found = file && sscanf(line, "%llx-%llx", &from, &to) == 2 && from <= here && here < to;
        if (found) {
            file[strcspn(file, "\n")] = '\0';
            snprintf(path, PATH_MAX, "%s", file);
        }
    }
    if (maps)
        fclose(maps);
    return found;
}

static bool own_path(char path[PATH_MAX])
{
    Dl_info where;

    if (!dladdr(names, &where))
        return false;
    if (where.dli_fname[0] != '/')
        return mapped_path(path);
    snprintf(path, PATH_MAX, "%s", where.dli_fname);
    return true;
}

/* ---- the backend ---- */

/* PATH is that of a front. Beside it the backend lies in collopt/ when installed, next to it in a build tree. */
static bool backend_beside(const char *path, const char *mpi, char backend[PATH_MAX])
{
    static const char *const place[] = { "collopt/", "" };
    char copy[PATH_MAX];
    bool found = false;

    snprintf(copy, sizeof copy, "%s", path);
    for (size_t i = 0; i < sizeof place / sizeof *place && !found; i++) {
        int length = snprintf(backend, PATH_MAX, "%.*s/%slibcollopt-%s.so", (int)(strrchr(copy, '/') - copy), copy,
                              place[i], mpi);

        found = length < PATH_MAX && access(backend, R_OK) == 0;
    }
    return found;
}

/* As we were named first, then as we really are called: either may be a farm of symbolic links. */
static bool backend_path(const char *mpi, char backend[PATH_MAX])
{
    char front[PATH_MAX], real[PATH_MAX];

    if (!own_path(front))
        return false;
    if (backend_beside(front, mpi, backend) || (realpath(front, real) && backend_beside(real, mpi, backend)))
        return true;
    snprintf(real, sizeof real, "%s", front);
    snprintf(backend, PATH_MAX, "%s/collopt/libcollopt-%s.so", dirname(real), mpi);
    return false;
}

static const struct collopt_backend_table *open_backend(const struct collopt_mpi *mpi,
                                                        const struct collopt_front_table *front)
{
    char path[PATH_MAX] = "";

    if (!mpi->name) {
        warn("this MPI library is not one that collopt knows (%.*s)", (int)strcspn(mpi->version, "\n"), mpi->version);
        return NULL;
    }
    if (!backend_path(mpi->name, path)) {
        warn("%s is missing", path);
        return NULL;
    }
    if (mpi->path)          /* the backend is not linked with it, and must find its symbols */
        dlopen(mpi->path, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);

    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!handle) {
        warn("%s", dlerror());
        return NULL;
    }

    collopt_backend_open_function *open =
        (collopt_backend_open_function *)(uintptr_t)dlsym(handle, "collopt_backend_open");
    const struct collopt_backend_table *backend = open ? open(front) : NULL;

    if (!backend || backend->version != COLLOPT_INTERFACE || backend->size != sizeof *backend) {
        warn("%s is of another version than libcollopt.so", path);
        return NULL;
    }
    return backend;
}

/* ---- binding ---- */

static collopt_function function_of(void *handle, const char *name)
{
    void *address = dlsym(handle, name);

    return address && !collopt_is_ours(address) ? (collopt_function)(uintptr_t)address : NULL;
}

/* The MPI_X after ours, if it is a tool's: one in the host itself needs no detour. */
static collopt_function tool(const char *name, const struct collopt_mpi *mpi)
{
    collopt_function next = function_of(RTLD_NEXT, name);

    return next && base_of((const void *)(uintptr_t)next) != mpi->base ? next : NULL;
}

static void bind(struct collopt_binding *b, bool found, const struct collopt_mpi *mpi,
                 struct collopt_front_table *front)
{
    if (!found)
        warn("no MPI library found in this process");
    for (int i = 0; i < COLLOPT_NAME_COUNT; i++) {
        char name[64];

        snprintf(name, sizeof name, "P%s", names[i]);
        front->host[i] = function_of(found ? mpi->handle : RTLD_NEXT, name);
    }
    front->library_version = mpi->version;
    front->library_path = mpi->path;

    b->backend = found ? open_backend(mpi, front) : NULL;
    b->unsupported = b->backend ? b->backend->unsupported : found ? mpi->unsupported : 1;
    for (int i = 0; i < COLLOPT_NAME_COUNT; i++) {
        collopt_function next = tool(names[i], mpi);

        b->pmpi[i] = b->backend && b->backend->entry[i] ? b->backend->entry[i] : front->host[i];
        b->mpi[i] = next ? next : b->pmpi[i];
    }
}

/* Binds once; a process without an MPI is bound only if it MUST be. Nothing under the lock calls back into us: the host
 * is asked for its version, the backend for its table. */
static const struct collopt_binding *bind_once(const void *caller, bool must)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct collopt_binding binding;
    static struct collopt_mpi mpi;
    static struct collopt_front_table front = { .size = sizeof front, .version = COLLOPT_INTERFACE };

    pthread_mutex_lock(&lock);
    if (!atomic_load_explicit(&collopt_bound, memory_order_relaxed)) {
        bool found = collopt_find_mpi(caller, &mpi);

        if (found || must) {
            bind(&binding, found, &mpi, &front);
            atomic_store_explicit(&collopt_bound, &binding, memory_order_release);
        }
    }
    pthread_mutex_unlock(&lock);
    return atomic_load_explicit(&collopt_bound, memory_order_acquire);
}

const struct collopt_binding *collopt_bind(const void *caller)
{
    return bind_once(caller, true);
}

/* The functions of include/collopt.h may be called where there is no MPI, or not yet. */
const struct collopt_public *collopt_public_table(void)
{
    const struct collopt_binding *b = bind_once(names, false);

    return b && b->backend ? b->backend->public_table : NULL;
}
