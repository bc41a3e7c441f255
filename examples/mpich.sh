# The examples on MPICH; see check.sh.
host=mpich
. "${COLLOPT_SOURCE:-.}/examples/check.sh"
