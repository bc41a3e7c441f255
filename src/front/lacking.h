/* Names that not every host has. */
#ifndef COLLOPT_FRONT_LACKING_H
#define COLLOPT_FRONT_LACKING_H

#include <stdbool.h>

#include "front/backend.h"

struct collopt_optional {
    enum collopt_name name;
    bool profiling;                         /* PMPI_X, not MPI_X */
    collopt_function ours;                  /* what we export by that name; NULL ends the list */
};

/* From now on loader and dlsym() find the names of OPTIONAL that exist behind us too (THERE, [0]:
 * MPI_X, [1]: PMPI_X), and none of the others. */
void collopt_show_as_there(const struct collopt_optional *optional,
                           const bool there[COLLOPT_NAME_COUNT][2]);

#endif
