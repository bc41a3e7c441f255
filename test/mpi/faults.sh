# Faults of the world that a job runs in: it ends or goes on as it does without collopt, and leaves
# nothing behind.  How long it takes is the launcher's affair, so there is only a generous bound.
#
# TEST_FAULTS=long: a rank is stopped for a minute, too (make check-large).

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

LAUNCH_SECONDS=300
longer=
[ "${TEST_FAULTS-}" != long ] || longer='stop=60' LAUNCH_SECONDS=400
mkdir "$work/tmp"
export TMPDIR="$work/tmp"

nothing_left()          # WHAT
{
    looks=0
    while pgrep -f "$work/mark" >"$work/left" && [ $looks -lt 50 ]; do
        sleep 0.2
        looks=$((looks + 1))
    done
    [ ! -s "$work/left" ] || fail "$1: processes are left: $(cat "$work/left")"
    find "$TMPDIR" -name 'collopt*' >"$work/left"
    [ ! -s "$work/left" ] || fail "$1: files of collopt are left: $(cat "$work/left")"
}

# The same status alone and with collopt: 0, or not.
alike()                 # HOST FAULT WHAT [COMMAND...]: each rank is run by COMMAND; $beside: is
                        # preloaded
{
    alike_host=$1 fault=$2 what="$1, $3"
    shift 3
    launch "$alike_host" 2 "$@" env LD_PRELOAD="${beside-}" \
        "$(program "$alike_host" faults)" "$fault" "$work/mark"
    alone=$?
    nothing_left "$what, alone"
    launch "$alike_host" 2 "$@" env LD_PRELOAD="${beside:+$beside:}$library" COLLOPT_AFTER=1 \
        "$(program "$alike_host" faults)" "$fault" "$work/mark"
    with=$?
    nothing_left "$what"
    [ $alone != 124 ] || { echo "$what: alone it does not end"; return; }
    [ $with != 124 ] || fail "$what: does not end"
    [ $((with == 0)) = $((alone == 0)) ] || fail "$what: status $with, alone $alone"
    ! grep -q '^FAIL' "$work/said" || fail "$what: wrong"
}

possible()              # COMMAND...: say what this user or kernel does not allow
{
    "$@" true 2>/dev/null || { echo "not possible here: $*"; return 1; }
}

# The time of day is an hour late or early, by turns.
cat >"$work/steps.c" <<'END'
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *t)
{
    static int turn;
    int err = (int)syscall(SYS_clock_gettime, id, t);

    if (id == CLOCK_REALTIME)
        t->tv_sec += turn++ % 2 ? 3600 : -3600;
    return err;
}
END
${CC:-cc} -shared -fPIC -O2 -o "$work/steps.so" "$work/steps.c" || fail 'steps.c'

stepping_clock()        # HOST
{
    beside=$work/steps.so
    alike "$1" none 'the time of day steps' env COLLOPT_REPORT="$work/report" \
        COLLOPT_TRACE="$work/trace"
    beside=
    [ -s "$work/report" ] && [ -s "$work/trace.1" ] || fail "$1, the time of day steps: no report"
    rm -f "$work/report" "$work"/trace.?
}

limited()               # COMMAND...
{
    sh "$top/test/mpi/limited_memory.sh" "${work##*/}" 400000000 "$@"
}

remove_groups()
{
    # a group is busy until its last process is gone
    for group in /sys/fs/cgroup/"${work##*/}"-* /sys/fs/cgroup/*/"${work##*/}"-*; do
        [ ! -d "$group" ] || rmdir "$group" || fail "$group is left"
    done
}

# shellcheck disable=SC2016
faults()                # HOST
{
    for fault in kill abort stop=2 $longer; do
        alike "$1" $fault "a rank: $fault"
    done
    stepping_clock "$1"
    ! possible limited || alike "$1" memory 'a rank: out of its memory' \
        sh "$top/test/mpi/limited_memory.sh" "${work##*/}" 400000000
    remove_groups
    if possible unshare --mount sh -c 'mount -t tmpfs -o ro none "$0" && exec "$@"' /dev/shm; then
        alike "$1" none '/dev/shm may not be written' \
            unshare --mount sh -c 'mount -t tmpfs -o ro none "$0" && exec "$@"' /dev/shm
        alike "$1" none '/proc is empty' \
            unshare --mount sh -c 'mount -t tmpfs -o ro none "$0" && exec "$@"' /proc
    fi
    ! possible unshare --user --map-root-user ||
        alike "$1" none 'user namespaces' unshare --user --map-root-user
    ! possible python3 -B "$top/test/mpi/without_calls.py" ||
        alike "$1" none 'no memfd_create and process_vm_readv' \
            python3 -B "$top/test/mpi/without_calls.py"
    ! possible unshare --time --boottime 1000000 --monotonic 1000000 ||
        alike "$1" none 'clocks of their own' sh -c \
            'n=${OMPI_COMM_WORLD_RANK-${PMI_RANK-0}}
            exec unshare --time --fork --monotonic ${n}00000 "$@"' sh
}

for_each_host faults
