"""collopt compare: does collopt make this program faster?

Runs it without and with collopt in turns, so that what drifts on the machine drifts for both, until
the median of the ratios is known as precisely as was asked for.  The times are of whole runs,
launcher and all, unless the program's own are wanted.  Runs without collopt have no trace of it.
Some more runs load it switched off, to learn what of the time reductions take. """

import json
import os
import re
import subprocess
import sys
import time
from statistics import median

import advice
import commandline
import jobs
import predict
import waits
from calls import by_size, waiting
from progress import Progress
from say import Screen, plural
from text import (Cell, Column, clean, exact_ratio, exact_seconds, five_digits, percent, ratio,
                  seconds, size, table)

HELP = """\
Usage: collopt compare [OPTION]... [--] COMMAND [ARGUMENT]...
Run COMMAND, which starts an MPI program (mpirun, mpiexec, srun, flux run),
without and with collopt in turns, and say whether collopt makes it faster.

      --time DURATION   stop after that time: 120s, 5m, 1h; unless given, after
                          10m and six pairs of runs at least
      --precision PERCENT  stop when the 95% interval of the ratio is within
                          this (1)
      --pairs N         exactly so many pairs, whatever time and precision say
      --own-time REGEX  compare a time that the program prints, the group in
                          'loop time: ([0-9.]+)'; its last match counts
      --same REGEX      lines of the output that must be the same in all runs
      --keep DIRECTORY  keep output and reports of all runs there; otherwise the
                          output of the first run is shown, and no other
  -o, --output FILE     write one HTML page to FILE, too
      --json            print the answer as JSON; the program's output goes to the
                          standard error output
      --progress auto|on|off  how far it is, on the standard error output
      --help            print this help
      --version         print the version

Settings of collopt, by variables or by its options, count for the runs with
it: collopt --after 1 compare mpirun -n 64 ./app.

Exit status: 0 if the program is faster beyond the noise; 1 if it is not; 2 for
wrong arguments; 3 if a run failed, runs differ, or collopt was not in them.
"""

SHORT = "o:"
LONG = ["time=", "precision=", "pairs=", "own-time=", "same=", "keep=", "output=", "json",
        "progress=", "help", "version"]
PAIRS = 6               # fewer have no 95% interval
MOST_PAIRS = 100
TIME = 600.0            # seconds
SHOWN = 8               # rows of the table on the screen
OWN_TIME = "the program's own"
ALL_BUT = 0.005         # a share of calls that is not mentioned


class Failed(Exception):
    """A run that does not let us go on."""


class Options:
    def __init__(self):
        self.time, self.precision, self.pairs = None, 0.01, None
        self.own_time = self.same = self.keep = self.output = None
        self.json, self.progress = False, "auto"
        self.command, self.words = [], []

    def take(self, option, value):
        if option == "--time":
            self.time = commandline.duration(value, option)
        elif option == "--precision":
            self.precision = commandline.percent(value, option)
        elif option == "--pairs":
            self.pairs = commandline.number(value, option, 1, 10000)
        elif option == "--own-time":
            self.own_time = commandline.regex(value, option, 1)
        elif option == "--same":
            self.same = commandline.regex(value, option, None)
        elif option == "--keep":
            self.keep = value
        elif option in ("-o", "--output"):
            self.output = commandline.file_to_write(value, option)
        elif option == "--progress":
            self.progress = commandline.one_of(value, option, ("auto", "on", "off"))
        elif option == "--json":
            self.json = True

    def check(self):
        if not self.command:
            raise commandline.Wrong("no command; give what starts the program, as in collopt "
                                    "compare mpirun -n 4 ./app")
        if os.environ.get("COLLOPT", "on") in ("off", "0", "no", "false"):
            raise commandline.Wrong("COLLOPT=%s: the runs with collopt would be without it; "
                                    "unset it" % os.environ["COLLOPT"])


# ---- runs ----------------------------------------------------------------------------------------

