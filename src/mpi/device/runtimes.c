/* The runtimes that can tell device memory: CUDA's driver, ROCm's HSA, Level Zero.
 *
 * collopt is built without their headers and linked with none of them.  The prototypes and numbers
 * here are of their public C interfaces, which do not change: cuda.h of CUDA 7 and later (the
 * functions that are versioned, by their versioned names), hsa.h and hsa_ext_amd.h of ROCm 3 and
 * later, hip_runtime_api.h, ze_api.h of Level Zero 1.0 and later.
 *
 * Memory is device memory here if the processor may not touch it, or had better not.  Managed
 * memory (CUDA), shared allocations (Level Zero), and what was allocated in or registered as host
 * memory is host memory. */
#include "config.h"

#include "mpi/device/runtimes.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

/* ISO C knows no conversion between pointers to data and to functions. */
static bool find_function(void *library, const char *name, void *function)
{
    *(void **)function = dlsym(library, name);
    return *(void **)function != NULL;
}

/* ---- CUDA: cuda.h ---------------------------------------------------------------------------- */

enum {
    CUDA_SUCCESS = 0,
    CU_POINTER_ATTRIBUTE_CONTEXT = 1,
    CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
    CU_POINTER_ATTRIBUTE_BUFFER_ID = 7,
    CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
    CU_MEMORYTYPE_HOST = 1,
    CU_MEMORYTYPE_DEVICE = 2,
    CU_MEMHOSTALLOC_PORTABLE = 1
};

static struct {
    int (*ask)(unsigned n, int *attribute, void **data, unsigned long long pointer);
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*current)(void **context);
    int (*retain)(void **context, int device);
    int (*release)(int device);
    int (*to_host)(void *to, unsigned long long from, size_t n);
    int (*to_device)(unsigned long long to, const void *from, size_t n);
    int (*alloc)(void **memory, size_t size, unsigned flags);
    int (*free_memory)(void *memory);
    /* NULL in libraries that only imitate the driver */
    int (*device)(int *device);
    int (*wait)(void *stream);
    int (*wait_for_all)(void);
} cuda;

static bool cuda_find(void *library)
{
    find_function(library, "cuCtxGetDevice", &cuda.device);
    find_function(library, "cuStreamSynchronize", &cuda.wait);
    find_function(library, "cuCtxSynchronize", &cuda.wait_for_all);
    return find_function(library, "cuPointerGetAttributes", &cuda.ask)
        && find_function(library, "cuCtxPushCurrent_v2", &cuda.push)
        && find_function(library, "cuCtxPopCurrent_v2", &cuda.pop)
        && find_function(library, "cuCtxGetCurrent", &cuda.current)
        && find_function(library, "cuDevicePrimaryCtxRetain", &cuda.retain)
        && find_function(library, "cuDevicePrimaryCtxRelease", &cuda.release)
        && find_function(library, "cuMemcpyDtoH_v2", &cuda.to_host)
        && find_function(library, "cuMemcpyHtoD_v2", &cuda.to_device)
        && find_function(library, "cuMemHostAlloc", &cuda.alloc)
        && find_function(library, "cuMemFreeHost", &cuda.free_memory);
}

/* For an address unknown to CUDA, cuPointerGetAttributes sets everything to 0; before cuInit()
 * it returns an error.  The processor's own memory has a context, too, once it is registered
 * (cudaHostRegister()). */
static int cuda_type(const void *p, void **context)
{
    int attribute[] = { CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                        CU_POINTER_ATTRIBUTE_CONTEXT };
    unsigned type = 0, managed = 0;
    void *data[] = { &type, &managed, context };

    /* a bool, or an int */
    if (cuda.ask(3, attribute, data, (uintptr_t)p) != CUDA_SUCCESS || (managed & 0xff))
        return 0;
    return (int)type;
}

/* An attribute that drivers before CUDA 9.2 do not know; these have no memory without context. */
static int cuda_ordinal(const void *p)
{
    int attribute = CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, device = 0;
    void *data = &device;

    return cuda.ask(1, &attribute, &data, (uintptr_t)p) == CUDA_SUCCESS ? device : 0;
}

