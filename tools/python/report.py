"""collopt-report: what COLLOPT_REPORT has written, as tables on the terminal, as one HTML page,
or as JSON; and what COLLOPT_TRACE has written, as one timeline."""

import json
import os
import sys
from dataclasses import asdict

import makings
import output
import reports
import text
import views
import waits
from reports import EARLY, NESTED, Spread
from text import count, percent, ratio, seconds, size

TOOL = "collopt-report"
VERSION = os.environ.get("COLLOPT_TOOL_VERSION", "unknown")
USAGE = """\
Usage: collopt-report [OPTION]... FILE...
Show what COLLOPT_REPORT=FILE has written: which collectives ran, of which sizes,
by which algorithms, how long they took and what was left to the MPI library.
Where there is no FILE but FILE.0, FILE.1, ..., as where ranks differ, those are one
report. Several reports are compared with the first. - is the standard input.

  -o, --output FILE     write one HTML page to FILE that needs nothing else;
                          to the standard output where FILE is -
      --json            write the same figures as JSON
      --openmetrics     write the sums of each job as OpenMetrics, for node_exporter
      --trace           the FILEs are those of COLLOPT_TRACE: write one timeline of all
                          ranks, to the standard output or to the FILE of --output,
                          compressed if that ends with .gz
      --help            print this help
      --version         print the version

Without an option, tables go to the terminal.
"""


class Bad(Exception):
    def __init__(self, message, status=1):
        super().__init__(message)
        self.status = status


# ---- the command line ----------------------------------------------------------------------------


class Options:
    def __init__(self, words):
        self.output, self.json, self.openmetrics, self.trace = None, False, False, False
        self.files, self.wants = [], None
        words = list(words)
        while words:
            word = words.pop(0)
            if word == "--":
                self.files += words
                break
            if word in ("--help", "--version"):
                self.wants = word
                break
            self.option(word, words)

    def option(self, word, words):
        if word.startswith("--output="):
            self.output = word[len("--output="):]
        elif word in ("-o", "--output"):
            if not words:
                raise Bad("%s needs a file; see collopt-report --help" % word, 2)
            self.output = words.pop(0)
        elif word == "--json":
            self.json = True
        elif word == "--openmetrics":
            self.openmetrics = True
        elif word == "--trace":
            self.trace = True
        elif word.startswith("-o") and not word.startswith("--"):
            self.output = word[2:]
        elif word.startswith("-") and word != "-":
            raise Bad("unknown option %s; see collopt-report --help" % text.clean(word), 2)
        else:
            self.files.append(word)

    def check(self):
        if not self.files:
            raise Bad("no FILE; it is what %s named, see collopt-report --help"
                      % ("COLLOPT_TRACE" if self.trace else "COLLOPT_REPORT"), 2)
        if self.output == "":
            raise Bad("--output '': it takes the name of a file", 2)
        given = [name for name, is_given in (("--json", self.json),
                                             ("--openmetrics", self.openmetrics),
                                             ("--trace", self.trace),
                                             ("--output", self.output is not None
                                              and not self.trace)) if is_given]
        if len(given) > 1:
            raise Bad("%s and %s exclude each other" % tuple(given[:2]), 2)
        if self.files.count("-") > 1:
            raise Bad("- is given twice; there is one standard input", 2)
        for name in self.files:
            if (self.output not in (None, "-") and os.path.exists(self.output)
                    and os.path.exists(name) and os.path.samefile(name, self.output)):
                raise Bad("--output %s: it is one of the reports" % text.clean(name), 2)


# ---- in words ------------------------------------------------------------------------------------


def calls_of(report):
    """Calls that collopt ran, and all."""
    run = sum(row.calls for row in report.run)
    return run, run + sum(row.calls for row in report.passed if row.reason != NESTED)


def headline(report):
    if not report.rows:
        return "No reductions were called"
    if report.share is None:
        return ("Reductions took %s" % seconds(report.reductions.mean) if report.reductions
                else "What ran")
    return "Reductions took %s of the run" % percent(report.share)


