# What the scripts of this folder share: each walks over the hosts, and a host that is missing makes the test a skipped one.

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
    ! grep -q "^collopt\|leaked" "$work/said" || fail "$quiet_host, $quiet_ranks ranks, $*: something is said"
}

said()                  # COUNT PATTERN WHAT...: so many lines match
{
    said_n=$(grep -c -- "$2" "$work/said")
    [ "$said_n" = "$1" ] || fail "$3: \"$2\" was said $said_n times, not $1"
}