static bool cuda_owns(const void *p, struct collopt_gpu_memory *m)
{
    if (cuda_type(p, &m->owner) != CU_MEMORYTYPE_DEVICE)
        return false;
    m->device = m->owner ? 0 : cuda_ordinal(p);
    return true;
}

/* cuPointerGetAttribute() in the driver's manual: "Subsequent allocations do not reuse IDs from
 * previous freed allocations." */
static uint64_t cuda_number(const void *p)
{
    int attribute = CU_POINTER_ATTRIBUTE_BUFFER_ID;
    unsigned long long number = 0;
    void *data = &number;

    return cuda.ask(1, &attribute, &data, (uintptr_t)p) == CUDA_SUCCESS ? number : 0;
}

/* The thread's current context, if it is of DEVICE. */
static bool cuda_current(int device, void **context)
{
    int now = device;

    return cuda.current(context) == CUDA_SUCCESS && *context
        && (!cuda.device || (cuda.device(&now) == CUDA_SUCCESS && now == device));
}

/* Memory of a pool, or mapped by the program itself, belongs to no context: then the thread's
 * context is used, or the device's primary one. RETAINED: the primary one is to be released. */
static bool cuda_enter(const struct collopt_gpu_memory *m, bool *retained)
{
    void *context = m->owner;

    *retained = false;
    if (!context && !cuda_current(m->device, &context)) {
        if (cuda.retain(&context, m->device) != CUDA_SUCCESS)
            return false;
        *retained = true;
    }
    if (cuda.push(context) == CUDA_SUCCESS)
        return true;
    if (*retained)
        cuda.release(m->device);
    return false;
}

static void cuda_leave(const struct collopt_gpu_memory *m, bool retained)
{
    void *context;

    cuda.pop(&context);
    if (retained)
        cuda.release(m->device);
}

static int cuda_wait(void)
{
    return cuda.wait ? cuda.wait(NULL) : cuda.wait_for_all ? cuda.wait_for_all() : CUDA_SUCCESS;
}

/* "API synchronization behavior" in the driver's manual: a copy to the device from memory that is
 * not pinned returns when the source may be written, and "the DMA to final destination may not have
 * completed".  Streams that do not wait for the default stream, and network adapters, would read
 * old data. */
static int cuda_put(void *to, const void *from, size_t n)
{
    int err = cuda.to_device((uintptr_t)to, from, n);

    return err ? err : cuda_wait();
}

static bool cuda_copy(const struct collopt_gpu_memory *m, void *to, const void *from, size_t n,
                      bool to_device)
{
    bool retained;
    int err;

    if (!cuda_enter(m, &retained))
        return false;
    err = to_device ? cuda_put(to, from, n) : cuda.to_host(to, (uintptr_t)from, n);
    cuda_leave(m, retained);
    return err == CUDA_SUCCESS;
}

static void *cuda_pin(const struct collopt_gpu_memory *m, size_t size)
{
    void *memory = NULL;
    bool retained;

    if (!cuda_enter(m, &retained))
        return NULL;
    if (cuda.alloc(&memory, size, CU_MEMHOSTALLOC_PORTABLE) != CUDA_SUCCESS)
        memory = NULL;
    if (memory && !cuda_number(memory)) {
        cuda.free_memory(memory);
        memory = NULL;
    }
    cuda_leave(m, retained);
    return memory;
}

static void cuda_unpin(void *p)
{
    struct collopt_gpu_memory m = { .owner = NULL };
    bool retained;

    cuda_type(p, &m.owner);
    if (!cuda_enter(&m, &retained))
        return;
    cuda.free_memory(p);
    cuda_leave(&m, retained);
}

/* ---- ROCm: hsa.h, hsa_ext_amd.h, hip_runtime_api.h ------------------------------------------- */

/* HSA is below HIP and below OpenMP's offloading, so it knows what either has allocated, managed
 * memory as the processor's; and unlike HIP's functions its own initialize nothing. */

