"""Reports as tables, for the terminal and for a page: what they say is decided here,
how it looks in text.py and page.py."""

import os

from reports import NESTED, Sum, sums
import waits
from text import Cell, Column, count, percent, ratio, seconds, size

# As doc/report.md says them.
REASONS = {
    "switched off": "COLLOPT=off, or MPI_Pcontrol(0)",
    "among the first calls": "taking the communicator over, or making a plan, did not pay yet "
                             "(COLLOPT_AFTER)",
    "arguments left to the MPI library": "errors that are the MPI library's to report; of "
                                         "MPI_Reduce_local also operations and datatypes "
                                         "that collopt has no loop for",
    "intercommunicator": "collopt serves intracommunicators",
    "communicator not taken over": "too many communicators, or ranks that disagree",
    "COLLOPT_GPU=native": "that setting leaves all communicators to the MPI library",
    "MPI library chosen": "the MPI library's own was forced, or selected because it is faster",
    "left to the network": "between nodes the MPI library has HCOLL, UCC, SHARP or the like "
                           "reduce (COLLOPT_OFFLOAD)",
    "called from inside a collective": "the MPI library's own calls, and those of user "
                                       "operations; their time is part of the outer call's",
    "not in shared memory": "nonblocking and persistent ones on several nodes, "
                            "or without shared memory",
    "taken past collopt by a tool": "a profiling tool has called the MPI library's function; "
                                    "name it before libcollopt.so in LD_PRELOAD",
}


class View:
    """A table: its rows are lists of cells."""

    def __init__(self, caption, columns, rows, note=None, sorts=True):
        self.caption, self.columns, self.rows = caption, columns, rows
        self.note, self.sorts = note, sorts


def size_cell(bytes_to):
    return Cell("any", value=-1) if bytes_to is None else Cell(size(bytes_to), value=bytes_to)


def seconds_cell(value, **more):
    return Cell(seconds(value), value=value, **more)


def timed(report):
    return [row for row in report.rows if row.seconds and row.reason != NESTED]


def by_size(report):
    """Times by collective, size and who ran the calls."""
    rows = timed(report)
    most = max([row.seconds.max for row in rows] + [0]) or 1
    whole = sum(row.total for row in rows) or 1
    lines = []
    some = any(row.ranks != report.present for row in rows)
    waiting = any(row.waiting for row in rows)
    for row in rows:
        per = row.seconds_per_call
        tone = "collopt" if row.algorithm else "host"
        lines.append([row.collective, size_cell(row.bytes_to),
                      seconds_cell(row.seconds.mean, bar=row.seconds.mean / most, tone=tone,
                                   spread=(row.seconds.min / most, row.seconds.max / most)),
                      Cell(percent(row.total / whole), value=row.total)]
                     + (waits.cells(row) if waiting else [])
                     + [Cell(row.by, tone=tone), Cell(count(row.calls), value=row.calls)]
                     + ([Cell(count(row.ranks), value=row.ranks)] if some else [])
                     + [seconds_cell(per.mean if per else None),
                        seconds_cell(per.min if per else None),
                        seconds_cell(per.max if per else None)])
    columns = [
        Column("Collective", header=True),
        Column("Bytes up to", "number",
               hint="Size of one rank's input vector; classes end at powers of two."),
        Column("Time of a rank", "number",
               hint="Inside these calls, added up on each rank, mean of the ranks that made them; "
                    "the line on the bar goes from the least to the most. Waiting for ranks that "
                    "came late is part of it."),
        Column("Of all", "number", less=2,
               hint="Share of the time that all ranks together spent in reductions."),
    ] + (waits.COLUMNS if waiting else []) + [
        Column("Run by", hint="The algorithm of collopt, or the MPI library."),
        Column("Calls", "number", less=1, hint="Of all ranks: 100 calls on 4 ranks are 400."),
    ] + ([Column("Ranks", "number", less=4, hint="That made such calls.")] if some else []) + [
        Column("A call", "number", hint="Mean time of one call."),
        Column("Shortest", "number", less=5), Column("Longest", "number", less=3),
    ]
    return View("Time by collective and size", columns, lines)


