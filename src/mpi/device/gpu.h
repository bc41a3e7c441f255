/* Device memory: detection, and copies between it and host memory. No MPI here. */
#ifndef COLLOPT_MPI_DEVICE_GPU_H
#define COLLOPT_MPI_DEVICE_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/device/runtimes.h"

struct collopt_area {
    uintptr_t from;
    size_t size;
};

/* the executable and its data; empty until collopt_gpu_begin() */
extern struct collopt_area collopt_program;
/* where the heap of brk() begins; UINTPTR_MAX until then */
extern uintptr_t collopt_heap;
/* where it ends now (glibc); sbrk(0) is a call, and UCX intercepts it */
extern char *__curbrk __attribute__((weak));
#ifdef COLLOPT_ONE_THREAD
extern struct collopt_area collopt_stack;
#else
/* of this thread */
extern _Thread_local struct collopt_area collopt_stack __attribute__((tls_model("initial-exec")));
#endif

bool collopt_gpu_allows(void);  /* false: COLLOPT_GPU leaves all calls to the host */
void collopt_gpu_begin(void);   /* before the others, once */

static inline bool collopt_within(const void *p, uintptr_t from, size_t size)
{
    return (uintptr_t)p - from < size;
}

/* True if P is on this thread's stack, in the program's data or on the heap, where no device
 * memory is ever mapped. False means unknown. */
static inline bool collopt_plainly_host(const void *p)
{
    uintptr_t end = &__curbrk ? (uintptr_t)__curbrk : 0;

    return collopt_within(p, collopt_stack.from, collopt_stack.size)
        || collopt_within(p, collopt_program.from, collopt_program.size)
        || ((uintptr_t)p >= collopt_heap && (uintptr_t)p < end);
}

/* True if there is a runtime with a device. Evaluated in each call, since runtimes may be loaded
 * late. */
bool collopt_gpu_possible(void);
/* If so: true if P is in device memory that the processor must not access; M then identifies it.
 * Valid for this call only. */
bool collopt_gpu_ask(const void *p, struct collopt_gpu_memory *m);

/* Are A and B memory of the same device? */
bool collopt_gpu_same(const struct collopt_gpu_memory *a, const struct collopt_gpu_memory *b);

/* Copies N bytes, which have arrived when it returns; false: the runtime failed. */
bool collopt_gpu_to_host(const struct collopt_gpu_memory *m, void *to, const void *from, size_t n);
bool collopt_gpu_to_device(const struct collopt_gpu_memory *m, void *to, const void *from,
                           size_t n);

enum { COLLOPT_GPU_ALIGNMENT = 64 };

/* At least SIZE bytes of host memory, aligned, pinned if M's runtime supports it; NULL: none. Kept
 * for later calls, as far as COLLOPT_SCRATCH allows. */
void *collopt_gpu_borrow(const struct collopt_gpu_memory *m, size_t size);
void collopt_gpu_return(void *memory);

#endif
