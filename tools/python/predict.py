"""collopt profile: what of a program's time are reductions, and what would collopt do?

The program runs once with collopt loaded and switched off: the MPI library runs everything, and
every call is timed.  For each collective and size, collopt-info --explain then says what would be
chosen and how long the model thinks it takes. """

import json
import os
import re
import subprocess
import sys

import commandline
import jobs
import waits
from advice import LITTLE
from calls import by_size, waiting
from say import Screen, plural
from text import Cell, Column, percent, seconds, size, table

HELP = """\
Usage: collopt profile [OPTION]... [--] COMMAND [ARGUMENT]...
Run COMMAND, which starts an MPI program (mpirun, mpiexec, srun, flux run), once
and without any change, and say what its reductions take and what collopt would
do with them. collopt compare measures what really comes of it.

      --nodes N         nodes on which the ranks are, for the predictions; what the
                          scheduler says unless given, or 1
      --keep DIRECTORY  keep the output and the report there; the output is not
                          shown then
  -o, --output FILE     write one HTML page to FILE, too
      --json            print the answer as JSON; the program's output goes to the
                          standard error output
      --help            print this help
      --version         print the version

Exit status: 0; 2 for wrong arguments; 3 if the run failed or gave no report.
"""

SHORT, LONG = "o:", ["nodes=", "keep=", "output=", "json", "help", "version"]
SHOWN = 12
NODES = ("SLURM_JOB_NUM_NODES", "SLURM_NNODES", "FLUX_JOB_NNODES", "PBS_NUM_NODES")

PREDICTION = ("Predictions are the cost model's, for ranks that all arrive at once and sums that "
              "commute. Measured times include waiting for ranks that come late, which no "
              "algorithm takes away; so compare a prediction with the time of reducing, and take a "
              "ratio as a hint. collopt compare measures the gain itself.")


class Options:
    def __init__(self):
        self.nodes = self.keep = self.output = None
        self.json, self.command = False, []

    def take(self, option, value):
        if option == "--nodes":
            self.nodes = commandline.number(value, option, 1, 1 << 20)
        elif option == "--keep":
            self.keep = value
        elif option in ("-o", "--output"):
            self.output = commandline.file_to_write(value, option)
        elif option == "--json":
            self.json = True

    def check(self):
        if not self.command:
            raise commandline.Wrong("no command; give what starts the program, as in collopt "
                                    "profile mpirun -n 4 ./app")


def nodes_of_job(options):
    """The number of nodes, by the user or the scheduler; None: neither says it."""
    if options.nodes:
        return options.nodes
    for name in NODES:
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    try:
        with open(os.environ["PBS_NODEFILE"]) as stream:
            return len(set(stream.read().split()))
    except (KeyError, OSError):
        return None


def host_of(report):
    """openmpi-4.1 or mpich-4.0, as --host of collopt-info takes it; None: neither."""
    text = report.mpi or ""
    name = "openmpi" if "Open MPI" in text else "mpich" if "MPICH" in text else None
    version = re.search(r"[0-9]+\.[0-9]+", text)
    return "%s-%s" % (name, version.group()) if name and version else name


