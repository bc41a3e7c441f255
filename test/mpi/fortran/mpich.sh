# The reductions of the three Fortran bindings on MPICH; see check.sh.
host=mpich
. "${COLLOPT_SOURCE:-.}/test/mpi/fortran/check.sh"
