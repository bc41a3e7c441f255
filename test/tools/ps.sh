#!/bin/sh
# collopt ps on jobs that hang in eleven ways, on each MPI: it names rank 1, which is to blame.
# Then on jobs that run, are not recorded, in containers, of other users, and on several "nodes".
# Only the test's own job is asked for: others may run on the machine.

. "${COLLOPT_SOURCE:-.}/test/tools/hang.sh"
ps=$build/tools/collopt-ps

# Until it says PATTERN: to hang takes a job a moment.
asked()                 # PATTERN OPTION...
{
    pattern=$1
    shift
    tries=0
    while :; do
        "$ps" --pid "$other" --longer 0.5 "$@" >said 2>&1
        status=$?
        tries=$((tries + 1))
        ! grep -q -e "$pattern" said || return 0
        [ $tries -lt 100 ] || return 1
        sleep 0.2
    done
}

# ---- the ways ------------------------------------------------------------------------------------

# What is said of rank 1 in each.
words_of()              # WAY
{
    them="look at rank 1 (pid $culprit, host .*)"
    case $1 in
        missing | nonblocking) echo "$them: it is in no reduction, asleep" ;;
        receive) echo "$them: it is in no reduction" ;;
        io) echo "$them: it is in no reduction, asleep" ;;
        root | count | collective) echo "$them: its call does not match" ;;
        circle) echo "a circle: rank 0 (.*) on \"first\" for rank 1 (pid $culprit, .*), which" ;;
        stopped) echo "$them: it is stopped by a signal" ;;
        killed) echo 'look at rank 1 of MPI_COMM_WORLD: ended, or not recorded' ;;
        operation) echo "$them: it is inside of an operation" ;;
    esac
}

# Of two ranks that call different things it is not known which one is right.
innocent()              # WAY RANKS: whom nobody may accuse
{
    case $1:$2 in
        root:2 | count:2 | collective:2) ;;
        *) echo 'look at rank [02-9]' ;;
    esac
}

hangs()                 # HOST RANKS WAY
{
    begin "$@"
    asked "$(words_of "$3")" || fail "$1, $2 ranks, $3: no \"$(words_of "$3")\""
    [ "$status" = 1 ] || fail "$1, $2 ranks, $3: status $status"
    accused=$(innocent "$3" "$2")
    [ -z "$accused" ] || ! grep "$accused" said || fail "$1, $2 ranks, $3: another is accused"
    [ "$3" != receive ] || starves "$1"
    end
}

# The culprit, which polls, gets a thousandth of a processor.
starves()               # HOST
{
    if ! make_group 1000 1000000; then
        echo 'not tested: ranks without a processor, as this user can make no control group'
        return
    fi
    echo "$culprit" >"$group/cgroup.procs"
    asked "look at rank 1 (pid $culprit, .*): it seems to wait for a processor" ||
        fail "$1: a rank without a processor"
    echo "$culprit" >"${group%/*}/cgroup.procs"
    rmdir "$group"
}

# ---- jobs that run -------------------------------------------------------------------------------

runs()                  # HOST
{
    begin "$1" 2 runs
    for look in 1 2 3 4 5; do
        "$ps" --pid "$other" --longer 20 >said 2>&1 || fail "$1: look $look: status $?"
        ! grep 'look at' said || fail "$1: a job that runs is accused"
        grep -q 'no rank waits long; [12] of 2 seem to be reducing' said ||
            fail "$1: it is not said that it runs"
    done
    "$collopt" ps --json --longer 20 --pid "$other" >said 2>&1 || fail "$1: --json: status $?"
    ! command -v python3 >/dev/null || python3 -c 'import json, sys
job, = json.load(open("said"))["jobs"]
assert job["ranks"] == 2 and len(job["processes"]) == 2 and not job["waits"] and job["complete"]
assert any(p["moved"] for p in job["processes"]) and not job["culprits"]' || fail "$1: --json"
    end
}

not_recorded()          # HOST
{
    begin "$1" 2 missing COLLOPT_RECORD=off
    "$ps" --pid "$other" >said 2>&1
    [ $? = 3 ] || fail "$1: COLLOPT_RECORD=off is seen"
    grep -q "process $other: no MPI job that runs with collopt was found" said ||
        fail "$1: COLLOPT_RECORD=off: it is not said"
    grep -q 'COLLOPT_RECORD is not off' said || fail "$1: it is not said why"
    end
}

# ---- several nodes -------------------------------------------------------------------------------

# A launcher that starts a command on two "nodes", each of which sees one of the ranks, and puts
# words in front of what they say.
nodes()                 # HOST
{
    cat >launcher <<END
#!/bin/sh
"\$@" --pid $other | awk -v keep=0 -f pick | sed 's/^/[n1] /'
"\$@" --pid $other | awk -v keep=2 -f pick | sed 's/^/[n2] /'
END
    cat >pick <<'END'
# The lines of one process, by the number at the end of their key.
{ n = split($2, part, "."); if ($3 == "node" || part[n] == keep) print }
END
    chmod +x launcher
    "$collopt" ps --longer 0.5 ./launcher >said 2>&1
    [ $? = 1 ] || fail "$1, nodes: no rank waits"
    grep -q 'job of 3 ranks, .*: 2 seen' said || fail "$1, nodes: not merged"
    grep -q 'rank 1 \(is not found\|not seen\)' said || fail "$1, nodes: rank 1 is known"
    ! grep -q 'look at rank [02]' said || fail "$1, nodes: another is accused"
    "$ps" --dump --pid "$other" >dump
    "$ps" --read dump dump --longer 0.5 >said 2>&1
    grep -q "look at rank 1 (pid $culprit, .*): it is in no reduction" said ||
        fail "$1: two dumps of one node"
    cut -c1-70 dump >torn
    "$ps" --read torn >said 2>&1
    [ $? = 3 ] || fail "$1: lines that are torn"
    # a state of a process that is no letter
    awk '$3 == "process" { $18 = 183 } { print }' dump >spoilt
    "$ps" --read spoilt >said 2>&1
    [ $? = 3 ] || fail "$1: a process in no state"
    ! "$collopt" ps --longer 0.5 false >said 2>&1 || fail "$1: a launcher that fails"
    grep -q 'no node has answered: false has to start .*/collopt-ps there' said ||
        fail "$1: a launcher that fails"
}

