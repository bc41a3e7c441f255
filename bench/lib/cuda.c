#include "lib/cuda.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char *const cuda_memory_names[] = { "device", "managed", "pinned", "host" };

/* cuda.h of CUDA 7 and later; functions that are versioned, by their versioned names. */
enum { CUDA_SUCCESS = 0, CU_MEM_ATTACH_GLOBAL = 1, CU_MEMHOSTALLOC_PORTABLE = 1 };
static struct {
    int (*init)(unsigned flags);
    int (*devices)(int *count);
    int (*device)(int *device, int ordinal);
    int (*name)(char *name, int size, int device);
    int (*retain)(void **context, int device);
    int (*release)(int device);
    int (*enter)(void *context);
    int (*alloc)(unsigned long long *p, size_t bytes);
    int (*alloc_managed)(unsigned long long *p, size_t bytes, unsigned flags);
    int (*alloc_pinned)(void **p, size_t bytes, unsigned flags);
    int (*free)(unsigned long long p);
    int (*free_pinned)(void *p);
    int (*to_host)(void *to, unsigned long long from, size_t bytes);
    int (*to_device)(unsigned long long to, const void *from, size_t bytes);
    int (*wait)(void);
} driver;
static int device;
static char device_name[128];

static const char *find_functions(void *library)
{
    static const struct {
        const char *name;
        void *function;
    } wanted[] = {
        { "cuInit", &driver.init },
        { "cuDeviceGetCount", &driver.devices },
        { "cuDeviceGet", &driver.device },
        { "cuDeviceGetName", &driver.name },
        { "cuDevicePrimaryCtxRetain", &driver.retain },
        { "cuDevicePrimaryCtxRelease", &driver.release },
        { "cuCtxSetCurrent", &driver.enter },
        { "cuMemAlloc_v2", &driver.alloc },
        { "cuMemAllocManaged", &driver.alloc_managed },
        { "cuMemHostAlloc", &driver.alloc_pinned },
        { "cuMemFree_v2", &driver.free },
        { "cuMemFreeHost", &driver.free_pinned },
        { "cuMemcpyDtoH_v2", &driver.to_host },
        { "cuMemcpyHtoD_v2", &driver.to_device },
        { "cuCtxSynchronize", &driver.wait },
    };

    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!(*(void **)wanted[i].function = dlsym(library, wanted[i].name)))
            return "libcuda.so.1 lacks a function of CUDA 7";
    return NULL;
}

const char *cuda_begin(int wish)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *context;
    const char *lacking = library ? find_functions(library) : "there is no libcuda.so.1";
    int devices = 0;

    if (lacking)
        return lacking;
    if (driver.init(0) != CUDA_SUCCESS || driver.devices(&devices) != CUDA_SUCCESS || devices < 1)
        return "CUDA's driver finds no device";
    if (driver.device(&device, wish % devices) != CUDA_SUCCESS
        || driver.name(device_name, sizeof device_name, device) != CUDA_SUCCESS
        || driver.retain(&context, device) != CUDA_SUCCESS
        || driver.enter(context) != CUDA_SUCCESS)
        return "CUDA's driver gives no context";
    return NULL;
}

void cuda_end(void)
{
    driver.enter(NULL);
    driver.release(device);
}

const char *cuda_device(void)
{
    return device_name;
}

void *cuda_new(enum cuda_memory memory, size_t bytes)
{
    unsigned long long address = 0;
    void *p = NULL;
    int err;

    switch (memory) {
    case CUDA_HOST:
        return malloc(bytes);
    case CUDA_PINNED:
        err = driver.alloc_pinned(&p, bytes, CU_MEMHOSTALLOC_PORTABLE);
        return err ? NULL : p;
    case CUDA_MANAGED:
        err = driver.alloc_managed(&address, bytes, CU_MEM_ATTACH_GLOBAL);
        break;
    default:
        err = driver.alloc(&address, bytes);
    }
    return err ? NULL : (void *)(uintptr_t)address;
}

void cuda_free(enum cuda_memory memory, void *p)
{
    if (memory == CUDA_HOST)
        free(p);
    else if (memory == CUDA_PINNED)
        driver.free_pinned(p);
    else
        driver.free((uintptr_t)p);
}

/* A copy from memory that is not pinned may arrive later. */
bool cuda_put(enum cuda_memory memory, void *p, const void *from, size_t bytes)
{
    if (memory == CUDA_DEVICE)
        return driver.to_device((uintptr_t)p, from, bytes) == CUDA_SUCCESS
            && driver.wait() == CUDA_SUCCESS;
    memcpy(p, from, bytes);
    return true;
}

bool cuda_get(enum cuda_memory memory, void *to, const void *p, size_t bytes)
{
    if (memory == CUDA_DEVICE)
        return driver.to_host(to, (uintptr_t)p, bytes) == CUDA_SUCCESS;
    memcpy(to, p, bytes);
    return true;
}
