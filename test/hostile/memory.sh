# Memory that is not there: each allocation of collopt's in each form of each collective fails once,
# by shared memory and by messages.  Right is an error of that rank, or the result; see
# test_memory.c.
#
# Half a minute on each MPI takes cases at random, as each error ends its job.  TEST_MEMORY_FIRST=0
# TEST_MEMORY_SECONDS=3600 takes them in turn; a failure says its case.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

library=$build/test/hostile/.libs/libcollopt.so
seconds=${TEST_MEMORY_SECONDS:-30}

random()                # N: a number below it
{
    echo $(($(od -An -N3 -tu4 /dev/urandom | tr -d ' ') % $1))
}

# One of 54 places, and where in it; in MPI_Init.
any_case()
{
    if [ "$(random 5)" = 0 ]; then
        echo $((-1 - $(random 60)))
    else
        echo $(($(random 54) * 400 + $(random 25)))
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
    next=${TEST_MEMORY_FIRST:-$(any_case)}
    while [ "$(date +%s)" -lt $until ]; do
        from=$next jobs=$((jobs + 1)) crashed=''
        LAUNCH_SECONDS=100 launch "$cases_host" 3 LD_PRELOAD="$library" COLLOPT_AFTER=1 "$@" \
            "$build/test/hostile/$(abi_of "$cases_host")/test_memory" "$from" 5
        after_that "$from"
        judge "$cases_host, 3 ranks: $* test_memory $from"
        [ -z "${TEST_MEMORY_FIRST-}" ] || [ "$next" -ge 0 ] || break
        [ -n "${TEST_MEMORY_FIRST-}" ] || next=$(any_case)
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
