/* Memory of CUDA's devices, by the driver's library, which is loaded at run time: neither building
 * nor running needs a toolkit. */
#ifndef COLLOPT_BENCH_LIB_CUDA_H
#define COLLOPT_BENCH_LIB_CUDA_H

#include <stdbool.h>
#include <stddef.h>

/* the last is the process's own memory, unknown to the driver */
enum cuda_memory { CUDA_DEVICE, CUDA_MANAGED, CUDA_PINNED, CUDA_HOST, CUDA_MEMORIES };
extern const char *const cuda_memory_names[];   /* "device" ... */

/* Loads the driver and enters the primary context of a device: of number WISH, counted around.
 * NULL, or why there is none. */
const char *cuda_begin(int wish);
void cuda_end(void);
const char *cuda_device(void);                  /* its name */

/* NULL: the driver has none left. */
void *cuda_new(enum cuda_memory memory, size_t bytes);
void cuda_free(enum cuda_memory memory, void *p);

/* Copies between memory of the processor and P, which is of kind MEMORY; done when they return.
 * False: the driver fails. */
bool cuda_put(enum cuda_memory memory, void *p, const void *from, size_t bytes);
bool cuda_get(enum cuda_memory memory, void *to, const void *p, size_t bytes);

#endif
