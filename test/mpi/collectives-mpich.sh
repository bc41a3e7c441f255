# Every algorithm on MPICH.

. "${COLLOPT_SOURCE:-.}/test/mpi/collectives.sh"
all mpich
