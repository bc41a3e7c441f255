#!/bin/sh
# collopt-plan --format html, stepped through in a browser.

. "${COLLOPT_SOURCE:-.}/test/common.sh"
command -v python3 >/dev/null || { echo 'SKIP: no python3'; exit 77; }
plan=$COLLOPT_BUILD/tools/collopt-plan
set -- allreduce --algorithm rabenseifner --ranks 6

"$plan" "$@" --format html >"$work/plan.html" || fail 'collopt-plan --format html'
"$plan" "$@" --format json >"$work/plan.json" || fail 'collopt-plan --format json'
"$plan" allreduce --algorithm ring --ranks 200 --format html >"$work/large" 2>"$work/said" &&
    fail 'a drawing that is too large'
[ ! -s "$work/large" ] || fail 'a part of a page'
grep -q 'too many for a drawing' "$work/said" || fail "no reason: $(cat "$work/said")"
PYTHONDONTWRITEBYTECODE=1 python3 "$COLLOPT_SOURCE/test/tools/moving_test.py" "$work/plan.html" \
    "$work/plan.json"
status=$?
[ $failed = 0 ] || exit 1
exit $status
