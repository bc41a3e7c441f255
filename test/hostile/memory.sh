# Memory that is not there: each allocation of collopt's in each form of each collective fails once,
# by shared memory and by messages.  Right is an error of that rank, or the result; see
# test_memory.c.
#
# Half a minute on each MPI takes cases at random, as each error ends its job.  TEST_MEMORY_FIRST=0
# TEST_MEMORY_SECONDS=3600 takes them in turn; a failure says its case.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

library=$build/test/hostile/.libs/libcollopt.so
seconds=${TEST_MEMORY_SECONDS:-30}

# TEST_SEED=N: the same cases each time.
state=${TEST_SEED:-$(od -An -N3 -tu4 /dev/urandom)}
random()                # N: sets $drawn, below it
{
    state=$(((state * 1103515245 + 12345) % 2147483648))
    drawn=$((state / 65536 % $1))
}

# One of 54 places, and where in it; in MPI_Init.  Sets $next.
any_case()
{
    random 5
    if [ $drawn = 0 ]; then
        random 60
        next=$((-1 - drawn))
    else
        random 54
        next=$((drawn * 400))
        random 25
        next=$((next + drawn))
    fi
}

# The case after those of this job.
after_that()            # CASE: its first
{
    next=$(sed -n 's/^next \(-*[0-9]*\)$/\1/p' "$work/said" | tail -n 1)
    wrong=$(sed -n 's/^FAIL: .*case \(-*[0-9]*\): .*/\1/p' "$work/said" | tail -n 1)
    last=$(sed -n 's/^at \([0-9]*\)$/\1/p' "$work/said" | sort -n | tail -n 1)
    [ -n "$next" ] || crashed=1
    [ -z "$wrong" ] || next=$wrong
    [ -n "$next" ] || next=${last:-$1}
    [ -z "$wrong$crashed" ] || next=$((next + 1))
}

# A rank that ends without MPI_Finalize makes a launcher say so, which is no failure.
judge()                 # WHAT...
{
    grep '^FAIL: ' "$work/said" >"$work/wrong" || [ -n "$crashed" ] || return 0
    [ ! -s "$work/wrong" ] || cp "$work/wrong" "$work/said"
    fail "$*"
}

cases()                 # HOST SECONDS [VARIABLE=VALUE]...
{
    cases_host=$1 until=$(($(date +%s) + $2)) jobs=0
    shift 2
    any_case
    next=${TEST_MEMORY_FIRST:-$next}
    while [ "$(date +%s)" -lt $until ]; do
        from=$next jobs=$((jobs + 1)) crashed=''
        LAUNCH_SECONDS=100 launch "$cases_host" 3 LD_PRELOAD="$library" COLLOPT_AFTER=1 "$@" \
            "$build/test/hostile/$(abi_of "$cases_host")/test_memory" "$from" 5
        after_that "$from"
        judge "$cases_host, 3 ranks: $* test_memory $from"
        [ -z "${TEST_MEMORY_FIRST-}" ] || [ "$next" -ge 0 ] || break
        [ -n "${TEST_MEMORY_FIRST-}" ] || any_case
    done
    echo "$cases_host $*: $jobs jobs${TEST_MEMORY_FIRST:+, the next case is $next}"
}

each()                  # HOST
{
    case $1 in abi@*) return ;; esac
    cases "$1" $((seconds / 2))
    cases "$1" $((seconds / 2)) COLLOPT_SHM=off
}

for_each_host each
