/* Red zones behind the memory that collopt has from aligned_alloc(): its scratch. */
#ifndef COLLOPT_TEST_MPI_ZONES_H
#define COLLOPT_TEST_MPI_ZONES_H

#include <stddef.h>

/* Bytes of the zones that were overwritten since it was last asked; those of blocks that were freed
 * meanwhile count as well. */
size_t zones_overwritten(void);
/* Blocks that have had a zone so far. */
unsigned zones_made(void);

#endif
