"""collopt demo: how fast are the reductions of this MPI library here, and how fast are collopt's?

The example is collopt-bench, which is installed for each MPI library: both sides take turns in one
run.  Only what is beyond the noise is shown, and where nothing is, that is the answer. """

import csv
import json
import os
import shutil
import sys

import commandline
import jobs
from doctor import kind_of
from progress import Progress
from say import Screen, plural
from text import Cell, Column, ratio, seconds, size, table

HELP = """\
Usage: collopt demo [OPTION]... [LAUNCHER [ARGUMENT]...]
Time reductions as the MPI library runs them and as collopt runs them, in turns,
by an example that is installed with collopt, and say which are faster. LAUNCHER
(mpirun -n 2) starts the ranks.

      --time DURATION       about how long it takes: 20s, 1m (20s)
      --mpi openmpi|mpich   which MPI library, where the launcher does not say
      --json                print what was measured as JSON
      --help                print this help
      --version             print the version

Exit status: 0 if some are faster beyond the noise and none is slower; 1 if not;
2 for wrong arguments; 3 if the example failed.
"""

SHORT, LONG = "", ["time=", "mpi=", "json", "help", "version"]
COLLECTIVES, SIZES = ("allreduce", "reduce", "scan"), ("8", "4K", "256K")
PART = 0.75                 # of the time is for measuring; the rest for start and end
FELT = 20e-9                # seconds; less is what a look at the call costs
FAR = 10                    # an interval this wide tells the order of magnitude at most


class Failed(Exception):
    """The example has told nothing."""


class Options:
    def __init__(self):
        self.time, self.mpi, self.json = 20.0, None, False
        self.command, self.words = [], []

    def take(self, option, value):
        if option == "--time":
            self.time = commandline.duration(value, option)
        elif option == "--mpi":
            self.mpi = commandline.one_of(value, option, ("openmpi", "mpich"))
        elif option == "--json":
            self.json = True

    def check(self):
        if os.environ.get("COLLOPT", "on") in ("off", "0", "no", "false"):
            raise commandline.Wrong("COLLOPT=%s: the runs with collopt would be without it; "
                                    "unset it" % os.environ["COLLOPT"])
        if not self.command:
            launcher = next((name for name in ("mpirun", "mpiexec") if shutil.which(name)), None)
            if not launcher:
                raise commandline.Wrong("no launcher in PATH, neither mpirun nor mpiexec; name "
                                        "yours, as in collopt demo /opt/mpi/bin/mpirun -n 2")
            self.command = [launcher, "-n", "2"]


def example(place, mpi):
    """The program for this MPI library, beside the tools or in the build tree."""
    for path in (os.path.join(place.tools, "collopt-bench-" + mpi),
                 os.path.join(place.tools, "..", "bench", mpi, "collopt-bench")):
        if os.access(path, os.X_OK):
            return os.path.normpath(path)
    raise commandline.Wrong("collopt-bench-%s is not installed: it comes with the backend for that "
                            "MPI library (collopt-info)" % mpi)


# ---- figures -------------------------------------------------------------------------------------

class Call:
    """A line of the CSV file of collopt-bench."""

    def __init__(self, line):
        self.collective, self.bytes = line["collective"], int(line["bytes"])
        self.algorithm, self.right = line["algorithm"], line["result"] == "correct"
        self.without, self.with_ = 1e-6 * float(line["peer_us"]), 1e-6 * float(line["collopt_us"])
        self.ratio, self.low, self.high = (float(line[key])
                                           for key in ("ratio", "ratio_low", "ratio_high"))

    def verdict(self):
        """faster or slower, beyond the noise; None: it cannot be told."""
        if abs(self.without - self.with_) <= FELT or self.high > FAR * self.low:
            return None
        return "faster" if self.low > 1 else "slower" if self.high < 1 else None


def read(file):
    """(calls, name of the MPI library)"""
    with open(file, newline="", encoding="utf-8") as stream:
        lines = [line for line in stream if not line.startswith("#")]
    found = list(csv.DictReader(lines))
    return [Call(line) for line in found], found[0]["peer"] if found else None


