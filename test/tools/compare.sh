#!/bin/sh
# collopt compare and collopt profile, as a user would run them: a program that is faster with
# collopt, one in which nothing is won, one that fails, one that is interrupted; by the launchers of
# both MPIs and by stand-ins for those of Slurm and Flux.

. "${COLLOPT_SOURCE:-.}/test/mpi/lang.sh"
. "$top/test/tools/standins.sh"
command -v python3 >/dev/null || skip "no python3"
collopt=$build/tools/collopt
terminal="python3 $top/test/tools/terminal.py"
own='--own-time=loop time: ([0-9.]+)'
cd "$work" || exit 99

compile()               # HOST
{
    # shellcheck disable=SC2046
    $(wrapper "$1") -I"$top/include" -o "$work/app" "$top/test/tools/app.c" || fail "$1: app.c"
}

# What it says goes to $work/out, $work/err.
run()                   # STATUS[|STATUS] WHAT COMMAND...
{
    wanted=$1 what=$2
    shift 2
    timeout 900 "$@" >"$work/out" 2>"$work/err" </dev/null
    got=$?
    cat "$work/out" "$work/err" >"$work/said"
    case "|$wanted|" in
    *"|$got|"*) ;;
    *) fail "$what: status $got, not $wanted" ;;
    esac
}

has()                   # FILE PATTERN
{
    grep -q -e "$2" "$work/$1" || fail "$what: no \"$2\" in $1"
}

hasnt()
{
    ! grep -q -e "$2" "$work/$1" || fail "$what: \"$2\" in $1"
}

holds()                 # EXPRESSION: of what --json gave, r
{
    python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
sys.exit(not eval(sys.argv[2]))' "$work/out" "$1" || fail "$what: not $1"
}

# The headline is the ratio of the times below it, as they are printed, and within its interval.
agrees()
{
    python3 - "$work/out" <<'END' || fail "$what: the headline is not that of the times below it"
import re, sys
text = " ".join(open(sys.argv[1], encoding="utf-8").read().split())
times, low, high = map(float, re.search(
    r"([0-9.]+) times as fast[^0-9]*(?:95% interval )?([0-9.]+) to ([0-9.]+)", text).groups())
unit = {"s": 1, "ms": 1e-3, "µs": 1e-6, "us": 1e-6, "ns": 1e-9}
found = re.search(r"\): without ([0-9.]+) (\w+), with ([0-9.]+) (\w+)", text)
without, with_ = (float(found.group(i)) * unit[found.group(i + 1)] for i in (1, 3))
word = re.search(r"(faster|slower): ", text)
assert abs(without / with_ - times) < 0.0006 * max(times, 1), (without, with_, times)
assert low <= times <= high, (low, times, high)
assert not word or (low > 1 if word.group(1) == "faster" else high < 1), (word, low, high)
END
}

nothing_left()
{
    [ -z "$(find "$work" -maxdepth 1 -name '.collopt-*')" ] || fail "$what: a folder is left behind"
    ! pgrep -f "^$work/app" >/dev/null || fail "$what: ranks are left behind"
}

on_host()               # HOST LAUNCHER...
{
    host=$1
    shift

    COLLOPT_AFTER=1 run 0 "$host, faster" "$collopt" --wait auto compare --pairs 6 "$own" \
        -o page.html "$@" ./app 5 1000 0 slow-without
    has out '^  faster: .* (95% interval .*), beyond the noise$'
    has out '^  2 ranks, .*; 6 pairs of runs$'
    has out '^allreduce  *8 KiB  *5 '
    has out '  - Use it:$'
    has out '^ *collopt --wait auto '
    hasnt out "$(printf '\033')"
    hasnt out 'few pairs'
    agrees
    [ "$(grep -c '^sum 3$' "$work/out")" = 1 ] ||
        fail "$what: not the output of the first run alone"
    has err '^collopt compare: 6 pairs of runs; a pair is a run without and one with'
    has err '^collopt compare: this is the output of the first run'
    has err '^collopt compare: run 1, reductions measured$'
    has out '^  algorithms are chosen by '
    has page.html 'beyond the noise'
    has page.html '>8 KiB<'
    hasnt page.html '<link\|src=\|https\{0,1\}://'
    python3 - "$work/page.html" <<'END' || fail "$what: the page is not well-formed"
import html.parser, sys
class Check(html.parser.HTMLParser):
    open = []
    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "br", "rect", "line"):
            self.open.append(tag)
    def handle_startendtag(self, tag, attributes):
        pass
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
check = Check()
check.feed(open(sys.argv[1]).read())
assert not check.open
END
    nothing_left

    run 3 "$host, one that fails" "$collopt" compare "$@" ./app 1 1 0 fail
    has err '^collopt compare: run 1 (reductions measured) ended with status 3, '\