def sent(report):
    rows = [row for row in report.run if row.messages + row.shared_memory > 0]
    lines = [[row.collective, size_cell(row.bytes_to), Cell(row.algorithm),
              Cell(size(row.bytes), value=row.bytes), Cell(size(row.messages), value=row.messages),
              Cell(size(row.shared_memory), value=row.shared_memory)] for row in rows]
    columns = [Column("Collective", header=True), Column("Bytes up to", "number"),
               Column("Algorithm"),
               Column("Input", "number", hint="Bytes of all calls' input vectors, on all ranks."),
               Column("By messages", "number", hint="Bytes sent by messages of the MPI library."),
               Column("By shared memory", "number",
                      hint="Bytes sent within nodes by shared memory (COLLOPT_SHM).")]
    return View("Bytes that collopt sent", columns, lines)


def left(report):
    """Calls that the MPI library ran, and why."""
    lines = []
    for row in report.passed:
        lines.append([row.function, size_cell(row.bytes_to), Cell(row.reason),
                      Cell(count(row.calls), value=row.calls),
                      Cell(count(row.ranks), value=row.ranks),
                      seconds_cell(row.seconds.mean if row.seconds else None),
                      seconds_cell(row.seconds_per_call.mean if row.seconds_per_call else None)])
    columns = [Column("Function", header=True), Column("Bytes up to", "number", less=2),
               Column("Reason"), Column("Calls", "number"), Column("Ranks", "number", less=3),
               Column("Time of a rank", "number",
                      hint="Empty where nothing was timed, as where requests were only made."),
               Column("A call", "number", less=1)]
    return View("Calls left to the MPI library", columns, lines)


def learnt(report):
    lines = [[lesson.collective, Cell(size(lesson.bytes_to), value=lesson.bytes_to),
              Cell(str(lesson.ranks), value=lesson.ranks),
              Cell("%d × %d" % (lesson.nodes, lesson.ppn), value=lesson.nodes),
              Cell(lesson.op), Cell(lesson.algorithm), seconds_cell(lesson.seconds),
              Cell("%d of %d" % (lesson.chosen, lesson.communicators), value=lesson.chosen,
                   tone="faster" if lesson.chosen else None)] for lesson in report.learnt]
    columns = [Column("Collective", header=True), Column("Bytes up to", "number"),
               Column("Ranks", "number"),
               Column("Nodes × ranks", "number", less=2), Column("Operation", less=1),
               Column("Candidate", hint="host is the MPI library."), Column("A call", "number"),
               Column("Chosen", "number", hint="By how many of the communicators that tried it.")]
    return View("Candidates that COLLOPT_ADAPT tried", columns, lines)


# ---- ranks ---------------------------------------------------------------------------------------


def ranks_of(share):
    return ("%d" % share.ranks_from if share.ranks_from == share.ranks_to
            else "%d–%d" % (share.ranks_from, share.ranks_to))


def share_of(share):
    """Of these ranks' run that was reductions; None: not known."""
    return (share.reductions.mean / share.seconds.mean if share.seconds and share.seconds.mean > 0
            else None)


def waiting_cells(share):
    if not share.waiting or not share.made_wait:
        return [Cell("", value=None)] * 3
    return [seconds_cell(share.waiting.mean), seconds_cell(share.made_wait.mean),
            Cell(percent(share.last / share.calls) if share.calls else "", value=share.last)]


WAITING_COLUMNS = [
    Column("Waited", "number", hint="Until the last rank on which it depends had come, in all "
                                    "reductions."),
    Column("Made wait", "number", hint="What others waited for this rank, summed over them."),
    Column("Was last", "number", less=3, hint="Part of its calls that it entered after all others; "
                                              "of several ranks, that one of them did."),
]


