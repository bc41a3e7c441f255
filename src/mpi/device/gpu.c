/* Decides when a runtime is asked about a buffer, and which one.
 *
 * Only a GPU runtime can say whether an address is device memory.  Packages of MPI libraries load
 * such runtimes, through UCX or hwloc, on machines that have no GPU, so that one is mapped says
 * nothing.  The way to the question:
 *
 * an address on the stack, in the program's data or on the heap of brk(): host memory, two
 * comparisons each (2 ns); else dlpi_adds and dlpi_subs of dl_iterate_phdr() tell whether libraries
 * have come or gone since the last look, 12 ns; if so, libraries are looked at by name, and of each
 * runtime whether its device files are there; a runtime with a device is asked, for each buffer of
 * each call.  One that is not initialized says so at once.
 *
 * No answer is remembered: an allocation may be freed and its address come back as the other
 * kind of memory, and no runtime tells us.  A stack that is in use, the program's data and memory
 * below the break cannot.  That a runtime was not initialized is not remembered either: its next
 * call may initialize it. */
#include "config.h"

#include "mpi/device/gpu.h"
#include "base/log.h"
#include "base/numbers.h"
#include "settings/settings.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

struct collopt_area collopt_program;
uintptr_t collopt_heap = UINTPTR_MAX;
#ifdef COLLOPT_ONE_THREAD
struct collopt_area collopt_stack;
#else
_Thread_local struct collopt_area collopt_stack __attribute__((tls_model("initial-exec")));
#endif

/* never reset: the library stays mapped */
static atomic_bool usable[COLLOPT_GPU_RUNTIMES];
static atomic_bool any;                 /* is one of them true? */
static _Atomic(uint64_t) seen;          /* which libraries there were at the last look */
/* of looking, and of the pieces kept */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uintptr_t first_stack;           /* the lowest address of the first thread's stack */

/* ---- what is host memory in any case --------------------------------------------------------- */

/* The first object is the executable, which is never unmapped. */
static int measure_program(struct dl_phdr_info *info, size_t size, void *data)
{
    uintptr_t from = UINTPTR_MAX, to = 0;

    (void)size, (void)data;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

        if (segment->p_type != PT_LOAD)
            continue;
        if (info->dlpi_addr + segment->p_vaddr < from)
            from = info->dlpi_addr + segment->p_vaddr;
        if (info->dlpi_addr + segment->p_vaddr + segment->p_memsz > to)
            to = info->dlpi_addr + segment->p_vaddr + segment->p_memsz;
    }
    if (from < to)
        collopt_program = (struct collopt_area){ from, to - from };
    return 1;
}

/* From proc(5): where the first thread's stack began, and where the heap begins.  The second field
 * is a name in parentheses, which may contain anything. */
