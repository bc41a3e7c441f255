#!/bin/sh
# The launcher with each MPI's real launchers: every rank has the library and the variables, the
# launcher's own helpers have not; a program that is not linked with collopt can ask it; the report
# is there.

. "${COLLOPT_SOURCE:-.}/test/common.sh"
ran=0
collopt=$COLLOPT_BUILD/tools/collopt
library=$(cd "$COLLOPT_BUILD/.libs" && pwd)/libcollopt.so
source=$COLLOPT_SOURCE
unset LD_PRELOAD COLLOPT_SOURCE COLLOPT_BUILD

same() # WHAT WANT GOT
{
    [ "$2" = "$3" ] || fail "$1: wanted \"$2\", got \"$3\""
}

seen()
{
    grep -c "^$library decide\$" "$work/out"
}

check_json() # FILE JQ-EXPRESSION
{
    if command -v jq >/dev/null; then
        jq -e "$2" "$1" >/dev/null || fail "$1 is not as it should be: $(cat "$1")"
    fi
}

# shellcheck disable=SC2086,SC2016  # RUN is several words; the ranks' shells expand what is quoted
host() # NAME MPICC RUN
{
    name=$1 mpicc=$2 run=$3
    [ -n "$mpicc" ] || return
    ran=1
    show='echo "$LD_PRELOAD $COLLOPT_LOG"'
    "$collopt" --log decide $run -n 2 sh -c "$show" : -n 1 sh -c "$show" >"$work/out" 2>&1 ||
        fail "$name: status $?"
    same "$name: ranks that have the library" 3 "$(seen)"
    "$collopt" --log decide $run -n 1 sh -c 'tr "\0" "\n" </proc/$PPID/environ' >"$work/out" 2>&1
    grep -q LD_PRELOAD "$work/out" && fail "$name: the rank's parent has the library"
    "$collopt" $run -n 1 sh -c 'exit 3' >/dev/null 2>&1
    same "$name: exit status" 3 $?

    "$mpicc" -I"$source/include" "$source/test/tools/weak.c" -o "$work/weak" || fail "$name: weak.c"
    $run -n 2 "$work/weak" >"$work/out" 2>&1
    same "$name: without the library" absent "$(cat "$work/out")"
    (cd "$work" && "$collopt" --after 1 --report "report.$name" $run -n 2 ./weak) >"$work/out" 2>&1
    grep -q '^present: 10 run, 0 passed, [1-9][0-9]* algorithms$' "$work/out" ||
        fail "$name: $(cat "$work/out")"
    if [ -f "$work/report.$name" ]; then
        check_json "$work/report.$name" '.ranks == 2 and .combined
            and ([.run[] | select(.collective == "allreduce") | .calls] | add) == 20'
    else
        fail "$name: no report"
    fi
    "$collopt" --off $run -n 2 "$work/weak" >"$work/out" 2>&1
    grep -q '^present: 0 run, ' "$work/out" || fail "$name --off: $(cat "$work/out")"
}

host openmpi "$OPENMPI_MPICC" "$OPENMPI_RUN"
host mpich "$MPICH_MPICC" "$MPICH_RUN"
[ $ran -eq 1 ] || exit 77
exit $failed