enum {
    HSA_STATUS_SUCCESS = 0,
    HSA_AGENT_INFO_DEVICE = 17,
    HSA_DEVICE_TYPE_GPU = 1,
    HSA_EXT_POINTER_TYPE_UNKNOWN = 0,
    HSA_EXT_POINTER_TYPE_HSA = 1,
    HSA_EXT_POINTER_TYPE_LOCKED = 2,
    HIP_SUCCESS = 0,
    HIP_POINTER_ATTRIBUTE_BUFFER_ID = 7,
    HIP_HOST_MALLOC_PORTABLE = 1
};

struct hsa_pointer_info {
    uint32_t size;              /* of this, for versions to come */
    int type;
    void *agent_base, *host_base;
    size_t bytes;
    void *user_data;
    uint64_t owner;             /* struct hsa_agent_s { uint64_t handle; } */
    uint32_t flags;
};

static struct {
    int (*ask)(const void *p, struct hsa_pointer_info *info, void *(*alloc)(size_t),
               uint32_t *agents, uint64_t **agent);
    int (*agent_info)(uint64_t agent, int attribute, void *value);
    int (*copy)(void *to, const void *from, size_t n);
    int (*_Atomic hip_alloc)(void **memory, size_t size, unsigned flags);
    int (*_Atomic hip_free)(void *memory);
    int (*_Atomic hip_ask)(void *value, int attribute, const void *p);
} hsa;

static bool hsa_find(void *library)
{
    return find_function(library, "hsa_amd_pointer_info", &hsa.ask)
        && find_function(library, "hsa_agent_get_info", &hsa.agent_info)
        && find_function(library, "hsa_memory_copy", &hsa.copy);
}

static void hsa_help(void *library)
{
    int (*alloc)(void **, size_t, unsigned);
    int (*free_memory)(void *);
    int (*ask)(void *, int, const void *);

    if (!find_function(library, "hipHostFree", &free_memory)
        || !find_function(library, "hipPointerGetAttribute", &ask)
        || !find_function(library, "hipHostMalloc", &alloc))
        return;
    hsa.hip_free = free_memory;
    hsa.hip_ask = ask;
    hsa.hip_alloc = alloc;
}

/* Before hsa_init() it returns an error. */
static int hsa_type(const void *p, bool *gpu, struct collopt_gpu_memory *m)
{
    struct hsa_pointer_info info = { .size = sizeof info };
    uint32_t device = 0;

    if (hsa.ask(p, &info, NULL, NULL, NULL) != HSA_STATUS_SUCCESS)
        return HSA_EXT_POINTER_TYPE_UNKNOWN;
    *gpu = info.owner == 0
        || hsa.agent_info(info.owner, HSA_AGENT_INFO_DEVICE, &device) != HSA_STATUS_SUCCESS
        || device == HSA_DEVICE_TYPE_GPU;
    m->owner = (void *)(uintptr_t)info.owner;
    m->base = info.agent_base;
    return info.type;
}

/* Further types (graphics, of other processes, mapped by the program) are device memory, or not
 * memory at all, if they are not a processor's. */
static bool hsa_owns(const void *p, struct collopt_gpu_memory *m)
{
    bool gpu = false;
    int type = hsa_type(p, &gpu, m);

    return type != HSA_EXT_POINTER_TYPE_UNKNOWN && type != HSA_EXT_POINTER_TYPE_LOCKED && gpu;
}

static bool hsa_copy(const struct collopt_gpu_memory *m, void *to, const void *from, size_t n,
                     bool to_device)
{
    (void)m, (void)to_device;
    return hsa.copy(to, from, n) == HSA_STATUS_SUCCESS;
}

/* HIP's number, 32 bits of a counter, since HSA numbers no allocations. */
static uint64_t hsa_number(const void *p)
{
    uint64_t number = 0;

    return hsa.hip_ask(&number, HIP_POINTER_ATTRIBUTE_BUFFER_ID, p) == HIP_SUCCESS ? number : 0;
}

static void hsa_unpin(void *p)
{
    hsa.hip_free(p);
}

