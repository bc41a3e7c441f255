# The MPI library as a candidate: where a machine file says that it is faster than what is predicted
# for us it runs the call, results are right, and COLLOPT_LOG=decide and the report say why.  Where
# it says that it is slower, or is of another MPI, ours run.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

deciding()              # WHAT [VARIABLE=VALUE]...
{
    what="$host, $1"
    shift
    rm -f "$work/report"
    launch "$host" 3 LD_PRELOAD="$library" COLLOPT_AFTER=1 COLLOPT_LOG=decide \
        COLLOPT_REPORT="$work/report" "$@" "$(program "$host" settings)" bytes=4096 allreduce=10 ||
        fail "$what: status $?"
}

runs()                  # OURS HOST: calls of all ranks
{
    run=$(reported run '"allreduce"') passed=$(reported passed 'MPI library chosen')
    [ "$run $passed" = "$1 $2" ] ||
        fail "$what: $run run, $passed passed on, not $1 and $2"
}

candidate()             # HOST
{
    host=$1 mpi=$(mpi_of "$1") other=openmpi         # files name the library, whatever its ABI
    [ "$mpi" = mpich ] || other=mpich
    echo "host $mpi allreduce 3 1 3 4K commutative = 1 ns" >"$work/fast"
    deciding 'faster' COLLOPT_MACHINE="$work/fast"
    runs 0 30
    said 1 '^collopt: allreduce, 3 ranks, 4096 bytes.*: host (measured 0.00 us; first own, '\
'[a-z_]*, predicted [0-9.]* us)$' "$what"

    echo "host $mpi allreduce 3 1 3 4K commutative = 1 s" >"$work/slow"
    deciding 'slower' COLLOPT_MACHINE="$work/slow"
    runs 30 0
    echo "host $other allreduce 3 1 3 4K commutative = 1 ns" >"$work/other"
    deciding 'another MPI' COLLOPT_MACHINE="$work/other"
    runs 30 0
    deciding 'forced' COLLOPT_MACHINE="$work/fast" COLLOPT_ALLREDUCE=circulant
    runs 30 0

    # files that no variable names, where the user has them
    mkdir -p "$work/config/collopt"
    mv "$work/fast" "$work/config/collopt/$mpi.machine"
    deciding 'a machine in its place' XDG_CONFIG_HOME="$work/config"
    runs 0 30
    echo '* * * * * * host' >"$work/config/collopt/$other.rules"
    echo 'allreduce * * * * * ring' >"$work/config/collopt/site.rules"
    deciding 'rules in their place' XDG_CONFIG_HOME="$work/config"
    runs 30 0
    said 1 "^collopt: allreduce, 3 ranks, 4096 bytes.*: ring \
(rule $work/config/collopt/site.rules:1)\$" "$what"
    deciding 'none' XDG_CONFIG_HOME="$work/config" COLLOPT_RULES=none COLLOPT_MACHINE=none
    runs 30 0
    said 0 '(rule' "$what"
    rm -r "$work/config"

    # measurements that come with collopt: for this processor and this version of the MPI library
    version=$(grep '"mpi"' "$work/report" | sed 's/\\u0009/ /; s/^[^0-9]*\([0-9]*\.[0-9]*\).*/\1/')
    processor=$("$build/tools/collopt-info" --all |
        sed -n 's/^  names  *MPI-VERSION-\([^ ]*\) .*/\1/p')
    name=$work/data/collopt/$mpi-$version-$processor
    mkdir -p "$work/data/collopt"
    echo 'allreduce 3 1 * * * sweep' >"$name-x.rules"
    deciding 'measurements on another processor' XDG_DATA_DIRS="$work/data"
    said 0 'measured' "$what"
    mv "$name-x.rules" "$name.rules"
    echo 'allreduce 3 1 * * * linear' >"$name.rules"
    deciding 'measurements on this processor' XDG_DATA_DIRS="$work/data"
    runs 30 0
    said 1 "^collopt: allreduce, 3 ranks, 4096 bytes.*: linear:window=[0-9]* \
(measured $name.rules:1)\$" "$what"
    deciding 'no machine' XDG_DATA_DIRS="$work/data" COLLOPT_MACHINE=none
    said 0 'measured' "$what"
    echo 'allreduce 3 1 * * * linaer' >"$name.rules"
    deciding 'a mistake in measurements' XDG_DATA_DIRS="$work/data"
    runs 30 0
    said 1 "^collopt: a file of measurements that comes with collopt is not used: $name.rules:1: \
allreduce has no algorithm" "$what"
    # nodes whose processors differ: only some ranks have measurements
    echo 'allreduce 3 1 * * * linear' >"$name.rules"
    # shellcheck disable=SC2016
    deciding 'measurements of some nodes' \
        sh -c '[ "${OMPI_COMM_WORLD_RANK-${PMI_RANK-}}" = 1 ] || XDG_DATA_DIRS='"$work/data"'
        exec "$@"' sh env
    runs 30 0
    said 1 \
        '^collopt: measurements that come with collopt are not used: they differ between nodes$' \
        "$what"
    said 0 '(measured' "$what"
    rm -r "$work/data"
}

for_each_host candidate
