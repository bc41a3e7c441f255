"""collopt demo: how fast are the reductions of this MPI library here, and how fast are collopt's?

The example is collopt-bench, which is installed for each MPI library: both sides take turns in one
run.  Only what is beyond the noise is shown, and where nothing is, that is the answer. """

import json
import os
import shutil
import sys

import commandline
import figures
from doctor import kind_of
from figures import COLLECTIVES, FELT, SIZES
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
PART = 0.75                 # of the time is for measuring; the rest for start and end
FAR = 10                    # an interval this wide tells the order of magnitude at most


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


# ---- figures -------------------------------------------------------------------------------------

def verdict(call):
    """faster or slower, beyond the noise; None: it cannot be told."""
    if abs(call.without - call.with_) <= FELT or call.high > FAR * call.low:
        return None
    return "faster" if call.low > 1 else "slower" if call.high < 1 else None


def measure(place, options):
    mpi = options.mpi or kind_of(options.command) or "openmpi"
    program = figures.example(place, mpi)
    if not program:
        raise commandline.Wrong("collopt-bench-%s is not installed: it comes with the backend for "
                                "that MPI library (collopt-info)" % mpi)
    return figures.measure(place, options.command, program, PART * options.time)


# ---- the answer ----------------------------------------------------------------------------------

COLUMNS = [Column("Call", header=True), Column("Bytes", "number"), Column("MPI library", "number"),
           Column("collopt", "number"), Column("Times as fast", "number"),
           Column("95% interval", "number")]


def row(call):
    return ["MPI_" + call.collective.capitalize(), Cell(size(call.bytes), value=call.bytes),
            Cell(seconds(call.without), value=call.without),
            Cell(seconds(call.with_), value=call.with_),
            Cell(ratio(call.ratio), value=call.ratio,
                 tone="faster" if call.ratio > 1 else "slower"),
            Cell("%.2f to %.2f" % (call.low, call.high), value=call.low)]


def sentence(calls):
    """The answer in words, and its colour."""
    faster = [call for call in calls if verdict(call) == "faster"]
    slower = [call for call in calls if verdict(call) == "slower"]
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
    return text, "slower" if len(slower) > len(faster) else "faster"


def print_answer(options, calls, name):
    screen = Screen()
    screen.heading("collopt demo: %s, %s" % (" ".join(options.command), name))
    text, colour = sentence(calls)
    screen.sentence(text, colour=colour)
    if os.getloadavg()[0] > 1.5 * (os.cpu_count() or 1):
        screen.sentence("this machine is busy (%.1f processes for %s): figures of an idle one "
                        "differ" % (os.getloadavg()[0], plural(os.cpu_count() or 1, "processor")))
    shown = sorted((call for call in calls if verdict(call)),
                   key=lambda call: (call.collective, call.bytes))
    screen.say()
    if shown:
        table(screen, "Calls", COLUMNS, [row(call) for call in shown])
    screen.sentence("Your program gains a part of the time that it spends in such calls, which may "
                    "be little; this measures it:")
    screen.say("      collopt compare %s ./app" % " ".join(options.command))


def as_json(options, calls, name):
    return {"launcher": options.command, "mpi": name, "summary": sentence(calls)[0], "calls": [
        {"collective": call.collective, "bytes": call.bytes, "algorithm": call.algorithm,
         "seconds_without": call.without, "seconds_with": call.with_, "ratio": call.ratio,
         "ratio_low": call.low, "ratio_high": call.high, "verdict": verdict(call)}
        for call in calls]}


def work(place, options):
    progress = Progress("auto", "collopt demo", every=30)
    progress.say("two ways of %d kinds of calls, for about %s"
                 % (len(COLLECTIVES) * len(SIZES), seconds(options.time)))
    try:
        calls, name = measure(place, options)
    except figures.Failed as error:
        progress.clear()
        sys.stderr.write("collopt demo: %s\n" % error)
        return 3
    progress.clear()
    if options.json:
        print(json.dumps(as_json(options, calls, name), indent=2))
    else:
        print_answer(options, calls, name)
    found = {verdict(call) for call in calls}
    return 0 if "faster" in found and "slower" not in found else 1