def summary(report):
    words = []
    if report.reductions and report.seconds:
        words.append("%s of %s, mean of %s." % (seconds(report.reductions.mean),
                                                seconds(report.seconds.mean), ranks_text(report)))
    if report.waiting:
        words.append(waits.sentences(report.waiting, report.present))
    words += filter(None, [makings.sentence(report.communicators, report.present,
                                            report.reductions)])
    run, calls = calls_of(report)
    if calls:
        words.append("collopt ran %s of %s calls; %s." % (
            count(run), count(calls),
            "none was left to the MPI library" if run == calls
            else "the others were left to the MPI library"))
    early = sum(row.calls for row in report.passed if row.reason == EARLY)
    if early > 0.1 * calls:
        words.append("%s were among the first calls. In longer runs that is less; COLLOPT_AFTER=1 "
                     "takes over at once." % count(early))
    return " ".join(words)


def ranks_text(report):
    ranks = "%s rank%s" % (count(report.present), "" if report.present == 1 else "s")
    if report.present == report.ranks:
        return ranks
    return "%s of %s%s" % (ranks, count(report.ranks),
                           ", in a job that called MPI_Abort" if report.aborted else "")


def identity(report):
    return "%s · %s · %s · collopt %s" % (report.name, report.mpi_name, ranks_text(report),
                                          report.collopt)


def comparison(list_of):
    """(headline, summary) of several reports."""
    names = ["“%s”" % name for name in views.labels(list_of)]
    first, last = list_of[0], list_of[-1]
    sizes = sorted(set(r.ranks for r in list_of))
    parts = ["%s of %s in %s" % (seconds(r.reductions.mean),
                                 seconds(r.seconds.mean) if r.seconds else "an unknown time", name)
             for r, name in zip(list_of, names) if r.reductions]
    lead = ("Time in reductions: %s, mean of the ranks. These are single runs, so differences may "
            "be noise." % ", ".join(parts))
    if len(sizes) > 1:
        counts = "%s and %s" % (", ".join(count(n) for n in sizes[:-1]), count(sizes[-1]))
        return ("Jobs of %s ranks: other sizes, not comparable" % counts,
                "A rank of a larger job has other work, and its reductions have more steps, so "
                "that ratios below say nothing about collopt. %s" % lead)
    if len(list_of) > 2 or not first.reductions or not last.reductions:
        return "%d reports side by side" % len(list_of), lead
    factor = views.times_as_fast(first.reductions.mean, last.reductions.mean)
    if factor is None:
        return "%s and %s side by side" % tuple(names), lead
    if 0.95 < factor < 1.05:
        return "Reductions took as long in %s as in %s" % (names[1], names[0]), lead
    if factor > 1:
        return ("Reductions were %s as fast in %s as in %s" % (ratio(factor), names[1], names[0]),
                lead)
    return ("Reductions took %s as long in %s as in %s" % (ratio(1 / factor), names[1], names[0]),
            lead)


WAITING = ("A rank that comes early waits inside a reduction for those that come late. So those "
           "that spend least in reductions are those that the others waited for.")


WAITS_FOR = ("A rank waits in a reduction until the last rank on which it depends has entered it. "
             "What the others waited for a rank is divided by their number.")


# ---- the terminal --------------------------------------------------------------------------------


def print_view(terminal, view):
    if view and view.rows:
        text.table(terminal, view.caption, view.columns, view.rows)


def say(terminal, line, colour=None):
    """LINE may have names of hosts and files."""
    terminal.say(terminal.paint(terminal.plain(text.clean(line)), colour))


def print_report(terminal, report):
    say(terminal, identity(report))
    say(terminal, headline(report), "bold")
    say(terminal, summary(report))
    if views.spread_of_ranks(report):
        say(terminal, views.spread_of_ranks(report))
    terminal.say()
    for view in (views.by_size(report), views.left(report), views.by_host(report),
                 views.learnt(report)):
        print_view(terminal, view)


def print_comparison(terminal, list_of):
    for name, report in zip(views.labels(list_of), list_of):
        say(terminal, "%s: %s" % (name, identity(report)))
    heading, lead = comparison(list_of)
    say(terminal, heading, "bold")
    say(terminal, lead)
    if views.differences(list_of):
        say(terminal, views.differences(list_of))
    terminal.say()
    print_view(terminal, views.in_all(list_of))
    if not views.has_sizes(list_of):
        print_view(terminal, views.compare(list_of, False))
    print_view(terminal, views.compare(list_of, True))


