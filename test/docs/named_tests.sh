#!/bin/sh
# The tests that pages name are there and are run.  Then each kind of mistake, which must be found.

. "${COLLOPT_SOURCE:-.}/test/common.sh"
command -v python3 >/dev/null || { echo 'SKIP: no python3'; exit 77; }
check=$COLLOPT_SOURCE/test/docs/named_tests.py
for page in pitfalls reliability; do
    python3 "$check" "$COLLOPT_SOURCE" "$COLLOPT_SOURCE/doc/$page.md" || failed=1
done

finds()                 # PATTERN TESTS
{
    printf '| Mistake | Test |\n|---|---|\n| a | %s |\n' "$2" >"$work/page.md"
    python3 "$check" "$COLLOPT_SOURCE" "$work/page.md" >"$work/said" && fail "$2: nothing is wrong"
    grep -q "$1" "$work/said" || fail "$2: not \"$1\""
}
finds 'page.md:3: .*no such file' 'test/mpi/test_nothing.c'
finds 'no such file' 'test/mpi/test_calls.c: test_huge; src/mpi/call/entry.c'
finds '"test_huge_" is not in it' 'test/mpi/test_calls.c: test_huge_'
finds 'no such file' ''
exit $failed
