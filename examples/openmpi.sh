# The examples on Open MPI; see check.sh.
host=openmpi
. "${COLLOPT_SOURCE:-.}/examples/check.sh"