def by_rank(report):
    most = max([share.reductions.max for share in report.by_rank] + [0]) or 1
    waiting = any(share.waiting for share in report.by_rank)
    lines = [[Cell(ranks_of(share), value=share.ranks_from), Cell(share.host or ""),
              seconds_cell(share.reductions.mean, bar=share.reductions.mean / most, tone="collopt",
                           spread=(share.reductions.min / most, share.reductions.max / most)),
              seconds_cell(share.seconds.mean if share.seconds else None),
              Cell(percent(share_of(share)), value=share_of(share))]
             + (waiting_cells(share) if waiting else []) for share in report.by_rank]
    columns = [Column("Ranks" if any(s.ranks_to > s.ranks_from for s in report.by_rank) else "Rank",
                      "number", header=True),
               Column("Host", less=1), Column("In reductions", "number"),
               Column("Run", "number", less=2), Column("Share", "number")]
    columns += WAITING_COLUMNS if waiting else []
    return View("Reductions by rank", columns, lines)


def by_host(report):
    """None unless the ranks are known to be on several hosts."""
    hosts = {}
    for share in report.by_rank:
        hosts.setdefault(share.host, []).append(share)
    if len(hosts) < 2 or None in hosts:
        return None
    sums_of = {}
    for host, shares in hosts.items():
        ranks = sum(s.ranks_to - s.ranks_from + 1 for s in shares)
        mean = sum(s.reductions.mean * (s.ranks_to - s.ranks_from + 1) for s in shares) / ranks
        sums_of[host] = (ranks, mean, min(s.reductions.min for s in shares),
                         max(s.reductions.max for s in shares))
    most = max(s[3] for s in sums_of.values()) or 1
    lines = [[host, Cell(count(ranks), value=ranks),
              seconds_cell(mean, bar=mean / most, tone="collopt", spread=(low / most, high / most)),
              seconds_cell(low), seconds_cell(high)]
             for host, (ranks, mean, low, high) in sums_of.items()]
    columns = [Column("Host", header=True), Column("Ranks", "number"),
               Column("In reductions", "number", hint="Mean of its ranks."),
               Column("Least", "number"), Column("Most", "number")]
    return View("Reductions by host", columns, lines)


def spread_of_ranks(report):
    """In words: which rank spent least in reductions and which most;
    None where there is nothing to tell apart."""
    if len(report.by_rank) < 2:
        return None
    least = min(report.by_rank, key=lambda s: s.reductions.min)
    most = max(report.by_rank, key=lambda s: s.reductions.max)

    def who(share):
        return (("rank " if share.ranks_from == share.ranks_to else "one of the ranks ")
                + ranks_of(share) + (" on %s" % share.host if share.host else ""))
    return ("Least time in reductions: %s, %s. Most: %s, %s."
            % (seconds(least.reductions.min), who(least), seconds(most.reductions.max), who(most)))


# ---- several reports -----------------------------------------------------------------------------


def labels(reports):
    """Names that tell the reports apart: their files' if these are short, else letters."""
    names = [os.path.splitext(os.path.basename(report.name))[0] for report in reports]
    if len(set(names)) == len(names) and all(0 < len(name) <= 16 for name in names):
        return names
    return ([chr(ord("A") + i) for i in range(len(reports))] if len(reports) <= 26
            else ["#%d" % (i + 1) for i in range(len(reports))])


def times_as_fast(first, other):
    return first / other if first and other else None


def tone_of(value):
    if value is None or 0.95 < value < 1.05:
        return None
    return "faster" if value > 1 else "slower"


def ratio_cell(value):
    return Cell(ratio(value), value=value, ratio=value, tone=tone_of(value))


def compared(reports, by_size):
    """[(key, [Sum or None of each report])]; key: (collective, bytes_to), or (collective, None)."""
    found = [sums(report, by_size) for report in reports]
    keys = sorted(set(key for each in found for key in each))
    return [(key if by_size else (key, None), [each.get(key) for each in found]) for key in keys]


def has_sizes(reports):
    """Is the size known of all calls that were timed?  Then sizes tell more than their mean, which
    depends on how many of each there were."""
    return all(row.bytes_to is not None for report in reports for row in timed(report))


