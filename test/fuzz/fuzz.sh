# A minute of programs drawn at random on each MPI, some the same every time and some that nobody
# has drawn yet; fuzz.c says what they are after.  A failure says its seed, and what to run.
#
# TEST_SEED=N: those that are not the same every time begin with this one.
# TEST_FUZZ_SECONDS=3600: for so long on each MPI.  For more choices, and to make a failure short,
# see test/fuzz/run.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"
export FUZZ_SHRINK_SECONDS="${FUZZ_SHRINK_SECONDS:-60}"

seconds=${TEST_FUZZ_SECONDS:-60}

fuzz()                  # HOST [OPTION]...
{
    fuzz_host=$1
    shift
    COLLOPT_BUILD=$build COLLOPT_SOURCE=$top "$top/test/fuzz/run" "$@" "$fuzz_host" \
        >"$work/fuzzed" 2>&1 || fail "$fuzz_host: see above"
    cat "$work/fuzzed"
}

# Settings leave some of the calls to the MPI library, but not most of them.
most_by_collopt()       # HOST
{
    sed -n 's/.*programs, \([0-9]*\) calls .*, \([0-9]*\) of them .*/\1 \2/p' "$work/fuzzed" | {
        read -r all ours && [ "$all" -gt 0 ] && [ $((2 * ours)) -ge "$all" ]
    } || fail "$1: collopt ran too few calls"
}

# No threads: Open MPI 4.1 hangs alone where threads make communicators.
calm='threads=1'

# Little shared memory: messages go by the host while ranks look at channels, which are told late.
# It hung where a rank looked at a channel only and the host made no progress.
short_of_memory()       # HOST
{
    COLLOPT_BUILD=$build COLLOPT_SOURCE=$top XDG_DATA_DIRS=$top/data "$top/test/fuzz/run" \
        -r "$1" 3 5393864 threads=1 steps=576 churn=10 trusted=0 burst=500 COLLOPT_AFTER=1 \
        COLLOPT_WAIT=spin COLLOPT_SHM_SIZE=1M COLLOPT_ALLREDUCE=swing_torus \
        COLLOPT_REDUCE_SCATTER=recursive_halving COLLOPT_EXSCAN=window_doubling \
        COLLOPT_REDUCE_SCATTER_BLOCK=strided_splitting:radices=3,radix=7 >"$work/fuzzed" 2>&1 ||
        fail "$1, short of shared memory: $(cat "$work/fuzzed")"
}

each()                  # HOST
{
    [ "$1" != openmpi ] || short_of_memory "$1"
    fuzz "$1" -s 1 -c 12 -t $((seconds / 2)) -a "$calm"
    most_by_collopt "$1"
    fuzz "$1" -t $((seconds / 2)) -a "$calm"
}

[ -z "${SMPI_MPICC-x}" ] || fuzz smpi -s 4 -c 1 -n 17
for_each_host each
