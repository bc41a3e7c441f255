"""What COLLOPT_REPORT has written (doc/report.md): read, checked, and brought together."""

import json
import os
import re
import sys
from dataclasses import dataclass, field, replace
from typing import List, Optional

import makings
import waits
from text import clean

COLLECTIVES = ("reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan",
               "reduce_local")
NESTED = "called from inside a collective"
EARLY = "among the first calls"
# No process has counted more, nor run for more seconds: sums of such numbers are still numbers.
MOST_COUNT, MOST_REAL = 2 ** 64, 1e15


SCHEMA = 1                      # of src/report/report.c


class BadReport(Exception):
    """A message that begins with the file, and the line where there is one."""


@dataclass
class Spread:
    """Least, mean and most over ranks or over calls."""
    min: float
    mean: float
    max: float


@dataclass
class Row:
    """Calls of one kind.  ALGORITHM: collopt's; None: they were left to the MPI library,
    for REASON."""
    collective: str             # allreduce; of a call that is no blocking reduction its MPI name
    function: Optional[str]     # the MPI name, of calls that were left to the MPI library
    algorithm: Optional[str]
    reason: Optional[str]
    bytes_from: Optional[int]   # None: of any size
    bytes_to: Optional[int]
    ranks: int                  # that have made such calls
    calls: int
    bytes: int = 0
    messages: int = 0           # bytes that were sent
    shared_memory: int = 0
    seconds: Optional[Spread] = None            # of one rank; None: not timed
    seconds_per_call: Optional[Spread] = None
    # Ranks of the smallest and the largest; None: not known.
    communicator_least: Optional[int] = None
    communicator_most: Optional[int] = None
    waiting: Optional[waits.Waits] = None     # None: not known

    @property
    def by(self):
        return self.algorithm or "MPI library"

    @property
    def total(self):
        """Seconds of all ranks together."""
        return self.seconds.mean * self.ranks if self.seconds else 0.0

    def key(self):
        return (self.algorithm is None, self.function or self.collective,
                self.bytes_to if self.bytes_to is not None else -1, self.algorithm or self.reason)


@dataclass
class Share:
    """Ranks that follow one another: how long they ran, and what of it was in reductions."""
    ranks_from: int
    ranks_to: int
    host: Optional[str]
    seconds: Optional[Spread]
    reductions: Spread
    waiting: Optional[Spread] = None    # None: not known, nor are the others
    made_wait: Optional[Spread] = None  # what others waited for one of these, summed over them
    calls: int = 0              # whose waiting is known
    last: int = 0               # of these, such as one of these ranks entered last


@dataclass
class Lesson:
    collective: str
    ranks: int
    nodes: int
    ppn: int
    op: str
    uneven: bool
    bytes_from: int
    bytes_to: int
    algorithm: str
    seconds: float
    communicators: int
    chosen: int

    def key(self):
        return (self.collective, self.ranks, self.nodes, self.ppn, self.op, self.uneven,
                self.bytes_to, self.algorithm)


@dataclass
class Report:
    name: str
    collopt: str
    mpi: Optional[str]
    ranks: int
    combined: bool
    present: int                # ranks whose sums these are
    aborted: bool               # by MPI_Abort: these ranks called it
    seconds: Optional[Spread]   # None: not known
    reductions: Optional[Spread]
    rows: List[Row] = field(default_factory=list)
    by_rank: List[Share] = field(default_factory=list)
    learnt: List[Lesson] = field(default_factory=list)
    waiting: Optional[waits.Waits] = None     # None: not known
    communicators: Optional[makings.Makings] = None   # None: the program made no communicators

    @property
    def mpi_name(self):
        """The first words of what the MPI library says of itself."""
        found = re.match(r"(Open MPI v?[\w.]+|MPICH Version:\s*[\w.]+|[^,\n]{0,60})",
                         self.mpi or "unknown MPI library")
        return re.sub(r"Version:\s*", "", found.group(1)).strip()

    def per_rank(self, rows):
        """Seconds in ROWS, mean of all ranks."""
        return sum(row.total for row in rows if row.reason != NESTED) / max(self.present, 1)

    @property
    def run(self):
        return [row for row in self.rows if row.algorithm]

    @property
    def passed(self):
        return [row for row in self.rows if not row.algorithm]

    @property
    def share(self):
        """The share of the run in reductions; None: not known. Nonblocking ones overlap, so that
        their sum may be more than all of it."""
        if not self.seconds or not self.reductions or self.seconds.mean <= 0:
            return None
        return min(self.reductions.mean / self.seconds.mean, 1)