# ---- the page ------------------------------------------------------------------------------------


def page_table(page, view):
    return (page.table(view.caption, view.columns, view.rows, view.note, view.sorts)
            if view and view.rows else None)


def folded(page, summary, view):
    return (page.el("details", page.el("summary", summary), page_table(page, view))
            if view.rows else None)


def whole_run(page, report, caption):
    """Where the time of the run went."""
    ours, theirs = report.per_rank(report.run), report.per_rank(report.passed)
    parts = [("collopt's reductions, %s" % seconds(ours), ours, "collopt"),
             ("reductions left to the MPI library, %s" % seconds(theirs), theirs, "host")]
    if report.seconds:
        rest = max(report.seconds.mean - ours - theirs, 0)
        parts.append(("the rest of the program, %s" % seconds(rest), rest, "rest"))
    return page.share_bar(caption, parts)


def key_figures(page, report):
    def range_of(spread):
        return ("%s to %s over the ranks" % (seconds(spread.min), seconds(spread.max))
                if spread.min < spread.max else None)

    run, calls = calls_of(report)
    found = []
    if report.seconds:
        found.append(("Run", seconds(report.seconds.mean),
                      range_of(report.seconds) or "from MPI_Init to MPI_Finalize"))
    if report.reductions:
        found.append(("In reductions", seconds(report.reductions.mean),
                      range_of(report.reductions)))
    if report.waiting:
        found.append(("Waiting for late ranks", seconds(report.waiting.seconds.mean),
                      range_of(report.waiting.seconds)))
        found.append(("Reducing", seconds(report.waiting.reducing.mean),
                      "at most this can faster reductions save"))
    if calls:
        found.append(("Calls run by collopt", percent(run / calls),
                      "%s of %s" % (count(run), count(calls))))
    rows = views.timed(report)
    if rows:
        top = max(rows, key=lambda row: row.total)
        of = ("%s, %s"
              % (top.by, "any size" if top.bytes_to is None else "up to " + size(top.bytes_to)))
        found.append(("Most time: " + top.collective,
                      percent(top.total / (sum(row.total for row in rows) or 1)), of))
    sent = sum(row.messages for row in report.run), sum(row.shared_memory for row in report.run)
    if sum(sent):
        found.append(("Sent by collopt", size(sum(sent)),
                      "%s by messages, %s by shared memory" % (size(sent[0]), size(sent[1]))))
    return page.figures(found)


def shares_known(report):
    return all(views.share_of(share) is not None for share in report.by_rank)


def highest(list_of):
    """The top of charts of all these reports that can be compared; None: each has its own."""
    if not all(shares_known(report) for report in list_of):
        return None
    return max(share.reductions.max / share.seconds.mean for report in list_of
               for share in report.by_rank) * 1.05 or None


def chart_of_ranks(page, report, caption, top):
    """A column for each rank: what part of its run was reductions;
    seconds where the run's time is not known."""
    shares = report.by_rank
    known = shares_known(report)
    words = percent if known else seconds
    hosts = []
    bars = []
    for share in shares:
        if share.host not in hosts:
            hosts.append(share.host)
        scale = 1 / share.seconds.mean if known else 1
        title = "%s %s%s: %s" % ("rank" if share.ranks_from == share.ranks_to else "ranks",
                                 views.ranks_of(share), " on %s" % share.host if share.host else "",
                                 words(share.reductions.mean * scale))
        bars.append((share.reductions.mean * scale, share.reductions.min * scale,
                     share.reductions.max * scale, title, "collopt", len(hosts) % 2 == 0))
    weights = [share.ranks_to - share.ranks_from + 1 for share in shares]
    mean = sum(bar[0] * weight for bar, weight in zip(bars, weights)) / sum(weights)
    top = top or max(bar[2] for bar in bars) * 1.05 or 1
    described = "%s: from %s to %s, mean %s. %s" % (
        caption, words(min(bar[1] for bar in bars)), words(max(bar[2] for bar in bars)),
        words(mean), views.spread_of_ranks(report) or "")
    return page.columns_chart("%s; dashed: the mean, %s" % (caption, words(mean)), described, bars,
                              mean, top, (words(top), words(top / 2), "0"),
                              ("rank %d" % shares[0].ranks_from, "rank %d" % shares[-1].ranks_to))