class Session:
    """All runs of one comparison."""

    def __init__(self, place, options):
        self.place, self.options = place, options
        self.folder = jobs.Folder(options.keep)
        self.progress = Progress(options.progress, "collopt compare", every=30)
        self.runs = []              # {way, seconds, status}
        self.pairs = []             # (without, with), seconds
        self.reports = {"off": [], "with": []}
        self.outside = {"off": [], "with": []}  # seconds of runs before MPI_Init and behind the end
        self.lines = None           # what --same found in the first run
        self.began = time.monotonic()

    def _command(self, way, report):
        if way == "without":
            return self.options.command
        off = ["--off"] if way == "off" else []
        return [self.place.collopt] + off + ["--report", report, "--"] + self.options.command

    def _shown(self):
        """Hundreds of runs say the same as the first."""
        return not self.options.keep and not self.runs

    def _echo(self):
        if not self._shown():
            return None, None
        return sys.stderr if self.options.json else sys.stdout, sys.stderr

    def run(self, way):
        """One run; its seconds."""
        n = len(self.runs) + 1
        report = self.folder.file("%d-%s.report" % (n, way))
        environment = jobs.plain(os.environ) if way == "without" else dict(os.environ)
        shown = self._shown()
        done = jobs.run(self._command(way, report), environment,
                        self.folder.file("%d-%s.output" % (n, way)), self._echo())
        self.runs.append({"way": way, "seconds": done.seconds, "status": done.status})
        if done.status != 0:
            raise Failed(self._why(way, done, environment, shown))
        whole = done.seconds
        if self.options.own_time:
            done.seconds = self.runs[-1]["seconds"] = self._own_time(done, way)
        self._compare_lines(done, way)
        if way != "without":
            self._note_report(way, report, whole)
        return done.seconds

    def _why(self, way, done, environment, shown):
        """Whose fault it is: does it fail without collopt, too?  With the last lines of the output
        where the user has not seen them."""
        text = "run %d (%s) ended with status %d" % (len(self.runs), NAMES[way], done.status)
        if way != "without":
            alone = jobs.run(self.options.command, jobs.plain(environment), None,
                             self._echo()).status
            text += (", and without collopt with 0; please report this" if alone == 0 else
                     ", without collopt with %d: it is not collopt's" % alone)
        if not shown:
            text += "\n" + b"\n".join(done.output.splitlines()[-10:]).decode(errors="replace")
        return text

    def _own_time(self, done, way):
        found = self.options.own_time.findall(done.output)
        where = len(self.runs), NAMES[way], self.options.own_time.pattern.decode()
        try:
            time_of = float(found[-1])
        except (IndexError, ValueError):
            raise Failed("run %d (%s) printed no number that --own-time %s finds" % where)
        if not 0 < time_of < float("inf"):
            raise Failed("run %d (%s) printed a time that cannot be compared where --own-time %s "
                         "finds it: %g" % (where + (time_of,)))
        return time_of

    def _compare_lines(self, done, way):
        if not self.options.same:
            return
        lines = [line for line in done.output.splitlines() if self.options.same.search(line)]
        if not lines:
            raise Failed("run %d (%s) printed no line that --same %s finds"
                         % (len(self.runs), NAMES[way], self.options.same.pattern.decode()))
        if self.lines is None:
            self.lines = lines
        if sorted(lines) != sorted(self.lines):
            raise Failed("run %d (%s) printed other results than the first:\n- %s\n+ %s" % (
                len(self.runs), NAMES[way], b"\n- ".join(self.lines).decode(errors="replace"),
                b"\n+ ".join(lines).decode(errors="replace")))

    def _note_report(self, way, file, whole):
        """WHOLE: seconds of the run."""
        report = jobs.report_of(file)
        if not report:
            raise Failed("no report came from the ranks: the command started no MPI program, or "
                         "its ranks did not load collopt or did not call MPI_Finalize%s"
                         % self._where_to_look())
        self.reports[way].append(report)
        if report.seconds:
            self.outside[way].append(max(whole - report.seconds.mean, 0.0))

    def _where_to_look(self):
        text = ""
        if self.folder.seen_here_only:
            text += ("; or rank 0 is on another node, which does not see %s (the working directory "
                     "cannot be written to): name a directory that all nodes see by --keep"
                     % self.folder.path)
        if LAUNCHER.match(os.path.basename(self.options.command[0])):
            text += (".\n  collopt doctor %s\nsays why"
                     % " ".join(launcher_of(self.options.command)))
        return text

    def interval(self):
        return interval(self.place, self.pairs)

    def enough(self):
        """By the number of pairs, the precision or the time."""
        o, n, spent = self.options, len(self.pairs), time.monotonic() - self.began
        if o.pairs:
            return n >= o.pairs
        if n == 0:
            return False
        each = spent / n
        if o.time and spent + each > o.time:
            return True
        if n < PAIRS:
            return False
        ratio = self.interval()
        return ((ratio["high"] - ratio["low"]) / 2 <= o.precision * ratio["median"]
                or n >= MOST_PAIRS
                or (not o.time and spent + each > TIME))

    def tell(self, doing):
        text = "run %d, %s" % (len(self.runs) + 1, NAMES[doing])
        if len(self.pairs) >= 2:
            ratio = self.interval()
            text += ("; so far %.3f times as fast, %.3f to %.3f"
                     % (ratio["median"], ratio["low"], ratio["high"]))
        elif self.runs:
            text += "; a run takes about %s" % seconds(self.runs[-1]["seconds"])
        self.progress.say(text)

    def announce(self):
        """How long it takes, as far as can be said."""
        o = self.options
        if o.pairs:
            until = plural(o.pairs, "pair") + " of runs"
        elif o.time:
            until = "pairs of runs for %s" % duration(o.time)
        else:
            until = ("%d pairs of runs or more, until the interval is within %s or %s are over "
                     "(--time 1m: one minute)" % (PAIRS, percent(o.precision), duration(TIME)))
        self.progress.tell(until + "; a pair is a run without and one with collopt, and a run "
                           "before every third pair only measures reductions")
        if not o.keep:
            self.progress.tell("this is the output of the first run; that of the others is not "
                               "shown, and --keep DIRECTORY keeps it")

    def all(self):
        """A B B A ... with a run that only measures before every third pair;
        the very first warms up, too."""
        while not self.enough():
            if len(self.pairs) % 3 == 0:
                self._one("off")
            first, second = ("without", "with") if len(self.pairs) % 2 == 0 else ("with", "without")
            took = {}
            for way in (first, second):
                took[way] = self._one(way)
            self.pairs.append((took["without"], took["with"]))

    def _one(self, way):
        if self._shown():
            self.announce()
        self.tell(way)
        if self._shown():
            self.progress.clear()
        return self.run(way)


