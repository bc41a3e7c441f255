/* Predefined datatypes without kernels, those of them that this mpi.h has: BY_HOST(handle, class,
 * name).  A list to be included where BY_HOST is defined. */
#ifdef MPI_REAL2
BY_HOST(MPI_REAL2, FLOATING, "real2")
#endif
#ifdef MPI_REAL16
BY_HOST(MPI_REAL16, FLOATING, "real16")
#endif
#ifdef MPI_COMPLEX4
BY_HOST(MPI_COMPLEX4, COMPLEX, "complex4")
#endif
#ifdef MPI_COMPLEX32
BY_HOST(MPI_COMPLEX32, COMPLEX, "complex32")
#endif
#ifdef MPI_INTEGER16
BY_HOST(MPI_INTEGER16, FORTRAN_INTEGER, "integer16")
#endif
#ifdef MPIX_BFLOAT16
BY_HOST(MPIX_BFLOAT16, FLOATING, "bfloat16")
#endif