def files_of(place, report):
    """{kind: file} that the job has read, as collopt-info names them for its MPI library."""
    mpi = host_of(report)
    if not mpi:
        return {}
    out = subprocess.run([os.path.join(place.tools, "collopt-info"), "--files", "--host", mpi],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
    lines = [line.split(" ", 2) for line in out.splitlines()]
    return {kind: path for _, kind, path in lines if path != "none"}


def explain(place, calls, ranks, nodes, mpi):
    """The answer of collopt-info --explain for CALLS; None for communicators of one rank."""
    if ranks < 2:
        return None
    per_node = -(-ranks // nodes)
    line = [os.path.join(place.tools, "collopt-info"), "--explain", calls.collective,
            "--ranks", str(ranks), "--nodes", str(nodes), "--bytes", str(calls.bytes), "--json"]
    line += ["--host", mpi] if mpi else []
    line += ["--crowded"] if per_node > (os.cpu_count() or per_node) else []
    done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        sys.stderr.write(done.stderr.decode(errors="replace"))
        return None
    return json.loads(done.stdout.decode())


def line_of(place, calls, report, nodes):
    """One line of the table.  Communicators of several sizes have no one prediction;
    the largest stands for them."""
    ranks = calls.communicators[1] or report.ranks
    told = explain(place, calls, ranks, min(nodes, ranks), host_of(report))
    predicted = told.get("seconds") if told else None
    host = [p["seconds"] for p in told["predictions"] if p["measured"]] if told else []
    return {
        "collective": calls.collective, "bytes_to": calls.bytes_to, "bytes": calls.bytes,
        "communicator_ranks": list(calls.communicators), "calls_per_rank": calls.per_rank,
        "seconds": calls.mean, "seconds_shortest": calls.shortest,
        "seconds_reducing": calls.reducing,
        "total": calls.mean * calls.per_rank,
        "predicted_algorithm": told["algorithm"] if told else None,
        "predicted_why": told["why"] if told else None,
        "predicted_seconds": predicted, "host_measured_seconds": host[0] if host else None,
    }


def result(place, options, report, run):
    nodes = nodes_of_job(options)
    lines = [line_of(place, calls, report, nodes or 1) for calls in by_size(report).values()]
    return {
        "collopt": place.version, "command": options.command, "seconds": run.seconds,
        "mpi": report.mpi_name,
        "ranks": report.ranks, "nodes": nodes or 1, "nodes_known": nodes is not None,
        "program_seconds": report.seconds.mean if report.seconds else None,
        "reduction_seconds": report.reductions.mean if report.reductions else None,
        "share": report.share, "waiting": waiting(report),
        "waiting_measured": waits.as_json(report.waiting, report.present),
        "reductions": sorted(lines, key=lambda line: line["total"], reverse=True),
        "untimed": [{"name": row.function, "calls": row.calls, "reason": row.reason}
                    for row in report.passed if not row.seconds],
        "prediction": PREDICTION,
    }


# ---- the answer ----------------------------------------------------------------------------------

def conclusion(answer):
    """The conclusion, in words."""
    share = answer["share"]
    if share is None:
        return "The program's time is not known, as it did not call MPI_Init."
    if share < LITTLE:
        return ("Reductions take %s of the time. If they were free, the program would be %.3f "
                "times as fast: nothing to be won here." % (percent(share), 1 / (1 - share)))
    text = ("Reductions take %s of the time: if they were free, the program would be %.2f times "
            "as fast." % (percent(share), 1 / (1 - min(share, 0.999))))
    measured = answer["waiting_measured"]
    if measured:
        text += " They are %s." % waits.short(measured)
        text += " Faster reductions can save at most %s" % seconds(measured["reducing"])
        text += ": balance the load first." if answer["waiting"] > 0.5 else "."
    elif answer["waiting"] is not None and answer["waiting"] > 0.5:
        text += (" Most of it is waiting for ranks that come late, which no algorithm removes: "
                 "balance the load first.")
    return text + " Next: collopt compare %s" % " ".join(answer["command"])


COLUMNS = [
    Column("Collective", header=True),
    Column("Bytes up to", "number",
           hint="Size of one rank's input vector; classes end at powers of two."),
    Column("Calls", "number", less=2, hint="Of each rank."),
    Column("A call", "number",
           hint="Mean time, measured; waiting for ranks that came late is part of it."),
    Column("Reducing", "number", less=1,
           hint="What of this was not waiting; mean of the ranks. Empty: not known."),
    Column("Shortest", "number", less=1, hint="The shortest call of any rank, measured."),
    Column("Predicted", "number",
           hint="What the cost model says of collopt's choice, for ranks that all arrive at once."),
    Column("Would run", hint="What collopt would choose."),
]


def row(line):
    times = [Cell(seconds(line[key]) or "-", value=line[key])
             for key in ("seconds", "seconds_reducing", "seconds_shortest", "predicted_seconds")]
    return [line["collective"], Cell(size(line["bytes_to"]), value=line["bytes_to"]),
            Cell("%.0f" % line["calls_per_rank"], value=line["calls_per_rank"]),
            *times, line["predicted_algorithm"] or "-"]


def identity(answer):
    return "%s on %s%s, %s, collopt %s" % (
        plural(answer["ranks"], "rank"), plural(answer["nodes"], "node"),
        "" if answer["nodes_known"] else " (say by --nodes if there are more)", answer["mpi"],
        answer["collopt"])


def times_text(answer):
    return "%s between MPI_Init and MPI_Finalize, of which reductions %s: %s" % (
        seconds(answer["program_seconds"]), seconds(answer["reduction_seconds"]),
        percent(answer["share"]))


def print_answer(answer):
    screen = Screen()
    screen.heading("collopt profile: %s" % " ".join(answer["command"]))
    screen.sentence(identity(answer))
    if answer["share"] is not None:
        screen.sentence(times_text(answer))
    screen.say()
    if answer["reductions"]:
        table(screen, "Reductions", COLUMNS, [row(line) for line in answer["reductions"][:SHOWN]])
    if len(answer["reductions"]) > SHOWN:
        screen.sentence("and %s, with --json and -o"
                        % plural(len(answer["reductions"]) - SHOWN, "more", "more"))
    for entry in answer["untimed"]:
        screen.sentence("%s: %s, not timed (%s)"
                        % (entry["name"], plural(entry["calls"], "call"), entry["reason"]))
    screen.sentence(conclusion(answer))
    screen.sentence(PREDICTION)


def write_page(name, answer):
    import page
    from report import write_page as write

    reductions = COLUMNS + [Column("Why", "words")]
    sections = [page.Section("reductions", "By collective and size", page.table(
        "Reductions", reductions,
        [row(line) + [line["predicted_why"] or ""] for line in answer["reductions"]], PREDICTION))]
    if answer["untimed"]:
        sections.append(page.Section("untimed", "Not timed", page.table(
            "Calls without a time",
            [Column("Function", header=True), Column("Calls", "number"), Column("Reason", "words")],
            [[entry["name"], Cell(str(entry["calls"]), value=entry["calls"]), entry["reason"]]
             for entry in answer["untimed"]])))
    write(name, page.document(title="collopt profile: %s" % " ".join(answer["command"]),
                              kicker=" ".join(answer["command"]), heading=conclusion(answer),
                              lead=times_text(answer) if answer["share"] is not None else "",
                              made_by="collopt profile %s" % answer["collopt"],
                              top=page.el("p", identity(answer), class_="note"), sections=sections))


def measure(place, options, folder):
    """Runs the program; its report, or None and what is wrong."""
    file = folder.file("profile.report")
    echo = ((None, None) if options.keep
            else (sys.stderr if options.json else sys.stdout, sys.stderr))
    run = jobs.run([place.collopt, "--off", "--report", file, "--"] + options.command,
                   dict(os.environ), folder.file("profile.output"), echo)
    if run.status != 0:
        return run, None, "the program ended with status %d" % run.status
    report = jobs.report_of(file)
    if not report:
        return run, None, ("no report came from the ranks: the command started no MPI program, "
                           "or its ranks did not load collopt or did not call MPI_Finalize")
    return run, report, None


def work(place, options):
    folder = jobs.Folder(options.keep)
    try:
        run, report, error = measure(place, options, folder)
        sys.stdout.flush()
        if error:
            sys.stderr.write("collopt profile: %s\n" % error)
            return 3
        answer = result(place, options, report, run)
    finally:
        folder.remove()
    if options.json:
        print(json.dumps(answer, indent=2))
    else:
        print_answer(answer)
    if options.output:
        write_page(options.output, answer)
    return 0
