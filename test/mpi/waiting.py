"""Compares the waiting of a report with what test_waiting has measured itself: on a machine
that has other work, ranks are late by themselves, too.

Arguments: the report, what is expected, the ranks' number, the greatest error of the clocks that
is right, in seconds, and how far waiting may be off (0.05 of it)."""

import json
import sys


FORMS = {"nonblocking": "i%s", "persistent": "%s_init"}


def rows_of(report):
    for row in report["run"]:
        yield FORMS.get(row["algorithm"], "%s") % row["collective"], row
    for row in report["passed"]:
        if "bytes_from" in row:         # else that a persistent request was made
            yield row["name"].lower().split("_", 1)[1], row


def main(report_name, expected_name, ranks, clock_error, off=0.05):
    with open(report_name, encoding="utf-8") as file:
        report = json.load(file)
    with open(expected_name, encoding="utf-8") as file:
        expected = [line.split() for line in file]
    whole, wrong = 0, []

    def check(good, message):
        if not good:
            wrong.append(message)

    for collective, size, late, injected, seconds, *waited_for in expected:
        waited_for = [float(word) for word in waited_for]
        rows = [row for name, row in rows_of(report) if name == collective
                and row["bytes_from"] <= int(size) <= row["bytes_to"]]
        name = "%s, %s bytes" % (collective, size)
        check(len(rows) == 1, "%s: %d rows" % (name, len(rows)))
        for row in rows:
            waiting = row["waiting"]
            check("late" in waiting or not any(waited_for), "%s: nobody is late" % name)
            waiting.setdefault("late", {"rank": int(late), "seconds": 0.0})
            found = waiting["seconds"]["mean"] * row["ranks"]
            whole += found
            print("%-32s waiting %.4f s, measured %s, injected %s; late: rank %s, %.4f s"
                  % (name, found, seconds, injected, waiting["late"]["rank"],
                     waiting["late"]["seconds"]))
            check(abs(found - float(seconds)) <= off * float(seconds),
                  "%s: %f s of waiting, not %s" % (name, found, seconds))
            # Two ranks that are late alike, within the error, may be taken for each other.
            found_for = waiting["late"]["seconds"]
            check(abs(found_for - waited_for[waiting["late"]["rank"]]) <= off * float(seconds)
                  and found_for >= 0.9 * max(waited_for),
                  "%s: rank %d was waited for for %f s, not %s"
                  % (name, waiting["late"]["rank"], found_for, waited_for))
            # As far as the machine was quiet, it is the rank that was delayed.
            check(waiting["late"]["rank"] == int(late) or float(injected) < 0.7 * float(seconds),
                  "%s: rank %d made the others wait, not %s"
                  % (name, waiting["late"]["rank"], late))
            check(waiting["calls"] == row["calls"], "%s: not known of all calls" % name)
            check(waiting["late"]["seconds"] <= found * 1.001, "%s: more blame than waiting" % name)
            parts = (waiting["seconds"]["mean"] + waiting["reducing"]["mean"])
            check(abs(parts - row["seconds"]["mean"]) <= 1e-6 + 1e-6 * parts,
                  "%s: waiting and reducing are %f s of %f"
                  % (name, parts, row["seconds"]["mean"]))
    total = report["waiting"]
    shares = report["by_rank"]
    check(total["calls"] == total["of_calls"], "known of %(calls)d of %(of_calls)d calls" % total)
    check(abs(total["seconds"]["mean"] * ranks - whole) <= 1e-6 * whole + 1e-6,
          "the sum is %f s, that of the rows %f" % (total["seconds"]["mean"] * ranks, whole))
    check(abs(sum(share["made_wait"]["mean"] for share in shares) - whole) <= 1e-6 * whole + 1e-6,
          "ranks waited %f s, and were waited for another time" % whole)
    check(total["late"]["rank"] == max(shares, key=lambda s: s["made_wait"]["mean"])["ranks_from"],
          "the latest rank is %d" % total["late"]["rank"])
    check(total["clock_error"] <= clock_error and (total["clock_error"] > 0) == (clock_error > 0),
          "the clocks' error is %g s" % total["clock_error"])
    for message in wrong:
        print("WRONG: " + message)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), *map(float, sys.argv[4:])))