LAUNCHER = re.compile(r"mpirun|mpiexec|orterun|prterun|prun|srun|flux")


def duration(value):
    return "%.0f minutes" % (value / 60) if value >= 120 else "%.0f s" % value


NAMES = {"without": "without collopt", "with": "with collopt", "off": "reductions measured"}


def launcher_of(command):
    """The launcher with its options, as far as can be told:
    up to the first word that is a program."""
    for i, word in enumerate(command[1:], 1):
        if "/" in word and os.path.isfile(word) and os.access(word, os.X_OK):
            return command[:i]
    return command[:1] + ["..."]


# ---- figures -------------------------------------------------------------------------------------

def statistics(place, lines):
    """For each column of LINES: {n, median, low, high, outliers}, by bench/lib/statistics.c."""
    text = "".join(" ".join("%.9g" % value for value in line) + "\n" for line in lines)
    out = subprocess.run([os.path.join(place.helpers, "collopt-statistics")], input=text.encode(),
                         stdout=subprocess.PIPE, check=True).stdout.decode()
    return [dict(zip(("n", "median", "low", "high", "outliers"),
                     (int(w[0]), float(w[1]), float(w[2]), float(w[3]), int(w[4]))))
            for w in (line.split() for line in out.splitlines())]


def interval(place, pairs):
    """Of the ratios without / with."""
    return statistics(place, [(without / with_,) for without, with_ in pairs])[0]


