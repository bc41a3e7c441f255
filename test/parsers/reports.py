"""Reports as collopt-report reads them back, spoilt at random: each is taken and shown, or refused
with one line that says where it is wrong.

    test/parsers/reports.py [SECONDS [SEED]]       a failure prints the file and the seed
"""

import copy
import io
import json
import os
import random
import sys
import tempfile
import time

SOURCE = os.environ.get("COLLOPT_SOURCE",
                        os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "test", "tools"))

import report_test      # noqa: E402
import openmetrics      # noqa: E402
import page             # noqa: E402
import report           # noqa: E402
import reports          # noqa: E402
import text             # noqa: E402
import views            # noqa: E402

VALUES = [None, True, False, 0, 1, -1, 2, 1.5, -0.5, 1e-320, 1e308, 1e309, 2 ** 31, 2 ** 63,
          2 ** 64, 10 ** 30, 10 ** 400, "", "allreduce", "MPI_Allreduce", "x\n\x1b[31m<b>&%s",
          "\u00e9\ud800", "n" * 500, [], {}, [1], {"min": 1, "mean": 0, "max": 0}]


def wholes():
    """Good reports, of one rank and of jobs."""
    lesson = {"collective": "allreduce", "ranks": 4, "nodes": 1, "ppn": 4, "op": "exact",
              "uneven": False, "bytes_from": 5, "bytes_to": 8, "algorithm": "ring",
              "seconds": 1e-5, "communicators": 2, "chosen": 1}
    yield report_test.of_rank(0, 1, 0.1)
    yield report_test.of_rank(1, 4, 0.1)
    yield dict(report_test.of_rank(2, 4, 1e-6), learnt=[lesson])
    yield report_test.with_waiting([0.1, 0.2, 0.3, 0.0])
    yield dict(report_test.with_waiting([5.0, 0.2], late=1), learnt=[lesson, lesson])


def places(whole):
    """Each list or object of it, with a key."""
    found = []
    stack = [whole]
    while stack:
        at = stack.pop()
        for key in (at if isinstance(at, dict) else range(len(at))):
            found.append((at, key))
            if isinstance(at[key], (dict, list)):
                stack.append(at[key])
    return found


def spoil(rng, whole):
    found = places(whole)
    if not found:
        return
    at, key = rng.choice(found)
    change = rng.randrange(5)
    if change == 0 and isinstance(at, dict):
        del at[key]
    elif change == 1:
        at[key] = json.loads(json.dumps(rng.choice(found)[0]))
    elif change == 2 and isinstance(at[key], (int, float)):
        at[key] = at[key] * rng.choice([0, 1, -1, 2, 1e-9, 1e9, 10 ** 18])
    elif change == 3 and isinstance(at, list):
        at.append(at[key])
    else:
        at[key] = copy.deepcopy(rng.choice(VALUES))


def spoil_bytes(rng, data):
    data = bytearray(data)
    for _ in range(rng.randrange(3)):
        at = rng.randrange(len(data) + 1)
        change = rng.randrange(4)
        if change == 0:
            data[at:at + rng.randrange(8)] = bytes([rng.randrange(256)])
        elif change == 1:
            data[at:at] = rng.choice([b"{", b"}", b"[" * 3000, b",", b'"', b"\\u0000", b"1e999",
                                      b"-", b"NaN", b"\xff", b"9" * 5000])
        elif change == 2:
            data[at:at + rng.randrange(100)] = b""
        else:
            del data[at:]
    return bytes(data)


def show(list_of):
    """In every way in which collopt-report shows them."""
    stream = io.StringIO()
    terminal = text.Terminal(stream, {"COLUMNS": "80"})
    for one in list_of:
        report.print_report(terminal, one)
        report.one_page(page, one).encode("utf-8")
    if len(list_of) > 1:
        report.print_comparison(terminal, list_of)
        report.side_by_side(page, list_of).encode("utf-8")
    report.as_json(list_of).encode("utf-8")
    openmetrics.text_of(list_of, views.labels(list_of)).encode("utf-8")
    stream.getvalue().encode("utf-8")


def write(rng, name, whole, spoilt):
    for _ in range(rng.randrange(4) if spoilt else 0):
        spoil(rng, whole)
    data = json.dumps(whole, indent=rng.choice([None, 1])).encode("ascii")
    if spoilt and rng.randrange(4) == 0:
        data = spoil_bytes(rng, data)
    with open(name, "wb") as file:
        file.write(data)


def trial(rng, folder, spoilt):
    """True: the files were taken."""
    names = []
    for i, whole in enumerate(rng.sample(list(wholes()), rng.randrange(1, 3) if spoilt else 1)):
        names.append(os.path.join(folder, "report%d" % i))
        write(rng, names[-1], whole, spoilt)
    try:
        show(reports.read(names))
        return True
    except reports.BadReport as error:
        said = str(error)
        if not said.startswith(folder) or "\n" in said or "\x1b" in said:
            raise AssertionError("an odd message: %r" % said) from None
        return False


def main(words):
    limit = float(words[0]) if words else 5.0
    seed = int(words[1]) if len(words) > 1 else None
    end, n, taken = time.monotonic() + limit, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        while n < 50 or time.monotonic() < end:
            one = n if seed is None else seed
            try:
                taken += trial(random.Random(one), folder, one >= 5)
            except Exception:
                for name in sorted(os.listdir(folder)):
                    with open(os.path.join(folder, name), "rb") as file:
                        print("%s: %r" % (name, file.read()))
                print("FAIL: test/parsers/reports.py 0 %d" % one)
                raise
            n += 1
            if seed is not None:
                break
    print("%d trials, %d taken, %d refused" % (n, taken, n - taken))
    return 0 if seed is not None or 0 < taken < n else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
