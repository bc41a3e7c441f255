/* GPU runtimes that a thread loads while others ask whether there is one. */
#include <dlfcn.h>
#include <link.h>

static int iterate(int (*look)(struct dl_phdr_info *, size_t, void *), void *data);
static void *open_library(const char *name);
#define dl_iterate_phdr iterate
#define dlopen(name, how) open_library(name)
#include "mpi/device/gpu.c"

static _Atomic int libraries;   /* that are loaded */
static bool functions;          /* what find() finds */
static struct collopt_settings settings;

static void *open_library(const char *name)
{
    return (void *)(uintptr_t)name;
}

/* The loader has a lock. */
static int iterate(int (*look)(struct dl_phdr_info *, size_t, void *), void *data)
{
    int n = atomic_load_explicit(&libraries, memory_order_relaxed);
    struct dl_phdr_info info = { .dlpi_name = n ? "libruntime.so" : "", .dlpi_adds = n };

    return look(&info, sizeof info, data);
}

const struct collopt_settings *collopt_settings(void)
{
    return &settings;
}

static bool find_functions(void *library)
{
    (void)library;
    return functions = true;
}

static bool owns(const void *p, struct collopt_gpu_memory *m)
{
    (void)p, (void)m;
    explore_check(functions, "a function is not known");
    return true;
}

const struct collopt_gpu_runtime collopt_gpu_runtimes[COLLOPT_GPU_RUNTIMES] = {
    { .name = "runtime", .library = "libruntime", .find = find_functions, .owns = owns }
};

static void begin(void)
{
    libraries = 0;
    functions = false;
    memset(usable, 0, sizeof usable);
    any = false;
    seen = 0;
    settings.gpu = COLLOPT_GPU_AUTO;
    collopt_stack.size = 1;     /* that of the thread is known */
}

static bool is_found(void)
{
    struct collopt_gpu_memory m;

    return collopt_gpu_possible() && collopt_gpu_ask(NULL, &m);
}

static void load_and_ask(void)
{
    atomic_store_explicit(&libraries, 1, memory_order_relaxed);
    explore_check(is_found(), "a runtime is not found");
}

static void ask(void)
{
    bool there = atomic_load_explicit(&libraries, memory_order_relaxed);

    explore_check(is_found() || !there, "a runtime that another thread has loaded is not found");
}

int main(void)
{
    static const struct explore_model models[] = {
        { "runtimes", begin, { load_and_ask, ask }, NULL },
        { NULL, NULL, { NULL }, NULL }
    };

    return explore(models);
}
