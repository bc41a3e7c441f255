#!/bin/sh
# Reports of real jobs on each MPI, with collopt and without: collopt-report shows all that they
# have, and its pages are looked at in a headless Chromium.  PICTURES=FOLDER keeps reports, pages
# and screenshots there.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

python3 -c 'import sys; sys.exit(sys.version_info < (3, 7))' 2>/dev/null ||
    { echo 'SKIP: no python3, 3.7 or later'; exit 77; }
report=$build/tools/collopt-report pages=

job()                   # RANKS NAME [VARIABLE=VALUE]... -- COMMAND...
{
    job_ranks=$1 name=$2
    shift 2
    variables_of "$@"
    shift "$words"
    # shellcheck disable=SC2086
    launch $host "$job_ranks" LD_PRELOAD="$library" COLLOPT_REPORT="$work/$name.json" $variables \
        "$(program $host settings)" "$@" ||
        fail "$host, $name: status $?"
}

# The figures of the file, without collopt-report's reader.
check_figures()         # NAME RANKS
{
    "$report" --json "$work/$1.json" >"$work/$1.figures" || fail "$host, $1: --json"
    python3 - "$work/$1.json" "$work/$1.figures" "$2" <<'PYTHON' || fail "$host, $1: figures"
import glob, json, sys
name, ranks = sys.argv[1], int(sys.argv[3])
files = [json.load(open(file)) for file in sorted(glob.glob(name) or glob.glob(name + ".*"))]
(one,) = json.load(open(sys.argv[2]))["reports"]
by_rank = [s for file in files for s in file["by_rank"]]
assert [s["ranks_from"] for s in by_rank] == list(range(ranks)), by_rank
assert all(s["host"] and s["seconds"]["mean"] > s["reductions"]["mean"] >= 0
           for s in by_rank), by_rank
mean = sum(s["reductions"]["mean"] for s in by_rank) / ranks
for file in files:
    wanted = mean if file["combined"] else file["by_rank"][0]["reductions"]["mean"]
    assert abs(wanted - file["reductions"]["mean"]) <= 1e-6 * wanted, (wanted, file["reductions"])
assert abs(one["reductions"]["mean"] - mean) <= 1e-6 * mean, (one["reductions"], mean)
assert one["present"] == ranks, one
assert one["calls"] == sum(r["calls"] for file in files for r in file["run"] + file["passed"]), one
assert one["calls"] > 0, one
assert one["calls_run"] == sum(r["calls"] for file in files for r in file["run"]), one
PYTHON
}

commands='bytes=8 allreduce=300 reduce=100 bytes=4096 allreduce=100 reduce=50'
commands="$commands bytes=1048576 allreduce=20 dup bytes=65536 allreduce=30"
for host in $native_hosts; do
    # shellcheck disable=SC2086
    job 3 "$host-without" COLLOPT=off -- $commands
    # shellcheck disable=SC2086
    job 3 "$host-with" COLLOPT_AFTER=2 -- $commands
    for name in without with; do
        check_figures "$host-$name" 3
        "$report" -o "$work/$host-$name.html" "$work/$host-$name.json" ||
            fail "$host, $name: no page"
        pages="$pages $work/$host-$name.html"
    done
    "$report" "$work/$host-with.json" >"$work/said" || fail "$host: no tables"
    grep -q '^allreduce .* 1 MiB ' "$work/said" || fail "$host: no row of 1 MiB"
    "$report" -o "$work/$host.html" "$work/$host-without.json" "$work/$host-with.json" ||
        fail "$host: no page of both"
    pages="$pages $work/$host.html"
done
[ -z "${PICTURES-}" ] || {
    COLLOPT_PICTURES=$PICTURES; export COLLOPT_PICTURES
    cp "$work"/*.json* "$work"/*.html "$PICTURES" || exit 1
}
[ "$failures" = 0 ] || finish
for browser in chromium chromium-browser google-chrome chrome none; do
    ! command -v $browser >/dev/null || break
done
[ "$browser" != none ] || skip 'no Chromium to look at the pages'
# shellcheck disable=SC2086
timeout 1800 python3 -B "$top/test/tools/report_page.py" $pages || exit 1
