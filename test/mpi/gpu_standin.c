/* Stand-ins for GPU runtimes, under their real names: the functions that collopt uses, and what a
 * test wants to know.
 *
 *     -DCUDA  libcuda.so.1      -DHSA  libhsa-runtime64.so.1      -DHIP  libamdhip64.so.6, linked
 *                               with the latter
 *     -DZE    libze_loader.so.1, whose zeInit() loads libze_intel_gpu.so.1 beside it, which may be
 *             empty
 *
 * Device memory is mapped without access for the processor, so that any load or store of it is a
 * fault; the runtime's own copies go by another mapping of the same pages. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* POOL: on a device, of no context */
enum memory { UNKNOWN, DEVICE, POOL, MANAGED, REGISTERED, PINNED };

#ifndef HIP
enum { MOST = 64 };

struct piece {
    char *at, *shadow;
    size_t size;
    enum memory memory;
};

static struct piece piece[MOST];
static bool initialized;
static long asked, copied, by_pinned;

static struct piece *find(const void *p)
{
    for (struct piece *q = piece; q < piece + MOST; q++)
        if (q->at && (const char *)p >= q->at && (const char *)p < q->at + q->size)
            return q;
    return NULL;
}

/* ---- for the test ---------------------------------------------------------------------------- */

void *standin_alloc(size_t size, int memory)
{
    bool hidden = memory == DEVICE || memory == POOL;
    struct piece *q = piece;
    int fd = memfd_create("device", 0);

    size = (size + 4095) / 4096 * 4096;
    while (q < piece + MOST && q->at)
        q++;
    if (fd < 0 || q == piece + MOST || ftruncate(fd, (off_t)size))
        return NULL;
    q->shadow = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    q->at = hidden ? mmap(NULL, size, PROT_NONE, MAP_SHARED, fd, 0) : q->shadow;
    q->size = size;
    q->memory = memory;
    close(fd);
    return q->at;
}

void standin_free(void *p)
{
    struct piece *q = find(p);

    munmap(q->at, q->size);
    if (q->shadow != q->at)
        munmap(q->shadow, q->size);
    *q = (struct piece){ .at = NULL };
}

/* Pinned memory goes with its context. */
void standin_reset(void)
{
    for (struct piece *q = piece; q < piece + MOST; q++)
        if (q->at && q->memory == PINNED)
            standin_free(q->at);
}

void standin_write(void *to, const void *from, size_t n)
{
    struct piece *q = find(to);

    memcpy(q ? q->shadow + ((char *)to - q->at) : to, from, n);
}

void standin_read(void *to, const void *from, size_t n)
{
    const struct piece *q = find(from);

    memcpy(to, q ? q->shadow + ((const char *)from - q->at) : from, n);
}

/* Questions that a runtime in use was asked; bytes copied; copies to or from what was pinned. */
void standin_counts(long counts[3])
{
    counts[0] = asked;
    counts[1] = copied;
    counts[2] = by_pinned;
}

/* ---- what the runtimes have in common -------------------------------------------------------- */

static bool on_device(const struct piece *q)
{
    return q && (q->memory == DEVICE || q->memory == POOL);
}

/* One side is a device's, and has all of the bytes. */
static bool copy(void *to, const void *from, size_t n)
{
    const struct piece *t = find(to), *f = find(from);
    const struct piece *device = on_device(t) ? t : f;
    const char *at = on_device(t) ? to : from;

    if (on_device(t) == on_device(f) || at + n > device->at + device->size)
        return false;
    copied += (long)n;
    by_pinned += (t && t->memory == PINNED) || (f && f->memory == PINNED);
    if (on_device(t))
        memcpy(t->shadow + ((char *)to - t->at), from, n);
    else
        memcpy(to, f->shadow + ((const char *)from - f->at), n);
    return true;
}
#endif

#ifdef CUDA
enum { NOT_INITIALIZED = 3, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_CONTEXT = 201 };

static int primary;             /* its address is the context */
static __thread void *current[8];
static __thread int depth;

int cuInit(unsigned flags)
{
    initialized = true;
    return flags ? INVALID_VALUE : 0;
}

int cuPointerGetAttributes(unsigned n, int *attribute, void **data, unsigned long long pointer)
{
    const struct piece *q = find((void *)(uintptr_t)pointer);

    if (!initialized)
        return NOT_INITIALIZED;
    asked++;
    for (unsigned i = 0; i < n; i++)
        switch (attribute[i]) {
        case 1:
            *(void **)data[i] = q && q->memory != POOL ? &primary : NULL;
            break;
        case 2:
            *(unsigned *)data[i] = !q ? 0 : q->memory == PINNED || q->memory == REGISTERED ? 1 : 2;
            break;
        case 8:
            *(unsigned *)data[i] = q && q->memory == MANAGED;
            break;
        case 9:
            *(int *)data[i] = 0;
            break;
        default:
            return INVALID_VALUE;
        }
    return 0;
}

int cuCtxPushCurrent_v2(void *context)
{
    if (context != &primary || depth == 8)
        return INVALID_CONTEXT;
    current[depth++] = context;
    return 0;
}

int cuCtxPopCurrent_v2(void **context)
{
    if (depth == 0)
        return INVALID_CONTEXT;
    *context = current[--depth];
    return 0;
}

int cuCtxGetCurrent(void **context)
{
    *context = depth ? current[depth - 1] : NULL;
    return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    *context = &primary;
    return device ? 101 : 0;
}

int cuDevicePrimaryCtxRelease(int device)
{
    return device ? 101 : 0;
}