def measure(place, options):
    mpi = options.mpi or kind_of(options.command) or "openmpi"
    program = example(place, mpi)
    folder = jobs.Folder(None)
    try:
        file = folder.file("figures.csv")
        cell = PART * options.time / (len(COLLECTIVES) * len(SIZES))
        done = jobs.run([place.collopt, "--"] + options.command
                        + [program, "--collectives", ",".join(COLLECTIVES), "--sizes",
                           ",".join(SIZES), "--time", "%.3f" % cell, "--csv", file, "--progress",
                           "off"], dict(os.environ), limit=10 * options.time + 60)
        calls, name = read(file) if os.path.exists(file) else ([], None)
        if done.status or not calls:
            last = b"\n".join(done.output.splitlines()[-6:]).decode(errors="replace")
            raise Failed("the example ended with status %d\n%s" % (done.status, last))
        if not all(call.right for call in calls):
            raise Failed("a result is wrong; please report this")
        return calls, name
    finally:
        folder.remove()


# ---- the answer ----------------------------------------------------------------------------------

COLUMNS = [Column("Call", header=True), Column("Of", "number"), Column("MPI library", "number"),
           Column("collopt", "number"), Column("Times as fast", "number"),
           Column("95% interval", "number")]


def row(call):
    return ["MPI_" + call.collective.capitalize(), Cell(size(call.bytes), value=call.bytes),
            Cell(seconds(call.without), value=call.without),
            Cell(seconds(call.with_), value=call.with_),
            Cell(ratio(call.ratio), value=call.ratio,
                 tone="better" if call.ratio > 1 else "worse"),
            Cell("%.2f to %.2f" % (call.low, call.high), value=call.low)]


def sentence(calls):
    """The answer in words, and its colour."""
    faster = [call for call in calls if call.verdict() == "faster"]
    slower = [call for call in calls if call.verdict() == "slower"]
    if not faster and not slower:
        return ("nothing is beyond the noise: of %s none is faster or slower for certain; try "
                "again on a quiet machine, or with --time 2m" % plural(len(calls), "kind of call",
                                                                      "kinds of calls"), "bold")
    text = "%d of %s faster with collopt" % (len(faster), plural(len(calls), "kind of call is",
                                                                 "kinds of calls are"))
    if faster:
        text += ", up to %s times" % ratio(max(call.ratio for call in faster)).rstrip("×")
    if slower:
        text += "; slower: %d" % len(slower)
    rest = len(calls) - len(faster) - len(slower)
    if rest:
        text += "; too close to tell, and not shown: %d" % rest
    return text, "worse" if len(slower) > len(faster) else "better"


def print_answer(options, calls, name):
    screen = Screen()
    screen.heading("collopt demo: %s, %s" % (" ".join(options.command), name))
    text, colour = sentence(calls)
    screen.sentence(text, colour=colour)
    if os.getloadavg()[0] > 1.5 * (os.cpu_count() or 1):
        screen.sentence("this machine is busy (%.1f processes for %s): figures of an idle one "
                        "differ" % (os.getloadavg()[0], plural(os.cpu_count() or 1, "processor")))
    shown = sorted((call for call in calls if call.verdict()),
                   key=lambda call: (call.collective, call.bytes))
    if shown:
        screen.say()
        table(screen, "Calls", COLUMNS, [row(call) for call in shown])
    screen.say()
    screen.sentence("Your program gains a part of the time that it spends in such calls, which may "
                    "be little; this measures it:")
    screen.say("      collopt compare %s ./app" % " ".join(options.command))


def as_json(options, calls, name):
    return {"launcher": options.command, "mpi": name, "summary": sentence(calls)[0], "calls": [
        {"collective": call.collective, "bytes": call.bytes, "algorithm": call.algorithm,
         "seconds_without": call.without, "seconds_with": call.with_, "ratio": call.ratio,
         "ratio_low": call.low, "ratio_high": call.high, "verdict": call.verdict()}
        for call in calls]}


def work(place, options):
    progress = Progress("auto", "collopt demo", every=30)
    progress.say("two ways of %d kinds of calls, for about %s"
                 % (len(COLLECTIVES) * len(SIZES), seconds(options.time)))
    try:
        calls, name = measure(place, options)
    except Failed as error:
        progress.clear()
        sys.stderr.write("collopt demo: %s\n" % error)
        return 3
    progress.clear()
    if options.json:
        print(json.dumps(as_json(options, calls, name), indent=2))
    else:
        print_answer(options, calls, name)
    found = {call.verdict() for call in calls}
    return 0 if "faster" in found and "slower" not in found else 1
