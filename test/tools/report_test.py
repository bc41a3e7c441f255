"""collopt-report without MPI and without a browser: reading, merging, comparing, its options and
its messages."""

import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.environ.get("COLLOPT_SOURCE",
                        os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
BUILD = os.environ.get("COLLOPT_BUILD", os.path.join(SOURCE, "build"))
TOOL = os.path.join(BUILD, "tools", "collopt-report")
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "tools", "python"))

import page         # noqa: E402
import report       # noqa: E402
import reports      # noqa: E402
import text         # noqa: E402
import views        # noqa: E402


def read_source(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
        return file.read()


def spread(*values):
    return {"min": min(values), "mean": sum(values) / len(values), "max": max(values)}


def of_rank(rank, ranks, seconds, calls=10, algorithm="ring"):
    """What one rank would write: CALLS Allreduces of 1 MiB of SECONDS each,
    and one that was left to the MPI library."""
    return {"collopt": "0.1.0", "mpi": "MPICH Version:      4.0.2\nMPICH Release",
            "ranks": ranks, "combined": False, "rank": rank,
            "seconds": spread(10.0 * seconds * calls), "reductions": spread(seconds * (calls + 1)),
            "run": [{"collective": "allreduce", "algorithm": algorithm, "bytes_from": 524289,
                     "bytes_to": 1048576, "ranks": 1, "calls": calls, "bytes": calls << 20,
                     "sent": {"messages": calls << 19, "shared_memory": 8},
                     "seconds": spread(seconds * calls), "seconds_per_call": spread(seconds)}],
            "passed": [{"name": "MPI_Allreduce", "reason": "among the first calls",
                        "bytes_from": 5, "bytes_to": 8, "ranks": 1, "calls": 1, "bytes": 8,
                        "seconds": spread(seconds), "seconds_per_call": spread(seconds)},
                       {"name": "MPI_Iallreduce", "reason": "not in shared memory", "ranks": 1,
                        "calls": 2}],
            "learnt": []}


def trace_of(rank, started=1, **other):
    """The timeline of one of 3 ranks."""
    about = dict({"collopt": "0.1.0", "mpi": "Open MPI v4.1.4", "host": "n1", "rank": rank,
                  "ranks": 3, "started": started, "clock": "common", "clock_error": 0.0,
                  "calls": 1, "dropped": 0}, **other)
    return {"otherData": about, "displayTimeUnit": "ns", "traceEvents": [
        {"ph": "X", "name": "MPI_Scan", "pid": rank, "tid": 1, "ts": 1.5, "dur": 2.25}]}


def waits(*waiting, reducing=0.5, late=None):
    """Of ranks that waited so long."""
    found = {"calls": 100 * len(waiting), "seconds": spread(*waiting),
             "reducing": spread(*[reducing] * len(waiting))}
    if late is not None:
        found["late"] = {"rank": late, "last": 81, "calls": 100, "seconds": sum(waiting)}
    return found


def with_waiting(waiting, reducing=0.5, late=3):
    """The report of a job whose ranks waited so long, for one of them."""
    ranks = len(waiting)
    whole = of_rank(0, ranks, 0.1)
    del whole["rank"]
    whole["combined"] = True
    whole["run"][0].update(ranks=ranks, waiting=waits(*waiting, reducing=reducing, late=late))
    whole["waiting"] = dict(waits(*waiting, reducing=reducing, late=late), of_calls=100 * ranks,
                            clock_error=0)
    whole["waiting"]["late"]["host"] = "n3"
    whole["by_rank"] = [
        {"ranks_from": rank, "ranks_to": rank, "host": "n%d" % rank, "seconds": spread(5.0),
         "reductions": spread(waiting[rank] + reducing), "waiting": spread(waiting[rank]),
         "made_wait": spread(sum(waiting) if rank == late else 0.0), "calls": 100,
         "last": 81 if rank == late else 6} for rank in range(ranks)]
    return whole


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, whole):
        if not isinstance(whole, (bytes, str)):
            whole = json.dumps(whole, indent=1)
        data = whole if isinstance(whole, bytes) else whole.encode("utf-8")
        with open(self.path(name), "wb") as file:
            file.write(data)
        return self.path(name)

    def tool(self, *words, status=0, environment=None, stdin=""):
        done = subprocess.run([TOOL] + list(words), input=stdin, capture_output=True,
                              text=True, timeout=300, encoding="utf-8",
                              env=dict(os.environ, LC_ALL="C.UTF-8", **(environment or {})))
        self.assertEqual(done.returncode, status, "%s: %s%s" % (words, done.stdout, done.stderr))
        if status:
            self.assertEqual(done.stdout, "", "errors go to stderr")
            self.assertRegex(done.stderr, r"^collopt-report: [^\n]*\n$")
        else:
            self.assertEqual(done.stderr, "")
        return done.stderr if status else done.stdout


