"""Compares the traces of the ranks with what test_trace wrote itself: every call is there once, in
order, between the times that the program saw.  No time must be short for that.

Arguments: what COLLOPT_TRACE and test_trace were given, the ranks' number, what may be missing
("": nothing; "late": the last calls), the error of the clocks that is right, in microseconds, and
what collopt-report has made of the traces, if it was asked."""

import json
import math
import sys

ROUNDING = 0.002                # microseconds: of both ends, to whole nanoseconds
wrong = []


def check(good, message, *words):
    if not good:
        wrong.append(message % words)


class Call:
    """A slice of the trace."""

    def __init__(self, event, row):
        self.name, self.args, self.row = event["name"], event["args"], row
        self.begin = event["ts"]
        self.end = self.begin + event["dur"] if event["ph"] == "X" else None
        self.parts = []


def schema(whole):
    """What Perfetto needs of each event (its importers/json/json_trace_parser.cc)."""
    check(set(whole) == {"otherData", "displayTimeUnit", "traceEvents"}, "members: %s",
          sorted(whole))
    for event in whole["traceEvents"]:
        check(isinstance(event["name"], str) and isinstance(event["pid"], int)
              and isinstance(event["tid"], int), "no name, pid, tid: %s", event)
        needs = {"M": {"args"}, "X": {"ts", "dur"}, "b": {"ts", "cat", "id2", "args"},
                 "e": {"ts", "cat", "id2"}}
        check(event["ph"] in needs and needs[event["ph"]] <= set(event), "members of %s", event)
        check(event.get("dur", 0) >= 0, "ends before it begins: %s", event)


def rows_of(events):
    return {event["tid"]: event["args"]["name"] for event in events
            if event["name"] == "thread_name"}


def calls_of(events):
    """In the order of the file, with waiting and reducing."""
    rows, calls, open_ones = rows_of(events), [], {}
    for event in events:
        row = rows.get(event["tid"])
        if event["ph"] == "M":
            continue
        if event["ph"] == "e":
            call = open_ones.pop(event["id2"]["local"])
            call.end = event["ts"]
            check(event["name"] == call.name and call.end >= call.begin, "%s at %f ends as %s",
                  call.name, call.begin, event)
        elif event["name"] in ("waiting", "reducing"):
            calls[-1].parts.append(event)
        else:
            calls.append(Call(event, row))
            if event["ph"] == "b":
                check(event["id2"]["local"] not in open_ones, "id twice: %s", event)
                open_ones[event["id2"]["local"]] = calls[-1]
    check(not open_ones, "not ended: %s", list(open_ones))
    return calls


def parts_fit(call):
    """Waiting and reducing follow each other and fill the call."""
    if not call.parts:
        return
    at = call.begin
    for part in call.parts:
        check(abs(part["ts"] - at) < ROUNDING, "%s does not begin at %f: %s", call.name, at, part)
        at = part["ts"] + part["dur"]
    check(abs(at - call.end) < ROUNDING, "parts of %s end at %f, not %f", call.name, at, call.end)
    check([part["name"] for part in call.parts] in (["waiting"], ["reducing"],
                                                    ["waiting", "reducing"]),
          "parts of %s: %s", call.name, call.parts)


def nanoseconds(microseconds):
    """As Perfetto reads times: to the next integer."""
    return math.floor(microseconds * 1000 + 0.5)


def slices_nest(events):
    """On each row a slice is inside of another or beside it, to the nanosecond: Perfetto moves one
    that overlaps another to a row of its own.  It sorts them by their beginning only, so what is
    outside has to come first."""
    stacks = {}
    for event in sorted((event for event in events if event["ph"] == "X"),
                        key=lambda event: nanoseconds(event["ts"])):
        stack = stacks.setdefault((event["pid"], event["tid"]), [])
        begin = nanoseconds(event["ts"])
        end = begin + nanoseconds(event["dur"])
        while stack and stack[-1][0] <= begin:
            stack.pop()
        check(not stack or end <= stack[-1][0], "%s at %f overlaps %s", event["name"],
              event["ts"], stack[-1][1] if stack else "")
        stack.append((end, event["name"]))