int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t n)
{
    return !depth ? INVALID_CONTEXT : copy(to, (void *)(uintptr_t)from, n) ? 0 : INVALID_VALUE;
}

int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t n)
{
    return !depth ? INVALID_CONTEXT : copy((void *)(uintptr_t)to, from, n) ? 0 : INVALID_VALUE;
}

int cuMemHostAlloc(void **memory, size_t size, unsigned flags)
{
    *memory = depth && flags == 1 ? standin_alloc(size, PINNED) : NULL;
    return *memory ? 0 : OUT_OF_MEMORY;
}

int cuMemFreeHost(void *memory)
{
    if (!depth)
        return INVALID_CONTEXT;
    standin_free(memory);
    return 0;
}

void standin_begin(void)
{
    cuInit(0);
}
#endif

#ifdef HSA
enum { NOT_INITIALIZED = 0x100b, ERROR = 0x1000 };

struct info {
    uint32_t size;
    int type;
    void *agent_base, *host_base;
    size_t bytes;
    void *user;
    uint64_t owner;
    uint32_t flags;
};

int hsa_init(void)
{
    initialized = true;
    return 0;
}

/* Agent 1 is the processor, 2 the device.  POOL: of another process. */
int hsa_amd_pointer_info(const void *p, struct info *info, void *(*alloc)(size_t), uint32_t *agents,
                         uint64_t **agent)
{
    const struct piece *q = find(p);

    if (!initialized)
        return NOT_INITIALIZED;
    if (alloc || agents || agent || info->size != sizeof *info)
        return ERROR;
    asked++;
    *info = (struct info){ .size = sizeof *info };
    if (q) {
        info->type = q->memory == REGISTERED ? 2 : q->memory == POOL ? 4 : 1;
        info->owner = on_device(q) ? 2 : 1;
    }
    return 0;
}

int hsa_agent_get_info(uint64_t agent, int attribute, void *value)
{
    *(uint32_t *)value = agent == 2;
    return attribute == 17 && (agent == 1 || agent == 2) ? 0 : ERROR;
}

int hsa_memory_copy(void *to, const void *from, size_t n)
{
    return !initialized ? NOT_INITIALIZED : copy(to, from, n) ? 0 : ERROR;
}

void standin_begin(void)
{
    hsa_init();
}
#endif

#ifdef HIP
void *standin_alloc(size_t size, int memory);
void standin_free(void *p);

int hipHostMalloc(void **memory, size_t size, unsigned flags)
{
    *memory = flags == 1 ? standin_alloc(size, PINNED) : NULL;
    return *memory ? 0 : 2;
}

int hipHostFree(void *memory)
{
    standin_free(memory);
    return 0;
}
#endif

#ifdef ZE
enum { UNINITIALIZED = 0x78000001, INVALID = 0x78000004 };

struct desc {
    int stype;
    const void *next;
    uint32_t flags;
};

struct queue_desc {
    int stype;
    const void *next;
    uint32_t ordinal, index, flags;
    int mode, priority;
};

struct properties {
    int stype;
    void *next;
    int type;
    uint64_t id, page_size;
};

/* their addresses are the handles; all memory is the second driver's */
static int driver[2], context[2], device, list;

int zeInit(uint32_t flags)
{
    char name[4096];
    Dl_info self;

    dladdr((void *)(uintptr_t)zeInit, &self);
    snprintf(name, sizeof name, "%.*s/libze_intel_gpu.so.1",
             (int)(strrchr(self.dli_fname, '/') - self.dli_fname), self.dli_fname);
    if (flags || !dlopen(name, RTLD_NOW))
        return UNINITIALIZED;
    initialized = true;
    return 0;
}

int zeDriverGet(uint32_t *n, void **drivers)
{
    if (!initialized)
        return UNINITIALIZED;
    for (uint32_t i = 0; i < 2 && i < *n; i++)
        drivers[i] = &driver[i];
    *n = 2;
    return 0;
}

int zeContextCreate(void *of, const struct desc *desc, void **made)
{
    *made = of == &driver[0] ? &context[0] : &context[1];
    return desc->stype == 0xd && !desc->next ? 0 : INVALID;
}

int zeMemGetAllocProperties(void *of, const void *p, struct properties *properties, void **dev)
{
    const struct piece *q = of == &context[1] ? find(p) : NULL;

    if (!initialized || !p || properties->stype != 0x17 || properties->next)
        return INVALID;
    asked++;
    properties->type = !q || q->memory == REGISTERED ? 0
        : q->memory == PINNED                        ? 1
        : q->memory == MANAGED                       ? 3
                                                     : 2;
    *dev = q ? &device : NULL;
    return 0;
}

int zeCommandListCreateImmediate(void *of, void *on, const struct queue_desc *desc, void **made)
{
    *made = &list;
    return of == &context[1] && on == &device && desc->stype == 0xe && desc->mode == 1 ? 0
                                                                                       : INVALID;
}

int zeCommandListAppendMemoryCopy(void *by, void *to, const void *from, size_t n, void *event,
                                  uint32_t events, void **wait)
{
    return by == &list && !event && !events && !wait && copy(to, from, n) ? 0 : INVALID;
}

int zeMemAllocHost(void *of, const struct desc *desc, size_t size, size_t alignment, void **memory)
{
    *memory = of == &context[1] && desc->stype == 0x16 && alignment ? standin_alloc(size, PINNED)
                                                                    : NULL;
    return *memory ? 0 : INVALID;
}

int zeMemFree(void *of, void *memory)
{
    if (of != &context[1])
        return INVALID;
    standin_free(memory);
    return 0;
}

void standin_begin(void)
{
    zeInit(0);
}
#endif