@dataclass
class Sum:
    """All calls of one collective, of one size or of any:
    COLLOPT's and those of the MPI library together."""
    calls: int = 0
    timed: int = 0              # calls that have a time
    seconds: float = 0.0        # of all ranks together
    by: List[str] = field(default_factory=list)

    def add(self, row):
        self.calls += row.calls
        self.timed += row.calls if row.seconds else 0
        self.seconds += row.total
        if row.by not in self.by:
            self.by.append(row.by)

    @property
    def per_call(self):
        return self.seconds / self.timed if self.timed else None


def sums(report, by_size):
    """{(collective, bytes_to)} or {collective}: of calls that were timed,
    and are not inside of others."""
    found = {}
    for row in sorted(report.rows, key=Row.key):
        if not row.seconds or row.reason == NESTED or (by_size and row.bytes_to is None):
            continue
        key = (row.collective, row.bytes_to) if by_size else row.collective
        found.setdefault(key, Sum()).add(row)
    return found


# ---- reading -------------------------------------------------------------------------------------

TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|([][{}:,])|([^\s"\][{}:,]+))', re.S)


def line_of(text, path):
    """The line on which the value at PATH (keys and indices) begins, of a TEXT that is JSON; where
    it has none, the innermost object or array on the way."""
    # STACK has the key or index of each open level; a string waits for its colon.
    stack, best, at = [], (0, 1), 0
    expects_key = []
    while True:
        found = TOKEN.match(text, at)
        if not found:
            return best[1]
        at = found.end()
        word, mark = found.group(1), found.group(2)
        begins = (mark in ("{", "[")
                  or (mark is None and not (word and expects_key and expects_key[-1])))
        if begins and stack == path[:len(stack)] and len(stack) >= best[0]:
            start = next(i for i in range(1, 4) if found.group(i) is not None)
            best = (len(stack), text.count("\n", 0, found.start(start)) + 1)
            if stack == path:
                return best[1]
        if mark in ("{", "["):
            stack.append(0 if mark == "[" else None)
            expects_key.append(mark == "{")
        elif mark in ("}", "]"):
            stack.pop()
            expects_key.pop()
        elif mark == ",":
            if isinstance(stack[-1], int):
                stack[-1] += 1
            else:
                expects_key[-1] = True
        elif word and expects_key and expects_key[-1]:
            stack[-1] = json.loads(word)
            expects_key[-1] = False


class Reader:
    """Takes values out of one file; whatever is wrong is said with the file and the line."""

    def __init__(self, name, text):
        self.name, self.text = name, text

    def bad(self, path, message):
        shown = "".join("[%d]" % step if isinstance(step, int) else "." + step
                        for step in path).lstrip(".")
        raise BadReport(clean("%s:%d: %s" % (self.name, line_of(self.text, path),
                                             message % (shown or "the report"))))

    def member(self, at, path, key, wanted, good, missing=None):
        """The member KEY of the object AT; GOOD says whether it is what is WANTED.  MISSING: stands
        for one that is not there; () : it must be there."""
        if not isinstance(at, dict):
            self.bad(path, "%s is no object")
        if key not in at:
            if missing == ():
                self.bad(path, '%s has no "' + key + '"')
            return missing
        value = at[key]
        if not good(value):
            shown = json.dumps(value)
            shown = shown if len(shown) <= 40 else shown[:37] + "..."
            self.bad(path + [key], "%s is " + shown.replace("%", "%%") + "; it must be " + wanted)
        if isinstance(value, str):      # JSON can write halves of a character, which UTF-8 cannot
            return value.encode("utf-8", "replace").decode("utf-8")
        return value

    def count(self, at, path, key, missing=(), least=0):
        return self.member(at, path, key, "a whole number, %d or more" % least
                           + self.below(at, key, MOST_COUNT, "2^64"),
                           lambda v: isinstance(v, int) and not isinstance(v, bool)
                           and least <= v < MOST_COUNT, missing)

    def real(self, at, path, key, missing=()):
        return self.member(at, path, key,
                           "a number, 0 or more" + self.below(at, key, MOST_REAL, "1e15"),
                           lambda v: isinstance(v, (int, float)) and not isinstance(v, bool)
                           and 0 <= v < MOST_REAL, missing)

    @staticmethod
    def below(at, key, limit, text):
        """A sentence on a limit, where a number is beyond it."""
        value = at[key] if isinstance(at, dict) and key in at else 0
        beyond = isinstance(value, (int, float)) and value >= limit
        return ", and less than " + text if beyond else ""

    def text_of(self, at, path, key, missing=()):
        return self.member(at, path, key, "a string", lambda v: isinstance(v, str), missing)

    def flag(self, at, path, key, missing=()):
        return self.member(at, path, key, "true or false", lambda v: isinstance(v, bool), missing)

    def list_of(self, at, path, key, missing=()):
        return self.member(at, path, key, "an array", lambda v: isinstance(v, list), missing) or []

    def spread(self, at, path, key, missing=()):
        value = self.member(at, path, key, "an object with min, mean and max",
                            lambda v: isinstance(v, dict), missing)
        if value is None:
            return None
        found = Spread(*(self.real(value, path + [key], part) for part in ("min", "mean", "max")))
        if not found.min <= found.mean * (1 + 1e-4) or not found.mean <= found.max * (1 + 1e-4):
            self.bad(path + [key], "%s: its mean is not between its min and its max")
        return found


def collective_of(name):
    """allreduce of MPI_Allreduce and MPI_Allreduce_c; else the name as it is."""
    found = re.match(r"MPI_([A-Z][a-z_]*?)(_c)?$", name)
    return found.group(1).lower() if found and found.group(1).lower() in COLLECTIVES else name


def read_run(r, at, path):
    sent = r.member(at, path, "sent", "an object", lambda v: isinstance(v, dict), {})
    return Row(collective=r.text_of(at, path, "collective"), function=None,
               algorithm=r.text_of(at, path, "algorithm"), reason=None,
               bytes_from=r.count(at, path, "bytes_from"), bytes_to=r.count(at, path, "bytes_to"),
               ranks=r.count(at, path, "ranks", least=1), calls=r.count(at, path, "calls", least=1),
               bytes=r.count(at, path, "bytes"),
               messages=r.count(sent, path + ["sent"], "messages", 0),
               shared_memory=r.count(sent, path + ["sent"], "shared_memory", 0),
               seconds=r.spread(at, path, "seconds"),
               seconds_per_call=r.spread(at, path, "seconds_per_call"),
               waiting=waits.read(r, at, path))


def read_passed(r, at, path):
    name = r.text_of(at, path, "name")
    communicators = r.member(at, path, "communicators", "an object",
                             lambda v: isinstance(v, dict), {})
    sizes = [r.count(communicators, path + ["communicators"], key, None)
             for key in ("ranks_min", "ranks_max")]
    return Row(collective=collective_of(name), function=name, algorithm=None,
               reason=r.text_of(at, path, "reason"),
               bytes_from=r.count(at, path, "bytes_from", None),
               bytes_to=r.count(at, path, "bytes_to", None),
               ranks=r.count(at, path, "ranks", least=1), calls=r.count(at, path, "calls", least=1),
               bytes=r.count(at, path, "bytes", 0), seconds=r.spread(at, path, "seconds", None),
               seconds_per_call=r.spread(at, path, "seconds_per_call", None),
               communicator_least=sizes[0], communicator_most=sizes[1],
               waiting=waits.read(r, at, path))


def read_share(r, at, path):
    first, last = r.count(at, path, "ranks_from"), r.count(at, path, "ranks_to")
    if last < first:
        r.bad(path + ["ranks_to"], "%s is less than ranks_from")
    host = r.member(at, path, "host", "a string or null",
                    lambda v: v is None or isinstance(v, str), None)
    return Share(first, last, host, r.spread(at, path, "seconds", None),
                 r.spread(at, path, "reductions"), r.spread(at, path, "waiting", None),
                 r.spread(at, path, "made_wait", None), r.count(at, path, "calls", 0),
                 r.count(at, path, "last", 0))


def read_lesson(r, at, path):
    return Lesson(r.text_of(at, path, "collective"), r.count(at, path, "ranks", least=1),
                  r.count(at, path, "nodes"), r.count(at, path, "ppn"), r.text_of(at, path, "op"),
                  r.flag(at, path, "uneven", False), r.count(at, path, "bytes_from"),
                  r.count(at, path, "bytes_to"), r.text_of(at, path, "algorithm"),
                  r.real(at, path, "seconds"), r.count(at, path, "communicators"),
                  r.count(at, path, "chosen"))


def each(r, whole, key, read, missing=()):
    return [read(r, at, [key, i]) for i, at in enumerate(r.list_of(whole, [], key, missing))]


def shares_of(r, whole, report, rank):
    """Versions that wrote no by_rank wrote of one rank what it had all the same."""
    shares = each(r, whole, "by_rank", read_share, None)
    if not shares and report.reductions and report.present == 1:
        shares = [Share(rank, rank, None, report.seconds, report.reductions)]
    return shares


def parse(name, text):
    """The report of one file, and the rank whose it is, or None."""
    def no_number(word):
        raise ValueError("%s is no number of JSON" % word)

    r = Reader(name, text)
    if not text.strip():
        raise BadReport("%s: is empty; a report is written at MPI_Finalize" % clean(name))
    try:
        whole = json.loads(text, parse_constant=no_number)
    except json.JSONDecodeError as error:
        raise BadReport("%s:%d: not JSON: %s at column %d"
                        % (clean(name), error.lineno, error.msg, error.colno)) from None
    except (ValueError, RecursionError) as error:
        raise BadReport("%s: not JSON of a report: %s" % (clean(name), clean(error))) from None
    if not isinstance(whole, dict) or "collopt" not in whole:
        raise BadReport('%s:1: is no report of COLLOPT_REPORT: it is no object that has "collopt"'
                        % clean(name))
    schema = r.count(whole, [], "schema", SCHEMA)
    if schema != SCHEMA:
        raise BadReport(clean("%s: schema is %d, of collopt %s; this reads %d: use that version's "
                              "collopt-report" % (name, schema, whole["collopt"], SCHEMA)))
    combined = r.flag(whole, [], "combined")
    rank = None if combined else r.count(whole, [], "rank")
    ranks = r.count(whole, [], "ranks", least=1)
    if rank is not None and rank >= ranks:
        r.bad(["rank"], "%s is " + str(rank) + ", of " + str(ranks) + " ranks")
    report = Report(name=name, collopt=r.text_of(whole, [], "collopt"),
                    mpi=r.member(whole, [], "mpi", "a string or null",
                                 lambda v: v is None or isinstance(v, str), None),
                    ranks=ranks, combined=combined, present=ranks if combined else 1,
                    aborted=r.flag(whole, [], "aborted", False),
                    seconds=r.spread(whole, [], "seconds", None),
                    reductions=r.spread(whole, [], "reductions", None),
                    rows=each(r, whole, "run", read_run) + each(r, whole, "passed", read_passed),
                    learnt=each(r, whole, "learnt", read_lesson, None),
                    waiting=waits.read(r, whole, []), communicators=makings.read(r, whole, []))
    report.by_rank = shares_of(r, whole, report, rank)
    return report, rank


def load(name):
    """The content of the file NAME; "-" is the standard input."""
    try:
        if name == "-":
            data = sys.stdin.buffer.read()
        else:
            with open(name, "rb") as file:
                data = file.read()
    except OSError as error:
        raise BadReport("%s: %s" % (clean(name), error.strerror)) from None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadReport("%s:%d: not UTF-8, so it is no report" % (clean(name), line)) from None


# ---- several processes ---------------------------------------------------------------------------


def joined(spreads_and_weights):
    """One spread over all ranks; the weights are numbers of ranks."""
    given = [(s, w) for s, w in spreads_and_weights if s]
    if not given:
        return None
    return Spread(min(s.min for s, _ in given),
                  sum(s.mean * w for s, w in given) / sum(w for _, w in given),
                  max(s.max for s, _ in given))


def least_of(values):
    return min((value for value in values if value is not None), default=None)


def most_of(values):
    return max((value for value in values if value is not None), default=None)


def join_rows(rows):
    found = {}
    for row in rows:
        same = found.setdefault(row.key(), [])
        same.append(row)
    return [replace(same[0], ranks=sum(row.ranks for row in same),
                    calls=sum(row.calls for row in same), bytes=sum(row.bytes for row in same),
                    messages=sum(row.messages for row in same),
                    shared_memory=sum(row.shared_memory for row in same),
                    seconds=joined((row.seconds, row.ranks) for row in same),
                    seconds_per_call=joined((row.seconds_per_call, row.calls) for row in same),
                    communicator_least=least_of(row.communicator_least for row in same),
                    communicator_most=most_of(row.communicator_most for row in same))
            for same in found.values()]


def join_lessons(lessons):
    found = {}
    for lesson in lessons:
        found.setdefault(lesson.key(), []).append(lesson)
    out = []
    for same in found.values():
        weights = [max(lesson.communicators, 1) for lesson in same]
        out.append(replace(same[0], communicators=max(lesson.communicators for lesson in same),
                           chosen=max(lesson.chosen for lesson in same),
                           seconds=sum(l.seconds * w for l, w in zip(same, weights))
                           / sum(weights)))
    return out


def merge(name, reports):
    """One report of the REPORTS of single ranks of one job."""
    first = reports[0]
    for other in reports[1:]:
        for what in ("collopt", "mpi", "ranks"):
            if getattr(other, what) != getattr(first, what):
                raise BadReport(clean("%s: %s is %s, but %s in %s: not of one job" % (
                    other.name, what, getattr(other, what), getattr(first, what), first.name)))
    return replace(first, name=name, present=len(reports),
                   seconds=joined((r.seconds, 1) for r in reports),
                   reductions=joined((r.reductions, 1) for r in reports),
                   rows=join_rows(row for r in reports for row in r.rows),
                   by_rank=sorted((share for r in reports for share in r.by_rank),
                                  key=lambda s: s.ranks_from),
                   communicators=makings.merge([r.communicators for r in reports], joined),
                   learnt=join_lessons(lesson for r in reports for lesson in r.learnt))


def job_of(name, rank):
    """The files out.0, out.1, ... of ranks are one job's, out."""
    end = ".%s" % rank
    return (name[:-len(end)] if rank is not None and name.endswith(end) and len(name) > len(end)
            else name)


def files_of(name):
    """A job whose ranks wrote a file each has no file of the name that it was given,
    but NAME.0, NAME.1, ..."""
    if name == "-" or os.path.exists(name):
        return [name]
    folder, base = os.path.split(name)
    try:
        found = [other[len(base) + 1:] for other in os.listdir(folder or ".")
                 if other.startswith(base + ".")]
    except OSError:
        return [name]
    ranks = sorted(int(end) for end in found if re.fullmatch(r"0|[1-9][0-9]*", end))
    return ["%s.%d" % (name, rank) for rank in ranks] or [name]


def read(names):
    """The reports in these files, one for each job, in the order in which the jobs are named."""
    jobs = {}
    for name in (file for name in names for file in files_of(name)):
        report, rank = parse(name, load(name))
        kind = (job_of(name, rank), report.combined)
        ranks = jobs.setdefault(kind, {})
        if rank in ranks:
            raise BadReport(clean("%s: is given twice" % name) if ranks[rank].name == name else
                            clean("%s: rank %s is also in %s" % (name, rank, ranks[rank].name)))
        ranks[rank] = report
    reports = []
    for (job, _), ranks in jobs.items():
        found = list(ranks.values())
        report = found[0] if found[0].combined else merge(job, found)
        report.rows.sort(key=lambda row: (row.collective,
                                          row.bytes_to if row.bytes_to is not None else -1,
                                          row.key()))
        reports.append(report)
    return reports
