# Every algorithm on Open MPI.

. "${COLLOPT_SOURCE:-.}/test/mpi/collectives.sh"
all openmpi
