"""The blocking reductions of a report by collective and size, whoever has run them."""

from reports import COLLECTIVES, NESTED, least_of, most_of


class Calls:
    """Of one collective and size class; of all ranks."""

    def __init__(self, rows):
        self.collective, self.bytes_to = rows[0].collective, rows[0].bytes_to
        self.calls = sum(row.calls for row in rows)
        self.per_rank = self.calls / max(row.ranks for row in rows)
        self.bytes = sum(row.bytes for row in rows) // self.calls           # of one call
        self.mean = sum(row.total for row in rows) / self.calls             # seconds of one call
        known = [row.waiting for row in rows]
        # seconds of one call behind the last rank's coming; None: not known
        self.reducing = (sum(row.waiting.reducing.mean * row.ranks for row in rows)
                         / sum(row.waiting.calls for row in rows) if all(known) else None)
        self.shortest = min(row.seconds_per_call.min for row in rows)
        self.communicators = (least_of(row.communicator_least for row in rows),
                              most_of(row.communicator_most for row in rows))
        self.by = {}                    # calls by who ran them
        for row in rows:
            self.by[row.by] = self.by.get(row.by, 0) + row.calls


def by_size(report):
    """{(collective, bytes_to): Calls} of those whose time and size are known;
    nested calls are inside the time of others."""
    found = {}
    for row in report.rows:
        if (row.collective in COLLECTIVES and row.seconds and row.bytes_to is not None
                and row.reason != NESTED):
            found.setdefault((row.collective, row.bytes_to), []).append(row)
    return {key: Calls(rows) for key, rows in found.items()}


def waiting(report):
    """The share of the time in reductions spent waiting for late ranks; None: not known.
    Where it was not measured, the rank that is shortest in reductions shows what they take at most;
    the rest of the mean is waiting for others."""
    if report.waiting:
        return report.waiting.part
    if report.share is None or report.reductions.mean <= 0:
        return None
    return 1 - report.reductions.min / report.reductions.mean
