#!/bin/sh
# Pictures in a browser, with two fonts: no text is cut, none lies on another. Those of the pages,
# and drawings of schedules: few and many rounds, few and many ranks, long names.

. "${COLLOPT_SOURCE:-.}/test/common.sh"
command -v python3 >/dev/null || { echo 'SKIP: no python3'; exit 77; }

plan()                  # NAME WORD...
{
    name=$1
    shift
    "$COLLOPT_BUILD/tools/collopt-plan" "$@" --format svg >"$work/$name.svg" ||
        fail "collopt-plan $*"
}

plan few allreduce --algorithm recursive_doubling --ranks 2
plan ring allreduce --algorithm ring --ranks 8
plan many reduce --algorithm binomial --ranks 32
plan rounds allreduce --algorithm two_tree:segment=512 --ranks 8
plan long allreduce --ranks 16 \
    --algorithm 'lanes:count=4,by=node,node=(circulant),net=(rabenseifner)'
PYTHONDONTWRITEBYTECODE=1 python3 "$COLLOPT_SOURCE/test/tools/pictures_test.py" \
    "$COLLOPT_SOURCE"/doc/pictures/*.svg "$work"/*.svg
status=$?
[ $failed = 0 ] || exit 1
exit $status
