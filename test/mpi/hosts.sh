# What the scripts of this folder share: each walks over the hosts, and a host that is missing makes
# the test a skipped one.

. "${COLLOPT_SOURCE:-.}/test/mpi/lang.sh"

missing=
program()               # HOST NAME
{
    echo "$build/test/mpi/$(abi_of "$1")/test_$2"
}

for_each_host()         # FUNCTION
{
    for host in $test_hosts; do
        "$1" "$host"
    done
    [ -n "$test_hosts" ] || skip "collopt is not built for any MPI"
    [ "$failures" = 0 ] || finish
    [ -z "$missing" ] || skip "not run:$missing"
    finish
}

# With collopt, and everything it says is wrong but what ALLOWED matches.
quiet()                 # HOST RANKS [VARIABLE=VALUE]... PROGRAM [ARGUMENT]...
{
    quiet_host=$1 quiet_ranks=$2
    shift 2
    launch "$quiet_host" "$quiet_ranks" LD_PRELOAD="$library" COLLOPT_AFTER=1 "$@" \
        || fail "$quiet_host, $quiet_ranks ranks, $*: status $?"
    ! grep -q "^collopt\|leaked" "$work/said" ||
        fail "$quiet_host, $quiet_ranks ranks, $*: something is said"
}

# test_errors without collopt: $without is what has to be left out, since it stops the job.
errors_alone()          # HOST RANKS
{
    without=TEST_WITHOUT= left_out=0
    rm -f "$work"/alone.*
    while ! launch "$1" "$2" "$without" "$(program "$1" errors)" "$work/alone"; do
        # the last lines of ranks that were stopped have no end
        stopped=$(for rank in "$work"/alone.*; do tail -n 1 "$rank"; echo; done |
            grep . | grep -v ': class' | sort | uniq -c | sort -rn | sed -n '1s/^ *[0-9]* //p')
        left_out=$((left_out + 1))
        [ -n "$stopped" ] && [ $left_out -lt 40 ] ||
            { fail "$1, $2 ranks, errors without collopt"; return; }
        echo "left out, as $1 alone stops the job: $stopped"
        without="$without$stopped;"
        rm -f "$work"/alone.*
    done
}

said()                  # COUNT PATTERN WHAT...: so many lines match
{
    said_n=$(grep -c -- "$2" "$work/said")
    [ "$said_n" = "$1" ] || fail "$3: \"$2\" was said $said_n times, not $1"
}
