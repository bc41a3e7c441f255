/* The first intercepted call of a process: decide once what every name does from now on. */

#include "config.h"

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front/bind.h"
#include "front/backend.h"
#include "front/binding.h"
#include "front/find.h"
#include "front/lacking.h"
#include "front/say.h"
#include "front/tools.h"

/* ---- where we are ---- */

/* The loader remembers the path we were opened by; if that was relative, it means nothing after a
 * chdir. */
static bool mapped_path(char path[PATH_MAX])
{
    FILE *maps = fopen("/proc/self/maps", "r");
    uintptr_t here = (uintptr_t)collopt_front_names;
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

    if (!dladdr(collopt_front_names, &where))
        return false;
    if (where.dli_fname[0] != '/')
        return mapped_path(path);
    snprintf(path, PATH_MAX, "%s", where.dli_fname);
    return true;
}

/* ---- the backend ---- */

/* PATH is that of a front. Beside it the backend lies in collopt/ when installed, next to it in a
 * build tree. */
static bool backend_beside(const char *path, const char *mpi, char backend[PATH_MAX])
{
    static const char *const place[] = { "collopt/", "" };
    char copy[PATH_MAX];
    bool found = false;

    snprintf(copy, sizeof copy, "%s", path);
    for (size_t i = 0; i < sizeof place / sizeof *place && !found; i++) {
        int length = snprintf(backend, PATH_MAX, "%.*s/%slibcollopt-%s.so",
                              (int)(strrchr(copy, '/') - copy), copy, place[i], mpi);

        found = length < PATH_MAX && access(backend, R_OK) == 0;
    }
    return found;
}

/* Looks beside the path by which the front was loaded, then beside its real path: either may
 * consist of symbolic links. */
static bool backend_path(const char *mpi, char backend[PATH_MAX])
{
    char front[PATH_MAX], real[PATH_MAX];

    if (!own_path(front))
        return false;
    if (backend_beside(front, mpi, backend)
        || (realpath(front, real) && backend_beside(real, mpi, backend)))
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
        collopt_front_warn("this MPI library is not one that collopt knows (%.*s)",
                           (int)strcspn(mpi->version, "\n"), mpi->version);
        return NULL;
    }
    if (!backend_path(mpi->name, path)) {
        collopt_front_warn_here("%s is missing", path);
        return NULL;
    }
    if (mpi->path)          /* the backend is not linked with it, and must find its symbols */
        dlopen(mpi->path, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);

    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!handle) {
        collopt_front_warn_here("%s", dlerror());
        return NULL;
    }

    collopt_backend_open_function *open =
        (collopt_backend_open_function *)(uintptr_t)dlsym(handle, "collopt_backend_open");
    const struct collopt_backend_table *backend = open ? open(front) : NULL;

    if (!backend || backend->version != COLLOPT_INTERFACE || backend->size != sizeof *backend) {
        collopt_front_warn_here("%s is of another version than libcollopt.so", path);
        return NULL;
    }
    return backend;
}

/* ---- binding ---- */

/* Not ours. */
static collopt_function function_of(void *handle, const char *name)
{
    static struct collopt_span ours;
    void *address = dlsym(handle, name);

    if (ours.to == 0)
        ours = collopt_span_of(collopt_front_names);
    return address && !collopt_spans(ours, address) ? (collopt_function)(uintptr_t)address : NULL;
}

/* Does the object at PATH, which occupies SPAN, define NAME itself? */
static bool defines(struct collopt_span span, const char *path, const char *name)
{
    void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    void *address = handle ? dlsym(handle, name) : NULL;

    if (handle)
        dlclose(handle);
    return address && collopt_spans(span, address);
}

/* An MPI library may lie in two objects, one with MPI_X and one with PMPI_X (libpmpi). The
 * interface for tools is what both of them have, and no tool. */