'without collopt with 3: it is not'
    run 130 "$host, Ctrl-C" $terminal 80 --interrupt ready "$collopt" compare "$@" ./app 1 1 0 hang
    has out 'interrupted after 0 pairs of runs'
    hasnt out 'Traceback'
    nothing_left

    run 0 "$host, profile" "$collopt" profile --json --nodes 1 "$@" ./app 20 1000 0
    holds 'r["ranks"] == 2 and r["nodes_known"] and 0 < r["share"] < 1'
    holds 'r["reductions"][0]["collective"] == "allreduce" and r["reductions"][0]["bytes"] == 8000'
    holds 'r["reductions"][0]["communicator_ranks"] == [2, 2]'
    holds 'r["reductions"][0]["calls_per_rank"] == 20'
    holds 'r["reductions"][0]["predicted_algorithm"] and r["reductions"][0]["predicted_why"]'
    run 0 "$host, profile" "$collopt" profile -o profile.html "$@" ./app 20 1000 0
    has out '^allreduce  *8 KiB  *20 '
    has out 'Predictions are the cost model'
    has profile.html '>8 KiB<'
    run 3 "$host, profile of one that fails" "$collopt" profile "$@" ./app 1 1 0 fail
    has err 'ended with status 3'
    nothing_left
}

# What it says of runs: the same by each launcher.
answers()               # HOST LAUNCHER...
{
    host=$1
    shift
    run 1 "$host, nothing won" "$collopt" compare --pairs 1 --json "$@" ./app 1 1 300
    holds 'r["answer"] == "unclear" and r["pairs"] == 1 and r["confidence"] is None'
    holds 'r["ranks"] == 2 and all(run["status"] == 0 for run in r["runs"])'
    holds 'sum(run["way"] == "off" for run in r["runs"]) == 1'
    holds 'r["share_without"] < 0.5'
    has err '^sum 3$'

    # What the MPI library ran both times is no gain; few pairs tell nothing of the noise.  The
    # program's own time, some microseconds, may differ.
    COLLOPT_AFTER=1 COLLOPT_ALLREDUCE=host run '0|1' "$host, run by the host" "$collopt" compare \
        --pairs 6 --precision 1 "$own" "$@" ./app 5 1000 0
    has out '^allreduce .* \(–\|-\)  *MPI library$'
    agrees
    COLLOPT_AFTER=1 COLLOPT_ALLREDUCE=host run 1 "$host, run by the host" "$collopt" compare \
        --pairs 1 --json "$own" "$@" ./app 5 1000 0
    holds 'r["reductions"][0]["ratio"] is None and not r["reductions"][0]["beyond_noise"]'
    holds 'r["calls_run"] == 0'
    COLLOPT_AFTER=1 run 1 "$host, few pairs" "$collopt" compare --pairs 1 "$own" -o page.html "$@" \
        ./app 5 1000 0 slow-without
    has out '^allreduce .*× (few pairs) \|^allreduce .*x (few pairs) '
    has page.html '(few pairs)'
    agrees

    COLLOPT_AFTER=1 COLLOPT_ALLREDUCE=ring run 1 "$host, what ran" "$collopt" compare --pairs 1 \
        --json --keep kept --same '^sum' "$@" ./app 20 1000 0
    holds 'r["reductions"][0]["ran"] == [{"algorithm": "ring", "share": 1.0}]'
    holds 'r["reductions"][0]["calls_per_rank"] == 20'
    holds 'r["reductions"][0]["seconds_without"] > 0 and r["reductions"][0]["bytes_to"] == 8192'
    holds 'r["outside_without"] > 0 and r["outside_with"] > 0'
    holds 'r["settings"] == {"COLLOPT_AFTER": "1", "COLLOPT_ALLREDUCE": "ring"}'
    hasnt err '^sum'
    grep -q '^sum 3$' kept/2-without.output || fail "$what: no output in kept/"
    grep -q '"ring"' kept/3-with.report || fail "$what: no report in kept/"

    run 3 "$host, one that fails with collopt" "$collopt" compare "$@" ./app 1 1 0 fail-with
    has err 'ended with status 3, and without collopt with 0; please report this'
    run 3 "$host, another result" "$collopt" compare --pairs 1 --same '^sum' "$@" \
        ./app 1 1 0 other-with
    has err 'printed other results than the first'
    run 3 "$host, no own time" "$collopt" compare --pairs 1 \
        --own-time 'none: ([0-9.]+)' "$@" ./app 1 1 0
    has err 'printed no number that --own-time'
    run 3 "$host, no time at all" "$collopt" compare --pairs 1 \
        --own-time 'loop time: (0)' "$@" ./app 0 1 0
    has err 'printed a time that cannot be compared where --own-time'
    run 3 "$host, no report" "$collopt" compare --pairs 1 "$@" ./app 1 1 0 no-finalize
    has err 'status\|no report came from the ranks'
    nothing_left
}

