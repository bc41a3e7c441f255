# family.F90 by each Fortran binding on one MPI, $host, with collopt and without.
# Sourced by openmpi.sh and its like, which make writes: one for each MPI.

. "${COLLOPT_SOURCE:-.}/test/mpi/lang.sh"

built_for "$host" || skip "collopt is not built for $host"
fortran_for "$host" || skip "no Fortran compiler for $host"

for binding in mpifh mpi mpif08; do
    program=$build/test/mpi/fortran/$host/family_$binding
    fortran_alone "$host" 2 "$program"
    for ranks in 1 2 3 4; do
        launch_collopt "$host" $ranks "$without" "$program" ||
            fail "$binding on $ranks ranks: status $?"
        grep 'counted by collopt' "$work/said" ||
            fail "$binding on $ranks ranks was not counted by collopt"
    done
done
finish
