#!/bin/sh
# shellcheck disable=SC2317     # functions that test_hosts=$native_hosts
for_each_host calls
# collopt-tune on both hosts: rules that pass --check and are obeyed, a wrong result, a launcher of
# the other MPI.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

tune=$build/tools/collopt-tune

tunes()                 # STATUS WHAT ARGUMENT...: with the host's launcher
{
    tune_status=$1 what="$host, $2"
    shift 2
    launcher=$(launcher_of "$host")
    # shellcheck disable=SC2086     # the launcher has options
    timeout 120 "$tune" -o "$work/rules" --progress off "$@" $launcher -n 2 >"$work/said" 2>&1
    found=$?
    [ "$found" = "$tune_status" ] || fail "$what: exit status $found, not $tune_status"
}

says()
{
    grep -q -e "$1" "$work/said" || fail "$what: nothing like \"$1\" is said"
}

on_host()               # HOST
{
    host=$1 program=$build/bench/$1/collopt-bench
    rm -f "$work"/rules*
    for _ in 1 2; do            # on a machine that is busy the time suffices for one cell only
        tunes 0 'rules' --verify --time 2s --collectives allreduce --ops sum \
            --sizes 64,4K --candidates 2
        [ -f "$work/rules.part" ] || break
    done
    says '2 of 2 cells measured'
    says '^verified: 2 cells, in [012] of which '
    "$tune" --check "$work/rules" >"$work/said" || fail "$what: the rules do not pass --check"
    grep -q '^# MPI: .*; collopt: [0-9]' "$work/rules" || fail "$what: no MPI in the head"
    grep -q '^allreduce *2 *1 *2 0-[0-9A-Z]* *commutative .*# .*x (.*-.*) of the host at 64' \
        "$work/rules" \
        || fail "$what: no ratio"
    launch "$host" 2 LD_PRELOAD="$library" COLLOPT_AFTER=1 COLLOPT_RULES="$work/rules" \
        COLLOPT_LOG=decide "$program" --pairs 2 --calls 2 --progress off --collectives allreduce \
        --sizes 64,4096 || fail "$what: not used"
    line=$(awk '/^allreduce.* commutative/ { print NR; exit }' "$work/rules")
    says "allreduce.*rule $work/rules:$line"

    rm -f "$work"/rules*
    COLLOPT_GPU=native tunes 1 'nothing to run' --time 2s --collectives allreduce --ops sum \
        --sizes 64 --candidates 1
    says 'collopt could run none of the calls'
    [ ! -f "$work/rules" ] || fail "$what: rules"

    "$3" -shared -fPIC -o "$work/spoil.so" "$top/test/bench/spoil.c" -ldl || fail "$host: spoil.c"
    # shellcheck disable=SC2016     # the other shell's
    printf '#!/bin/sh\nLD_PRELOAD=%s:$LD_PRELOAD exec %s "$@"\n' "$work/spoil.so" \
        "$program" >"$work/spoilt"
    chmod +x "$work/spoilt"
    rm -f "$work"/rules*
    tunes 1 'a wrong result' --program "$work/spoilt" --time 2s --collectives allreduce --ops sum \
        --sizes 4K --candidates 1
    says 'collopt-tune: WRONG result with collopt: allreduce, sum, 4096 bytes'
    grep -q '^allreduce .* host  *# nothing to choose from at 4K$' "$work/rules" ||
        fail "$what: the rules name what is wrong"

    built_for "$2" || return 0
    rm -f "$work"/rules*
    tunes 1 'the other MPI' --mpi "$2" --time 2s
    says 'every rank finds itself alone'
}

each()                  # HOST
{
    case $1 in
    openmpi) on_host openmpi mpich "$(wrapper openmpi)" ;;
    mpich) on_host mpich openmpi "$(wrapper mpich)" ;;
    esac
}

for_each_host each
