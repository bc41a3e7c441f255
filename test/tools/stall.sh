#!/bin/sh
# COLLOPT_STALL: one rank of a node says once per call who waits and who is missing, nobody says so
# of a job that runs, and COLLOPT_STALL_ABORT ends the job.

. "${COLLOPT_SOURCE:-.}/test/tools/hang.sh"

stalls='collopt: waiting for more than 1 s'

# Until PATTERN is in the job's output, a minute at most.
until_said()            # PATTERN
{
    tries=0
    until grep -q -e "$1" job; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || { cp job said; return 1; }
        sleep 0.2
    done
    cp job said
}

# Some time later it has still been said once.
told()                  # HOST RANKS WAY PATTERN
{
    begin "$1" "$2" "$3" COLLOPT_STALL=1
    until_said "$stalls" || fail "$1, $2 ranks, $3: nobody says so"
    sleep 4
    cp job said
    [ "$(grep -c "$stalls" said)" = 1 ] || fail "$1, $2 ranks, $3: said more than once"
    grep -q "$stalls on .*$4" said || fail "$1, $2 ranks, $3: no \"$4\""
    end
}

runs()                  # HOST
{
    begin "$1" 2 runs COLLOPT_STALL=3
    sleep 6
    cp job said
    ! grep -q 'collopt:' said || fail "$1: something is said of a job that runs"
    end
}

ended()                 # HOST
{
    then='exit $?' seconds=100
    begin "$1" 3 missing COLLOPT_STALL=1 COLLOPT_STALL_ABORT=on COLLOPT_REPORT="$work/report"
    then='sleep 120' seconds=600
    wait "$launcher"
    status=$?
    cp job said
    [ $status != 0 ] && [ $status != 124 ] && [ $status != 137 ] ||
        fail "$1: COLLOPT_STALL_ABORT=on: status $status"
    grep -q "$stalls on .*look at rank 1 (pid $culprit" said || fail "$1: it does not say why"
    grep -q 'COLLOPT_STALL_ABORT=on: the job is ended' said || fail "$1: it does not say so"
    [ -s report.0 ] || fail "$1: the report is lost"
    rm -f report.0
    end
}

warned()                # HOST WARNING VARIABLE=VALUE...
{
    warned_host=$1 warning=$2
    shift 2
    begin "$warned_host" 2 runs "$@"
    [ "$(grep -c "$warning" said)" -ge 1 ] || fail "$warned_host, $*: no \"$warning\""
    end
}

tested=
for host in $native_hosts; do
    compile "$host" || continue
    tested=yes
    told "$host" 3 missing 'look at rank 1 (pid [0-9]*, .*): it is in no reduction'
    told "$host" 2 circle 'a circle: rank 0 '
    told "$host" 3 stopped 'look at rank 1 (pid [0-9]*, .*): it is stopped by a signal'
    runs "$host"
    ended "$host"
    warned "$host" 'COLLOPT_STALL=1: calls are not recorded' COLLOPT_STALL=1 COLLOPT_RECORD=off
    warned "$host" 'COLLOPT_STALL_ABORT=on: it needs COLLOPT_STALL=SECONDS' COLLOPT_STALL_ABORT=on
done
[ -n "$tested" ] || skip "collopt is not built for any MPI"
finish
