/* MPI libraries with measured times. */
#ifndef COLLOPT_MODEL_HOST_MPI_H
#define COLLOPT_MODEL_HOST_MPI_H

enum collopt_mpi { COLLOPT_OTHER_MPI, COLLOPT_OPENMPI, COLLOPT_MPICH, COLLOPT_MPIS };
extern const char *const collopt_mpi_names[COLLOPT_MPIS];       /* "other", "openmpi", "mpich" */

/* The MPI library that identifies itself as VERSION (MPI_Get_library_version, or name and number
 * only), whatever its version and ABI. Libraries derived from one of them count as other,
 * because their messages differ. */
enum collopt_mpi collopt_mpi_of(const char *version);

#endif
