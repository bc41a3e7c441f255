# Every example on one MPI, $host, with collopt and without, on several numbers of ranks.  Each
# checks itself; beside that, both runs must say the same (but for times), and collopt must have run
# all of its reductions.
# Sourced by openmpi.sh and its like, which make writes: one for each MPI.

. "${COLLOPT_SOURCE:-.}/test/mpi/lang.sh"

built_for "$host" || skip "collopt is not built for $host"
case $host in abi@*) ;; *) fortran_for "$host" || skip "no Fortran compiler for $host" ;; esac

check()                 # RANKS PROGRAM [ARGUMENT]...
{
    ranks=$1 name=$2
    shift 2
    set -- "$build/examples/$(abi_of "$host")/$name" "$@"
    launch "$host" "$ranks" "$@" || fail "$name on $ranks ranks without collopt: status $?"
    grep -v '^time:' "$work/said" >"$work/without"
    launch_collopt "$host" "$ranks" "$@" || fail "$name on $ranks ranks: status $?"
    grep -v '^time:' "$work/said" >"$work/with"
    cmp -s "$work/without" "$work/with" || fail "$name on $ranks ranks: without collopt it says
    $(cat "$work/without")"
    if [ "$ranks" -gt 1 ]; then
        run=$(reported run '') passed=$(reported passed '')
        if [ "$run" = 0 ] || [ "$passed" != 0 ]; then
            fail "$name on $ranks ranks: collopt ran $run calls and passed $passed"
        fi
    fi
}

for source in "$top"/examples/*.c "$top"/examples/*.f90; do
    name=$(basename "${source%.*}")
    case $host:$source in abi@*.f90) continue ;; esac           # the standard ABI is one of C
    for ranks in 1 2 3 4; do
        case $name in
        conjugate_gradient)
            check $ranks "$name" 48
            check $ranks "$name" 48 1 pipelined
            ;;
        *) check $ranks "$name" ;;
        esac
    done
    cat "$work/with"
done
# Its total has the same bits on as many ranks.
if [ "$(mpi_of "$host")" = openmpi ]; then
    for ranks in 5 6 7 8; do
        check $ranks conserved_total
    done
fi
finish
