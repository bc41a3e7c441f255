#!/usr/bin/env python3
"""Write what the logs of make check say into a page.

    figures.py BUILD PAGE

Replaces what stands between <!-- figures --> and <!-- end -->.
"""
import datetime
import pathlib
import re
import subprocess
import sys

# What a line counts, the logs, and the pattern whose numbers are summed.
ROWS = (
    ("schedules proved", "test/unit/test_schedules.log", r"^(\d+) problems proved"),
    ("spoilt schedules refused", "test/unit/test_mutations.log", r"^(\d+) spoilt programs refused"),
    ("checks of unit tests", "test/unit/*.log", r"Checks: (\d+), Failures: 0"),
    ("random programs on Open MPI; calls of one rank; of these by collopt", "test/fuzz/fuzz.log",
     r"^openmpi: (\d+) programs, (\d+) calls of rank 0, (\d+) of them"),
    ("random programs on MPICH; calls of one rank; of these by collopt", "test/fuzz/fuzz.log",
     r"^mpich: (\d+) programs, (\d+) calls of rank 0, (\d+) of them"),
    ("the same on the hostile host, Open MPI", "test/hostile/fuzz.log",
     r"^openmpi: (\d+) programs, (\d+) calls of rank 0, (\d+) of them"),
    ("the same on the hostile host, MPICH", "test/hostile/fuzz.log",
     r"^mpich: (\d+) programs, (\d+) calls of rank 0, (\d+) of them"),
    ("jobs in which an allocation fails", "test/hostile/memory.log", r": (\d+) jobs"),
    ("executions of models of memory orders", "test/orders/orders.log",
     r"^model .*: (\d+) executions"),
    ("memory orders that are needed", "test/orders/orders.log", r"^(\d+) memory orders are needed"),
    ("spoilt files of rules", "test/tools/rules-fuzz.log", r"^(\d+) files,"),
)


def sums(build, logs, pattern):
    """Of the pattern's groups, each over all matches; empty if there are none."""
    found = []
    for log in sorted(build.glob(logs)):
        text = log.read_text(encoding="utf-8", errors="replace")
        found += re.findall(pattern, text, re.M)
    found = [(f,) if isinstance(f, str) else f for f in found]
    return [f"{sum(int(n) for n in column):,}" for column in zip(*found)]


def tests(build):
    """When the last test ended, and how many have passed, were skipped, and have failed."""
    results = sorted(build.glob("test/**/*.trs"))
    if not results:
        sys.exit(f"{build}: no results of make check")
    day = datetime.date.fromtimestamp(max(trs.stat().st_mtime for trs in results))
    texts = [trs.read_text(encoding="utf-8") for trs in results]
    return day, *(sum(f":global-test-result: {word}\n" in text for text in texts)
                  for word in ("PASS", "SKIP", "FAIL"))


def commit(page):
    said = subprocess.run(["git", "-C", page.parent, "rev-parse", "--short", "HEAD"],
                          capture_output=True, text=True, check=False).stdout.strip()
    return f", commit {said}" if said else ""


def figures(build, page):
    day, passed, skipped, failed = tests(build)
    yield (f"{day.strftime('%-d %B %Y')}{commit(page)}: {passed} tests passed, {skipped} skipped, "
           f"{failed} failed.\n\n| | |\n|---|--:|\n")
    for what, logs, pattern in ROWS:
        yield f"| {what} | {'; '.join(sums(build, logs, pattern)) or '-'} |\n"


def main():
    build, page = map(pathlib.Path, sys.argv[1:])
    old = page.read_text(encoding="utf-8")
    new, n = re.subn(r"(<!-- figures -->\n).*?(<!-- end -->\n)",
                     lambda m: f"{m[1]}\n{''.join(figures(build, page))}\n{m[2]}", old, flags=re.S)
    if n != 1:
        sys.exit(f"{page}: not one place for figures, between <!-- figures --> and <!-- end -->")
    page.write_text(new, encoding="utf-8")


main()
