/* Staging: buffers in device memory are copied to host memory and back. */
#ifndef COLLOPT_MPI_DEVICE_STAGING_H
#define COLLOPT_MPI_DEVICE_STAGING_H

#include <stdbool.h>
#include <stddef.h>

#include "mpi/host/host.h"

struct collopt_facts;
struct collopt_staging;

/* Where *IN, with INPUTS elements, or *OUT, with RESULTS, is in device memory, it is replaced by
 * host memory; *IN == *OUT: in place. *S is NULL if nothing was replaced, and after an error.
 * COMM: any, to unpack with. */
int collopt_stage_begin(const struct collopt_facts *f, MPI_Comm comm, size_t inputs, size_t results,
                        const void **in, void **out, struct collopt_staging **s);
/* Frees S. DONE: the results are there, and are copied back. */
int collopt_stage_end(struct collopt_staging *s, bool done);
/* OUT = IN op OUT by COMBINE. */
int collopt_combine_anywhere(void (*combine)(void *, const void *, const void *, size_t),
                             const void *in, void *out, size_t n, MPI_Datatype type);

#endif
