# The report tells waiting from reducing, and names the late rank, across hosts whose clocks differ:
# bench/cluster, where a program that delays ranks measures the same itself.

. "${COLLOPT_SOURCE:-.}/test/mpi/lang.sh"

bench=$top/bench/cluster
[ "$(id -u)" = 0 ] || skip "needs root"
unshare --net --uts --ipc --mount --pid --fork true 2>/dev/null ||
    skip "this machine does not let root make namespaces"
command -v tc >/dev/null || skip "tc is not installed (iproute2)"
command -v python3 >/dev/null || skip 'no python3'
TMPDIR=$work
export TMPDIR
${CC:-cc} -shared -fPIC -O2 -o "$work/clock.so" "$top/test/mpi/clock_standin.c" -ldl ||
    { fail 'no stand-in for the clock'; finish; }

# A rank that loses its processor between the program's look at the clock and collopt's is late for
# one of them only: on a busy machine it takes several attempts.
waiting()               # HOST HOSTS CALLS
{
    for attempt in 1 2 3 4 5; do
        rm -f "$work/report" "$work/expected"
        # shellcheck disable=SC2016     # for the hosts' shells
        COLLOPT_AFTER=1 COLLOPT_REPORT=$work/report CLOCK_RANKS=1 timeout -k 5 300 sh "$bench" \
            --mpi "$1" --hosts "$2" --rate none --preload "$library" \
            sh -c 'LD_PRELOAD=$0:$LD_PRELOAD exec "$@"' "$work/clock.so" \
            "$build/test/mpi/$1/test_waiting" "$work/expected" 5$attempt "$3" \
            </dev/null >"$work/said" 2>&1 || { fail "$1, $2 hosts: status $?"; return; }
        echo "$1, $2 hosts, attempt $attempt"
        python3 "$top/test/mpi/waiting.py" "$work/report" "$work/expected" "$2" 0.01 0.1 && return
    done
    fail "$1, $2 hosts"
}

tested=
for host in $native_hosts; do
    built_for "$host" || continue
    tested=yes
    case $host in
    openmpi) waiting "$host" 8 5 ;;
    mpich) waiting "$host" 2 3 ;;       # it never yields
    esac
done
[ -n "$tested" ] || skip "no MPI"
finish
