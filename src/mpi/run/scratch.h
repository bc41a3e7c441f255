/* Scratch memory, and how much of it a process keeps between calls. */
#ifndef COLLOPT_MPI_RUN_SCRATCH_H
#define COLLOPT_MPI_RUN_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

/* Aligned to a line of the caches; NULL: no memory. */
void *collopt_scratch_make(size_t size);
void collopt_scratch_free(void *scratch);
/* May SIZE bytes be kept between calls?  Then they count until collopt_scratch_release().  All that
 * is kept is at most COLLOPT_SCRATCH.  Any thread. */
bool collopt_scratch_keep(size_t size);
void collopt_scratch_release(size_t size);

#endif
