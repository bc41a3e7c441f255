#!/bin/sh
# collopt-tune --check: files with and without mistakes, exit status, and the file of collopt(7).

tune=$COLLOPT_BUILD/tools/collopt-tune
source=$COLLOPT_SOURCE
version=$(cat "$source/VERSION")
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
failed=0
unset COLLOPT_SOURCE COLLOPT_BUILD

fail()
{
    echo "FAIL: $*"
    failed=1
}

# The file is what stands on the standard input.
gives()                 # STATUS PATTERN
{
    cat >"$work/rules"
    "$tune" --check "$work/rules" >"$work/out" 2>&1
    status=$?
    [ $status = "$1" ] || fail "status $status, not $1, for: $(cat "$work/rules")"
    grep -q -e "$2" "$work/out" || fail "no \"$2\" in: $(cat "$work/out")"
}

gives 0 ': 2 rules, no mistakes$' <<'.'
# small ones
allreduce  *  1  *  0-2K  commutative  recursive_doubling
*          *  *  *  *     *            auto
.
gives 1 ":2: allreduce has no algorithm \"recursive_dubling\"; .*did you mean recursive_doubling?" <<'.'

allreduce  *  1  *  0-2K  commutative  recursive_dubling
*          *  *  *  *     *            auto
.
gives 1 ':1: segment=0 is not from 1 to 1T' <<'.'
allreduce * * * * * segmented_ring:segment=0
* * * * * * host
.
gives 1 ':1: ranks "8-4" is an empty range' <<'.'
allreduce 8-4 * * * * ring
* * * * * * host
.
gives 1 ':2: is never reached: line 1 takes' <<'.'
scan * * * * * host
scan 8 * * * * recursive_doubling
* * * * * * auto
.
gives 0 ': 3 rules' <<'.'
scan 8-64 * * * * two_tree
scan 64-128 * * * * recursive_doubling
* * * * * * auto
.
gives 1 ':1: bucket cannot serve 7 ranks: its dims do not multiply to the number of ranks$' <<'.'
allreduce 7 * * * * bucket:dims=3x2
* * * * * * auto
.
gives 1 ':1: bucket cannot serve 7 to 70 ranks: its dims do' <<'.'
allreduce 7-70 * * * * bucket:dims=3x2
* * * * * * auto
.
gives 0 ': 4 rules' <<'.'
allreduce 4-9 * * * * bucket:dims=3x2
allreduce 7 * * * * bucket
allreduce 8- 2- * * * leader:net=(bucket:dims=3x2)
* * * * * * auto
.
gives 1 ':3: is never reached: line 2 takes' <<'.'
allreduce * * * * * ring
* * * * * * auto
* * * * * * host
.
gives 1 ':2: ranks 16-128 overlaps with 8-64 of line 1' <<'.'
scan 8-64 * * * * two_tree
scan 16-128 * * * * recursive_doubling
* * * * * * auto
.
gives 1 ':1: ring does not serve these operations' <<'.'
allreduce * * * * noncommutative ring
* * * * * * auto
.
gives 1 ': the last line is missing' <<'.'
allreduce * * * * * ring
.
printf '* * * * * * aut' >"$work/cut"
gives 1 ':1: ' <"$work/cut"

# the file that the manual page shows has no mistakes
sed -n '/^# collective/,/^\.fi/p' "$source/doc/man/collopt.7" | grep -v '^\.' >"$work/shown"
gives 0 ': 6 rules, no mistakes' <"$work/shown"

"$tune" --check "$work/rules" "$work/none" >"$work/out" 2>&1 && fail 'a file that is missing goes unnoticed'
grep -q '/none: No such file' "$work/out" || fail "a missing file: $(cat "$work/out")"
"$tune" --check "$work/rules" >/dev/full 2>/dev/null && fail 'a full disk goes unnoticed'
for arguments in '' --check --nonsense "$work/rules" 'mpirun -n 2'; do
    # shellcheck disable=SC2086     # words or none
    "$tune" $arguments >"$work/out" 2>&1
    [ $? = 2 ] || fail "arguments \"$arguments\""
    grep -q '^collopt-tune: .*\(is missing\|needs\|not an option\)' "$work/out" || fail "arguments \"$arguments\": $(cat "$work/out")"
done
[ "$("$tune" --version)" = "collopt-tune $version" ] || fail --version
"$tune" --help | grep -q '^Usage: collopt-tune' || fail --help
exit $failed
