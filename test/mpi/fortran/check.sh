# family.F90 and errors.F90 by each Fortran binding on one MPI, $host, with collopt and without.
# Sourced by openmpi.sh and its like, which make writes: one for each MPI.

. "${COLLOPT_SOURCE:-.}/test/mpi/lang.sh"

built_for "$host" || skip "collopt is not built for $host"
fortran_for "$host" || skip "no Fortran compiler for $host"

# Wrong arguments: the same classes and handlers with collopt as without.
errors()                # BINDING
{
    program=$build/test/mpi/fortran/$host/errors_$1
    launch "$host" 2 "$program" "$work/alone" || fail "$1, errors without collopt: status $?"
    launch_collopt "$host" 2 "$program" "$work/both" || fail "$1, errors: status $?"
    [ "$(reported run '')" -gt 0 ] || fail "$1, errors: collopt ran nothing"
    for rank in 0 1; do
        [ "$(grep -c 'null.*: [1-9]' "$work/alone.$rank")" -ge 40 ] || fail "$1: few errors"
        diff "$work/alone.$rank" "$work/both.$rank" >"$work/said" ||
            fail "$1, errors on rank $rank: < alone, > with collopt"
    done
}

for binding in mpifh mpi mpif08; do
    program=$build/test/mpi/fortran/$host/family_$binding
    fortran_alone "$host" 2 "$program"
    for ranks in 1 2 3 4; do
        launch_collopt "$host" $ranks "$without" "$program" ||
            fail "$binding on $ranks ranks: status $?"
        grep 'counted by collopt' "$work/said" ||
            fail "$binding on $ranks ranks was not counted by collopt"
    done
    errors $binding
done
finish
