# The parsers under libFuzzer for some seconds each, two at a time, and reports that are read back.
#
# TEST_PARSERS_SECONDS=3600: for so long each.  More: test/parsers/run.

. "${COLLOPT_SOURCE:-.}/test/mpi/lang.sh"

seconds=${TEST_PARSERS_SECONDS:-5}

python3 -c 'import sys; sys.exit(sys.version_info < (3, 7))' 2>/dev/null ||
    skip "no python3, 3.7 or later"
COLLOPT_BUILD=$build COLLOPT_SOURCE=$top python3 -B "$top/test/parsers/reports.py" "$seconds" ||
    fail "reports"
[ -n "$(made FUZZER_CC)" ] || { [ "$failures" = 0 ] || finish; skip "no clang with libFuzzer"; }
cd "$build" || exit 99
PARSERS_FOUND=$work/found "$top/test/parsers/run" -t "$seconds" -j 2 >"$work/said" 2>&1 ||
    fail "a parser"
cat "$work/said"
n=$(grep -c ' [1-9][0-9]* executions, *[1-9][0-9]* edges' "$work/said")
[ "$n" -ge 10 ] || fail "$n parsers were executed"
finish
