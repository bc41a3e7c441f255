# COLLOPT_TRACE: every call of a program is in the trace once, between the times that the program
# saw, by collopt and by the MPI library, with one clock and with several; its size is bounded;
# collopt-report makes one trace of those of the ranks; bad names are told.  The report counts the
# communicators that are hardly used.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

command -v python3 >/dev/null || skip 'no python3'
report=$build/tools/collopt-report
${CC:-cc} -shared -fPIC -O2 -o "$work/clock.so" "$top/test/mpi/clock_standin.c" -ldl ||
    { fail 'no stand-in for the clock'; finish; }

traced()                # HOST RANKS TIMES [VARIABLE=VALUE]...
{
    traced_host=$1 traced_ranks=$2 times=$3
    shift 3
    rm -f "$work"/trace*
    launch "$traced_host" "$traced_ranks" LD_PRELOAD="$library" COLLOPT_AFTER=1 \
        COLLOPT_TRACE="$work/trace" "$@" \
        "$(program "$traced_host" trace)" "$work/trace-lines" "$times" ||
        fail "$traced_host, $traced_ranks ranks, $*: status $?"
}

silent()
{
    ! grep '^collopt' "$work/said" || fail "$host: something is said"
}

compared()              # RANKS MISSING CLOCK_ERROR [MERGED]
{
    python3 "$top/test/mpi/trace.py" "$work/trace" "$@" || fail "$host, $*"
}

merged()                # RANKS
{
    "$report" --trace -o "$work/trace.json" "$work/trace" >"$work/merging" 2>&1 ||
        fail "$host: collopt-report --trace: $(cat "$work/merging")"
    compared "$1" '' 0 "$work/trace.json"
    "$report" --trace -o "$work/trace.json.gz" "$work"/trace.[0-9] >"$work/merging" 2>&1
    gzip -dc "$work/trace.json.gz" | cmp - "$work/trace.json" || fail "$host: compressed"
    rm "$work/trace.1"
    "$report" --trace -o "$work/trace.json" "$work/trace" 2>&1 >"$work/merging" |
        grep -q "1 of $1 ranks have no trace, the first one rank 1" || fail "$host: rank 1 is gone"
}

# The report of 3 ranks and 3 times counts the communicators: one is used all the time.
short_lived()           # HOST
{
    python3 - "$work/report" <<'PYTHON' || fail "$1: communicators of the report"
import json, sys
found = json.load(open(sys.argv[1]))["communicators"]
seconds = found.pop("seconds")
assert found == {"made": 21, "hardly_used": 18, "reductions": 18}, found
assert 0 < seconds["min"] <= seconds["mean"] <= seconds["max"], seconds
PYTHON
    rm "$work/report"
}

bounded()               # HOST
{
    traced "$1" 2 10 COLLOPT_TRACE_SIZE=8K
    compared 2 late 0
    said 1 'COLLOPT_TRACE: the last calls of 2 of the ranks, .* COLLOPT_TRACE_SIZE=8K has no room' \
        "$1"
}

wrong_name()            # HOST NAME WHAT
{
    traced "$1" 2 1 COLLOPT_TRACE="$2"
    said 1 "COLLOPT_TRACE: 2 of the ranks could not write the trace, the first one to $2.0: $3" \
        "$1, $2"
    said 1 "COLLOPT_TRACE: the trace cannot be written to $2: $3; unless" "$1, $2"
}

trace()                 # HOST
{
    traced "$1" 3 5
    silent
    merged 3
    traced "$1" 3 3 COLLOPT=off COLLOPT_REPORT="$work/report"
    silent
    compared 3 '' 0
    short_lived "$1"
    traced "$1" 3 3 COLLOPT_REPORT="$work/report" LD_PRELOAD="$library:$work/clock.so"
    silent
    compared 3 '' 10000
    short_lived "$1"
    bounded "$1"
    wrong_name "$1" /nowhere/trace 'No such file or directory'
    wrong_name "$1" "$work" 'Is a directory'
}

for_each_host trace