by_standin()            # HOST LAUNCHER...
{
    host=$1
    shift
    COLLOPT_AFTER=1 COLLOPT_ALLREDUCE=ring PATH=$work/bin:$PATH run 1 "$host, by $1" "$collopt" \
        compare --pairs 1 --json "$@" ./app 20 1000 0
    holds 'r["reductions"][0]["ran"] == [{"algorithm": "ring", "share": 1.0}] and r["ranks"] == 2'
    SLURM_JOB_NUM_NODES=2 PATH=$work/bin:$PATH run 0 "$host, profile by $1" "$collopt" profile \
        --json "$@" ./app 20 1000 0
    holds 'r["nodes"] == 2 and r["nodes_known"]'
}

done_one=''
for each in $native_hosts; do
    built_for "$each" || continue
    compile "$each"
    # shellcheck disable=SC2046
    on_host "$each" $(launcher_of "$each") -n 2
    # shellcheck disable=SC2046
    [ -n "$done_one" ] || answers "$each" $(launcher_of "$each") -n 2
    standins "$each"
    by_standin "$each" srun -n 2
    by_standin "$each" flux run -n 2
    done_one=$each
done
[ -n "$done_one" ] || skip "no MPI"

# ---- statistics ----------------------------------------------------------------------------------

printf '%s\n' '1 10' '2 20' '3 30' '4 40' '5 50' '6 600' >numbers
run 0 'statistics' sh -c "'$build/tools/collopt-statistics' <numbers"
has out '^6 3\.5 1 6 0$'
has out '^6 35 10 600 1$'
run 2 'statistics of lines that differ' \
    sh -c "printf '1 2\n3\n' | '$build/tools/collopt-statistics'"
has err 'as many numbers as the first'
run 2 'statistics of nothing' "$build/tools/collopt-statistics"

# ---- figures -------------------------------------------------------------------------------------

# On a machine that becomes slower, the medians of the times say the opposite of those of the pairs.
python3 - "$top/tools/python" "$build/tools" <<'END' || fail 'the answer of made-up runs'
import sys, types
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import compare
place = types.SimpleNamespace(helpers=sys.argv[2])

def answer(pairs):
    found = compare.interval(place, pairs)
    without, with_ = compare.middle(pairs)
    assert found["low"] <= without / with_ * 1.0001 and without / with_ <= found["high"] * 1.0001
    assert abs(without / with_ / found["median"] - 1) < 0.01, (pairs, without / with_, found)
    return without / with_

assert answer([(10, 9.8), (11, 10.8), (20, 10), (21, 20.8), (22, 21.8), (23, 22.8), (9, 20)]) > 1
assert answer([(2.0, 1.0)]) == 2
assert compare.middle([(1.23456789, 1.0)]) == [1.2346, 1.0]
assert [compare.exact_ratio(x) for x in (1.00049, 12.345, 123.45, 1234.5, 99999)] == \
    ["1.000", "12.35", "123.5", "1234", "99999"]

def line(ran, ratio):
    return {"collective": "scan", "bytes_to": 8, "calls_per_rank": 1, "seconds_without": 1,
            "seconds_with": 1, "ratio": ratio, "beyond_noise": False, "ran": ran}

mixed = {"ring": 1, "MPI library": 999}
assert not compare.ran_some(mixed) and compare.ran_some({"ring": 6, "MPI library": 994})
assert not compare.ran_some({"MPI library": 5})
assert compare.row(line([], None), False)[5].text == "–"
assert compare.row(line([], None), True)[5].text == "– (few pairs)"
assert compare.row(line([], 2), False)[5].text == "2.00× (noise)"
assert compare.row(line([], 2), True)[5].text == "2.00× (few pairs)"

import advice
kept = {"answer": "unclear", "pairs": 6, "options": "--after 1",
        "compare_options": ["--own-time", "t: (.*)"], "command": ["mpirun", "-n", "2", "./app"]}
assert advice.noise(kept)["command"] == ("collopt --after 1 compare --own-time 't: (.*)' "
                                         "--pairs 12 mpirun -n 2 ./app")
kept["compare_options"] = ["--pairs", "1", "--time=9m", "--pairs=2", "--keep", "a b"]
assert advice.noise(kept)["command"] == ("collopt --after 1 compare --time=9m --keep 'a b' "
                                         "--pairs 12 mpirun -n 2 ./app")

