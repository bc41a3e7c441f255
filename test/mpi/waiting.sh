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
    for attempt in 1 2 3; do
        rm -f "$work/report" "$work/expected"
        quiet "$found_host" "$found_ranks" COLLOPT_REPORT="$work/report" "$@" \
            "$(program "$found_host" waiting)" "$work/expected" 4$attempt
        echo "$found_host, $found_ranks ranks, $*, attempt $attempt"
        python3 "$top/test/mpi/waiting.py" "$work/report" "$work/expected" "$found_ranks" \
            "$found_error" && return
    done
    fail "$found_host, $found_ranks ranks, $*"
}

waiting()               # HOST
{
    found "$1" 2 0
    found "$1" 3 0
    found "$1" 3 0 COLLOPT=off
    found "$1" 3 0.01 LD_PRELOAD="$library:$work/clock.so"
    [ "$1" != openmpi ] || found "$1" 4 0 COLLOPT_SHM=off
}

for_each_host waiting
