# The report tells waiting from reducing, and names the rank that comes late, as a program that
# delays ranks measures it: by collopt and by the MPI library, with one clock and with several.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

command -v python3 >/dev/null || skip 'no python3'
${CC:-cc} -shared -fPIC -O2 -o "$work/clock.so" "$top/test/mpi/clock_standin.c" -ldl ||
    { fail 'no stand-in for the clock'; finish; }

# A rank that loses its processor between the program's look at the clock and collopt's is late for
# one of them only: on a busy machine it takes several attempts.
found()                 # HOST RANKS CLOCK_ERROR [VARIABLE=VALUE]...
{
    found_host=$1 found_ranks=$2 found_error=$3
    shift 3
    for attempt in 1 2 3 4 5; do
        rm -f "$work/report" "$work/expected"
        quiet "$found_host" "$found_ranks" COLLOPT_REPORT="$work/report" "$@" \
            "$(program "$found_host" waiting)" "$work/expected" 4$attempt
        echo "$found_host, $found_ranks ranks, $*, attempt $attempt"
        python3 "$top/test/mpi/waiting.py" "$work/report" "$work/expected" "$found_ranks" \
            "$found_error" && return
    done
    fail "$found_host, $found_ranks ranks, $*"
}

other()                 # HOST RANKS WHAT CONDITION [VARIABLE=VALUE]...
{
    other_host=$1 other_ranks=$2 what=$3 condition=$4
    shift 4
    rm -f "$work/report"
    quiet "$other_host" "$other_ranks" COLLOPT_REPORT="$work/report" "$@" \
        "$(program "$other_host" waiting)" "$what"
    python3 -c "
import json, sys
w = json.load(open(sys.argv[1])).get('waiting')
sys.exit(0 if $condition else 'waiting: %s' % w)" "$work/report" 2>"$work/said" ||
        fail "$other_host, $what: what is known of waiting is wrong"
}

waiting()               # HOST
{
    other "$1" 2 many '2 * 4180000 < w["calls"] < w["of_calls"] - 20'
    other "$1" 4 pairs 'w["calls"] == w["of_calls"] == 400'
    # a rank may lose its processor in between
    other "$1" 2 rows '100 < w["following"]["calls"] <= 400'
    other "$1" 2 hasty '0 < w["at_once"]["calls"] <= 200 and w["calls"] == w["of_calls"]'
    other "$1" 2 hasty '0 < w["at_once"]["calls"] <= 200 and w["calls"] == w["of_calls"]' \
        COLLOPT=off
    # if the two were taken for each other, rank 1 would be last in half of its calls
    other "$1" 2 swapped 'w["late"]["rank"] == 1 and w["late"]["last"] >= 16'
    [ "$1" = openmpi ] && other "$1" 2 lonely 'w is None' COLLOPT=off
    found "$1" 2 0
    found "$1" 3 0
    found "$1" 3 0 COLLOPT=off
    found "$1" 3 0.01 LD_PRELOAD="$library:$work/clock.so"
    [ "$1" != openmpi ] || found "$1" 4 0 COLLOPT_SHM=off
}

for_each_host waiting
