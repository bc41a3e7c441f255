# What the tests of whole programs share (examples, Fortran, Python, hpcc): running a program on one
# of the hosts with collopt preloaded or without, and reading the report.

set -u

# The two trees.  Not kept in the environment: collopt warns of COLLOPT_ variables that it does not
# know.
build=${COLLOPT_BUILD:-$PWD} top=${COLLOPT_SOURCE:-$PWD}
. "$top/test/launch.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
unset LD_PRELOAD COLLOPT COLLOPT_BUILD COLLOPT_SOURCE

library=$build/.libs/libcollopt.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

skip()
{
    echo "SKIP: $*"
    exit 77
}

made()                  # VARIABLE: as configure has set it
{
    sed -n "s/^$1 = //p" "$build/Makefile"
}

# Notes a failure, shows what the program said, and goes on.
fail()
{
    echo "FAIL: $*"
    [ ! -s "$work/said" ] || sed 's/^/    /' "$work/said"
    failures=$((failures + 1))
}

finish()
{
    [ "$failures" = 0 ] || echo "$failures failed"
    [ "$failures" = 0 ]
    exit
}

# The words before "--" into $variables, for the function that was given them; $words: how many
# there are, that one with them.
variables_of()          # [VARIABLE=VALUE]... -- ...
{
    variables='' words=1
    while [ "$1" != -- ]; do
        variables="$variables $1"
        words=$((words + 1))
        shift
    done
}

# Only what hangs is to be ended: with all processors busy, a job has been seen to take ten times as
# long as alone.
launch()                # HOST RANKS [VARIABLE=VALUE]... PROGRAM [ARGUMENT]...: what it says goes to
                        # $work/said
{
    launch_host=$1 launch_ranks=$2
    shift 2
    # shellcheck disable=SC2046     # the launcher has options
    timeout "${LAUNCH_SECONDS:-400}" $(launcher_of "$launch_host") -n "$launch_ranks" \
        env $(library_of "$launch_host") "$@" </dev/null >"$work/said" 2>&1
}

# The same with collopt, from the first call on, reporting to $work/report.
launch_collopt()
{
    collopt_host=$1 collopt_ranks=$2
    shift 2
    rm -f "$work"/report*
    launch "$collopt_host" "$collopt_ranks" LD_PRELOAD="$library" COLLOPT_AFTER=1 \
        COLLOPT_REPORT="$work/report" "$@"
}

# Calls in the report (one record to a line) that match a pattern; "" for all.
reported()              # run|passed PATTERN
{
    [ -f "$work/report" ] || { echo 0; return; }
    awk -v list="$1" -v pattern="$2" '
        /"run":/ { at = "run" } /"passed":/ { at = "passed" }
        at == list && $0 ~ pattern && match($0, /"calls": *[0-9]+/) {
            calls = substr($0, RSTART, RLENGTH); sub(/.*: */, "", calls); sum += calls
        }
        END { print sum + 0 }' "$work/report"
}

# The family of Fortran programs without collopt, but for what the host alone fails in: Open MPI
# 5.0.7 in nonblocking and persistent reductions (deferred), 6.0.0rc2 in array sections.  $without
# is what has to be left out with collopt, too; the deferred ones it runs itself.
fortran_alone()         # HOST RANKS PROGRAM
{
    for fails in '' deferred sections deferred,sections; do
        if launch "$1" "$2" TEST_WITHOUT=$fails "$3" &&
            launch "$1" "$2" TEST_WITHOUT=$fails "$3"; then
            case $fails in
            *sections) without=TEST_WITHOUT=sections ;;
            *) without=TEST_WITHOUT= ;;
            esac
            [ -z "$fails" ] || echo "$1 alone fails in it: $fails, ${3##*/}"
            return
        fi
    done
    fail "$3 on $2 ranks without collopt"
}

# $group: a control group that has QUOTA us of processor time in each PERIOD; false: none can be
# made.
make_group()            # QUOTA PERIOD
{
    for folder in /sys/fs/cgroup/cpu /sys/fs/cgroup; do
        group=$folder/collopt-test-$$
        mkdir "$group" 2>/dev/null || continue
        if [ -w "$group/cpu.max" ]; then
            echo "$1" "$2" >"$group/cpu.max" && return
        elif [ -w "$group/cpu.cfs_quota_us" ]; then
            echo "$2" >"$group/cpu.cfs_period_us" && echo "$1" >"$group/cpu.cfs_quota_us" && return
        fi
        rmdir "$group"
    done
    return 1
}
