/* The runtimes that can tell device memory, a row each. No MPI here. */
#ifndef COLLOPT_MPI_DEVICE_RUNTIMES_H
#define COLLOPT_MPI_DEVICE_RUNTIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct collopt_gpu_runtime;

struct collopt_gpu_memory {
    /* NULL: host memory, or managed: the processor may touch it; the rest is 0 */
    const struct collopt_gpu_runtime *runtime;
    void *owner;                /* the runtime's: a context or a device; may be NULL */
    int device;
    void *base;                 /* where the allocation begins; NULL: unknown */
};

struct collopt_gpu_runtime {
    const char *name, *library;         /* for people; how the library's name begins */
    /* required companion library, by prefix, except these; NULL: none */
    const char *needs, *but[2];
    const char *helper;         /* optional companion library, by prefix */
    const char *const *nodes;   /* one of these files exists if there is a device; NULL: unknown */
    /* the functions, in what dlopen() has given; false: they cannot be used */
    bool (*find)(void *library);
    void (*help)(void *library);
    bool (*owns)(const void *p, struct collopt_gpu_memory *m);
    bool (*copy)(const struct collopt_gpu_memory *m, void *to, const void *from, size_t n,
                 bool to_device);
    /* PIN allocates pinned host memory that has a number; NULL: there is none. NUMBER returns the
     * number, which no later allocation at the same address gets; 0: there is none. UNPIN frees the
     * memory. */
    void *(*pin)(const struct collopt_gpu_memory *m, size_t size);
    uint64_t (*number)(const void *p);
    void (*unpin)(void *p);
};

enum { COLLOPT_GPU_RUNTIMES = 3 };
extern const struct collopt_gpu_runtime collopt_gpu_runtimes[COLLOPT_GPU_RUNTIMES];

#endif
