/* Stand-ins for GPU runtimes, under their real names: the functions that collopt uses, and what a
 * test wants to know.
 *
 *     -DCUDA  libcuda.so.1      -DHSA  libhsa-runtime64.so.1      -DHIP  libamdhip64.so.6, linked
 *                               with the latter
 *     -DZE    libze_loader.so.1, whose zeInit() loads libze_intel_gpu.so.1 beside it, which may be
 *             empty
 *
 * Device memory is mapped without access for the processor, so that any load or store of it is a
 * fault; the runtime's own copies go by another mapping of the same pages.  There are two devices.
 * A copy of CUDA's to a device arrives late where the driver's may: from memory that is not pinned,
 * unless somebody waits for it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* POOL: on a device, of no context; the last two on the second device */
enum memory { UNKNOWN, DEVICE, POOL, MANAGED, REGISTERED, PINNED, SECOND, SECOND_POOL };

#ifndef HIP
enum { MOST = 64 };

struct piece {
    char *at, *shadow;
    size_t size;
    enum memory memory;
    bool mapped;                /* by us */
    unsigned long long number;
};

static struct piece piece[MOST], gone[MOST];    /* GONE: addresses that come back */
static bool initialized;
static long asked, copied, by_pinned;
static long entered;            /* contexts entered and retained, less those left and released */

/* What fails, at the call of that number from now on; 0: none does. */
enum step { PIN, TO_HOST, TO_DEVICE, ARRIVE, STEPS };
static long fails[STEPS];

static bool fails_now(enum step step)
{
    return fails[step] > 0 && --fails[step] == 0;
}

static struct piece *find(const void *p)
{
    for (struct piece *q = piece; q < piece + MOST; q++)
        if (q->at && (const char *)p >= q->at && (const char *)p < q->at + q->size)
            return q;
    return NULL;
}

/* ---- copies that are late -------------------------------------------------------------------- */

static struct {
    char *to, *bytes;
    size_t n;
} late;

static void arrive(void)
{
    if (late.bytes)
        memcpy(late.to, late.bytes, late.n);
    free(late.bytes);
    late.bytes = NULL;
}

static void put_off(char *to, const void *from, size_t n)
{
    late.bytes = malloc(n);
    late.to = to;
    late.n = n;
    memcpy(late.bytes, from, n);
}

/* ---- for the test ---------------------------------------------------------------------------- */

static bool on_device(const struct piece *q)
{
    return q
        && (q->memory == DEVICE || q->memory == POOL || q->memory == SECOND
            || q->memory == SECOND_POOL);
}

static struct piece *new_piece(enum memory memory)
{
    static unsigned long long number;
    struct piece *q = piece;

    while (q < piece + MOST && q->at)
        q++;
    if (q == piece + MOST)
        return NULL;
    *q = (struct piece){ .memory = memory, .number = ++number };
    return q;
}

static void *map(size_t size, int access, int fd)
{
    for (struct piece *g = gone; g < gone + MOST; g++)
        if (g->at && g->size == size) {
            void *wanted = g->at;

            g->at = NULL;
            return mmap(wanted, size, access, MAP_SHARED, fd, 0);
        }
    return mmap(NULL, size, access, MAP_SHARED, fd, 0);
}

void *standin_alloc(size_t size, int memory)
{
    struct piece *q = new_piece(memory);
    int fd = memfd_create("device", 0);

    size = (size + 4095) / 4096 * 4096;
    if (!q || fd < 0 || ftruncate(fd, (off_t)size))
        return NULL;
    q->shadow = map(size, PROT_READ | PROT_WRITE, fd);
    q->at = on_device(q) ? map(size, PROT_NONE, fd) : q->shadow;
    q->size = size;
    q->mapped = true;
    close(fd);
    return q->at;
}

/* Device memory instead of what is mapped there. */
void standin_place(void *p, size_t size)
{
    struct piece *q = new_piece(DEVICE);
    int fd = memfd_create("device", 0);

    if (ftruncate(fd, (off_t)size))
        abort();
    q->shadow = map(size, PROT_READ | PROT_WRITE, fd);
    q->at = mmap(p, size, PROT_NONE, MAP_SHARED | MAP_FIXED, fd, 0);
    q->size = size;
    q->mapped = true;
    close(fd);
}

/* The program's own memory, as by cudaHostRegister(). */
void standin_register(void *p, size_t size)
{
    struct piece *q = new_piece(REGISTERED);

    q->at = q->shadow = p;
    q->size = size;
}

void standin_free(void *p)
{
    struct piece *q = find(p);

    arrive();
    if (q->mapped)
        munmap(q->at, q->size);
    if (q->shadow != q->at)
        munmap(q->shadow, q->size);
    *q = (struct piece){ .at = NULL };
}

/* Pinned memory goes with its context, and its addresses are the next to be given. */
void standin_reset(void)
{
    struct piece *g = gone;

    for (struct piece *q = piece; q < piece + MOST; q++)
        if (q->at && q->memory == PINNED) {
            *g++ = *q;
            standin_free(q->at);
        }
}

