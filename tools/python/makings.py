"""Communicators that a program has made and freed: one for each reduction could be kept."""

from dataclasses import dataclass

from text import count, seconds

FELT = 0.05             # a part of the time in reductions below which nothing is said of them
FEW = 4                 # as src/report/makings.h says


@dataclass
class Makings:
    made: int                   # of all ranks, as what follows
    seconds: object             # Spread over the ranks that made any: for making and freeing
    hardly_used: int            # freed after 1 to FEW reductions
    reductions: int             # on these


def read(r, at, path):
    """The member "communicators" of AT; None: there is none."""
    inside = r.member(at, path, "communicators", "an object", lambda v: isinstance(v, dict), None)
    if inside is None:
        return None
    path = path + ["communicators"]
    return Makings(r.count(inside, path, "made", least=1), r.spread(inside, path, "seconds"),
                   r.count(inside, path, "hardly_used"), r.count(inside, path, "reductions"))


def merge(of_ranks, joined):
    """JOINED: of their seconds."""
    found = [one for one in of_ranks if one]
    return Makings(sum(one.made for one in found), joined((one.seconds, 1) for one in found),
                   sum(one.hardly_used for one in found),
                   sum(one.reductions for one in found)) if found else None


def sentence(makings, ranks, in_reductions):
    """Said if most communicators were hardly used, and making them took time that would be felt
    beside IN_REDUCTIONS, a Spread or None."""
    if (not makings or not in_reductions or makings.hardly_used < makings.made / 2
            or makings.hardly_used < 10 * ranks
            or makings.seconds.mean < FELT * in_reductions.mean):
        return ""
    return ("%s communicators were freed after at most %d reductions (%.1f on average). To make "
            "and free communicators took %s of each rank, with what it waited there: one that is "
            "kept saves that."
            % (count(makings.hardly_used), FEW, makings.reductions / makings.hardly_used,
               seconds(makings.seconds.mean)))
