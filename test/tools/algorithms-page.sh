#!/bin/sh
# doc/algorithms.md is what the descriptors and doc/algorithms.in make of it.

. "${COLLOPT_SOURCE:-.}/test/common.sh"
doc=$COLLOPT_SOURCE/doc

"$COLLOPT_BUILD/tools/algorithms-page" "$doc/algorithms.in" >"$work/page" || failed=1
if ! diff -u "$doc/algorithms.md" "$work/page"; then
    echo "FAIL: doc/algorithms.md is stale: make algorithms-page"
    failed=1
fi
printf '@table allredcue\n' >"$work/in"
"$COLLOPT_BUILD/tools/algorithms-page" "$work/in" >/dev/null 2>"$work/said" && failed=1
grep -q allredcue "$work/said" || failed=1
exit $failed