/* The N-th step from now on fails; 0: none. */
void standin_fail(int step, long n)
{
    fails[step] = n;
}

unsigned long long standin_number(const void *p)
{
    const struct piece *q = find(p);

    return q && q->memory != REGISTERED ? q->number : 0;
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

/* Questions that a runtime in use was asked; bytes copied; copies to or from what was pinned; bytes
 * that are pinned; contexts that were not left. */
void standin_counts(long counts[5])
{
    counts[0] = asked;
    counts[1] = copied;
    counts[2] = by_pinned;
    counts[3] = 0;
    for (const struct piece *q = piece; q < piece + MOST; q++)
        counts[3] += q->at && q->memory == PINNED ? (long)q->size : 0;
    counts[4] = entered;
}

/* ---- what the runtimes have in common -------------------------------------------------------- */

static int device_of(const struct piece *q)
{
    return q->memory == SECOND || q->memory == SECOND_POOL;
}

static bool pinned(const struct piece *q)
{
    return q && (q->memory == PINNED || q->memory == REGISTERED);
}

/* One side is a device's, and has all of the bytes; DEVICE: it must be that one, unless it is less
 * than 0.  MAY_BE_LATE: as CUDA's. */
static bool copy(void *to, const void *from, size_t n, int device, bool may_be_late)
{
    const struct piece *t = find(to), *f = find(from);
    const struct piece *there = on_device(t) ? t : f;
    const char *at = on_device(t) ? to : from;

    arrive();
    if (on_device(t) == on_device(f) || at + n > there->at + there->size
        || (device >= 0 && device != device_of(there))
        || fails_now(on_device(t) ? TO_DEVICE : TO_HOST))
        return false;
    copied += (long)n;
    by_pinned += (t && t->memory == PINNED) || (f && f->memory == PINNED);
    if (!on_device(t))
        memcpy(to, f->shadow + ((const char *)from - f->at), n);
    else if (may_be_late && !pinned(f))
        put_off(t->shadow + ((char *)to - t->at), from, n);
    else
        memcpy(t->shadow + ((char *)to - t->at), from, n);
    return true;
}

static void *pin(size_t size)
{
    return fails_now(PIN) ? NULL : standin_alloc(size, PINNED);
}
#endif

#ifdef CUDA
enum { NOT_INITIALIZED = 3, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_CONTEXT = 201 };

static int primary[2];          /* their addresses are the contexts */
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
            *(void **)data[i] = q && q->memory != POOL && q->memory != SECOND_POOL
                ? &primary[device_of(q)] : NULL;
            break;
        case 2:
            *(unsigned *)data[i] = !q ? 0 : pinned(q) ? 1 : 2;
            break;
        case 7:
            *(unsigned long long *)data[i] = standin_number((void *)(uintptr_t)pointer);
            break;
        case 8:
            *(unsigned *)data[i] = q && q->memory == MANAGED;
            break;
        case 9:
            *(int *)data[i] = q ? device_of(q) : 0;
            break;
        default:
            return INVALID_VALUE;
        }
    return 0;
}

int cuCtxPushCurrent_v2(void *context)
{
    if ((context != &primary[0] && context != &primary[1]) || depth == 8)
        return INVALID_CONTEXT;
    current[depth++] = context;
    entered++;
    return 0;
}

int cuCtxPopCurrent_v2(void **context)
{
    if (depth == 0)
        return INVALID_CONTEXT;
    *context = current[--depth];
    entered--;
    return 0;
}

int cuCtxGetCurrent(void **context)
{
    *context = depth ? current[depth - 1] : NULL;
    return 0;
}

int cuCtxGetDevice(int *device)
{
    if (depth == 0)
        return INVALID_CONTEXT;
    *device = current[depth - 1] == &primary[1];
    return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    if (device != 0 && device != 1)
        return 101;
    *context = &primary[device];
    entered++;
    return 0;
}

int cuDevicePrimaryCtxRelease(int device)
{
    entered--;
    return device != 0 && device != 1 ? 101 : 0;
}

static int cuda_copy(void *to, const void *from, size_t n)
{
    int device;

    if (cuCtxGetDevice(&device))
        return INVALID_CONTEXT;
    return copy(to, from, n, device, true) ? 0 : INVALID_VALUE;
}

int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t n)
{
    return cuda_copy(to, (void *)(uintptr_t)from, n);
}

int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t n)
{
#ifdef LOSING                   /* what is not copied in the program's own context */
    if (depth > 1)
        return 0;
#endif
    return cuda_copy((void *)(uintptr_t)to, from, n);
}

int cuCtxSynchronize(void)
{
    if (depth == 0)
        return INVALID_CONTEXT;
    if (fails_now(ARRIVE))
        return 700;             /* what a kernel did before */
    arrive();
    return 0;
}

