# Errors: each answered as the host answers it.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

errors()                # HOST
{
    for ranks in 1 2 3; do
        with=$(program "$1" errors)
        rm -f "$work"/alone.* "$work"/both.*
        errors_alone "$1" $ranks
        launch "$1" $ranks LD_PRELOAD="$library" COLLOPT_AFTER=1 "$without" "$with" "$work/both" \
            || fail "$1, $ranks ranks, errors with collopt: status $?"
        said 0 '^collopt' "$1, $ranks ranks, errors"
        for answers in "$work"/alone.*; do
            diff "$answers" "$work/both.${answers##*.}" >"$work/differ" || {
                cat "$work/differ"
                fail "$1, $ranks ranks: error classes differ (< $1 alone, > with collopt)"
            }
        done
    done
}

# Without its checks Open MPI's own results of such calls depend on its algorithm.
unchecked()             # HOST
{
    [ "$(mpi_of "$1")" = openmpi ] || return        # MPICH is built with its checks or without
    launch "$1" 3 LD_PRELOAD="$library" COLLOPT_AFTER=1 OMPI_MCA_mpi_param_check=0 \
        "$(program "$1" errors)" unchecked \
        || fail "$1 without its checks: status $?"
}

handlers_that_leave()   # HOST
{
    for ranks in 2 3; do
        launch "$1" $ranks LD_PRELOAD="$library" COLLOPT_AFTER=1 "$(program "$1" errors)" longjmp \
            || fail "$1, $ranks ranks, handlers that leave by longjmp: status $?"
        launch "$1" $ranks LD_PRELOAD="$library" COLLOPT_AFTER=1 COLLOPT_ADAPT=on \
            "$(program "$1" errors)" longjmp-trials \
            || fail "$1, $ranks ranks, handlers that leave by longjmp from trials: status $?"
        for with in COLLOPT_AFTER=1 COLLOPT_ADAPT=on; do
            launch "$1" $ranks LD_PRELOAD="$library" COLLOPT_CHECK=on $with \
                "$(program "$1" errors)" longjmp-checked \
                || fail "$1, $ranks ranks, $with, handlers that leave from comparisons: status $?"
        done
    done
}

# Other threads' errors, and handlers that they set, while a thread waits in a reduction.
handlers_of_threads()   # HOST
{
    for with in COLLOPT_AFTER=1 COLLOPT_AFTER=auto COLLOPT_AFTER=5 COLLOPT_CHECK=on \
        COLLOPT_ADAPT=on; do
        quiet "$1" 2 $with "$(program "$1" threads)" handlers
    done
    quiet "$1" 3 COLLOPT_CHECK=on COLLOPT_ADAPT=on "$(program "$1" threads)" handlers
    launch "$1" 2 "$(program "$1" threads)" handlers || fail "$1 alone, handlers of threads: $?"
}

operations_that_leave() # HOST
{
    for ranks in 2 3 5; do
        quiet "$1" $ranks "$(program "$1" errors)" operations 3
    done
    quiet "$1" 2 "$(program "$1" errors)" operations 100000
    quiet "$1" 3 COLLOPT_SHM=off "$(program "$1" errors)" operations 3
    quiet "$1" 3 COLLOPT_CHECK=on "$(program "$1" errors)" operations 3
    launch "$1" 2 "$(program "$1" errors)" operations 3 ||
        echo "$1 alone fails after operations that leave"
}

all_of()                # HOST
{
    errors "$1"
    unchecked "$1"
    handlers_that_leave "$1"
    handlers_of_threads "$1"
    operations_that_leave "$1"
}

for_each_host all_of
