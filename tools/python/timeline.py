"""The timelines that the ranks of a job have written with COLLOPT_TRACE, as one."""

import gzip
import io
import json
import os
import sys
from dataclasses import dataclass

import output
import reports
from reports import BadReport
from text import clean, count

NEAR = 60000000         # microseconds between the beginnings of two ranks of one job
EVENT = "an object with the texts ph and name and the whole number pid"


@dataclass
class About:
    """otherData of the file NAME."""
    name: str
    collopt: str
    mpi: str
    host: str
    rank: int
    ranks: int
    started: int                # microseconds since 1970: the same on all ranks of a job
    clock: str                  # "common": that of rank 0; "own"
    clock_error: float          # microseconds
    calls: int
    dropped: int


# ---- one file ------------------------------------------------------------------------------------


def whole_of(name):
    text = reports.load(name)
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadReport(clean("%s: not JSON: %s" % (name, error))) from None
    if not isinstance(whole, dict) or "traceEvents" not in whole:
        raise BadReport(clean('%s: is no trace of COLLOPT_TRACE: it is no object that has '
                              '"traceEvents"' % name))
    return reports.Reader(name, text), whole


def about(r, whole):
    path = ["otherData"]
    at = r.member(whole, [], "otherData", "an object", lambda v: isinstance(v, dict), ())
    if "present" in at:
        raise BadReport(clean("%s: is a trace of several ranks already" % r.name))
    found = About(r.name, r.text_of(at, path, "collopt"), r.text_of(at, path, "mpi"),
                  r.text_of(at, path, "host"), r.count(at, path, "rank"),
                  r.count(at, path, "ranks", least=1), r.count(at, path, "started"),
                  r.text_of(at, path, "clock"), r.real(at, path, "clock_error"),
                  r.count(at, path, "calls"), r.count(at, path, "dropped"))
    if found.rank >= found.ranks:
        r.bad(path + ["rank"], "%%s is %d, of %d ranks" % (found.rank, found.ranks))
    return found


def is_event(event):
    return (isinstance(event, dict) and isinstance(event.get("ph"), str)
            and isinstance(event.get("name"), str) and isinstance(event.get("pid"), int))


def events(r, whole, rank):
    for i, event in enumerate(r.list_of(whole, [], "traceEvents")):
        if not is_event(event):
            r.bad(["traceEvents", i], "%s must be " + EVENT)
        if event["pid"] != rank:
            r.bad(["traceEvents", i], "%s has another pid than the rank, " + str(rank))
        yield event


# ---- those of one job ----------------------------------------------------------------------------


def is_of_job(one, latest):
    """Ranks with different settings have not told each other when the job began."""
    return one.started == latest.started or (
        one.clock == latest.clock == "own" and latest.started - one.started < NEAR)


def job_of(names):
    """The heads of the files, by rank; files that an earlier job with more ranks, or with
    a trace of ranks that have none now, has left under the same name do not count."""
    found = [about(*whole_of(name)) for name in names]
    latest = max(found, key=lambda a: a.started)
    ranks = {}
    for one in found:
        if not is_of_job(one, latest):
            note("%s is of an earlier job than %s, and left out" % (one.name, latest.name))
        elif one.ranks != latest.ranks or one.collopt != latest.collopt:
            raise BadReport(clean("%s is of another job than %s" % (one.name, latest.name)))
        elif one.rank in ranks:
            raise BadReport(clean("%s: rank %d is also in %s"
                                  % (one.name, one.rank, ranks[one.rank].name)))
        else:
            ranks[one.rank] = one
    return [ranks[rank] for rank in sorted(ranks)]


def note(text):
    sys.stderr.write("collopt-report: %s\n" % clean(text))


def say_what_is_missing(job):
    missing = sorted(set(range(job[0].ranks)) - {one.rank for one in job})
    if missing:
        note("%d of %d ranks have no trace, the first one rank %d"
             % (len(missing), job[0].ranks, missing[0]))
    if len(job) > 1 and any(one.clock != "common" for one in job):
        note("the ranks' clocks are not related, as where one calls MPI_Abort or their settings "
             "differ: the time of each begins in its own MPI_Init")
    dropped = sum(one.dropped for one in job)
    if dropped:
        note("%s calls had no room in the ranks' memory (COLLOPT_TRACE_SIZE)" % count(dropped))


def as_other_data(job):
    first = job[0]
    return {"collopt": first.collopt, "mpi": first.mpi, "ranks": first.ranks, "present": len(job),
            "started": first.started,
            "clock": "common" if all(one.clock == "common" for one in job) else "own",
            "clock_error": max(one.clock_error for one in job),
            "calls": sum(one.calls for one in job), "dropped": sum(one.dropped for one in job)}


# ---- all of it -----------------------------------------------------------------------------------


def write_events(job, file):
    """One rank after the other, so that not all need memory at once."""
    file.write('{"otherData": %s,\n "displayTimeUnit": "ns",\n "traceEvents": ['
               % json.dumps(as_other_data(job)))
    between = "\n"
    for one in job:
        r, whole = whole_of(one.name)
        for event in events(r, whole, one.rank):
            file.write(between + "  " + json.dumps(event))
            between = ",\n"
    file.write("\n ]}\n")


def fill(job, binary, compressed):
    with gzip.GzipFile(filename="", mode="wb", fileobj=binary,
                       mtime=0) if compressed else binary as to:
        text = io.TextIOWrapper(to, encoding="utf-8", write_through=False)
        write_events(job, text)
        text.flush()
        text.detach()


def merge(names, to):
    """Writes the trace of the ranks in the files NAMES to the file TO; None: to the standard
    output."""
    job = job_of([file for name in names for file in reports.files_of(name)])
    if to is None:
        write_events(job, sys.stdout)
        say_what_is_missing(job)
        return
    output.write(to, lambda binary: fill(job, binary, to.endswith(".gz")))
    say_what_is_missing(job)
    print("%s calls of %d rank%s are in %s; https://ui.perfetto.dev opens it"
          % (count(sum(one.calls for one in job)), len(job), "" if len(job) == 1 else "s",
             clean(to)))