def middle(pairs):
    """(without, with) of the pair in the middle by its ratio; of an even number of pairs the
    geometric means of the two that are there.  So the ratio of what is printed is the median of the
    ratios.  The medians of either kind may have any ratio where the machine drifts."""
    ordered = sorted(pairs, key=lambda pair: pair[0] / pair[1])
    low, high = ordered[(len(pairs) - 1) // 2], ordered[len(pairs) // 2]
    return [five_digits((a * b) ** 0.5) for a, b in zip(low, high)]


def verdict(found, precision):
    """faster and slower: the 95% interval leaves 1 out.  same: it lies so close around 1 that there
    is nothing to be had.  unclear: the noise is greater than that."""
    if found["n"] < PAIRS:
        return "unclear"
    if found["low"] > 1:
        return "faster"
    if found["high"] < 1:
        return "slower"
    return ("same" if found["high"] - 1 <= 2 * precision and 1 - found["low"] <= 2 * precision
            else "unclear")


def ran_some(ran):
    """Whether collopt ran a share worth a mention of these calls, which are counted by who ran
    them."""
    return 1 - ran.get("MPI library", 0) / sum(ran.values()) >= ALL_BUT


def compared(off, ours, few):
    """A record for each collective and size: what a call took without and with, and what ran.  No
    ratio where the MPI library ran the calls with collopt, too.  FEW: too few runs to tell what is
    beyond the noise."""
    lines = []
    of_off, of_ours = [by_size(report) for report in off], [by_size(report) for report in ours]
    for key in sorted({key for found in of_off for key in found}
                      & {key for found in of_ours for key in found}):
        without = [found[key] for found in of_off if key in found]
        with_ = [found[key] for found in of_ours if key in found]
        old, new = [calls.mean for calls in without], [calls.mean for calls in with_]
        ran = {}
        for calls in with_:
            for by, n in calls.by.items():
                ran[by] = ran.get(by, 0) + n
        per_rank = without[0].per_rank
        times = median(old) / median(new) if ran_some(ran) and median(new) else None
        lines.append({
            "collective": key[0], "bytes_to": key[1], "calls_per_rank": per_rank,
            "seconds_without": median(old), "seconds_with": median(new),
            "total_without": median(old) * per_rank,
            "ratio": times,
            "beyond_noise": times is not None and not few
                            and (max(new) < min(old) or max(old) < min(new)),
            "ran": [{"algorithm": by, "share": ran[by] / sum(ran.values())}
                    for by in sorted(ran, key=ran.get, reverse=True)],
        })
    return sorted(lines, key=lambda line: line["total_without"], reverse=True)


def left(report):
    """[{reason, calls, seconds of a rank or None, names}] of the calls left to the MPI library."""
    found = {}
    for row in report.passed:
        sums = found.setdefault(row.reason,
                                {"reason": row.reason, "calls": 0, "seconds": None, "names": []})
        sums["calls"] += row.calls
        if row.seconds:
            sums["seconds"] = (sums["seconds"] or 0.0) + row.total / report.present
        if row.function not in sums["names"]:
            sums["names"].append(row.function)
    return [found[reason] for reason in sorted(found)]


def middle_of(values):
    return median(values) if values else None


def middle_share(list_of):
    return middle_of([report.share for report in list_of if report.share is not None])


def middle_waits(list_of):
    """Of the report in the middle by the time of reducing; None: not known of all."""
    known = sorted((report for report in list_of if report.waiting),
                   key=lambda report: report.waiting.reducing.mean)
    if not known or len(known) < len(list_of):
        return None
    middle_one = known[len(known) // 2]
    return waits.as_json(middle_one.waiting, middle_one.present)


def result(session):
    """All that is known, as --json prints it."""
    options, pairs = session.options, session.pairs
    answer = {"collopt": session.place.version, "command": options.command,
              "options": session.place.said, "compare_options": options.words,
              "settings": {name: value for name, value in sorted(os.environ.items())
                           if name == "COLLOPT" or name.startswith("COLLOPT_")},
              "runs": session.runs, "pairs": len(pairs)}
    if not pairs:
        return answer
    found = session.interval()
    without, with_ = middle(pairs)
    # The answer is drawn from what is printed.
    found["low"], found["high"] = (float(exact_ratio(found[end])) for end in ("low", "high"))
    times = min(max(float(exact_ratio(without / with_)), found["low"]), found["high"])
    few = found["n"] < PAIRS
    off, ours = session.reports["off"], session.reports["with"]
    answer.update({
        "answer": verdict(found, options.precision), "ratio": times,
        "ratio_low": found["low"], "ratio_high": found["high"],
        "confidence": None if few else 0.95, "outliers": found["outliers"],
        "time": OWN_TIME if options.own_time else "of the whole run",
        "seconds_without": without, "seconds_with": with_,
        "mpi": ours[0].mpi_name, "ranks": ours[0].ranks,
        "files": predict.files_of(session.place, ours[0]),
        "share_without": middle_share(off), "share_with": middle_share(ours),
        "outside_without": middle_of(session.outside["off"]),
        "outside_with": middle_of(session.outside["with"]),
        "waiting": waiting(off[-1]),
        "waiting_without": middle_waits(off), "waiting_with": middle_waits(ours),
        "reductions": compared(off, ours, few), "passed": left(ours[-1]),
        "calls_run": sum(row.calls for row in ours[-1].rows if row.algorithm),
    })
    answer["next"] = advice.of_comparison(answer)
    return answer


# ---- the answer ----------------------------------------------------------------------------------

def sentence(answer):
    """The answer in words, and its colour."""
    times, low, high = (exact_ratio(answer[end]) for end in ("ratio", "ratio_low", "ratio_high"))
    within = "95%% interval %s to %s" % (low, high)
    if answer["confidence"] is None:
        return ("%s times as fast, %s to %s in %s: too few for a 95%% interval, which takes %d"
                % (times, low, high, plural(answer["pairs"], "pair"), PAIRS), "bold")
    if answer["answer"] == "faster" and not answer["calls_run"]:
        return ("faster: %s times as fast (%s), beyond the noise; but collopt ran none of the "
                "reductions" % (times, within), "bold")
    if answer["answer"] == "faster":
        return "faster: %s times as fast (%s), beyond the noise" % (times, within), "faster"
    if answer["answer"] == "slower":
        return "slower: %s times as fast (%s), beyond the noise" % (times, within), "slower"
    if answer["answer"] == "same":
        return "no difference: %s times as fast (%s)" % (times, within), "bold"
    return ("unclear: %s times as fast (%s), which is within the noise"
            % (times, within), "bold")


COLUMNS = [
    Column("Collective", header=True),
    Column("Bytes up to", "number",
           hint="Size of one rank's input vector; classes end at powers of two."),
    Column("Calls", "number", less=1, hint="Of each rank, in one run."),
    Column("Without", "number", hint="Mean time of a call that the MPI library runs; "
                                     "median of the runs that measured it."),
    Column("With", "number", hint="Mean time of a call with collopt; median of the runs."),
    Column("Times as fast", "number",
           hint="Above 1, collopt is faster; none where the MPI library ran these calls with "
                "collopt, too. (noise): some run without was not slower, or faster, than some run "
                "with. (few pairs): fewer than %d, which tell nothing of the noise." % PAIRS),
    Column("Run by", hint="What ran these calls with collopt, the most frequent first."),
]


def ran_text(line):
    return ", ".join(part["algorithm"] if part["share"] > 1 - ALL_BUT
                     else "%s %s" % (part["algorithm"], percent(part["share"]))
                     for part in line["ran"])


def ratio_text(line, few):
    note = "few pairs" if few else "" if line["beyond_noise"] or not line["ratio"] else "noise"
    return " ".join(filter(None, (ratio(line["ratio"]) or "–", note and "(%s)" % note)))


def row(line, few):
    times = line["ratio"]
    tone = None if not line["beyond_noise"] or not times else "faster" if times > 1 else "slower"
    return [line["collective"], Cell(size(line["bytes_to"]), value=line["bytes_to"]),
            Cell("%.0f" % line["calls_per_rank"], value=line["calls_per_rank"]),
            Cell(seconds(line["seconds_without"]), value=line["seconds_without"]),
            Cell(seconds(line["seconds_with"]), value=line["seconds_with"]),
            Cell(ratio_text(line, few), value=times or 0, tone=tone, ratio=times), ran_text(line)]


def rows(answer):
    return [row(line, answer["confidence"] is None) for line in answer["reductions"]]


def times_text(answer):
    text = ("time (%s): without %s, with %s"
            % (answer["time"], exact_seconds(answer["seconds_without"]),
               exact_seconds(answer["seconds_with"])))
    if answer["share_without"] is not None:
        text += ("; between MPI_Init and MPI_Finalize, reductions took %s without, %s with"
                 % (percent(answer["share_without"]), percent(answer["share_with"])))
    return text


def outside_text(answer):
    """The time of a run outside the program's own work, which no library changes."""
    return ("start and end of a run (launcher, MPI_Init, after MPI_Finalize), in the runs that "
            "measured reductions: %s without, %s with"
            % (seconds(answer["outside_without"]), seconds(answer["outside_with"])))


def chosen_text(answer):
    names = sorted(set(answer["files"].values()))
    return ("algorithms are chosen by %s" % ", ".join(names) if names
            else "algorithms are chosen by the cost model: no measurements of this machine")


def waiting_text(answer):
    """The most that could be saved, and the time that was; None: not known."""
    without, with_ = answer["waiting_without"], answer["waiting_with"]
    if not without or not with_:
        return None
    return ("of reductions, waiting for late ranks took %s without, %s with; reducing, which is "
            "what faster ones can save, %s without, %s with"
            % (seconds(without["waiting"]), seconds(with_["waiting"]),
               seconds(without["reducing"]), seconds(with_["reducing"])))


def identity(answer):
    return ("%s, %s, collopt %s; %s of runs"
            % (plural(answer["ranks"], "rank"), answer["mpi"], answer["collopt"],
               plural(answer["pairs"], "pair")))


def print_answer(answer):
    screen = Screen()
    text, colour = sentence(answer)
    screen.heading("collopt compare: %s" % " ".join(answer["command"]))
    screen.sentence(identity(answer))
    screen.say()
    screen.sentence(text, colour=colour)
    screen.sentence(times_text(answer))
    if answer["time"] != OWN_TIME and answer["outside_with"] is not None:
        screen.sentence(outside_text(answer))
    screen.sentence(chosen_text(answer))
    if waiting_text(answer):
        screen.sentence(waiting_text(answer))
    screen.say()
    lines = rows(answer)
    if lines:
        table(screen, "Reductions", COLUMNS, lines[:SHOWN])
    else:
        screen.sentence("no blocking reduction was run, or none of a size that is known")
    if len(lines) > SHOWN:
        screen.sentence("and %s, with --json and -o" % plural(len(lines) - SHOWN, "more", "more"))
    if answer["next"]:
        screen.heading("Next")
    for hint in answer["next"]:
        screen.sentence(hint["what"], "  - ")
        if hint.get("command"):
            screen.say("      " + clean(hint["command"]))


def write_page(name, answer):
    import page
    from report import write_page as write

    el = page.el
    whole = max(answer["seconds_without"], answer["seconds_with"]) or 1

    def time_of(label, value, tone):
        return [label, Cell(exact_seconds(value), value=value, bar=value / whole, tone=tone)]

    runs = [[plural(i + 1, "run", "run"), NAMES[run["way"]],
             Cell(seconds(run["seconds"]), value=run["seconds"])]
            for i, run in enumerate(answer["runs"])]
    sections = [
        page.Section("time", "Time",
                     page.table("Time of the pair in the middle, %s" % answer["time"],
                                [Column("Runs", header=True), Column("Time", "number")],
                                [time_of("without collopt", answer["seconds_without"], "host"),
                                 time_of("with collopt", answer["seconds_with"], "collopt")],
                                sorts=False, note=waiting_text(answer))),
        page.Section("reductions", "By collective and size", page.table(
            "Reductions", COLUMNS, rows(answer))),
        answer["next"] and page.Section("next", "What to try next", el("ul", [
            el("li", hint["what"], hint.get("command") and el("code", hint["command"]))
            for hint in answer["next"]])),
        answer["passed"] and page.Section("left", "Left to the MPI library", page.table(
            "Calls with collopt that the MPI library ran",
            [Column("Reason", header=True), Column("Calls", "number"),
             Column("Time of a rank", "number"), Column("Functions", "words")],
            [[entry["reason"], Cell(str(entry["calls"]), value=entry["calls"]),
              Cell(seconds(entry["seconds"]), value=entry["seconds"]), ", ".join(entry["names"])]
             for entry in answer["passed"]])),
        page.Section("runs", "All runs", page.table("Runs in the order in which they were made", [
            Column("Run", header=True), Column("Kind"), Column("Time", "number")], runs)),
    ]
    settings = ", ".join("%s=%s" % pair for pair in answer["settings"].items())
    top = el("p", identity(answer), settings and "; " + settings, class_="note")
    write(name, page.document(title="collopt compare: %s" % " ".join(answer["command"]),
                              kicker=" ".join(answer["command"]), heading=sentence(answer)[0],
                              lead=times_text(answer),
                              made_by="collopt compare %s" % answer["collopt"], top=top,
                              sections=[section for section in sections if section]))


STATUS = {"faster": 0, "slower": 1, "same": 1, "unclear": 1}


def give(session, options, error=None):
    """Prints what is known; the exit status."""
    session.progress.clear()
    answer = result(session)
    if error:
        answer["error"] = error
    if options.json:
        print(json.dumps(answer, indent=2))
    elif session.pairs:
        print_answer(answer)
    if options.output and session.pairs:
        write_page(options.output, answer)
    return 3 if error else STATUS[answer["answer"]] if session.pairs else 1


def work(place, options):
    session = Session(place, options)
    try:
        session.all()
        return give(session, options)
    except Failed as error:
        session.progress.clear()
        sys.stdout.flush()
        sys.stderr.write("collopt compare: %s\n" % error)
        return give(session, options, str(error))
    except jobs.Interrupted:
        session.progress.clear()
        sys.stderr.write("\ncollopt compare: interrupted after %s of runs\n"
                         % plural(len(session.pairs), "pair"))
        give(session, options)
        raise
    finally:
        session.folder.remove()
