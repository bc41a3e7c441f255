# The program's floating-point environment: traps, rounding, subnormal numbers; with all that looks
# at calls beside running them.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

# Some hosts trap in their own messages.
host_traps()            # HOST
{
    ! launch "$1" 2 "$(program "$1" arithmetic)" traps
}

try()                   # HOST RANKS [VARIABLE=VALUE]... PROGRAM WORD...
{
    try_host=$1 ranks=$2
    shift 2
    launch "$try_host" "$ranks" LD_PRELOAD="$library" COLLOPT_AFTER=1 "$@" ||
        fail "$try_host, $ranks ranks, $*: status $?"
}

arithmetic()            # HOST
{
    tests=$(program "$1" arithmetic) late=late
    if host_traps "$1"; then
        echo "$1 traps in its own messages: only shared memory is tried"
        late=
    fi
    for ranks in 2 3; do
        for with in LC_ALL=C COLLOPT_ADAPT=on COLLOPT_ASYNC=thread; do
            # shellcheck disable=SC2086
            try "$1" $ranks $with COLLOPT_REPORT="$work/report" COLLOPT_LOG=trace \
                COLLOPT_PCONTROL=on "$tests" traps $late
        done
        # shellcheck disable=SC2086
        try "$1" $ranks COLLOPT_REPRODUCIBLE=exact "$tests" traps $late
        [ -n "$late" ] || continue
        for with in COLLOPT_CHECK=on COLLOPT_SHM=off COLLOPT_TOPOLOGY=nodes:1; do
            try "$1" $ranks $with COLLOPT_REPORT=stderr "$tests" traps late
        done
        try "$1" $ranks COLLOPT=off COLLOPT_REPORT=stderr "$tests" traps late off
    done
    for rounding in upwards downwards towards_zero; do
        try "$1" 2 COLLOPT_REPORT="$work/report" "$tests" $rounding early late
        try "$1" 2 COLLOPT_SHM=off "$tests" $rounding
    done
}

for_each_host arithmetic
