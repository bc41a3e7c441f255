# A program may set any locale, also one whose decimal point has several bytes: what collopt writes
# and reads stays as it is.  Here a constructor sets it in everything: the unit tests that look at
# texts, and jobs whose report and rules are read by others.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

locale=ps_AF
command -v localedef >/dev/null || skip "no localedef"
localedef -i $locale -f UTF-8 "$work/$locale.UTF-8" >"$work/said" 2>&1
[ -d "$work/$locale.UTF-8" ] || { cat "$work/said"; skip "no source of the locale $locale"; }
export LOCPATH="$work"

cat >"$work/set.c" <<'END'
#include <locale.h>
#include <stdio.h>
#include <string.h>
static void __attribute__((constructor)) set(void)
{
    if (!setlocale(LC_ALL, "ps_AF.UTF-8") || strlen(localeconv()->decimal_point) < 2)
        fprintf(stderr, "the locale is not set\n");
}
END
${CC:-cc} -shared -fPIC -o "$work/set.so" "$work/set.c" || fail "the constructor does not compile"

# But for the reader of JSON that a test links.
for test in counters machine rules trials helpers host_times settings earns; do
    [ -x "$build/test/unit/test_$test" ] || { missing="$missing test_$test"; continue; }
    COLLOPT_SOURCE="$top" LD_PRELOAD="$work/set.so" "$build/test/unit/test_$test" >"$work/said" 2>&1
    grep -v ':report_read_back:\|jsonp_strtod\|^Running\|^collopt: \|^[0-9]*%:' "$work/said" |
        grep . &&
        fail "test_$test: its numbers depend on the locale"
    ! grep -q 'not set' "$work/said" || fail "test_$test: the locale is not set"
done

# Decisions, tuning results, the report as JSON and as a table, the rules.
texts()                 # HOST
{
    rm -f "$work"/report* "$work/rules"
    launch "$1" 2 LD_PRELOAD="$work/set.so:$library" COLLOPT_AFTER=1 COLLOPT_ADAPT=on \
        COLLOPT_ADAPT_RULES="$work/rules" COLLOPT_REPORT="$work/report" \
        "$(program "$1" settings)" allreduce=100 || fail "$1: status $?"
    python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$work/report" 2>"$work/said" ||
        fail "$1: the report is no JSON"
    LC_ALL=C grep -q '# [0-9]*\.[0-9][0-9] us' "$work/rules" || fail "$1: times of the rules"
    launch "$1" 2 LD_PRELOAD="$work/set.so:$library" COLLOPT_AFTER=1 COLLOPT_LOG=decide \
        COLLOPT_REPORT=stderr "$(program "$1" settings)" allreduce=100 || fail "$1: status $?"
    # with rules for this machine, the time is theirs
    LC_ALL=C said 1 'allreduce, 2 ranks, .*\(predicted [0-9.]* us; \|measured .*:[0-9]*)\)' "$1"
    LC_ALL=C said 1 'reductions took [0-9.]* of [0-9.]* s ([0-9.]*%) .*, [0-9.]* s at most' "$1"
    ! LC_ALL=C grep -q "$(printf '\331')" "$work/said" || fail "$1: a decimal point of the locale"
}

for_each_host texts
