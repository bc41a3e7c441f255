"""Of the time in reductions: what was waiting for ranks that came late, and who they were."""

from dataclasses import dataclass
from typing import Optional

from text import Cell, Column, count, percent, seconds


@dataclass
class Late:
    """The rank that made the others wait longest: it entered LAST of its CALLS last, and the others
    waited so many SECONDS for it, summed over them."""
    rank: int
    host: Optional[str]         # None: not told
    last: int
    calls: int
    seconds: float

    @property
    def name(self):
        return "rank %d%s" % (self.rank, " on %s" % self.host if self.host else "")


@dataclass
class Waits:
    calls: int                  # whose waiting is known, of all ranks
    of_calls: int               # that were timed
    clock_error: float
    seconds: object             # Spread over the ranks
    reducing: object
    late: Optional[Late]
    following: int = 0          # short calls that followed another at once, of all ranks
    following_seconds: float = 0.0      # that these took without waiting, mean of the ranks
    at_once: int = 0            # requests that were waited for at once, of all ranks
    at_once_seconds: float = 0.0        # of these waits, mean of the ranks

    @property
    def part(self):
        """The share of the time that is waiting; None: there was no time."""
        whole = self.seconds.mean + self.reducing.mean
        return self.seconds.mean / whole if whole > 0 else None


def read(r, at, path):
    """The member "waiting" of AT; None: there is none."""
    inside = r.member(at, path, "waiting", "an object", lambda v: isinstance(v, dict), None)
    path = path + ["waiting"]
    if inside is None:
        return None
    following, following_seconds = read_hint(r, inside, path, "following", "reducing")
    at_once, at_once_seconds = read_hint(r, inside, path, "at_once", "seconds")
    late = r.member(inside, path, "late", "an object", lambda v: isinstance(v, dict), None)
    calls = r.count(inside, path, "calls", least=1)
    return Waits(calls, r.count(inside, path, "of_calls", calls),
                 r.real(inside, path, "clock_error", 0.0), r.spread(inside, path, "seconds"),
                 r.spread(inside, path, "reducing"),
                 None if late is None else read_late(r, late, path + ["late"]),
                 following, following_seconds, at_once, at_once_seconds)


def read_hint(r, at, path, key, what):
    """The calls of which the hint KEY speaks, and their seconds, which it calls WHAT."""
    hint = r.member(at, path, key, "an object", lambda v: isinstance(v, dict), None)
    path = path + [key]
    if hint is None:
        return 0, 0.0
    return r.count(hint, path, "calls", least=1), r.spread(hint, path, what).mean


def read_late(r, at, path):
    return Late(r.count(at, path, "rank"), r.text_of(at, path, "host", None),
                r.count(at, path, "last"), r.count(at, path, "calls", least=1),
                r.real(at, path, "seconds"))


# ---- in words ------------------------------------------------------------------------------------


def late_sentence(waits, ranks):
    late = waits.late
    if not late:
        return ""
    return (" %s was last in %s of its calls: the ranks waited %s for it."
            % (late.name.capitalize() if not late.host else "R" + late.name[1:],
               percent(late.last / late.calls), seconds(late.seconds / ranks)))


FELT = 0.05             # a part of the time in reductions below which no hint is given


def row_sentence(waits):
    """Short reductions in a row, if that they are several calls takes time that would be felt."""
    whole = waits.seconds.mean + waits.reducing.mean
    if not waits.following or waits.following_seconds < FELT * whole:
        return ""
    return (" %s reductions of up to 4 KiB followed another on the same communicator within 5 µs "
            "and took %s of each rank: if they do not need its result, one call for both saves "
            "that." % (count(waits.following), seconds(waits.following_seconds)))


def haste_sentence(waits):
    """Requests that were waited for at once, if that takes time that would be felt."""
    whole = waits.seconds.mean + waits.reducing.mean
    if not waits.at_once or waits.at_once_seconds < FELT * whole:
        return ""
    return (" %s nonblocking or persistent reductions were waited for within 5 µs after they were "
            "started, which took %s of each rank: work between the two calls would hide up to "
            "that." % (count(waits.at_once), seconds(waits.at_once_seconds)))


def known_of(waits):
    if waits.calls < waits.of_calls:
        return " This is known of %s of %s calls." % (count(waits.calls), count(waits.of_calls))
    return ""


def clock_sentence(waits):
    if waits.clock_error > 0:
        return (" The ranks' clocks are related within %s; less waiting than that in a call says "
                "nothing." % seconds(waits.clock_error))
    return ""


def advice(waits):
    """The most that can be saved, if it is less than the ranks wait."""
    if waits.part is None or waits.part <= 0.5:
        return ""
    return (" Faster reductions can save at most %s: balance the load first."
            % seconds(waits.reducing.mean))


def as_json(waits, ranks):
    """Figures for the answers of profile and compare; None: not known."""
    if not waits:
        return None
    late = waits.late
    return {"waiting": waits.seconds.mean, "reducing": waits.reducing.mean,
            "calls": waits.calls, "of_calls": waits.of_calls,
            "late": late and {"name": late.name, "rank": late.rank, "host": late.host,
                              "last": late.last / late.calls, "seconds": late.seconds / ranks}}


def short(found):
    """Of what as_json() gives, in words."""
    late = found["late"]
    return "%s of waiting for ranks that come late%s and %s of reducing" % (
        seconds(found["waiting"]),
        " (for %s, last in %s of its calls, %s)"
        % (late["name"], percent(late["last"]), seconds(late["seconds"])) if late else "",
        seconds(found["reducing"]))


def sentences(waits, ranks):
    """The report's sentence on WAITS, mean of so many RANKS; "": nothing is known."""
    if not waits:
        return ""
    return ("Of this, %s were waiting for ranks that came late, %s reducing."
            % (seconds(waits.seconds.mean), seconds(waits.reducing.mean))
            + late_sentence(waits, ranks) + advice(waits) + row_sentence(waits)
            + haste_sentence(waits) + known_of(waits) + clock_sentence(waits))


# ---- columns of tables ---------------------------------------------------------------------------

COLUMNS = [
    Column("Waiting", "number", less=2,
           hint="What of this time a rank waited until the last rank on which it depends had "
                "entered the reduction; mean of the ranks."),
    Column("Waited for", less=4,
           hint="The rank for which the others waited longest in these calls, and what part of "
                "the waiting that was."),
]


def cells(row):
    """Of a row of the report, in COLUMNS."""
    waits = row.waiting
    if not waits:
        return [Cell("", value=None), Cell("")]
    whole = waits.seconds.mean * row.ranks
    late = waits.late
    return [Cell(seconds(waits.seconds.mean), value=waits.seconds.mean),
            Cell("rank %d, %s" % (late.rank, percent(min(late.seconds / whole, 1)))
                 if late and whole > 0 else "")]