static void *hsa_pin(const struct collopt_gpu_memory *m, size_t size)
{
    void *memory = NULL;

    (void)m;
    if (!hsa.hip_alloc || hsa.hip_alloc(&memory, size, HIP_HOST_MALLOC_PORTABLE) != HIP_SUCCESS)
        return NULL;
    if (hsa_number(memory))
        return memory;
    hsa_unpin(memory);
    return NULL;
}

/* ---- Level Zero: ze_api.h -------------------------------------------------------------------- */

enum {
    ZE_RESULT_SUCCESS = 0,
    ZE_STRUCTURE_TYPE_CONTEXT_DESC = 0xd,
    ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC = 0xe,
    ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC = 0x16,
    ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES = 0x17,
    ZE_MEMORY_TYPE_UNKNOWN = 0,
    ZE_MEMORY_TYPE_HOST = 1,
    ZE_MEMORY_TYPE_DEVICE = 2,
    ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS = 1
};

struct ze_desc {                /* ze_context_desc_t, ze_host_mem_alloc_desc_t */
    int stype;
    const void *next;
    uint32_t flags;
};

struct ze_queue_desc {
    int stype;
    const void *next;
    uint32_t ordinal, index, flags;
    int mode, priority;
};

struct ze_properties {          /* ze_memory_allocation_properties_t */
    int stype;
    void *next;
    int type;
    uint64_t id, page_size;
};

static struct {
    int (*init)(uint32_t flags);
    int (*drivers)(uint32_t *n, void **driver);
    int (*new_context)(void *driver, const struct ze_desc *desc, void **context);
    int (*ask)(void *context, const void *p, struct ze_properties *properties, void **device);
    int (*new_list)(void *context, void *device, const struct ze_queue_desc *desc, void **list);
    int (*append)(void *list, void *to, const void *from, size_t n, void *event, uint32_t events,
                  void **wait_for);
    int (*alloc)(void *context, const struct ze_desc *desc, size_t size, size_t alignment,
                 void **memory);
    int (*free_memory)(void *context, void *memory);
} ze;

enum { ZE_MOST = 16 };

static void *ze_context[ZE_MOST];       /* ours, one of each driver */
static int ze_contexts;
static struct ze_list {         /* copies through it are complete when they were appended */
    void *device, *list;
    int context;
} ze_list[ZE_MOST];
/* of the lists: no two threads may append to one */
static pthread_mutex_t ze_lock = PTHREAD_MUTEX_INITIALIZER;

static bool ze_functions(void *library)
{
    return find_function(library, "zeInit", &ze.init)
        && find_function(library, "zeDriverGet", &ze.drivers)
        && find_function(library, "zeContextCreate", &ze.new_context)
        && find_function(library, "zeMemGetAllocProperties", &ze.ask)
        && find_function(library, "zeCommandListCreateImmediate", &ze.new_list)
        && find_function(library, "zeCommandListAppendMemoryCopy", &ze.append)
        && find_function(library, "zeMemAllocHost", &ze.alloc)
        && find_function(library, "zeMemFree", &ze.free_memory);
}

/* A question needs a context, and any context of the driver will do (MPICH and UCX ask by their
 * own, too), so we make one.  A driver is mapped only when the program, or a library, has
 * initialized Level Zero, so zeInit() opens nothing that was not open before. */
static bool ze_find(void *library)
{
    static const struct ze_desc desc = { .stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC };
    void *driver[ZE_MOST];
    uint32_t n = ZE_MOST;

    if (!ze_functions(library))
        return false;
    if (ze.init(0) != ZE_RESULT_SUCCESS || ze.drivers(&n, driver) != ZE_RESULT_SUCCESS)
        return true;            /* there is no device */
    for (uint32_t i = 0; i < n && i < ZE_MOST; i++)
        if (ze.new_context(driver[i], &desc, &ze_context[ze_contexts]) == ZE_RESULT_SUCCESS)
            ze_contexts++;
    return ze_contexts > 0 || n == 0;
}