def compare(reports, by_size):
    names = labels(reports)
    rows = compared(reports, by_size)
    if by_size and not any(sum(each is not None for each in list_of) > 1 for _, list_of in rows):
        # Reports that have no size in common have nothing to compare here.
        rows = []
    lines = []
    for (collective, bytes_to), list_of in rows:
        line = [collective] + ([size_cell(bytes_to)] if by_size else [])
        found = [each or Sum() for each in list_of]
        line += [ratio_cell(times_as_fast(found[0].per_call, each.per_call)) for each in found[1:]]
        line += [seconds_cell(each.per_call) for each in found]
        for each in found:
            tone = None if not each.by else "host" if each.by == ["MPI library"] else "collopt"
            line.append(Cell(", ".join(each.by), tone=tone))
        line += [Cell(count(each.calls) if each.calls else "", value=each.calls or None)
                 for each in found]
        lines.append(line)
    columns = [Column("Collective", header=True)]
    if by_size:
        columns.append(Column("Bytes up to", "number", hint="Size of one rank's input vector; "
                                                            "classes end at powers of two."))
    columns += [Column("%s / %s" % (names[0], name), "number",
                       hint=None if i else "How many times as fast as in the first: the bar goes "
                       "right where it is faster, left where it is slower; the ends are eight "
                       "times.")
                for i, name in enumerate(names[1:])]
    columns += [Column(name + ": a call", "number",
                       hint=None if i else "Mean time of one call over all ranks.")
                for i, name in enumerate(names)]
    columns += [Column(name + ": run by", less=2,
                       hint=None if i else "The algorithms of collopt, the MPI library, or both.")
                for i, name in enumerate(names)]
    columns += [Column(name + ": calls", "number", less=3, hint=None if i else "Of all ranks.")
                for i, name in enumerate(names)]
    return View("Time of a call by collective and size" if by_size
                else "Time of a call by collective, all sizes", columns, lines)


def in_all(reports):
    """One line for each figure of the whole jobs."""
    names = labels(reports)

    def mean(spread):
        return spread.mean if spread else None

    def calls(report):
        return sum(row.calls for row in report.run)

    def others(report):
        return sum(row.calls for row in report.passed if row.reason != NESTED)

    lines = []
    waiting = any(report.waiting for report in reports)
    for what, of, words, compares in (
            ("Run", lambda r: mean(r.seconds), seconds, True),
            ("In reductions", lambda r: mean(r.reductions), seconds, True),
            ("Waiting for late ranks", lambda r: mean(r.waiting and r.waiting.seconds), seconds,
             False),
            ("Reducing", lambda r: mean(r.waiting and r.waiting.reducing), seconds, True),
            ("Share of the run", lambda r: r.share, percent, False),
            ("Calls run by collopt", calls, count, False),
            ("Calls left to the MPI library", others, count, False),
            ("Bytes sent by messages", lambda r: sum(row.messages for row in r.run), size, False),
            ("Bytes sent by shared memory", lambda r: sum(row.shared_memory for row in r.run),
             size, False)):
        line = [what]
        if not waiting and what in ("Waiting for late ranks", "Reducing"):
            continue
        for i, report in enumerate(reports):
            value = of(report)
            line.append(Cell("" if value is None else words(value), value=value))
            if i > 0:
                line.append(ratio_cell(times_as_fast(of(reports[0]), value))
                            if compares else Cell("", value=None))
        lines.append(line)
    columns = [Column("Mean of the ranks", header=True)]
    for i, name in enumerate(names):
        columns.append(Column(name, "number"))
        if i > 0:
            columns.append(Column("%s / %s" % (names[0], name), "number"))
    return View("The whole jobs", columns, lines, sorts=False)


def differences(reports):
    """The differences between these jobs besides collopt, in words; None: there are none."""
    first, found = reports[0], []
    for what, of in (("ranks", lambda r: str(r.ranks)), ("MPI library", lambda r: r.mpi_name),
                     ("version of collopt", lambda r: r.collopt)):
        if any(of(other) != of(first) for other in reports[1:]):
            found.append("%s (%s)" % (what, ", ".join(of(report) for report in reports)))
    return "These jobs differ in %s." % " and ".join(found) if found else None
