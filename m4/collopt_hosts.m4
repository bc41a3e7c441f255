# The MPIs that collopt is built for: the one list of them.  A row is
#
#   name        libcollopt-NAME.so, test/mpi/NAME/; in capitals a prefix of make variables:
#               OPENMPI_CPPFLAGS
#   title       for people
#   option      --with-OPTION
#   wrappers    of its compiler, the first that works.  After a colon: an option of it, or a folder
#               in its folders of headers
#   header      what its mpi.h must say, as a condition of the preprocessor
#   package     of Debian and Ubuntu
#   launcher    the options with which ranks share few processors
#
# What is made for each of them is in hosts.mk.in.
m4_define([COLLOPT_HOSTS], [dnl
[[openmpi], [Open MPI], [openmpi], [mpicc.openmpi mpicc],
 [defined OPEN_MPI], [libopenmpi-dev], [--oversubscribe --mca mpi_yield_when_idle 1]],
[[mpich], [MPICH], [mpich], [mpicc.mpich mpicc],
 [defined MPICH_VERSION], [libmpich-dev], []],
[[abi], [standard ABI], [mpi-abi],
 [mpicc_abi mpicc_abi.mpich mpicc.mpi_abi_mpich mpicc.mpich:-mpi-abi mpicc:-mpi-abi ]dnl
[mpicc.openmpi:standard_abi mpicc:standard_abi],
 [defined MPI_ABI_VERSION && !defined OPEN_MPI && !defined MPICH_VERSION],
 [libmpich-dev or libopenmpi-dev of MPI 5], []]])