static void read_addresses(void)
{
    enum { NAME = 2, START_STACK = 28, START_BRK = 47 };
    char text[2048], *at;
    FILE *f = fopen("/proc/self/stat", "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;

    if (f)
        fclose(f);
    text[n] = '\0';
    at = strrchr(text, ')');
    for (int field = NAME + 1; at && (at = strchr(at + 1, ' ')) && field <= START_BRK; field++) {
        uintptr_t value = (uintptr_t)strtoull(at, NULL, 10);

        if (field == START_STACK)
            first_stack = value;
        if (field == START_BRK && value > 0)
            collopt_heap = value;
    }
}

bool collopt_gpu_allows(void)
{
    return collopt_settings()->gpu != COLLOPT_GPU_NATIVE;
}

void collopt_gpu_begin(void)
{
    dl_iterate_phdr(measure_program, NULL);
    read_addresses();
}

#ifdef COLLOPT_ONE_THREAD
static void find_stack(void)
{
}
#else
/* The kernel keeps other mappings away from 128 MiB below the top of the first thread's stack, but
 * no more. */
static struct collopt_area stack_of_first_thread(void)
{
    const size_t most = (size_t)64 << 20;
    struct rlimit limit;

    if (first_stack <= most || getrlimit(RLIMIT_STACK, &limit))
        return (struct collopt_area){ 0, 0 };
    if (limit.rlim_cur > most)
        limit.rlim_cur = most;
    return (struct collopt_area){ first_stack - limit.rlim_cur, limit.rlim_cur };
}

static struct collopt_area stack_of_thread(void)
{
    struct collopt_area stack = { 0, 0 };
    pthread_attr_t attributes;
    void *low;

    if (pthread_getattr_np(pthread_self(), &attributes))
        return stack;
    if (pthread_attr_getstack(&attributes, &low, &stack.size) == 0)
        stack.from = (uintptr_t)low;
    pthread_attr_destroy(&attributes);
    return stack;
}

/* For the first thread the C library would read all of /proc/self/maps, so its stack is found
 * without it. */
static void find_stack(void)
{
    collopt_stack = getpid() == (pid_t)syscall(SYS_gettid) ? stack_of_first_thread()
                                                           : stack_of_thread();
}
#endif

/* ---- which runtimes there are ---------------------------------------------------------------- */

struct found {                  /* full names */
    char *library, *needed, *helper;
};

static bool begins(const char *path, const char *with)
{
    const char *slash = strrchr(path, '/');

    return with && strncmp(slash ? slash + 1 : path, with, strlen(with)) == 0;
}

static void keep_name(char **name, const char *path)
{
    if (!*name)
        *name = strdup(path);
}

static int note(struct dl_phdr_info *info, size_t size, void *data)
{
    struct found *found = data;

    (void)size;
    for (int i = 0; info->dlpi_name && i < COLLOPT_GPU_RUNTIMES; i++) {
        const struct collopt_gpu_runtime *r = &collopt_gpu_runtimes[i];

        if (begins(info->dlpi_name, r->library))
            keep_name(&found[i].library, info->dlpi_name);
        else if (begins(info->dlpi_name, r->helper))
            keep_name(&found[i].helper, info->dlpi_name);
        else if (begins(info->dlpi_name, r->needs) && !begins(info->dlpi_name, r->but[0])
                 && !begins(info->dlpi_name, r->but[1]))
            keep_name(&found[i].needed, info->dlpi_name);
    }
    return 0;
}

static bool has_node(const char *const *node)
{
    if (!node)
        return true;
    for (; *node; node++)
        if (access(*node, F_OK) == 0)
            return true;
    return false;
}

/* The handle is kept, and with it the library. */
static void *open_again(const char *name)
{
    return name ? dlopen(name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

static bool take(const struct collopt_gpu_runtime *r, const struct found *found)
{
    void *library;

    if (!found->library || (r->needs && !found->needed) || !has_node(r->nodes)
        || !(library = open_again(found->library)))
        return false;
    if (r->find(library))
        return true;
    collopt_warn_once("%s (%s) cannot be asked whether a buffer is device memory; if some are, set "
                      "COLLOPT_GPU=native",
                      r->name, found->library);
    return false;
}

static void look_at(int i, const struct found *found)
{
    const struct collopt_gpu_runtime *r = &collopt_gpu_runtimes[i];
    void *helper;

    if (!atomic_load_explicit(&usable[i], memory_order_relaxed) && take(r, found)) {
        atomic_store_explicit(&usable[i], true, memory_order_release);
        atomic_store_explicit(&any, true, memory_order_relaxed);
    }
    if (atomic_load_explicit(&usable[i], memory_order_relaxed)
        && (helper = open_again(found->helper)))
        r->help(helper);
}

static void look_again(uint64_t now)
{
    struct found found[COLLOPT_GPU_RUNTIMES] = { { NULL, NULL, NULL } };

    dl_iterate_phdr(note, found);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < COLLOPT_GPU_RUNTIMES; i++) {
        look_at(i, &found[i]);
        free(found[i].library);
        free(found[i].needed);
        free(found[i].helper);
    }
    atomic_store_explicit(&seen, now, memory_order_release);
    pthread_mutex_unlock(&lock);
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    *(uint64_t *)data = (uint64_t)info->dlpi_adds << 24 ^ info->dlpi_subs;
    return 1;
}

/* The count is read before the look, so that a library loaded meanwhile causes another look. */
static void look(void)
{
    uint64_t now = 0;

    dl_iterate_phdr(count_loads, &now);
    if (__builtin_expect(now != atomic_load_explicit(&seen, memory_order_acquire), 0))
        look_again(now);
}

bool collopt_gpu_possible(void)
{
    if (collopt_settings()->gpu != COLLOPT_GPU_AUTO)
        return false;
    if (collopt_stack.size == 0)
        find_stack();
    look();
    return atomic_load_explicit(&any, memory_order_relaxed);
}

bool collopt_gpu_ask(const void *p, struct collopt_gpu_memory *m)
{
    for (int i = 0; i < COLLOPT_GPU_RUNTIMES; i++) {
        *m = (struct collopt_gpu_memory){ .runtime = &collopt_gpu_runtimes[i] };
        if (atomic_load_explicit(&usable[i], memory_order_acquire) && m->runtime->owns(p, m))
            return true;
    }
    *m = (struct collopt_gpu_memory){ .runtime = NULL };
    return false;
}

bool collopt_gpu_same(const struct collopt_gpu_memory *a, const struct collopt_gpu_memory *b)
{
    return a->runtime == b->runtime && a->owner == b->owner && a->device == b->device;
}

/* ---- copies ---------------------------------------------------------------------------------- */

bool collopt_gpu_to_host(const struct collopt_gpu_memory *m, void *to, const void *from, size_t n)
{
    return n == 0 || m->runtime->copy(m, to, from, n, false);
}

bool collopt_gpu_to_device(const struct collopt_gpu_memory *m, void *to, const void *from, size_t n)
{
    return n == 0 || m->runtime->copy(m, to, from, n, true);
}

/* ---- host memory that is kept ---------------------------------------------------------------- */

enum { KEPT = 16, LEAST = 64 << 10, ALIGNMENT = COLLOPT_GPU_ALIGNMENT };

struct piece {
    void *memory;
    size_t size;
    struct collopt_gpu_memory pinned;   /* the device memory that it is pinned for; no runtime: it
                                         * is not pinned */
    uint64_t number;            /* the runtime's, of the allocation */
    bool lent;
};

static struct piece kept[KEPT];

/* Pinned memory is gone when its context is, as by cudaDeviceReset(), and what is at its address
 * since then may be the program's. */
static bool is_gone(const struct piece *k)
{
    return k->pinned.runtime && k->pinned.runtime->number(k->memory) != k->number;
}

static void drop(struct piece *k)
{
    if (!k->pinned.runtime)
        free(k->memory);
    else if (!is_gone(k))
        k->pinned.runtime->unpin(k->memory);
    *k = (struct piece){ .memory = NULL };
}

/* While memory is in use for a device, the program may reset another one: what is pinned serves
 * only where it was pinned. */
static bool suits(const struct piece *k, const struct collopt_gpu_memory *m, size_t size)
{
    return !k->lent && k->size >= size
        && (!k->pinned.runtime || collopt_gpu_same(&k->pinned, m));
}

/* The smallest piece that suits M and SIZE; NULL: none. */
static struct piece *find_piece(const struct collopt_gpu_memory *m, size_t size)
{
    struct piece *best = NULL;

    for (struct piece *k = kept; k < kept + KEPT; k++) {
        if (!suits(k, m, size) || (best && best->size <= k->size))
            continue;
        if (is_gone(k))
            drop(k);
        else
            best = k;
    }
    return best;
}

/* The smallest that is not lent, used or (USED false) unused; NULL: none. */
static struct piece *find_idle(bool used)
{
    struct piece *least = NULL;

    for (struct piece *k = kept; k < kept + KEPT; k++)
        if (!k->lent && (k->memory != NULL) == used && (!least || k->size < least->size))
            least = k;
    return least;
}

static size_t size_kept(bool lent)
{
    size_t sum = 0;

    for (const struct piece *k = kept; k < kept + KEPT; k++)
        if (k->lent || !lent)
            sum += k->size;
    return sum;
}

/* A place for SIZE bytes more within MOST; those that nobody uses make room. */
static struct piece *make_room(size_t size, size_t most)
{
    struct piece *idle;

    if (size_kept(true) + size > most)
        return NULL;
    while ((size_kept(false) + size > most || !find_idle(false)) && (idle = find_idle(true)))
        drop(idle);
    return find_idle(false);
}

static bool pin(struct piece *k, const struct collopt_gpu_memory *m, size_t size)
{
    k->memory = m->runtime->pin(m, size);
    k->number = k->memory ? m->runtime->number(k->memory) : 0;
    if (k->number == 0)         /* none, or it went with a context that nobody else uses */
        return false;
    k->pinned = *m;
    return true;
}

static struct piece *new_piece(const struct collopt_gpu_memory *m, size_t size, size_t most)
{
    size_t rounded = LEAST;
    struct piece *k;

    while (rounded < size)
        rounded *= 2;
    if (rounded > most / 2 || !(k = make_room(rounded, most)))
        return NULL;
    if (!pin(k, m, rounded))
        k->memory = aligned_alloc(ALIGNMENT, rounded);
    k->size = k->memory ? rounded : 0;
    return k->memory ? k : NULL;
}

/* A piece is at most half of what is kept, so that a call's input and result both find one.  Longer
 * vectors get memory for one call: pinning it would take longer than the copy. */
void *collopt_gpu_borrow(const struct collopt_gpu_memory *m, size_t size)
{
    size_t most = collopt_settings()->scratch;
    struct piece *k = NULL;

    if (size <= most / 2) {
        pthread_mutex_lock(&lock);
        k = find_piece(m, size);
        if (!k)
            k = new_piece(m, size, most);
        if (k)
            k->lent = true;
        pthread_mutex_unlock(&lock);
    }
    return k ? k->memory : aligned_alloc(ALIGNMENT, rounded_up(size, ALIGNMENT));
}

void collopt_gpu_return(void *memory)
{
    bool ours = false;

    pthread_mutex_lock(&lock);
    for (struct piece *k = kept; k < kept + KEPT && memory && !ours; k++)
        if (k->memory == memory && k->lent) {
            k->lent = false;
            ours = true;
        }
    pthread_mutex_unlock(&lock);
    if (!ours)
        free(memory);
}
