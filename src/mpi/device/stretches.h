/* Where the data of a datatype lie in memory.  Results are copied to a device without the gaps,
 * which may be the data of another reduction that has ended meanwhile. */
#ifndef COLLOPT_MPI_DEVICE_STRETCHES_H
#define COLLOPT_MPI_DEVICE_STRETCHES_H

#include <stddef.h>

#include "mpi/host/host.h"

struct collopt_stretch {        /* bytes without a gap */
    ptrdiff_t at;
    size_t size;
};

struct collopt_stretches {      /* {0}: empty; STRETCH is to be freed */
    struct collopt_stretch *stretch;
    size_t n, room;
};

/* Adds N elements of TYPE; the first one is at AT.  COMM: any, for MPI_Unpack. */
int collopt_stretches_add(struct collopt_stretches *s, MPI_Datatype type, size_t n, ptrdiff_t at,
                          MPI_Comm comm);

#endif