def chart_of_waiting(page, report, caption, of, top):
    """A column for each rank: seconds of one figure."""
    shares = report.by_rank
    bars = [(of(share).mean, of(share).min, of(share).max, "%s%s: %s" % (
        "rank " + views.ranks_of(share), " on %s" % share.host if share.host else "",
        seconds(of(share).mean)), "host", False) for share in shares]
    mean = sum(bar[0] for bar in bars) / len(bars)
    most = max(bars, key=lambda bar: bar[2])
    return page.columns_chart("%s; dashed: the mean, %s" % (caption, seconds(mean)),
                              "%s: at most %s" % (caption, most[3]), bars, mean, top,
                              (seconds(top), seconds(top / 2), "0"),
                              ("rank %d" % shares[0].ranks_from, "rank %d" % shares[-1].ranks_to))


def waiting_section(page, report):
    """How long each rank waited, beside how long it made each of the others wait."""
    shares = report.by_rank
    if len(shares) < 2 or not all(share.waiting and share.made_wait for share in shares):
        return None
    others = max(report.ranks - 1, 1)

    def for_it(share):
        return Spread(*(value / others for value in (share.made_wait.min, share.made_wait.mean,
                                                     share.made_wait.max)))

    top = 1.05 * max([share.waiting.max for share in shares]
                     + [for_it(share).max for share in shares]) or 1
    return [page.el("div", chart_of_waiting(page, report, "Time that each rank waited",
                                            lambda share: share.waiting, top),
                    chart_of_waiting(page, report, "Time that each other rank waited for it",
                                     for_it, top), class_="pair"),
            page.el("p", WAITS_FOR, class_="note")]


def ranks_section(page, report, top=None):
    if len(report.by_rank) < 2:
        return None
    caption = ("Share of each rank's run spent in reductions" if shares_known(report)
               else "Time of each rank in reductions")
    return [chart_of_ranks(page, report, caption, top),
            page.el("p", views.spread_of_ranks(report), " ", WAITING, class_="note"),
            page_table(page, views.by_host(report)),
            page.el("details", page.el("summary", "The same as a table"),
                    page_table(page, views.by_rank(report)))]


def reasons(page, report):
    used = [reason for reason in views.REASONS
            if any(row.reason == reason for row in report.passed)]
    meanings = [[page.el("dt", reason), page.el("dd", views.REASONS[reason])] for reason in used]
    return page.el("dl", meanings, class_="meanings note") if used else None


def sections_of(page, report):
    ranks = ranks_section(page, report)
    found = []
    if views.timed(report):
        found.append(page.Section("sizes", "By collective and size",
                                  page_table(page, views.by_size(report)),
                                  folded(page, "What was sent", views.sent(report))))
    waiting = waiting_section(page, report) if report.waiting else None
    if waiting:
        found.append(page.Section("waiting", "Who waits for whom", waiting))
    if ranks:
        found.append(page.Section("ranks", "Over the ranks", ranks))
    if report.passed:
        found.append(page.Section("left", "Left to the MPI library",
                                  page_table(page, views.left(report)), reasons(page, report)))
    if report.learnt:
        found.append(page.Section("learnt", "What was tried",
                                  page_table(page, views.learnt(report))))
    return found


def one_page(page, report):
    return page.document(title="%s: %s" % (headline(report), report.name),
                         kicker=identity(report), heading=headline(report),
                         lead=summary(report), made_by="%s %s" % (TOOL, VERSION),
                         top=[whole_run(page, report,
                                        "Where the time of the run went, mean of the ranks"),
                              key_figures(page, report)],
                         sections=sections_of(page, report))


