/* The build of a backend, for collopt-info, which reads it from the file, since a backend cannot
 * be loaded without its MPI. */
#include "config.h"

#include <mpi.h>

#include "collopt.h"

#define TEXT(x) TEXT_(x)
#define TEXT_(x) #x
#define THREE(a, b, c) TEXT(a) "." TEXT(b) "." TEXT(c)

#if defined COLLOPT_HOST_SMPI
# define MPI_BUILT "SimGrid SMPI"
#elif defined OMPI_MAJOR_VERSION
# define MPI_BUILT "Open MPI " THREE(OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION)
#elif defined MPICH_VERSION
# define MPI_BUILT "MPICH " MPICH_VERSION
#else                   /* the standard ABI */
# define MPI_BUILT "MPI " TEXT(MPI_VERSION) "." TEXT(MPI_SUBVERSION)
#endif

/* collopt-info looks for the words up to the first colon. */
extern const char collopt_built[];
__attribute__((used)) const char collopt_built[] =
    "collopt backend: " COLLOPT_HOST " "
    THREE(COLLOPT_VERSION_MAJOR, COLLOPT_VERSION_MINOR, COLLOPT_VERSION_PATCH) " " MPI_BUILT;
