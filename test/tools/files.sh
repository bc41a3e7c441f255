#!/bin/sh
# Files of collopt 0.1, kept in files-0.1, are read by this version; such as a later one may write
# are refused with the file, the line where it has one, and what would be right.

. "${COLLOPT_SOURCE:-.}/test/common.sh"
old=$COLLOPT_SOURCE/test/tools/files-0.1
tools=$COLLOPT_BUILD/tools
unset COLLOPT_SOURCE COLLOPT_BUILD
cd "$work" || exit 99

says()                  # STATUS PATTERN COMMAND...
{
    status=$1 pattern=$2
    shift 2
    "$@" >said 2>&1
    got=$?
    [ $got = "$status" ] || fail "$*: status $got, not $status"
    grep -q -e "$pattern" said || fail "$*: no \"$pattern\""
}

later()                 # FILE SED: as a later version may write it
{
    sed "$2" "$old/$1" >"later-$1"
    ! cmp -s "$old/$1" "later-$1" || fail "$1 is as it was: $2"
}

# All names of algorithms: one that is removed later goes from there to the list `removed`.
COLLOPT_RULES=$old/rules "$tools/collopt-info" --check >said 2>&1 || fail "rules: status $?"
[ ! -s said ] || fail "rules: something is said"
n=$(sed -n '/^# every algorithm/,$p' "$old/rules" | grep -c '^[a-z]')
[ "$n" -ge 100 ] || fail "rules: $n algorithms"
later rules 's/ auto$/ auto often/'
says 1 'later-rules:[1-9][0-9]*: 8 columns; a rule has 7' \
    env COLLOPT_RULES=later-rules "$tools/collopt-info" --check

says 0 ': 24 numbers and 2 times of the MPI library' "$tools/collopt-info" --check-machine \
    "$old/machine"
later machine 's/^turn.time/turn.later/'
says 1 'later-machine:[1-9][0-9]*: there is no key "turn.later"; did you mean turn.time' \
    "$tools/collopt-info" --check-machine later-machine

says 0 ': 2 hosts of the 256 on a torus of 8x8x4' "$tools/collopt-info" --check-topology \
    "$old/torus"
says 0 ': 2 hosts below 2 switches' "$tools/collopt-info" --check-topology "$old/hosts"
later torus 's/^torus:/hypercube:/'
says 1 'later-torus:1: ' "$tools/collopt-info" --check-topology later-torus

says 1 'look at rank 1 (pid [0-9]*, host n1): it is in no reduction' \
    "$tools/collopt-ps" --read "$old/dump" --longer 0.5
later dump 's/ process 1 / process 2 /'
says 3 'recorded by collopt 0.1.0, in layout 2; this is for layout 1' \
    "$tools/collopt-ps" --read later-dump

if python3 -c 'import sys; sys.exit(sys.version_info < (3, 7))' 2>/dev/null; then
    says 0 '^MPI_Allreduce_init .*not in shared memory  *12' \
        "$tools/collopt-report" "$old/report.json"
    later report.json 's/"schema": 1/"schema": 2/'
    says 1 'later-report.json: schema is 2, of collopt 0.1.0; this reads 1: ' \
        "$tools/collopt-report" later-report.json
else
    [ "$failed" = 0 ] || exit 1
    echo 'SKIP: report.json, as there is no python3, 3.7 or later'
    exit 77
fi
exit $failed
