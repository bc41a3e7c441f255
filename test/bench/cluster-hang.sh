# collopt ps on jobs that hang on several hosts (bench/cluster): it asks each of them, and names
# rank 1, which is to blame, with its host.

. "${COLLOPT_SOURCE:-.}/test/tools/hang.sh"

bench=$top/bench/cluster
[ "$(id -u)" = 0 ] || skip "needs root"
unshare --net --uts --ipc --mount --pid --fork true 2>/dev/null ||
    skip "this machine does not let root make namespaces"
command -v tc >/dev/null || skip "tc is not installed (iproute2)"
TMPDIR=$work
export TMPDIR

# A launcher that starts a command on the first so many hosts, and puts their names in front of what
# they say.  That they are one cluster's is known by its directory.
cat >on-hosts <<'END'
#!/bin/sh
n=$1 state=$(echo collopt-cluster.*)
shift
for host in $(seq "$n"); do
    nsenter --target "$(cat "$state/h$host.pid")" --net --uts --ipc --mount --pid "$@" |
        sed "s/^/[h$host] /"
done
END
chmod +x on-hosts

ready()                 # RANKS
{
    tries=0
    until [ "$(grep -c 'pid [0-9]* ready' job)" = "$1" ]; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || break
        sleep 0.1
    done
    [ $tries -lt 600 ] || fail "$host, $way: the job does not start: $(cat job)"
}

# Until it says PATTERN: to hang takes a job a moment.
asked()                 # HOSTS PATTERN
{
    tries=0
    while :; do
        "$collopt" ps --longer 0.5 ./on-hosts "$1" >said 2>&1
        status=$?
        tries=$((tries + 1))
        ! grep -q -e "$2" said || return 0
        [ $tries -lt 60 ] || return 1
        sleep 0.2
    done
}

words_of()              # WAY
{
    them="look at rank 1 (pid [0-9]*, host h2)"
    case $1 in
        missing | nonblocking) echo "$them: it is in no reduction, asleep" ;;
        root) echo "$them: its call does not match" ;;
        circle) echo "a circle: rank 0 (.*h1) waits .* on \"first\" for rank 1 (.*h2), which" ;;
        stopped) echo "$them: it is stopped by a signal" ;;
        operation) echo "$them: it is inside of an operation" ;;
    esac
}

# The job ends with bench/cluster, whose hosts take their processes along.
hangs()                 # HOST HOSTS WAY
{
    host=$1 hosts=$2 way=$3
    COLLOPT_AFTER=1 sh "$bench" --mpi "$host" --hosts "$hosts" --preload "$library" \
        "$work/hang-$host" "$way" >job 2>&1 </dev/null &
    cluster=$!
    ready "$hosts"
    asked "$hosts" "$(words_of "$way")" || fail "$host, $way: no \"$(words_of "$way")\""
    [ "$status" = 1 ] || fail "$host, $way: status $status"
    grep -q "job of $hosts ranks" said || fail "$host, $way: not merged"
    ! grep 'look at rank [02-9]' said || fail "$host, $way: another is accused"
    kill $cluster
    wait $cluster 2>/dev/null
}

# A rank on a host that was not asked is not accused.
asks_one()              # HOST
{
    host=$1 way=missing
    COLLOPT_AFTER=1 sh "$bench" --mpi "$host" --hosts 2 --preload "$library" \
        "$work/hang-$host" missing >job 2>&1 </dev/null &
    cluster=$!
    ready 2
    asked 1 'rank 1 .*not seen' || fail "$host: one host of two: rank 1 is known"
    ! grep 'look at rank' said || fail "$host: one host of two: somebody is accused"
    kill $cluster
    wait $cluster 2>/dev/null
}

tested=
for mpi in $native_hosts; do
    compile "$mpi" || continue
    tested=yes
    case $mpi in
    openmpi)
        for way in missing root circle stopped operation nonblocking; do
            hangs "$mpi" 3 $way
        done
        hangs "$mpi" 8 missing
        asks_one "$mpi"
        ;;
    mpich)                      # it never yields
        hangs "$mpi" 2 missing
        hangs "$mpi" 2 circle
        ;;
    esac
done
[ -n "$tested" ] || skip "no MPI"
finish
