"""Measures the reductions of the MPI library beside collopt's, by collopt-bench, which is installed
for each MPI library: both sides take turns in one run."""

import csv
import os

import jobs

COLLECTIVES, SIZES = ("allreduce", "reduce", "scan"), ("8", "4K", "256K")
FELT = 20e-9                # seconds; less is what a look at the call costs


class Failed(Exception):
    """The example has told nothing."""


def example(place, mpi):
    """The program for this MPI library, beside the tools or in the build tree; None: there is
    none."""
    for path in (os.path.join(place.tools, "collopt-bench-" + mpi),
                 os.path.join(place.tools, "..", "bench", mpi, "collopt-bench")):
        if os.access(path, os.X_OK):
            return os.path.normpath(path)
    return None


class Call:
    """A line of the CSV file of collopt-bench."""

    def __init__(self, line):
        self.collective, self.bytes = line["collective"], int(line["bytes"])
        self.algorithm, self.right = line["algorithm"], line["result"] == "correct"
        self.without, self.with_ = 1e-6 * float(line["peer_us"]), 1e-6 * float(line["collopt_us"])
        self.ratio, self.low, self.high = (float(line[key])
                                           for key in ("ratio", "ratio_low", "ratio_high"))


def read(file):
    """(calls, name of the MPI library)"""
    with open(file, newline="", encoding="utf-8") as stream:
        lines = [line for line in stream if not line.startswith("#")]
    found = list(csv.DictReader(lines))
    return [Call(line) for line in found], found[0]["peer"] if found else None


def measure(place, launcher, program, seconds, words=()):
    """(calls, name of the MPI library) of the program under the launcher with more words, measured
    for so long."""
    folder = jobs.Folder(None)
    try:
        file = folder.file("figures.csv")
        cell = seconds / (len(COLLECTIVES) * len(SIZES))
        done = jobs.run([place.collopt, "--"] + launcher
                        + [program, "--collectives", ",".join(COLLECTIVES), "--sizes",
                           ",".join(SIZES), "--time", "%.3f" % cell, "--csv", file, "--progress",
                           "off"] + list(words), dict(os.environ), limit=10 * seconds + 60)
        calls, name = read(file) if os.path.exists(file) else ([], None)
        if done.status or not calls:
            # not the lines on the machine and the environment, which say nothing of the failure
            said = [line for line in done.output.splitlines() if not line.startswith(b"#")]
            last = b"\n".join(said[-6:]).decode(errors="replace")
            raise Failed("the example ended with status %d\n%s" % (done.status, last))
        if not all(call.right for call in calls):
            raise Failed("a result is wrong; please report this")
        return calls, name
    finally:
        folder.remove()