# The stack has the function in which rank 1 is, where a debugger is installed.
stacks()                # HOST
{
    "$ps" --pid "$other" --longer 0.5 --stack >said 2>&1
    if command -v eu-stack >/dev/null || command -v gdb >/dev/null; then
        grep -q "stack of rank 1 (pid $culprit)" said || fail "$1: --stack"
        grep -q 'pause' said || fail "$1: --stack: no function"
    fi
    mkdir -p empty
    PATH=$work/empty "$ps" --pid "$other" --longer 0.5 --stack >said 2>&1
    grep -q 'neither eu-stack nor gdb is installed: install the package elfutils or gdb' said ||
        fail "$1: --stack without a debugger"
}

# ---- other places, users and clocks --------------------------------------------------------------

# The id out here of the rank that has this one for itself.
outer_of()              # PID
{
    for status in $(grep -lE "^NSpid:.*[[:space:]]$1\$" /proc/[0-9]*/status 2>/dev/null); do
        process=${status#/proc/}
        process=${process%/status}
        case $(readlink "/proc/$process/exe" 2>/dev/null) in
            "$work"/*) echo "$process" ;;
        esac
    done
}

# The namespaces of a container; they end with the command that made them.
apart()                 # HOST OPTION...
{
    host_apart=$1
    shift
    within="unshare --fork --kill-child $*"
    if ! $within true 2>/dev/null; then
        echo "not tested: $within"
        within=''
        return
    fi
    begin "$host_apart" 3 missing
    within=''
    other=$(outer_of "$other") culprit=$(outer_of "$culprit")
    asked "$(words_of missing)" || fail "$host_apart, unshare $*"
    case $* in
        *--time*) grep -q 'for a time that is not known: ranks 0, 2$' said ||
            fail "$host_apart: times of another clock" ;;
    esac
    end_apart
}

# The launcher first, which takes its ranks along; unshare itself does not heed a signal.
end_apart()
{
    child=$(cat "/proc/$launcher/task/$launcher/children" 2>/dev/null)
    # shellcheck disable=SC2086         # with a space behind it
    [ -z "$child" ] || kill $child
    tries=0
    while [ -n "$(cat "/proc/$launcher/task/$launcher/children" 2>/dev/null)" ]; do
        tries=$((tries + 1))
        [ $tries -lt 100 ] || break
        sleep 0.1
    done
    kill -KILL "$launcher" 2>/dev/null
    wait "$launcher" 2>/dev/null
}

another_user()          # HOST
{
    nobody='setpriv --reuid 65534 --clear-groups'
    if ! $nobody "$ps" --version >said 2>&1; then
        echo "not tested: $nobody"
        return
    fi
    $nobody "$ps" --pid "$other" >said 2>&1
    [ $? = 3 ] || fail "$1: another user sees the job"
    grep -q 'processes of other users were not looked at: be that user, or root' said ||
        fail "$1: another user is not told why"
}

again_and_again()       # HOST
{
    timeout 3 "$ps" --pid "$other" --watch 0.2 >said 2>&1
    [ "$(grep -c '^job of 3 ranks' said)" -gt 2 ] || fail "$1: --watch"
}

# ---- all of it -----------------------------------------------------------------------------------

tested=
for host in $native_hosts; do
    compile "$host" || continue
    tested=yes
    for way in missing root count collective circle receive io stopped killed operation \
        nonblocking; do
        hangs "$host" 3 $way
    done
    hangs "$host" 2 missing
    hangs "$host" 2 circle
    [ "$host" = mpich ] || hangs "$host" 4 missing      # it never yields
    begin "$host" 3 missing
    asked "$(words_of missing)" || fail "$host: missing"
    nodes "$host"
    stacks "$host"
    another_user "$host"
    again_and_again "$host"
    end
    begin "$host" 3 missing COLLOPT=off
    asked "$(words_of missing)" || fail "$host: COLLOPT=off"
    end
    apart "$host" --pid --mount-proc
    apart "$host" --time --monotonic 100000
    runs "$host"
    not_recorded "$host"
done
[ -n "$tested" ] || skip "no MPI"

refused()               # WORDS OPTION...
{
    words=$1
    shift
    "$collopt" ps "$@" >said 2>&1
    [ $? = 2 ] || fail "$*: no status 2"
    grep -q -e "$words" said || fail "$*: no \"$words\""
}

refused '--longer soon is not a number of seconds' --longer soon
refused '--longer needs a value' --longer
refused '--pid 0 is not the number of a process' --pid 0
refused '--watch 0 is less than 0.1 seconds' --watch 0
refused 'leave out --watch=1, or the launcher' --watch 1 true
refused 'needs files' --read
refused 'nothing that collopt-ps --dump has printed' --read /dev/null
refused 'none: No such file' --read none
refused 'has no use for' --dump --json
finish
