# Under resource limits that the MPI library alone survives, reductions work with collopt too, by
# shared memory or without.  And a program that closes descriptors of others loses no data.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

M=1000000
log=warn size=16M

with_collopt()          # HOST RANKS SUBJECT [LIMIT=VALUE]...
{
    what="$1, $2 ranks, $3 ${4-}" host=$1 ranks=$2
    shift 2
    launch "$host" "$ranks" LD_PRELOAD="$library" COLLOPT_AFTER=1 COLLOPT_LOG=$log \
        COLLOPT_SHM_SIZE=$size "$(program "$host" limits)" "$@" || fail "$what: status $?"
}

limited()               # HOST RANKS SUBJECT [LIMIT=VALUE]...; false: the host alone fails
{
    what="$1, $2 ranks, $3 ${4-}" host=$1 ranks=$2
    shift 2
    launch "$host" "$ranks" "$(program "$host" limits)" "$@" || {
        sed -i d "$work/said"
        return 1
    }
    with_collopt "$host" "$ranks" "$@"
}

# One line says that there is no shared memory, unless there is.  The MPI library alone bears these
# limits.
shared()                # yes|no HOST RANKS SUBJECT [LIMIT=VALUE]...
{
    expected=$1 log=decide
    shift
    with_collopt "$@"
    n=$(grep -c 'no shared memory on this node' "$work/said")
    case $expected$n in yes0 | no1) ;; *) fail "$what: $n times no shared memory" ;; esac
    log=warn
}

# The least amount of memory that the MPI library alone needs leaves nothing for collopt.
memory()                # HOST RANKS LIMIT MB...
{
    memory_of=$1 memory_ranks=$2 limit=$3 enough=
    shift 3
    for mb in "$@"; do
        if [ -n "$enough" ]; then
            limited "$memory_of" "$memory_ranks" sums $limit=$((mb * M)) ||
                fail "$what: the MPI library alone fails, unlike with less"
        elif launch "$memory_of" "$memory_ranks" "$(program "$memory_of" limits)" sums \
            $limit=$((mb * M)); then
            enough=yes
        fi
    done
    [ -n "$enough" ] || fail "$memory_of, $memory_ranks ranks: no $limit suffices"
}

few()                   # HOST RANKS
{
    # for a segment and the room behind it, for a segment, and for none
    for mb in 2000 60 20; do
        shared yes "$1" "$2" long fsize=$((mb * M))
    done
    for bytes in 16777215 5000000; do
        shared no "$1" "$2" long fsize=$bytes
    done
    shared no "$1" "$2" alone fsize=9000000
    size=1M
    shared yes "$1" "$2" descriptors
    size=16M
    quiet "$1" "$2" COLLOPT_SCRATCH=8M "$(program "$1" limits)" scratch
}

# ---- quotas of processor time ----

in_group()              # COMMAND...
{
    (
        sh -c 'echo $PPID' >"$group/cgroup.procs"
        "$@"
    )
}

# Ranks that are more than the group has time for wait asleep, and one of them finds it out.
scarce()                # HOST
{
    for ranks in 2 1; do
        in_group launch "$1" $ranks LD_PRELOAD="$library" COLLOPT_AFTER=1 COLLOPT_LOG=decide \
            "$(program "$1" limits)" sums || fail "$1, $ranks ranks, a quota: status $?"
        said $((ranks - 1)) "ranks in one control group: 2, its quota of processors: 1" \
            "$1, $ranks ranks, a quota"
    done
}

limits()                # HOST
{
    few "$1" 2
    few "$1" 3
    memory "$1" 2 as 220 290 360 500 1000
    memory "$1" 3 as 360 500
    memory "$1" 2 data 15 35 55 75 200
    for n in 14 16 18 20 22 24 28 30 32 40; do
        limited "$1" 2 sums nofile=$n
    done
    for limit in memlock=0 nproc=1 stack=65536; do
        limited "$1" 2 sums $limit || echo "the MPI library alone fails: $what"
    done
    # UCX would take the program's madvise for itself
    for algorithm in gather recursive_multiplying:radix=3; do
        quiet "$1" 3 UCX_MEM_MMAP_HOOK_MODE=none COLLOPT_ALLREDUCE=$algorithm \
            "$(program "$1" limits)" pages
    done
    limited "$1" 3 thread || echo "the MPI library alone fails: $what"
}

if make_group 100000 100000; then
    for host in $test_hosts; do
        scarce "$host"
    done
    rmdir "$group"
else
    echo "not run: quotas of processor time, as this user can make no control group"
fi
for_each_host limits