def side_by_side(page, list_of):
    names = views.labels(list_of)
    heading, lead = comparison(list_of)
    by_size = page_table(page, views.compare(list_of, True))
    sections = [page.Section("all", "In all", page_table(page, views.in_all(list_of)))]
    if not views.has_sizes(list_of):
        sections.append(page.Section("collectives", "By collective",
                                     page_table(page, views.compare(list_of, False))))
    if by_size:
        sections.append(page.Section("sizes", "By collective and size", by_size))
    charts = [(name, report) for name, report in zip(names, list_of) if len(report.by_rank) > 1]
    if charts:
        top = highest([report for _, report in charts])
        sections.append(page.Section("ranks", "Over the ranks", page.el("div", [
            page.el("div", page.el("h3", name), ranks_section(page, report, top))
            for name, report in charts], class_="pair")))
    left = [(name, report) for name, report in zip(names, list_of) if report.passed]
    if left:
        sections.append(page.Section("left", "Left to the MPI library", [
            [page.el("h3", name), page_table(page, views.left(report)), reasons(page, report)]
            for name, report in left]))
    differ = views.differences(list_of)
    top = [page.el("p", differ, class_="note") if differ else None,
           [whole_run(page, report, "%s: %s" % (name, identity(report)))
            for name, report in zip(names, list_of)]]
    return page.document(title="%s: %s" % (heading, ", ".join(r.name for r in list_of)),
                         kicker="%s side by side" % " and ".join(names), heading=heading, lead=lead,
                         made_by="%s %s" % (TOOL, VERSION), top=top, sections=sections)


def write_page(name, whole):
    if name == "-":
        output.write_text(whole)
        return
    try:
        output.write(name, lambda file: file.write(whole.encode("utf-8")))
    except OSError as error:
        raise Bad("%s cannot be written: %s" % (text.clean(name), error.strerror)) from None


# ---- JSON ----------------------------------------------------------------------------------------


def as_json(list_of):
    def report_of(report, name):
        run, calls = calls_of(report)
        found = asdict(report)
        found.update(label=name, share=report.share, calls=calls, calls_run=run)
        return found

    def sum_of(s, first):
        if s is None:
            return None
        return {"by": s.by, "calls": s.calls, "seconds": s.seconds, "seconds_per_call": s.per_call,
                "times_as_fast": views.times_as_fast(first.per_call, s.per_call) if first else None}

    names = views.labels(list_of)
    whole = {"reports": [report_of(report, name) for report, name in zip(list_of, names)]}
    if len(list_of) > 1:
        whole["compared"] = [{"collective": key[0], "bytes_to": key[1],
                              "reports": [sum_of(s, found[0]) for s in found]}
                             for by_size in (False, True)
                             for key, found in views.compared(list_of, by_size)]
    return json.dumps(whole, indent=2)


# ---- all of it -----------------------------------------------------------------------------------


def merge(options):
    import timeline
    to = None if options.output == "-" else options.output
    try:
        timeline.merge(options.files, to)
    except OSError as error:
        if to is None:
            raise
        raise Bad("%s cannot be written: %s" % (text.clean(to), error.strerror)) from None


def work(options):
    if options.trace:
        merge(options)
        return
    list_of = reports.read(options.files)
    if options.json:
        print(as_json(list_of))
    elif options.openmetrics:
        import openmetrics
        output.write_text(openmetrics.text_of(list_of, views.labels(list_of)))
    elif options.output is not None:
        import page
        write_page(options.output, one_page(page, list_of[0]) if len(list_of) == 1
                   else side_by_side(page, list_of))
    else:
        terminal = text.Terminal()
        if len(list_of) == 1:
            print_report(terminal, list_of[0])
        else:
            print_comparison(terminal, list_of)


def main(words):
    try:
        options = Options(words)
        if options.wants == "--help":
            sys.stdout.write(USAGE)
        elif options.wants == "--version":
            print("%s %s" % (TOOL, VERSION))
        else:
            options.check()
            work(options)
        return 0
    except (Bad, reports.BadReport) as error:
        sys.stderr.write("%s: %s\n" % (TOOL, error))
        return getattr(error, "status", 1)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(output.guard(TOOL, lambda: main(sys.argv[1:]), 0))
