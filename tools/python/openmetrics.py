"""Reports as a text in the format of OpenMetrics, which Prometheus's node_exporter takes from a
file: what jobs did, so gauges."""

from reports import NESTED

# Of a whole job: name, what it is, and its value; None: not known.
OF_JOB = (
    ("ranks", "Ranks of MPI_COMM_WORLD.", lambda r: r.ranks),
    ("run_seconds", "From MPI_Init to MPI_Finalize, mean of the ranks.",
     lambda r: r.seconds and r.seconds.mean),
    ("reduction_seconds", "In reductions, mean of the ranks.",
     lambda r: r.reductions and r.reductions.mean),
    ("waiting_seconds", "Of these, waiting for ranks that came late, where it is known.",
     lambda r: r.waiting and r.waiting.seconds.mean),
    ("reducing_seconds", "Of these, reducing, where it is known.",
     lambda r: r.waiting and r.waiting.reducing.mean),
)
# Of the calls of one collective that collopt or the MPI library ran, sums over the ranks.
OF_CALLS = (
    ("calls", "Calls.", lambda row: row.calls),
    ("bytes", "Bytes in their input vectors.", lambda row: row.bytes),
    ("call_seconds", "Time in these calls.", lambda row: row.total if row.seconds else None),
    ("call_waiting_seconds", "Of it, waiting for ranks that came late.",
     lambda row: row.waiting and row.waiting.seconds.mean * row.ranks),
    ("call_reducing_seconds", "Of it, reducing.",
     lambda row: row.waiting and row.waiting.reducing.mean * row.ranks),
)


def labels_text(labels):
    def escaped(text):
        return str(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return ",".join('%s="%s"' % (name, escaped(value)) for name, value in labels)


def sums_of(report, of):
    """{(collective, who ran it): sum over the rows whose value is known}"""
    found = {}
    for row in report.rows:
        value = None if row.reason == NESTED else of(row)
        if value is not None:
            key = (row.collective, "collopt" if row.algorithm else "mpi")
            found[key] = found.get(key, 0) + value
    return found


def family(name, about, samples):
    if not samples:
        return []
    return (["# TYPE collopt_%s gauge" % name, "# HELP collopt_%s %s" % (name, about)]
            + ["collopt_%s{%s} %s" % (name, labels_text(labels),
                                      value if isinstance(value, int) else "%.9g" % value)
               for labels, value in samples])


def text_of(reports, names):
    """NAMES are the jobs'."""
    lines = []
    jobs = list(zip(names, reports))
    for name, about, of in OF_JOB:
        lines += family("job_" + name, about, [([("job", job)], of(report)) for job, report in jobs
                                               if of(report) is not None])
    lines += family("job_late_rank_seconds", "The rank that made the others wait longest: seconds "
                    "that they waited for it, summed over them.",
                    [([("job", job), ("rank", report.waiting.late.rank),
                       ("host", report.waiting.late.host or "")], report.waiting.late.seconds)
                     for job, report in jobs if report.waiting and report.waiting.late])
    for name, about, of in OF_CALLS:
        lines += family(name, about,
                        [([("job", job), ("collective", key[0]), ("by", key[1])], value)
                         for job, report in jobs
                         for key, value in sorted(sums_of(report, of).items())])
    return "\n".join(lines + ["# EOF", ""])