static int ze_type(const void *p, struct collopt_gpu_memory *m, uint64_t *id)
{
    struct ze_properties properties = { .stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES };

    for (int i = 0; p && i < ze_contexts; i++) {
        m->device = i;
        if (ze.ask(ze_context[i], p, &properties, &m->owner) == ZE_RESULT_SUCCESS
            && properties.type != ZE_MEMORY_TYPE_UNKNOWN) {
            *id = properties.id;
            return properties.type;
        }
    }
    return ZE_MEMORY_TYPE_UNKNOWN;
}

static bool ze_owns(const void *p, struct collopt_gpu_memory *m)
{
    uint64_t id;

    return ze_type(p, m, &id) == ZE_MEMORY_TYPE_DEVICE;
}

/* With the lock held; NULL: none can be made. */
static void *ze_list_of(const struct collopt_gpu_memory *m)
{
    static const struct ze_queue_desc desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                               .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS };

    for (struct ze_list *l = ze_list; l < ze_list + ZE_MOST; l++) {
        if (l->list && l->device == m->owner && l->context == m->device)
            return l->list;
        if (l->list)
            continue;
        if (ze.new_list(ze_context[m->device], m->owner, &desc, &l->list) != ZE_RESULT_SUCCESS)
            l->list = NULL;
        l->device = m->owner;
        l->context = m->device;
        return l->list;
    }
    return NULL;
}

static bool ze_copy(const struct collopt_gpu_memory *m, void *to, const void *from, size_t n,
                    bool to_device)
{
    bool copied;
    void *list;

    (void)to_device;
    pthread_mutex_lock(&ze_lock);
    list = ze_list_of(m);
    copied = list && ze.append(list, to, from, n, NULL, 0, NULL) == ZE_RESULT_SUCCESS;
    pthread_mutex_unlock(&ze_lock);
    return copied;
}

static void *ze_pin(const struct collopt_gpu_memory *m, size_t size)
{
    static const struct ze_desc desc = { .stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC };
    void *memory = NULL;

    return ze.alloc(ze_context[m->device], &desc, size, 64, &memory) == ZE_RESULT_SUCCESS ? memory
                                                                                          : NULL;
}

/* An identifier may be 0; early drivers give an address, which serves as nobody else frees what is
 * allocated in our contexts. */
static uint64_t ze_number(const void *p)
{
    struct collopt_gpu_memory m;
    uint64_t id;

    return ze_type(p, &m, &id) == ZE_MEMORY_TYPE_HOST ? id + 1 : 0;
}

static void ze_unpin(void *p)
{
    struct collopt_gpu_memory m;
    uint64_t id;

    if (ze_type(p, &m, &id) == ZE_MEMORY_TYPE_HOST)
        ze.free_memory(ze_context[m.device], p);
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* libcuda is mapped only where programs use it, and its device files are made when it is
 * initialized, so they tell nothing. /dev/dxg is Linux under Windows. */
static const char *const hsa_nodes[] = { "/dev/kfd", "/dev/dxg", NULL };
static const char *const ze_nodes[] = { "/dev/dri", "/dev/dxg", NULL };

const struct collopt_gpu_runtime collopt_gpu_runtimes[COLLOPT_GPU_RUNTIMES] = {
    { .name = "CUDA",
      .library = "libcuda.so",
      .find = cuda_find,
      .owns = cuda_owns,
      .copy = cuda_copy,
      .pin = cuda_pin,
      .number = cuda_number,
      .unpin = cuda_unpin },
    { .name = "ROCm",
      .library = "libhsa-runtime64.so",
      .helper = "libamdhip64.so",
      .nodes = hsa_nodes,
      .find = hsa_find,
      .help = hsa_help,
      .owns = hsa_owns,
      .copy = hsa_copy,
      .pin = hsa_pin,
      .number = hsa_number,
      .unpin = hsa_unpin },
    { .name = "Level Zero",
      .library = "libze_loader.so",
      .needs = "libze_",
      .but = { "libze_tracing", "libze_validation" },
      .nodes = ze_nodes,
      .find = ze_find,
      .owns = ze_owns,
      .copy = ze_copy,
      .pin = ze_pin,
      .number = ze_number,
      .unpin = ze_unpin },
};
