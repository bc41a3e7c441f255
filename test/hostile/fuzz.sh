# Half a minute of programs drawn at random on each MPI, as in test/fuzz/fuzz.sh, on a host that is
# legal and unhelpful; hostile.c says how.  A failure says its seed, and what to run.
#
# TEST_FUZZ_SECONDS=3600: for so long on each MPI.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"
export FUZZ_SHRINK_SECONDS="${FUZZ_SHRINK_SECONDS:-60}"

seconds=${TEST_FUZZ_SECONDS:-30}

each()                  # HOST
{
    COLLOPT_BUILD=$build COLLOPT_SOURCE=$top "$top/test/fuzz/run" -H -t "$seconds" -p 20 \
        -a threads=1 "$1" >"$work/fuzzed" 2>&1 || fail "$1: $(cat "$work/fuzzed")"
    cat "$work/fuzzed"
}

for_each_host each
