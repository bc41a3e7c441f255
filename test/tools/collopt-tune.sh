#!/bin/sh
# collopt-tune --check: files with and without mistakes, exit status, and the file of collopt(7).

. "${COLLOPT_SOURCE:-.}/test/common.sh"
tune=$COLLOPT_BUILD/tools/collopt-tune
source=$COLLOPT_SOURCE
version=$(cat "$source/VERSION")
unset COLLOPT_SOURCE COLLOPT_BUILD

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
gives 1 \
":2: allreduce has no algorithm \"recursive_dubling\" .*did you mean recursive_doubling" <<'.'

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
scan 8-64 * * 0-64 * recursive_multiplying
scan 64-128 * * 0-64 * recursive_doubling
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
allreduce 4-9 * * 8M- * bucket:dims=3x2
allreduce 7 * * 8M- * bucket
allreduce 8- 2- * 64K-512K * leader:net=(bucket:dims=3x2)
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

# what a line chooses is held against performance guidelines, by predicted times
gives 1 ':2: against the guideline Allreduce <= Reduce + Bcast: on 64 ranks of 64 nodes, '\
'8 bytes by ring .* us (postal_tree, auto)$' <<'.'
reduce     *  *  *  64K-  *  two_tree
allreduce  *  *  *  0-2K  *  ring
*          *  *  *  *     *  auto
.
grep -q ':1: ' "$work/out" && fail "a line that is right is blamed: $(cat "$work/out")"
gives 1 ':1: against the guideline Reduce <= Allreduce: .* by linear .* the other side .* '\
'(rabenseifner, line 2)$' <<'.'
reduce     64  64  *  1M  *  linear
allreduce  64  64  *  1M  *  rabenseifner
*          *   *   *  *   *  auto
.
# a line below it that decides for nothing of what it is tried on, and the MPI library's own, are
# not
gives 0 ': 3 rules, no mistakes$' <<'.'
allreduce  64  *  *  0-2K  *  host
allreduce  64  *  *  0-1M  *  rabenseifner
*          *   *  *  *     *  auto
.
# what is chosen anyhow, and vectors that are too long to be tried
gives 0 ': 3 rules, no mistakes$' <<'.'
reduce_scatter  256  256  1  8    *  reduce_scatterv
reduce_scatter  *    *    *  1G-  *  alltoall
*               *    *    *  *    *  auto
.
# what was measured there is better than any prediction
gives 0 ': 2 rules, no mistakes$' <<'.'
allreduce  64  *  *  0-2K  *  ring      # 1.50x (1.40-1.60) of the host at 8
*          *   *  *  *     *  auto
.
gives 0 ': 2 rules, no mistakes$' <<'.'
allreduce  64  *  *  0-2K  *  ring      # 12.34 us, linear 20.00 us, host 15.10 us
*          *   *  *  *     *  auto
.
gives 1 ':2: against the guideline' <<'.'
reduce     64  *  *  0-2K  *  chain     # 1.50x (1.40-1.60) of the host at 8
allreduce  64  *  *  0-2K  *  ring      # faster than the host
*          *   *  *  *     *  auto
.
grep -q ':1: ' "$work/out" && fail "a line that was measured is blamed: $(cat "$work/out")"
# on a machine whose messages cost by the byte alone, a ring is as good
cat >"$work/free.machine" <<'.'
node.latency = 0 us
node.overhead = 0 us
node.handshake = 0 us
net.latency = 0 us
net.overhead = 0 us
net.handshake = 0 us
.
printf 'allreduce 64 64 * 64K commutative ring\n* * * * * * auto\n' >"$work/ring.rules"
"$tune" --check "$work/ring.rules" >"$work/out" 2>&1 &&
    fail "a ring goes unnoticed: $(cat "$work/out")"
"$tune" --check --machine "$work/free.machine" "$work/ring.rules" >"$work/out" 2>&1 ||
    fail "--machine: $(cat "$work/out")"
cp "$work/free.machine" "$work/ring.machine"
"$tune" --check "$work/ring.rules" >"$work/out" 2>&1 ||
    fail "the machine beside the rules: $(cat "$work/out")"
echo 'net.latency = 1 parsec' >"$work/ring.machine"
"$tune" --check "$work/ring.rules" >"$work/out" 2>&1 &&
    fail 'a mistake in the machine beside the rules goes unnoticed'
grep -q '/ring.machine:1: ' "$work/out" || fail "a mistaken machine: $(cat "$work/out")"
"$tune" --check --machine "$work/ring.machine" "$work/ring.rules" "$work/ring.rules" >"$work/out" \
    2>&1 && fail 'likewise'
[ "$(wc -l <"$work/out")" = 3 ] ||
    fail "a mistaken machine is told once, no line is held against another: $(cat "$work/out")"
rm "$work/ring.machine"

# the file that the manual page shows has no mistakes
sed -n '/^# collective/,/^```/p' "$source/doc/manual/rules.md" | grep -v '^```' >"$work/shown"
gives 0 ': 6 rules, no mistakes' <"$work/shown"

"$tune" --check "$work/rules" "$work/none" >"$work/out" 2>&1 &&
    fail 'a file that is missing goes unnoticed'
grep -q '/none: No such file' "$work/out" || fail "a missing file: $(cat "$work/out")"
for arguments in '' --check --nonsense "$work/rules" 'mpirun -n 2'; do
    # shellcheck disable=SC2086     # words or none
    "$tune" $arguments >"$work/out" 2>&1
    [ $? = 2 ] || fail "arguments \"$arguments\""
    grep -q '^collopt-tune: .*\(is missing\|needs\|not an option\)' "$work/out" ||
        fail "arguments \"$arguments\": $(cat "$work/out")"
done
[ "$("$tune" --version)" = "collopt-tune $version" ] || fail --version
"$tune" --help | grep -q '^Usage: collopt-tune' || fail --help
exit $failed
