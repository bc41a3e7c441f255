#!/bin/sh
# Which rules are used: a job's log, collopt-info --files and --explain, the doctor and compare name
# the same file for each MPI library: one that comes with collopt, one of the user's in a default
# place, and one that a variable names.

. "${COLLOPT_SOURCE:-.}/test/mpi/lang.sh"
command -v python3 >/dev/null || skip "no python3"
tools=$build/tools
cd "$work" || exit 99
processor=$("$tools/collopt-info" --all | sed -n 's/^  names  *MPI-VERSION-\([^ ]*\) .*/\1/p')
unset COLLOPT_RULES COLLOPT_MACHINE

named()                 # WHAT COMMAND...: $file is in what it says
{
    what="$where: $1"
    shift
    "$@" >"$work/said" 2>&1 </dev/null || :
    grep -qF -- "$file" "$work/said" || fail "$what: not $file"
}

# The version that the library itself reports.
version_of()            # HOST
{
    "$tools/collopt-info" | sed -n "s/^  $1 .*built with [A-Za-z ]*\([0-9]*\.[0-9]*\).*/\1/p"
}

agree()                 # HOST FILE KIND
{
    where="$1, $3" file=$2
    # shellcheck disable=SC2046
    set -- "$1" "$3" $(launcher_of "$1") -n 2
    host=$1 kind=$2
    shift 2
    COLLOPT_AFTER=1 COLLOPT_LOG=decide named 'the log' "$tools/collopt" "$@" ./app 5 1000 0
    named 'collopt-info --files' "$tools/collopt-info" --files --host "$host"
    grep -qx "$host $kind $file" "$work/said" || fail "$where: --files: not $kind"
    named 'collopt-info --explain' "$tools/collopt-info" --explain allreduce --ranks 2 \
        --bytes 8000 --host "$host"
    named 'the doctor' "$tools/collopt" doctor --measure off --json "$@" ./app
    COLLOPT_AFTER=1 named 'compare' "$tools/collopt" compare --pairs 1 --json "$@" ./app 5 1000 0
}

done_one=''
for host in $native_hosts; do
    built_for "$host" || continue
    # shellcheck disable=SC2046
    $(wrapper "$host") -I"$top/include" -o app "$top/test/tools/app.c" || fail "$host: app.c"
    mkdir -p "$host/data/collopt" "$host/config/collopt"
    rule='allreduce * * * * * ring'
    shipped=$work/$host/data/collopt/$host-$(version_of "$host")-$processor.rules
    users=$work/$host/config/collopt/$host.rules
    echo "$rule" >"$shipped"
    export XDG_DATA_DIRS="$work/$host/data" XDG_CONFIG_HOME="$work/none"
    agree "$host" "$shipped" shipped_rules
    echo "$rule" >"$users"
    export XDG_CONFIG_HOME="$work/$host/config"
    agree "$host" "$users" rules
    echo "$rule" >"$work/$host/given.rules"
    export COLLOPT_RULES="$work/$host/given.rules"
    agree "$host" "$COLLOPT_RULES" rules
    unset COLLOPT_RULES
    done_one=$host
done
[ -n "$done_one" ] || skip "no MPI"
finish
