#!/bin/sh
# collopt demo on each MPI library, and what it says of figures that are known.

. "${COLLOPT_SOURCE:-.}/test/mpi/lang.sh"
command -v python3 >/dev/null || skip "no python3"
collopt=$build/tools/collopt
cd "$work" || exit 99

said()                  # PATTERN
{
    grep -q -e "$1" said || { cat said; fail "$what: no \"$1\""; }
}

done_one=''
for host in $native_hosts; do
    built_for "$host" && [ -x "$build/bench/$host/collopt-bench" ] || continue
    what="$host"
    # shellcheck disable=SC2046
    timeout 600 "$collopt" demo --time 2s $(launcher_of "$host") -n 2 >said 2>&1
    status=$?
    [ $status -le 1 ] || { cat said; fail "$what: status $status"; }
    said "^collopt demo: .* -n 2, .*MPI"
    said 'kinds\{0,1\} of calls'
    said '^ *collopt compare .* ./app$'
    # shellcheck disable=SC2046
    timeout 600 "$collopt" demo --json --time 2s $(launcher_of "$host") -n 2 >said 2>err
    python3 -c 'import json, sys
calls = json.load(open("said"))["calls"]
assert len(calls) == 9 and all(c["seconds_without"] > 0 for c in calls)' ||
        { cat said err; fail "$what: --json"; }
    done_one=$host
    [ -z "$(find . -maxdepth 1 -name '.collopt-*')" ] || fail "$what: a folder is left behind"
done
[ -n "$done_one" ] || skip "no collopt-bench"

what=refused
"$collopt" demo --time soon >said 2>&1
[ $? = 2 ] || fail "$what: not status 2"
said '"soon" is not a time such as'
COLLOPT=off "$collopt" demo >said 2>&1
[ $? = 2 ] || fail "$what: COLLOPT=off: not status 2"
said 'COLLOPT=off: the runs with collopt would be without it'
what='a launcher that fails'
"$collopt" demo --mpi "$done_one" false >said 2>&1
[ $? = 3 ] || fail "$what: not status 3"
said '^collopt demo: the example ended with status 1$'

what='figures that are known'
cat >known.csv <<'END'
# where they are from
collective,bytes,algorithm,peer,peer_us,collopt_us,ratio,ratio_low,ratio_high,result
allreduce,8,ring,Open MPI 4.1.4,10,5,2.0,1.9,2.1,correct
allreduce,4096,ring,Open MPI 4.1.4,10,9,1.1,0.9,1.2,correct
reduce,8,ring,Open MPI 4.1.4,0.10,0.09,1.1,1.05,1.2,correct
scan,8,chain,Open MPI 4.1.4,10,0.07,133.87,1.67,427,correct
scan,4096,chain,Open MPI 4.1.4,5,10,0.5,0.4,0.6,correct
END
PYTHONPATH=$top/tools/python PYTHONDONTWRITEBYTECODE=1 python3 - <<'END' >said 2>&1 || {
import demo
import figures
calls, name = figures.read("known.csv")
assert name == "Open MPI 4.1.4"
# noise; 10 ns; an interval of more than ten times
assert [demo.verdict(call) for call in calls] == ["faster", None, None, None, "slower"]
text, _ = demo.sentence(calls)
assert text == ("1 of 5 kinds of calls are faster with collopt, up to 2.00 times; slower: 1; "
                "too close to tell, and not shown: 3"), text
text, _ = demo.sentence(calls[1:4])
assert text.startswith("nothing is beyond the noise: of 3 kinds of calls none is"), text
class Options:
    command = ["mpirun", "-n", "2"]
demo.print_answer(Options, calls, name)
END
    cat said
    fail "$what"
}
said 'MPI_Allreduce .*8 B .*2.00'
said 'MPI_Scan .*4 KiB .*0\.5'
[ "$(grep -c '^MPI_' said)" = 2 ] || fail "$what: what is not beyond the noise is shown"
finish
