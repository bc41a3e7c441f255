/* Device memory: is a buffer in it, and copies between it and host memory.  Nothing here knows MPI. */
#ifndef COLLOPT_GPU_H
#define COLLOPT_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct collopt_gpu_runtime;

/* ---- gpu.c: when a question is asked ------------------------------------------------------------------------------ */

struct collopt_gpu_memory {
    const struct collopt_gpu_runtime *runtime;  /* NULL: host memory, or managed: the processor may touch it */
    void *owner;                /* the runtime's: a context or a device; may be NULL */
    int device;
};

struct collopt_range {
    uintptr_t from;
    size_t size;
};

extern struct collopt_range collopt_program;    /* the executable and its data; empty until collopt_gpu_begin() */
extern uintptr_t collopt_heap;                  /* where the heap of brk() begins; UINTPTR_MAX until then */
extern char *__curbrk __attribute__((weak));    /* where it ends now (glibc); sbrk(0) is a call, and UCX intercepts it */
#ifdef COLLOPT_ONE_THREAD
extern struct collopt_range collopt_stack;
#else
extern _Thread_local struct collopt_range collopt_stack __attribute__((tls_model("initial-exec")));     /* of this thread */
#endif

void collopt_gpu_begin(void);   /* before the others, once */

static inline bool collopt_within(const void *p, uintptr_t from, size_t size)
{
    return (uintptr_t)p - from < size;
}

/* Is P on this thread's stack, in the program's own data or on the heap?  No device memory is ever mapped there, so no
 * runtime need be looked for.  False says nothing. */
static inline bool collopt_plainly_host(const void *p)
{
    uintptr_t end = &__curbrk ? (uintptr_t)__curbrk : 0;

    return collopt_within(p, collopt_stack.from, collopt_stack.size)
        || collopt_within(p, collopt_program.from, collopt_program.size)
        || ((uintptr_t)p >= collopt_heap && (uintptr_t)p < end);
}

/* Is there a runtime with a device, so that device memory may be?  To be asked in each call, as runtimes come late. */
bool collopt_gpu_possible(void);
/* Where it may: is P in device memory that the processor may not touch?  Then M says whose.  The answer holds for this call alone. */
bool collopt_gpu_ask(const void *p, struct collopt_gpu_memory *m);

/* N bytes; false: the runtime could not. */
bool collopt_gpu_to_host(const struct collopt_gpu_memory *m, void *to, const void *from, size_t n);
bool collopt_gpu_to_device(const struct collopt_gpu_memory *m, void *to, const void *from, size_t n);

/* Host memory, pinned where M's runtime offers it, at least SIZE bytes; NULL: none.  It is kept for further calls. */
void *collopt_gpu_borrow(const struct collopt_gpu_memory *m, size_t size);
void collopt_gpu_return(void *memory);

/* ---- gpu_runtimes.c: the runtimes --------------------------------------------------------------------------------- */

struct collopt_gpu_runtime {
    const char *name, *library;         /* for people; how the library's name begins */
    const char *needs, *but[2]; /* beside it, a library whose name begins so, but not like these; NULL: none */
    const char *helper;         /* a library whose name begins so may be of use */
    const char *const *nodes;   /* one of these files is there where there is a device; NULL: that says nothing */
    bool (*find)(void *library);        /* the functions, in what dlopen() has given; false: they cannot be used */
    void (*help)(void *library);
    bool (*owns)(const void *p, struct collopt_gpu_memory *m);
    bool (*copy)(const struct collopt_gpu_memory *m, void *to, const void *from, size_t n, bool to_device);
    /* Pinned host memory; is it still that (it goes with its context); and back. */
    void *(*pin)(const struct collopt_gpu_memory *m, size_t size);
    bool (*pinned)(const void *p);
    void (*unpin)(void *p);
};

enum { COLLOPT_GPU_RUNTIMES = 3 };
extern const struct collopt_gpu_runtime collopt_gpu_runtimes[COLLOPT_GPU_RUNTIMES];

#endif
