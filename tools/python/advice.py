"""Advice on the next step, from measurements.  Each rule looks at the answer of a comparison
(compare.result) and says one thing, with the command that does it where there is one, or nothing.
"""

import shlex

import waits
from text import percent, seconds, size

LITTLE = 0.03           # a share of reductions below which nothing that is done to them is felt


def _words(*parts):
    return " ".join(part for part in parts if part)


def _quoted(words):
    return " ".join(shlex.quote(word) for word in words)


def _run(answer, before=""):
    """The program by collopt, with the options that were given."""
    return _words(before, "collopt", answer["options"], _quoted(answer["command"]))


def _again(answer, options="", before="", more=""):
    """The comparison with other settings, beside the options that were given."""
    return _words(before, "collopt", answer["options"], options, "compare",
                  _quoted(answer["compare_options"]), more, _quoted(answer["command"]))


def _left(answer, reason):
    """Seconds of calls that were left to the MPI library for this reason, and their number; (0,
    0): none."""
    for entry in answer["passed"]:
        if entry["reason"] == reason:
            return entry["seconds"] or 0.0, entry["calls"]
    return 0.0, 0


def little_share(answer):
    share = answer["share_without"]
    if share is not None and share < LITTLE and answer["answer"] != "faster":
        return {"about": "share",
                "what": "Reductions take %s of the time. Were they free, the program would be "
                        "%.3f times as fast: nothing to be won here."
                        % (percent(share), 1 / (1 - share))}


def waiting(answer):
    """Measured, if it could be.  Else the rank that waits least shows what reductions take; the
    others wait for ranks that come late."""
    share, part, found = answer["share_without"], answer["waiting"], answer["waiting_without"]
    if share is not None and share >= LITTLE and found and part is not None and part > 0.5:
        return {"about": "waiting",
                "what": "Without collopt, reductions are %s. Faster reductions can "
                        "save at most %s: balance the load first."
                        % (waits.short(found), seconds(found["reducing"]))}
    if share is not None and share >= LITTLE and part is not None and part > 0.5:
        return {"about": "waiting",
                "what": "On average a rank spends %s of its time in reductions, but the rank "
                        "that spends least is %s below that: most of it is waiting for ranks "
                        "that come late, which no algorithm removes. Balance the load."
                        % (percent(share), percent(part))}


def first_calls(answer):
    """Calls before a communicator or a plan pays."""
    seconds, calls = _left(answer, "among the first calls")
    ran = sum(line["calls_per_rank"] for line in answer["reductions"]) * answer["ranks"]
    if (calls and ran and calls > 0.1 * ran and answer["share_without"]
            and answer["share_without"] >= LITTLE):
        return {"about": "after",
                "what": "%d of %d reductions were among the first calls, which the MPI library "
                        "runs until collopt pays. In longer runs that is less; or take over at "
                        "once:" % (calls, ran),
                "command": _again(answer, "--after 1")}


def slower_rows(answer):
    """Where the MPI library is faster than what was chosen."""
    worse = [line for line in answer["reductions"]
             if line["beyond_noise"] and line["ratio"] and line["ratio"] < 0.97
             and line["ran"][0]["algorithm"] != "MPI library"]
    if not worse:
        return None
    line = max(worse, key=lambda line: ((line["seconds_with"] - line["seconds_without"])
                                        * line["calls_per_rank"]))
    return {"about": "slower",
            "what": "%s of up to %s is slower with %s than with the MPI library (%.2f times as "
                    "fast). Let collopt try others, and the MPI library's own, on this program:"
                    % (line["collective"], size(line["bytes_to"]),
                       line["ran"][0]["algorithm"], line["ratio"]),
            "command": _run(answer, "COLLOPT_ADAPT=on COLLOPT_ADAPT_RULES=adapted.rules")}


def host_chosen(answer):
    seconds, calls = _left(answer, "MPI library chosen")
    spent = sum(line["total_without"] for line in answer["reductions"])
    if (calls and spent and seconds > 0.3 * spent and answer["share_without"]
            and answer["share_without"] >= LITTLE):
        return {"about": "host",
                "what": "%s of the time of reductions is in calls for which the MPI library was "
                        "chosen. Measure this machine, so that the choice is made of its own "
                        "times: collopt-tune(1), or on this program:" % percent(seconds / spent),
                "command": _again(answer, before="COLLOPT_ADAPT=on")}


NOT_SERVED = {
    "not in shared memory": "are nonblocking or persistent ones on several nodes, or without "
                            "shared memory, which collopt leaves to this MPI library",
    "communicator not taken over": "are on communicators that could not be taken over; "
                                "COLLOPT_LOG=decide says why",
    "intercommunicator": "are on intercommunicators, which collopt does not serve",
    "COLLOPT_GPU=native": "were left to the MPI library by COLLOPT_GPU=native; "
                          "COLLOPT_GPU=auto would copy their data to the host",
    "left to the network": "were left to what the MPI library has in the network (HCOLL, UCC, "
                           "SHARP); COLLOPT_OFFLOAD=ignore shows whether collopt is faster",
    "arguments left to the MPI library": "have operations, datatypes or arguments that "
                                         "collopt leaves to the MPI library",
    "taken past collopt by a tool": "were taken past collopt by a profiling tool; name the "
                                    "tool in LD_PRELOAD before libcollopt.so",
}


def not_served(answer):
    for entry in sorted(answer["passed"], key=lambda entry: entry["calls"], reverse=True):
        if entry["reason"] in NOT_SERVED:
            return {"about": "not served",
                    "what": "%d calls (%s) %s." % (entry["calls"], ", ".join(entry["names"]),
                                                   NOT_SERVED[entry["reason"]])}


def _without(words, option):
    """WORDS of a command without OPTION and its value, as one word or two."""
    kept, value = [], False
    for word in words:
        if not value and word != option and not word.startswith(option + "="):
            kept.append(word)
        value = not value and word == option
    return kept


def noise(answer):
    if answer["answer"] == "unclear":
        kept = dict(answer, compare_options=_without(answer["compare_options"], "--pairs"))
        return {"about": "noise",
                "what": "For a clearer answer: more runs, longer ones, ranks bound to cores "
                        "(mpirun --bind-to core, srun --cpu-bind=cores), no other jobs on "
                        "the nodes, or the time of the loop alone by --own-time.",
                "command": _again(kept, more="--pairs %d" % max(12, 2 * answer["pairs"]))}


def tune(answer):
    """Nothing else to say where reductions matter:
    choices come from a model unless the machine was measured."""
    measured = answer["files"] or "COLLOPT_ADAPT" in answer["settings"]
    if answer["share_with"] and answer["share_with"] >= 2 * LITTLE and not measured:
        return {"about": "tune",
                "what": "Reductions still take %s of the time. Algorithms were chosen by a "
                        "model; collopt-tune(1) measures this machine, and COLLOPT_ADAPT=on tries "
                        "algorithms on the program's own calls:" % percent(answer["share_with"]),
                "command": _again(answer, before="COLLOPT_ADAPT=on")}


def use_it(answer):
    if answer["answer"] == "faster" and answer["calls_run"]:
        return {"about": "use", "what": "Use it:",
                "command": _run(answer)}


RULES = (use_it, little_share, waiting, slower_rows, first_calls, host_chosen, not_served, tune,
         noise)
MOST = 4                # on one screen


def of_comparison(answer):
    found = [rule(answer) for rule in RULES]
    return [hint for hint in found if hint][:MOST]