class Words(unittest.TestCase):
    def test_figures(self):
        for value, words in ((0, "0 s"), (1.2345, "1.23 s"), (0.00115, "1.15 ms"),
                             (123.4e-6, "123 µs"), (9.996e-6, "10.0 µs"), (0.9999e-3, "1.00 ms"),
                             (7e-9, "7.00 ns"), (1e-9 / 3, "0.333 ns"), (4321.0, "4321 s")):
            self.assertEqual(text.seconds(value), words)
        for value, words in ((0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.50 KiB"),
                             (1 << 20, "1 MiB"), (1 << 63, "8 EiB")):
            self.assertEqual(text.size(value), words)
        self.assertEqual([text.percent(value) for value in (0.1234, 1, None)],
                         ["12.3%", "100%", ""])
        self.assertEqual(text.ratio(1.5), "1.50×")

    def test_clean(self):
        self.assertEqual(text.clean("a\033[31mb\0\ud800c\x9b"), "a\ufffd[31mb\ufffd\ufffdc\ufffd")


class Sizes(Files):
    def test_jobs_of_other_sizes_are_said_first(self):
        two, four = (self.write("%d.json" % n, of_rank(0, n, 0.1)) for n in (2, 4))
        said = self.tool(two, four)
        self.assertLess(said.index("Jobs of 2 and 4 ranks: other sizes, not comparable\n"),
                        said.index("The whole jobs"))
        again = self.tool(two, self.write("again.json", of_rank(0, 2, 0.1)))
        self.assertNotIn("other sizes", again)

    def test_no_share_is_more_than_all(self):
        whole = of_rank(0, 2, 0.1)
        whole["reductions"] = spread(3 * whole["seconds"]["mean"])
        said = self.tool(self.write("r.json", whole))
        self.assertIn("Reductions took 100% of the run", said)
        self.assertNotRegex(said, r"[1-9]\d\d\.?\d*%(?<!100%)")


class Reading(Files):
    def test_documented_example(self):
        example = re.search(r"```json\n(.*?)```", read_source("doc/report.md"), re.S).group(1)
        (found,) = reports.read([self.write("r", example)])
        self.assertEqual((found.ranks, found.present, found.mpi_name), (4, 4, "Open MPI v4.1.4"))
        self.assertEqual([row.by for row in found.rows].count("ring"), 1)
        self.assertEqual(found.by_rank[1].ranks_to, 3)
        self.assertAlmostEqual(found.share, 0.14 / 1.02)
        self.assertEqual((found.waiting.late.rank, found.waiting.late.last), (0, 83))
        self.assertEqual(sum(row.waiting.calls for row in found.rows if row.waiting),
                         found.waiting.calls)
        self.assertAlmostEqual(found.per_rank(found.run) + found.per_rank(found.passed), 0.14)

    def test_reasons(self):
        """Each reason that the library can give is explained, and no other."""
        block = re.search(r"collopt_reason_names\[COLLOPT_REASONS\] = \{(.*?)\n\};",
                          find_source("counters.c"), re.S).group(1)
        self.assertEqual(set(re.findall(r'= "(.*?)"', block)), set(views.REASONS))

    def test_lines(self):
        whole = '{\n "a": [1,\n  {"b": "]{,\\"",\n   "c":\n 5}\n ]\n}'
        for path, line in (([], 1), (["a"], 2), (["a", 0], 2), (["a", 1], 3), (["a", 1, "b"], 3),
                           (["a", 1, "c"], 5), (["a", 1, "d"], 3), (["z"], 1)):
            self.assertEqual(reports.line_of(whole, path), line, path)

    def test_bad(self):
        good = of_rank(0, 4, 0.5)

        def without(key, at=None):
            copy = json.loads(json.dumps(good))
            del (copy[at][0] if at else copy)[key]
            return copy

        def changed(value, *path):
            copy = json.loads(json.dumps(good))
            at = copy
            for step in path[:-1]:
                at = at[step]
            at[path[-1]] = value
            return copy

        for whole, message in (
                ("", ": is empty"), (" \n", ": is empty"), ("[1]", ":1: is no report"),
                ("{}", ":1: is no report"),
                ('{"collopt": "0.1.0",\n\n "x" }', r':3: not JSON: Expecting .* at column 6'),
                ('{"collopt": NaN}', "NaN is no number"), ("[" * 100000, "not JSON"),
                (b"\n\xff\xfe", ":2: not UTF-8"),
                (changed(2, "schema"), r": schema is 2, of collopt 0\.1\.0; this reads 1: "),
                (changed("one", "schema"), r': schema is "one"; it must be a whole number'),
                (without("ranks"), r':1: the report has no "ranks"'),
                (without("calls", "run"), r':\d+: run\[0\] has no "calls"'),
                (without("name", "passed"), r':\d+: passed\[0\] has no "name"'),
                (changed("four", "ranks"),
                 r':4: ranks is "four"; it must be a whole number, 1 or more'),
                (changed(4.5, "ranks"), ":4: ranks is 4.5"),
                (changed(True, "ranks"), ":4: ranks is true"),
                (changed(4, "rank"), ":6: rank is 4, of 4 ranks"),
                (changed(-1, "run", 0, "calls"), r"run\[0\].calls is -1"),
                (changed([], "seconds"),
                 ":7: seconds is \\[\\]; it must be an object with min, mean and max"),
                (changed({"min": 2, "mean": 1, "max": 3}, "seconds"),
                 ":7: seconds: its mean is not between"),
                (changed(1e999, "seconds", "max"), "not JSON|Infinity"),
                (changed(10 ** 400, "seconds", "max"), ", 0 or more, and less than 1e15$"),
                (changed(2 ** 64, "run", 0, "calls"), ", 1 or more, and less than 2\\^64$"),
                (changed({}, "run"), "run is {}; it must be an array"),
                (changed(7, "run", 0), r"run\[0\] is no object"),
                (changed("%s%d", "run", 0, "bytes"), r'run\[0\].bytes is "%s%d"'),
        ):
            name = self.write("bad", whole)
            self.assertRegex(self.tool(name, status=1),
                             "^collopt-report: " + re.escape(name) + ".*" + message.lstrip("^"))
        self.assertRegex(self.tool(self.path("none"), status=1), "none: No such file")
        self.assertRegex(self.tool(self.folder.name, status=1), "Is a directory")


def find_source(name):
    """A file of src, in whichever folder it is."""
    for folder, _, files in os.walk(os.path.join(SOURCE, "src")):
        if name in files:
            return read_source(os.path.relpath(os.path.join(folder, name), SOURCE))
    raise AssertionError("no src/**/" + name)


class Merging(Files):
    def test_waiting(self):
        """Who is late, and what faster reductions can save, in words, in tables and on the page."""
        name = self.write("r", with_waiting([2.0, 2.5, 1.5, 0.0]))
        said = self.tool(name)
        for words in ("Of this, 1.50 s were waiting for ranks that came late, 500 ms reducing.",
                      "Rank 3 on n3 was last in 81.0% of its calls: the ranks waited 1.50 s for it",
                      "Faster reductions can save at most 500 ms: balance the load first.",
                      "rank 3, 100%"):
            self.assertIn(words, said)
        self.assertNotIn("This is known of", said)
        self.assertNotIn("clocks", said)
        self.tool("-o", self.path("p.html"), name)
        with open(self.path("p.html"), encoding="utf-8") as file:
            html = file.read()
        for words in ("Who waits for whom", "rank 1 on n1: 2.50 s", "rank 3 on n3: 2.00 s",
                      "Waiting for late ranks"):
            self.assertIn(words, html)
        found = json.loads(self.tool("--json", name))["reports"][0]
        self.assertEqual(found["waiting"]["late"]["rank"], 3)
        self.assertEqual(found["by_rank"][1]["waiting"]["mean"], 2.5)

    def test_little_waiting(self):
        """Nothing to balance; part of the calls, and clocks of their own."""
        whole = with_waiting([0.1, 0.2, 0.0, 0.1], late=2)
        whole["waiting"].update(of_calls=1000, clock_error=2e-6)
        said = self.tool(self.write("r", whole))
        self.assertNotIn("balance", said)
        self.assertIn("This is known of 400 of 1,000 calls.", said.replace("\u202f", ","))
        self.assertIn("related within 2.00", said)

    def test_rows(self):
        """Reductions in a row are named if their time is felt."""
        whole = with_waiting([0.1, 0.2, 0.0, 0.1], late=2)
        whole["waiting"]["following"] = {"calls": 120, "reducing": spread(0.2)}
        said = self.tool(self.write("r", whole))
        self.assertIn("120 reductions of up to 4 KiB followed another", said)
        self.assertIn("took 200 ms of each rank", said)
        whole["waiting"]["following"]["reducing"] = spread(0.002)
        self.assertNotIn("followed", self.tool(self.write("r", whole)))

    def test_haste(self):
        whole = with_waiting([0.1, 0.2, 0.0, 0.1], late=2)
        whole["waiting"]["at_once"] = {"calls": 80, "seconds": spread(0.2)}
        said = self.tool(self.write("r", whole))
        self.assertIn("80 nonblocking or persistent reductions were waited for within 5", said)
        self.assertIn("took 200 ms of each rank", said)
        whole["waiting"]["at_once"]["seconds"] = spread(0.002)
        self.assertNotIn("waited for within", self.tool(self.write("r", whole)))

    def test_waiting_compared(self):
        names = [self.write("a", with_waiting([2.0, 0.0], late=1)),
                 self.write("b", with_waiting([2.0, 0.0], reducing=0.25, late=1))]
        said = self.tool(*names)
        line = next(line for line in said.splitlines() if line.startswith("Reducing"))
        self.assertRegex(line, r"500 ms +250 ms +2\.00")
        self.assertIn("Waiting for late ranks", said)

    def test_communicators(self):
        """Those that are hardly used are told where that takes time."""
        def said(made, took, hardly_used, reductions):
            whole = with_waiting([0.5, 0.5])
            whole["reductions"] = spread(1.0)
            whole["communicators"] = {"made": made, "seconds": spread(took, took),
                                      "hardly_used": hardly_used, "reductions": reductions}
            return self.tool(self.write("made", whole))

        self.assertIn("900 communicators were freed after at most 4 reductions (1.5 on average). "
                      "To make and free communicators took 250 ms of each rank",
                      said(900, 0.25, 900, 1350))
        for other in ((900, 0.01, 900, 1350), (9000, 0.25, 900, 1350), (12, 0.25, 12, 12)):
            self.assertNotIn("communicators were freed", said(*other))
        ranks = [dict(of_rank(rank, 2, 0.1), communicators={
            "made": 100, "seconds": spread(0.4), "hardly_used": 90, "reductions": 90})
            for rank in range(2)]
        for rank in range(2):
            self.write("apart.%d" % rank, ranks[rank])
        self.assertIn("180 communicators were freed after at most 4 reductions (1.0 on average)",
                      self.tool(self.path("apart")))

    def test_wrong_traces(self):
        """The file is named, and what is wrong with it; what is missing is said."""
        for rank in range(3):
            self.write("good.%d" % rank, trace_of(rank))
        whole = json.loads(self.tool("--trace", self.path("good")))
        self.assertEqual([event["pid"] for event in whole["traceEvents"]], [0, 1, 2])
        self.assertEqual(whole["otherData"]["calls"], 3)
        for name, content, wanted in (
                ("report", with_waiting([1.0]), 'is no trace of COLLOPT_TRACE'),
                ("half", '{"traceEvents": [', "half: not JSON"),
                ("bare", {"traceEvents": []}, 'has no "otherData"'),
                ("rank", trace_of(3), "otherData.rank is 3, of 3 ranks"),
                ("text", trace_of("0"), 'otherData.rank is "0"; it must be a whole number'),
                ("whole", whole, "is a trace of several ranks already"),
                ("event", dict(trace_of(0), traceEvents=[{"ph": "X"}]),
                 r"traceEvents\[0\] must be"),
                ("pid", dict(trace_of(0), traceEvents=trace_of(1)["traceEvents"]), "another pid")):
            name = self.write(name, content)
            said = self.tool("--trace", name, "-o", self.path("out"), status=1)
            self.assertRegex(said, wanted)
            self.assertIn(name, said)
            self.assertFalse(os.path.exists(self.path("out")), name)
        self.assertRegex(self.tool("--trace", self.path("good.0"), self.write("copy", trace_of(0)),
                                   status=1), "rank 0 is also in")
        self.write("good.1", trace_of(1, started=0))
        for clock, wanted in (("common", "good.1 is of an earlier job"),
                              ("common", "1 of 3 ranks have no trace.*rank 1"),
                              ("own", "clocks are not related")):
            self.write("good.2", trace_of(2, clock=clock))
            done = subprocess.run([TOOL, "--trace", "-o", self.path("out"), self.path("good")],
                                  capture_output=True, text=True, timeout=300, check=True)
            self.assertRegex(done.stderr, wanted)
            self.assertRegex(done.stdout, "2 calls of 2 ranks are in")

    def test_traces_of_ranks_that_differ(self):
        """They do not know when the others began."""
        for rank, started in ((0, 5000000), (1, 7000000), (2, 5 + 900000000)):
            about = {"collopt": "0.1.0", "mpi": "MPICH", "host": "n1", "rank": rank, "ranks": 3,
                     "started": started, "clock": "own", "clock_error": 0.0, "calls": 0,
                     "dropped": 0}
            self.write("near.%d" % rank, {"otherData": about, "traceEvents": []})
        said = subprocess.run([TOOL, "--trace", self.path("near.0"), self.path("near.1")],
                              capture_output=True, text=True, timeout=300, check=True)
        self.assertEqual(json.loads(said.stdout)["otherData"]["present"], 2)
        said = subprocess.run([TOOL, "--trace", self.path("near")], capture_output=True, text=True,
                              timeout=300, check=True)
        self.assertEqual(json.loads(said.stdout)["otherData"]["present"], 1)
        self.assertIn("near.1 is of an earlier job than", said.stderr)

    def test_openmetrics(self):
        """Sums by job, collective and who ran it; nothing of what is not known."""
        names = [self.write("a.json", with_waiting([2.0, 1.0], late=1)),
                 self.write('b "2".json', dict(of_rank(0, 1, 0.5), combined=True))]
        said = self.tool("--openmetrics", *names)
        self.assertTrue(said.endswith("# EOF\n"))
        self.assertEqual(len(said.splitlines()), len(set(said.splitlines())))
        lines = dict(line.rsplit(" ", 1) for line in said.splitlines() if line[0] != "#")
        self.assertEqual(lines['collopt_job_waiting_seconds{job="a"}'], "1.5")
        self.assertEqual(lines['collopt_job_late_rank_seconds{job="a",rank="1",host="n3"}'], "3")
        self.assertEqual(lines['collopt_calls{job="b \\"2\\"",collective="allreduce",by="mpi"}'],
                         "1")
        self.assertEqual(lines['collopt_call_seconds{job="b \\"2\\"",collective="allreduce",'
                               'by="collopt"}'], "5")
        self.assertEqual(lines['collopt_call_reducing_seconds{job="a",collective="allreduce",'
                               'by="collopt"}'], "1")
        self.assertNotIn('waiting_seconds{job="b', said)
        for line in said.splitlines():
            self.assertRegex(line, r'^(# (TYPE|HELP) collopt_\w+ .*|# EOF|'
                                   r'collopt_\w+\{(\w+="([^"\\]|\\.)*",?)+\} [-+.e0-9]+)$')

    def test_ranks(self):
        names = [self.write("job.%d" % rank, of_rank(rank, 4, rank + 1, calls=10 * (rank + 1)))
                 for rank in (0, 2)]
        (found,) = reports.read(names)
        self.assertEqual((found.name, found.present, found.ranks), (self.path("job"), 2, 4))
        row = found.run[0]
        self.assertEqual((row.ranks, row.calls, row.bytes, row.messages, row.shared_memory),
                         (2, 40, 40 << 20, 40 << 19, 16))
        self.assertEqual((row.seconds.min, row.seconds.mean, row.seconds.max), (10, 50, 90))
        self.assertEqual((row.seconds_per_call.min, row.seconds_per_call.mean,
                          row.seconds_per_call.max), (1, 2.5, 3))
        self.assertEqual((found.seconds.min, found.seconds.mean, found.seconds.max),
                         (100, 500, 900))
        self.assertEqual([share.ranks_from for share in found.by_rank], [0, 2])
        self.assertIsNone([row for row in found.passed
                           if row.function == "MPI_Iallreduce"][0].seconds)
        self.assertIn("2 ranks of 4", report.identity(found))
        self.assertNotIn("MPI_Abort", report.identity(found))
        self.assertNotIn("COLLOPT_AFTER", report.summary(found))
        self.write("job.tmp", "no report")
        # Named as COLLOPT_REPORT was.
        self.assertEqual(reports.read([self.path("job")]), [found])
        self.write("job", json.dumps(of_rank(0, 1, 7)))
        self.assertEqual(reports.read([self.path("job")])[0].present, 1)

    def test_aborted(self):
        name = self.write("gone.1", dict(of_rank(1, 4, 1, calls=4), aborted=True))
        (found,) = reports.read([self.path("gone")])
        self.assertIn("1 rank of 4, in a job that called MPI_Abort", report.identity(found))
        self.assertIn("COLLOPT_AFTER=1", report.summary(found))
        self.assertIn("in a job that called MPI_Abort", self.tool(name))

    def test_refused(self):
        first, same = self.write("job.0", of_rank(0, 4, 1)), self.write("other.1", of_rank(0, 4, 1))
        self.assertRegex(self.tool(first, first, status=1), "job.0: is given twice")
        self.assertEqual(len(reports.read([first, same])), 2)       # two jobs
        of_more = self.write("job.1", of_rank(1, 8, 1))
        self.assertRegex(self.tool(first, of_more, status=1),
                         r"job.1: ranks is 8, but 4 in .*job.0: not of one job")


class Comparing(Files):
    def both(self):
        without, with_ = of_rank(0, 1, 0.4), of_rank(0, 1, 0.2)
        without["passed"][0].update(reason="switched off", bytes_from=524289, bytes_to=1048576,
                                    calls=10, seconds=spread(4.0), seconds_per_call=spread(0.4))
        without["run"] = []
        return self.write("without.json", without), self.write("with.json", with_)

    def test_figures(self):
        found = json.loads(self.tool("--json", *self.both()))
        line = [c for c in found["compared"]
                if c["collective"] == "allreduce" and c["bytes_to"] == 1048576]
        self.assertEqual([r["by"] for r in line[0]["reports"]], [["MPI library"], ["ring"]])
        self.assertAlmostEqual(line[0]["reports"][1]["times_as_fast"], 2)
        self.assertEqual([r["label"] for r in found["reports"]], ["without", "with"])
        self.assertRegex(self.tool(*self.both()),
                         r"allreduce +1 MiB +2.00× +400 ms +200 ms +MPI library +ring")

    def test_nothing_in_common(self):
        """Where calls that were left to the MPI library have no sizes,
        collectives are compared, and nothing by size."""
        without, with_ = self.both()
        whole = json.load(open(without))
        del whole["passed"][0]["bytes_from"], whole["passed"][0]["bytes_to"]
        said = self.tool(self.write("without.json", whole), with_)
        self.assertIn("Time of a call by collective, all sizes", said)
        self.assertNotIn("by collective and size", said)

    def test_page(self):
        for files in (self.both(), self.both()[:1]):
            output = self.path("out.html")
            self.assertEqual(self.tool("-o", output, *files), "")
            with open(output, encoding="utf-8") as file:
                whole = file.read()
            self.assertEqual(whole, self.tool("--output=-", *files))
            self.assertEqual([word for word in re.findall(r' (?:src|href)="?(.)', whole)
                              if word != "#"], [])
            hidden = [name for name in os.listdir(self.folder.name) if name.startswith(".")]
            self.assertFalse(hidden, "nothing is left beside it")


class Tool(Files):
    def test_usage(self):
        good = self.write("a.json", of_rank(0, 1, 1))
        for words, message in (([], "no FILE"), (["--jsn", good], "unknown option --jsn"),
                               (["-o"], "-o needs a file"),
                               (["-o", "", good], "takes the name of a file"),
                               (["--json", "-o", "x", good], "exclude each other"),
                               (["-o", good, good], "is one of the reports"),
                               (["-", "-"], "given twice")):
            self.assertIn(message, self.tool(*words, status=2))
        self.assertIn("--output FILE", self.tool("--help"))
        self.assertEqual(self.tool("--version").split()[1], read_source("VERSION").strip())
        self.assertIn("No such file", self.tool("-o", self.path("none/out.html"), good, status=1))
        self.assertIn("ring", self.tool("-", stdin=json.dumps(of_rank(0, 1, 1))))
        self.assertIn("ring", self.tool("--", good))

    def test_width(self):
        good = self.write("a.json", of_rank(0, 1, 1, algorithm="recursive_multiplying"))
        for width in (40, 60, 80, 132):
            for line in self.tool(good, environment={"COLUMNS": str(width)}).split("\n"):
                if re.match(r"(Collective|Function|allreduce|MPI_)", line):
                    self.assertLessEqual(len(line), width, line)
        self.assertIn("Longest", self.tool(good))

    def test_ascii(self):
        good = self.write("a.json", of_rank(0, 1, 1e-6))
        out = subprocess.run([TOOL, good], stdout=subprocess.PIPE,
                             env=dict(os.environ, LC_ALL="POSIX", PYTHONCOERCECLOCALE="0"),
                             timeout=300)
        self.assertEqual(out.returncode, 0)
        self.assertIn(b"ring", out.stdout)

    def colours(self, **environment):
        good = self.write("a.json", of_rank(0, 1, 1))
        master, slave = pty.openpty()
        process = subprocess.Popen([TOOL, good], stdout=slave, stdin=slave,
                                   env=dict(os.environ, TERM="xterm", **environment))
        os.close(slave)
        out = b""
        try:
            while True:
                data = os.read(master, 65536)
                if not data:
                    break
                out += data
        except OSError:
            pass
        self.assertEqual(process.wait(300), 0)
        os.close(master)
        self.assertIn(b"ring", out)
        return b"\033[" in out

    def test_colours(self):
        self.assertTrue(self.colours())
        self.assertFalse(self.colours(NO_COLOR="1"))
        self.assertNotIn("\033", self.tool(self.write("a.json", of_rank(0, 1, 1))))

    def test_hostile_names(self):
        """What stands in a report never becomes a command to a terminal or a page."""
        bad = of_rank(0, 1, 1, algorithm='"><script>alert(1)</script>'
                                         '<img src=x onerror=alert(1)>\033[31m\0\ud800')
        bad["mpi"] = "</title><script>alert(2)</script>"
        name = self.write("a.json", bad)
        bad["waiting"] = waits(1, 2, late=0)
        bad["waiting"]["late"]["host"] = "n1\033[2J"
        name = self.write("a.json", bad)
        self.assertNotIn("\033", self.tool(name))
        self.assertNotIn("\033", self.tool(name, self.write("c.json", bad)))
        whole = self.tool("-o", "-", name)
        self.assertEqual(whole.count("<script"), 1)
        self.assertNotIn("<img", whole)
        bad["passed"][0]["name"] = "half a character: \ud800"
        name = self.write("b.json", bad)
        self.assertIn('"half a character: ?"', self.tool("--openmetrics", name))

    def test_no_python(self):
        done = subprocess.run(["/bin/sh", TOOL, "x"], capture_output=True, text=True, timeout=60,
                              env={"PATH": self.bare_path()})
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr,
                         "^collopt-report: python3 is needed, 3.7 or later .there is none.*\n$")

    def bare_path(self):
        """A folder with the few commands that the script needs, and no python3."""
        os.mkdir(self.path("bin"))
        for command in ("dirname", "readlink"):
            found = subprocess.run(["sh", "-c", "command -v " + command], capture_output=True,
                                   text=True)
            os.symlink(found.stdout.strip(), os.path.join(self.path("bin"), command))
        return self.path("bin")

    def test_pipe_that_closes(self):
        good = self.write("a.json", of_rank(0, 1, 1))
        done = subprocess.run(["sh", "-c", '"$1" --json "$2" | true', "sh", TOOL, good],
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.stderr, "")

    def shell(self, script, *words):
        return subprocess.run(["sh", "-c", script, "sh", TOOL, *words], capture_output=True,
                              text=True, timeout=300)

    def test_full_disk(self):
        """Whatever is written to the standard output."""
        report, other = (self.write(name, of_rank(0, 1, 1)) for name in ("a.json", "b.json"))
        trace = self.write("trace.0", trace_of(0))
        for words in ([report], [report, other], ["--json", report], ["--openmetrics", report],
                      ["-o", "-", report], ["--trace", trace], ["--trace", "-o", "-", trace],
                      ["--help"], ["--version"]):
            done = self.shell('"$@" >/dev/full', *words)
            self.assertEqual((done.returncode, done.stderr.split("\n")[-2:]),
                             (1, ["collopt-report: the standard output cannot be written: "
                                  "No space left on device", ""]), words)
            self.assertNotIn("Traceback", done.stderr)

    def test_closed_output(self):
        report = self.write("a.json", of_rank(0, 1, 1))
        for words in ([report], ["--json", report], ["-o", self.path("p.html"), report]):
            for script in ('"$@" >&-', '"$@" <&- >&- 2>&-'):
                done = self.shell(script, *words)
                self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        with open(self.path("p.html"), encoding="utf-8") as file:
            self.assertIn("</html>", file.read())

    def test_long_name(self):
        name = self.path("n" * 255)
        self.tool("-o", name, self.write("a.json", of_rank(0, 1, 1)))
        self.assertTrue(os.path.exists(name))


class Page(unittest.TestCase):
    def test_escaping(self):
        self.assertEqual(page.el("p", "a<b", page.el("b", "&"),
                                 title='"', class_="x", hidden=False),
                         '<p title="&quot;" class="x">a&lt;b<b>&amp;</b></p>')


if __name__ == "__main__":
    unittest.main()