static bool is_the_hosts(collopt_function function, const struct collopt_mpi *mpi)
{
    const void *address = (const void *)(uintptr_t)function;
    struct collopt_span span;
    Dl_info where;

    if (collopt_spans(mpi->span, address) || !dladdr(address, &where))
        return true;
    span = collopt_span_of(address);
    return defines(span, where.dli_fname, "MPI_T_init_thread")
        || defines(span, where.dli_fname, "PMPI_T_init_thread");
}

/* The next function of that name after ours, if a tool defines it; NULL if the host does, which is
 * called directly. */
static collopt_function tool(const char *name, const struct collopt_mpi *mpi)
{
    collopt_function next = function_of(RTLD_NEXT, name);

    return next && !is_the_hosts(next, mpi) ? next : NULL;
}

static void look_up(struct collopt_binding *b, bool found, const struct collopt_mpi *mpi)
{
    for (int i = 0; i < COLLOPT_NAME_COUNT; i++) {
        char name[64];

        snprintf(name, sizeof name, "P%s", collopt_front_names[i]);
        b->host[i] = function_of(found ? mpi->handle : RTLD_NEXT, name);
        b->tool_pmpi[i] = found ? tool(name, mpi) : NULL;
        b->tool_mpi[i] = tool(collopt_front_names[i], mpi);
    }
}

static void show(const struct collopt_binding *b, const struct collopt_optional *optional)
{
    bool there[COLLOPT_NAME_COUNT][2];

    for (int i = 0; i < COLLOPT_NAME_COUNT; i++) {
        there[i][0] = b->host[i] || b->tool_mpi[i];
        there[i][1] = b->host[i] || b->tool_pmpi[i];
    }
    collopt_show_as_there(optional, (const bool (*)[2])there);
}

static void bind(struct collopt_binding *b, bool found, const struct collopt_mpi *mpi,
                 struct collopt_front_table *front, const struct collopt_optional *optional)
{
    if (!found)
        collopt_front_warn("no MPI library found in this process");
    look_up(b, found, mpi);
    memcpy(front->host, b->host, sizeof front->host);
    if (found)
        show(b, optional);
    collopt_stand_around_tools(b, front);
    front->library_version = mpi->version;

    b->backend = found ? open_backend(mpi, front) : NULL;
    b->unsupported = b->backend ? b->backend->unsupported : found ? mpi->unsupported : 1;
    for (int i = 0; i < COLLOPT_NAME_COUNT; i++)
        b->work[i] = b->backend && b->backend->entry[i] ? b->backend->entry[i] : b->host[i];
    b->work[COLLOPT_NAME_PCONTROL] = b->backend ? b->backend->entry[COLLOPT_NAME_PCONTROL] : NULL;
    collopt_go_by_tools(b);
}

/* Binds once; a process without an MPI is bound only if it MUST be. Nothing under the lock calls
 * back into us: the host is asked for its version, the backend for its table. */
static const struct collopt_binding *bind_once(const void *caller, bool must,
                                               const struct collopt_optional *optional)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct collopt_binding binding;
    static struct collopt_mpi mpi;
    static struct collopt_front_table front = { .size = sizeof front,
                                                .version = COLLOPT_INTERFACE };

    pthread_mutex_lock(&lock);
    if (!atomic_load_explicit(&collopt_bound, memory_order_relaxed)) {
        bool found = collopt_find_mpi(caller, &mpi);

        if (found || must) {
            bind(&binding, found, &mpi, &front, optional);
            atomic_store_explicit(&collopt_bound, &binding, memory_order_release);
        }
    }
    pthread_mutex_unlock(&lock);
    return collopt_binding();
}

const struct collopt_binding *collopt_front_bind(const void *caller,
                                                 const struct collopt_optional *optional)
{
    return bind_once(caller, true, optional);
}

const struct collopt_binding *collopt_front_bind_if_found(const struct collopt_optional *optional)
{
    return bind_once(collopt_front_names, false, optional);
}