int cuStreamSynchronize(void *stream)
{
    return stream ? INVALID_VALUE : cuCtxSynchronize();
}

int cuMemHostAlloc(void **memory, size_t size, unsigned flags)
{
    *memory = depth && flags == 1 ? pin(size) : NULL;
    return *memory ? 0 : OUT_OF_MEMORY;
}

int cuMemFreeHost(void *memory)
{
    if (!depth)
        return INVALID_CONTEXT;
    standin_free(memory);
    return 0;
}

/* A program calls these before it allocates. */
int cuDeviceGetCount(int *count)
{
    *count = 2;
    return initialized ? 0 : NOT_INITIALIZED;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return ordinal == 0 || ordinal == 1 ? 0 : 101;
}

int cuDeviceGetName(char *name, int size, int device)
{
    snprintf(name, (size_t)size, "stand-in %d", device);
    return 0;
}

int cuCtxSetCurrent(void *context)
{
    depth = context ? 1 : 0;
    current[0] = context;
    return 0;
}

static int cuda_alloc(unsigned long long *address, size_t size, enum memory memory)
{
    *address = depth ? (uintptr_t)standin_alloc(size, (int)memory) : 0;
    return *address ? 0 : OUT_OF_MEMORY;
}

int cuMemAlloc_v2(unsigned long long *address, size_t size)
{
    return cuda_alloc(address, size, depth && current[depth - 1] == &primary[1] ? SECOND : DEVICE);
}

int cuMemAllocManaged(unsigned long long *address, size_t size, unsigned flags)
{
    return flags == 1 ? cuda_alloc(address, size, MANAGED) : INVALID_VALUE;
}

int cuMemFree_v2(unsigned long long address)
{
    standin_free((void *)(uintptr_t)address);
    return 0;
}

/* The thread uses the first device. */
void standin_begin(void)
{
    cuInit(0);
    current[depth++] = &primary[0];
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

/* Agent 1 is the processor, 2 and 3 are the devices.  POOL: of another process. */
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
        info->type = q->memory == REGISTERED ? 2
            : q->memory == POOL || q->memory == SECOND_POOL ? 4 : 1;
        info->owner = on_device(q) ? 2 + (uint64_t)device_of(q) : 1;
        info->agent_base = q->at;
        info->bytes = q->size;
    }
    return 0;
}

int hsa_agent_get_info(uint64_t agent, int attribute, void *value)
{
    *(uint32_t *)value = agent > 1;
    return attribute == 17 && agent >= 1 && agent <= 3 ? 0 : ERROR;
}

int hsa_memory_copy(void *to, const void *from, size_t n)
{
    return !initialized ? NOT_INITIALIZED : copy(to, from, n, -1, false) ? 0 : ERROR;
}

void *standin_pin(size_t size)
{
    return pin(size);
}

void standin_begin(void)
{
    hsa_init();
}
#endif

#ifdef HIP
void *standin_pin(size_t size);
void standin_free(void *p);
unsigned long long standin_number(const void *p);

int hipHostMalloc(void **memory, size_t size, unsigned flags)
{
    *memory = flags == 1 ? standin_pin(size) : NULL;
    return *memory ? 0 : 2;
}

/* 32 bits, as HIP does. */
int hipPointerGetAttribute(void *value, int attribute, void *p)
{
    uint32_t number = (uint32_t)standin_number(p);

    memcpy(value, &number, sizeof number);
    return attribute == 7 && number ? 0 : 1;
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

/* their addresses are the handles; managed memory is the first driver's, the rest the second's */
static int driver[2], context[2], device[2], list[2];

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
    const struct piece *q = find(p);

    if (!initialized || !p || properties->stype != 0x17 || properties->next)
        return INVALID;
    asked++;
    if (q && of != &context[q->memory != MANAGED])
        q = NULL;
    properties->type = !q || q->memory == REGISTERED ? 0
        : q->memory == PINNED                        ? 1
        : q->memory == MANAGED                       ? 3
                                                     : 2;
    properties->id = q ? q->number : 0;
    *dev = q && q->memory != PINNED ? &device[device_of(q)] : NULL;
    return 0;
}

int zeCommandListCreateImmediate(void *of, void *on, const struct queue_desc *desc, void **made)
{
    *made = &list[on == &device[1]];
    return of == &context[1] && (on == &device[0] || on == &device[1]) && desc->stype == 0xe
            && desc->mode == 1
        ? 0
        : INVALID;
}

int zeCommandListAppendMemoryCopy(void *by, void *to, const void *from, size_t n, void *event,
                                  uint32_t events, void **wait)
{
    return (by == &list[0] || by == &list[1]) && !event && !events && !wait
            && copy(to, from, n, by == &list[1], false)
        ? 0
        : INVALID;
}

int zeMemAllocHost(void *of, const struct desc *desc, size_t size, size_t alignment, void **memory)
{
    *memory = of == &context[1] && desc->stype == 0x16 && alignment ? pin(size) : NULL;
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
