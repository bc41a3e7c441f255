#!/bin/sh
# Which rules are used: a job's log, collopt-info --files and --explain, the doctor and compare name
# the same file for each MPI library, also where a program reaches it by the standard ABI: one that
# comes with collopt, one of the user's in a default place, and one that a variable names.

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

agree()                 # FILE KIND: on $host, whose MPI library is $mpi
{
    where="$host, $2" file=$1 kind=$2
    # shellcheck disable=SC2046
    set -- $(launcher_of "$host") -n 2
    COLLOPT_AFTER=1 COLLOPT_LOG=decide named 'the log' "$tools/collopt" "$@" ./app 5 1000 0
    named 'collopt-info --files' "$tools/collopt-info" --files --host "$mpi"
    grep -qx "$mpi $kind $file" "$work/said" || fail "$where: --files: not $kind"
    named 'collopt-info --explain' "$tools/collopt-info" --explain allreduce --ranks 2 \
        --bytes 8000 --host "$mpi"
    named 'the doctor' "$tools/collopt" doctor --measure off --json "$@" ./app
    COLLOPT_AFTER=1 named 'compare' "$tools/collopt" compare --pairs 1 --json "$@" ./app 5 1000 0
}

# A program of the standard ABI finds the library of $mpi without a variable.
compile()
{
    set -- -I"$top/include" -o app "$top/test/tools/app.c"
    [ "$host" = "$mpi" ] || set -- "$@" -Wl,-rpath,"$build/abi/$mpi"
    # shellcheck disable=SC2046
    $(wrapper "$host") "$@" || fail "$host: app.c"
}

done_one=''
for host in $test_hosts; do
    mpi=$(mpi_of "$host")
    built_for "$host" && built_for "$mpi" || continue
    compile
    mkdir -p "$host/data/collopt" "$host/config/collopt"
    rule='allreduce * * * * * ring'
    shipped=$work/$host/data/collopt/$mpi-$(version_of "$mpi")-$processor.rules
    users=$work/$host/config/collopt/$mpi.rules
    echo "$rule" >"$shipped"
    export XDG_DATA_DIRS="$work/$host/data" XDG_CONFIG_HOME="$work/none"
    agree "$shipped" shipped_rules
    echo "$rule" >"$users"
    export XDG_CONFIG_HOME="$work/$host/config"
    agree "$users" rules
    echo "$rule" >"$work/$host/given.rules"
    export COLLOPT_RULES="$work/$host/given.rules"
    agree "$COLLOPT_RULES" rules
    unset COLLOPT_RULES
    done_one=$host
done
[ -n "$done_one" ] || skip "no MPI"
finish