def compare(call, line):
    function, form, comm, ranks, count, nbytes, _, _ = line
    # Open MPI 4 has MPIX_Allreduce_init
    check(call.name.replace("MPIX_", "MPI_") == function, "%s is not %s", call.name, function)
    check(call.args["form"] == form, "%s: form %s, not %s", function, call.args["form"], form)
    check(call.args["collective"] == function.replace("MPI_I", "MPI_").replace("_init", "")[4:]
          .lower(), "%s: collective %s", function, call.args["collective"])
    check(call.row.startswith("%s, %s rank" % (comm.replace("_\"", " \""), ranks)),
          "%s is on %s, not %s of %s ranks", function, call.row, comm, ranks)
    # persistent requests of collopt's do not keep it
    kept = form != "persistent" or "count" in call.args
    check(not kept or call.args.get("count") == int(count), "%s: count %s, not %s", function,
          call.args.get("count"), count)
    check(call.args.get("bytes") == int(nbytes), "%s: %s bytes, not %s", function,
          call.args.get("bytes"), nbytes)


def main(name, ranks, missing, clock_error, merged=None):
    least, most, arrivals, all_events = None, None, {}, []
    for rank in range(ranks):
        with open("%s.%d" % (name, rank), encoding="utf-8") as file:
            whole = json.load(file)
        with open("%s-lines.%d" % (name, rank), encoding="utf-8") as file:
            lines = sorted((line.split() for line in file), key=lambda line: int(line[6]))
        schema(whole)
        events, about = whole["traceEvents"], whole["otherData"]
        all_events += events
        check(about["rank"] == rank and about["ranks"] == ranks and about["clock"] == "common",
              "otherData: %s", about)
        check(about["clock_error"] <= clock_error, "clock error %f", about["clock_error"])
        check(all(event["pid"] == rank for event in events), "pid is not the rank")
        calls = calls_of(events)
        check(about["calls"] == len(calls), "%d calls, not %d", len(calls), about["calls"])
        check(about["calls"] + about["dropped"] == len(lines), "%d calls and %d without room, of "
              "%d", len(calls), about["dropped"], len(lines))
        check((about["dropped"] > 0) == (missing == "late"), "%d dropped", about["dropped"])
        check([c.begin for c in calls] == sorted(c.begin for c in calls), "not in order")
        slices_nest(events)
        numbers = {}
        for call, line in zip(calls, lines):
            compare(call, line)
            parts_fit(call)
            numbers[call.row] = numbers.get(call.row, 0) + 1
            check(call.args["call"] == numbers[call.row], "number %s of %s", call.args["call"],
                  call.row)
            # there is a beginning of the timeline for which all calls are inside
            slack = ROUNDING + 2 * about["clock_error"]
            early = int(line[6]) / 1000 - call.begin - slack
            late = int(line[7]) / 1000 - call.end + slack
            least = early if least is None else max(least, early)
            most = late if most is None else min(most, late)
            if call.name == "MPI_Allreduce" and call.row.startswith("MPI_COMM_WORLD,"):
                arrivals.setdefault(call.args["call"], []).append(call)
    check(least <= most, "calls are outside of the times that the program saw, by %f us",
          least - most)
    for calls in arrivals.values():
        last = max(call.begin for call in calls)
        for call in calls if len(calls) == ranks else []:
            check(call.parts, "%s: waiting is not known", call.name)
            waited = sum(p["dur"] for p in call.parts if p["name"] == "waiting")
            wanted = min(last, call.end) - call.begin
            check(abs(waited - wanted) < 2 * ROUNDING + 4 * clock_error,
                  "%s waits %f us, not %f", call.name, waited, wanted)
    check(arrivals or missing == "late", "nothing is known of waiting")
    if merged:
        with open(merged, encoding="utf-8") as file:
            whole = json.load(file)
        schema(whole)
        check(whole["traceEvents"] == all_events, "%s has other events", merged)
        slices_nest(all_events)
        check(whole["otherData"]["present"] == ranks, "%s: otherData", merged)
    for message in wrong[:20]:
        print("WRONG: " + message)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4]), *sys.argv[5:]))