made = {"answer": "faster", "ratio": 1.1, "ratio_low": 1.05, "ratio_high": 1.2, "confidence": 0.95,
        "calls_run": 0}
assert "collopt ran none of the reductions" in compare.sentence(made)[0]
END

# ---- on a terminal -------------------------------------------------------------------------------

# shellcheck disable=SC2046
set -- $(launcher_of "$done_one") -n 2 ./app 20 1000 0
COLLOPT_AFTER=1 run 1 'a terminal' $terminal 72 "$collopt" compare --pairs 1 --keep kept "$@"
has out "$(printf '\033')\\[1m"
has out 'collopt compare: run 2, without collopt'
tr '\r' '\n' <"$work/out" | sed "s/$(printf '\033')\\[[0-9;]*[mK]//g" |
    grep -v "launcher\\|compare\\|\./app" |
    LC_ALL=C sed 's/[\x80-\xbf]//g' | awk 'length > 72 { print; bad = 1 } END { exit bad }' ||
    fail "$what: lines are longer than 72 columns"
NO_COLOR=1 run 1 'NO_COLOR' $terminal 72 "$collopt" compare --pairs 1 --keep kept "$@"
hasnt out "$(printf '\033')\\[[0-9]*m"
run 1 'without progress' $terminal 72 "$collopt" compare --pairs 1 --keep kept --progress off "$@"
hasnt out 'run 2'

# ---- command lines -------------------------------------------------------------------------------

refused()               # SUBCOMMAND SAYS WORD...
{
    subcommand=$1 says=$2
    shift 2
    run 2 "$*" "$collopt" "$subcommand" "$@"
    has err "^collopt $subcommand: .*$says"
    [ ! -s "$work/out" ] || fail "$what: something on the standard output"
}

# Nothing else is blamed: not the folder, nor the installation.
for subcommand in compare profile; do
    run 3 "$subcommand, no MPI program" "$collopt" $subcommand ls
    has err "^collopt $subcommand: no report came from the ranks: the command started no MPI pro"
    hasnt err 'doctor\|written\|node\|report this'
done

refused compare 'no command'
refused compare 'unknown option --fast; see collopt compare --help' --fast ./app
refused compare '--pairs needs a value' --pairs
refused compare '"many" is not a whole number' --pairs many ./app
refused compare '"x" is not a time such as' --time x ./app
refused compare '"0" is not a number of percent' --precision 0 ./app
refused compare 'is not a regular expression' --own-time '(' ./app
refused compare 'needs one group' --own-time 'time' ./app
refused compare 'cannot be written there' -o /nowhere/page.html ./app
refused compare 'is not auto, on or off' --progress never ./app
COLLOPT=off refused compare 'COLLOPT=off' ./app
refused profile 'no command'
refused profile '"0" is not a whole number' --nodes 0 ./app
run 2 'a mistake in an option' "$collopt" --wait spinn compare ./app
has err 'COLLOPT_WAIT=spinn is not understood'
run 3 'a mistake in a variable' env COLLOPT_WAIT=spinn "$collopt" compare ./nothing
has err 'COLLOPT_WAIT=spinn is not understood'
run 2 '--dry-run' "$collopt" --dry-run compare ./app
has err 'dry-run is for a command that is run once'
run 3 'no such program' "$collopt" compare ./nothing
for subcommand in compare profile doctor demo; do
    run 0 "$subcommand --help" "$collopt" $subcommand --help
    has out "^Usage: collopt $subcommand "
    run 0 "$subcommand --version" "$collopt" $subcommand --version
    has out "^collopt $subcommand [0-9]"
    "$collopt" --complete "collopt $subcommand" | grep -q "^--json	" ||
        fail "$subcommand: --json is not completed"
done
"$collopt" --complete 'collopt compare' --progress | grep -qx off ||
    fail "compare: values of --progress are not completed"
printf '#!/bin/sh\necho of another kind\n' >"$work/bin/compare"
chmod +x "$work/bin/compare"
PATH=$work/bin:$PATH run 0 'a program called compare' "$collopt" -- compare
has out '^of another kind$'

# Without Python everything else goes on.
mkdir "$work/few"
for tool in sh timeout readlink dirname cat env sed sort awk cut true; do
    ln -s "$(command -v $tool)" "$work/few/$tool"
done
PATH=$work/few run 2 'no python3' "$collopt" compare ./app
has err '^collopt: compare takes python3, 3.7 or newer, which is not there'
PATH=$work/few run 0 'no python3, a program' "$collopt" --dry-run ./app
has out 'LD_PRELOAD='
finish
