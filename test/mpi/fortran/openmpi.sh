# The reductions of the three Fortran bindings on Open MPI; see check.sh.
host=openmpi
. "${COLLOPT_SOURCE:-.}/test/mpi/fortran/check.sh"
