#!/bin/sh
# Figures of logs in a page: summed, and "-" where there is no log; and pages without a place for
# them.

. "${COLLOPT_SOURCE:-.}/test/common.sh"
command -v python3 >/dev/null || { echo 'SKIP: no python3'; exit 77; }
write=$COLLOPT_SOURCE/test/docs/figures.py

mkdir -p "$work/build/test/unit" "$work/build/test/fuzz"
printf '%s\n' '12 problems proved: one' '1300 problems proved: another' 'no 5 problems proved' \
    '100%: Checks: 3, Failures: 0, Errors: 0' >"$work/build/test/unit/test_schedules.log"
echo '100%: Checks: 4, Failures: 0, Errors: 0' >"$work/build/test/unit/test_proof.log"
echo 'mpich: 8 programs, 7451 calls of rank 0, 4297 of them by collopt; 0 failed' \
    >"$work/build/test/fuzz/fuzz.log"
echo ':global-test-result: PASS' >"$work/build/test/unit/test_schedules.trs"
echo ':global-test-result: SKIP' >"$work/build/test/fuzz/fuzz.trs"
printf '%s\n' before '<!-- figures -->' old '<!-- end -->' behind >"$work/page.md"
python3 "$write" "$work/build" "$work/page.md" || failed=1

has()                   # LINE
{
    grep -qx -- "$1" "$work/page.md" || { cat "$work/page.md"; fail "no line \"$1\""; }
}
has 'before'
has '.*: 1 tests passed, 1 skipped, 0 failed\.'
has '| schedules proved | 1,312 |'
has '| checks of unit tests | 7 |'
has '| random programs on Open MPI; .* | - |'
has '| random programs on MPICH; .* | 8; 7,451; 4,297 |'
has 'behind'
! grep -q old "$work/page.md" || fail "an old figure is left"
cp "$work/page.md" "$work/once"
python3 "$write" "$work/build" "$work/page.md" || failed=1
cmp "$work/once" "$work/page.md" || fail "the second time the page changes"

echo nothing >"$work/page.md"
python3 "$write" "$work/build" "$work/page.md" 2>"$work/said" && fail "a page without a place"
grep -q 'not one place for figures' "$work/said" || fail "a page without a place"
mkdir "$work/empty"
python3 "$write" "$work/empty" "$work/once" 2>"$work/said" && fail "a build without logs"
grep -q 'no results of make check' "$work/said" || fail "a build without logs"
exit $failed
