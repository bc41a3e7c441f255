#!/bin/sh
# collopt doctor: on both MPIs where all is right, and with stand-in launchers that give each "node"
# a view of its own: the library missing on some, other versions, other rules, a preload that is
# lost, a launcher that hangs or fails.

. "${COLLOPT_SOURCE:-.}/test/mpi/lang.sh"
. "$top/test/tools/standins.sh"
command -v python3 >/dev/null || skip "no python3"
collopt=$build/tools/collopt
cd "$work" || exit 99

doctor()                # STATUS WHAT ARGUMENT...
{
    wanted=$1 what=$2
    shift 2
    timeout 240 "$collopt" doctor --measure "${measure-off}" "$@" \
        >"$work/out" 2>"$work/err" </dev/null
    got=$?
    cat "$work/out" "$work/err" >"$work/said"
    [ "$got" = "$wanted" ] || fail "$what: status $got, not $wanted"
    [ ! -s "$work/err" ] || fail "$what: something on the standard error output"
}

has()
{
    tr '\n' ' ' <"$work/out" | tr -s ' ' | grep -q -e "$1" || fail "$what: no \"$1\""
}

hasnt()
{
    ! tr '\n' ' ' <"$work/out" | tr -s ' ' | grep -q -e "$1" || fail "$what: \"$1\""
}

# ---- all is right --------------------------------------------------------------------------------

done_one=''
for host in $native_hosts; do
    built_for "$host" || continue
    # shellcheck disable=SC2046
    $(wrapper "$host") -I"$top/include" -o "$work/app" "$top/test/tools/app.c" ||
        fail "$host: app.c"
    # shellcheck disable=SC2046
    doctor 0 "$host" $(launcher_of "$host") -n 2 ./app 1 2 3
    has 'nothing is wrong: collopt ran 80 of 80 reductions of a small program, all right'
    has '2 ranks on 1 node; ./app is looked at and not run'
    has 'library readable, reaches the ranks by LD_PRELOAD'
    has "backend .*/libcollopt-$host\\.so"
    has 'MPI \(Open MPI\|MPICH\) [v0-9]'
    hasnt 'sum '
    # what looks like a library that reduces in the network, between two nodes
    echo 'int collopt_test_of_hcoll;' >hcoll.c
    ${CC:-cc} -shared -fPIC -Wl,-soname,libhcoll.so.1 -o libhcoll.so.1 hcoll.c || fail 'no stand-in'
    # shellcheck disable=SC2046
    LD_PRELOAD=$work/libhcoll.so.1 OMPI_MCA_coll_hcoll_enable=1 MPIR_CVAR_ENABLE_HCOLL=1 \
        COLLOPT_TOPOLOGY=nodes:1 doctor 0 "$host, HCOLL" $(launcher_of "$host") -n 2
    has 'note: between nodes the MPI library has HCOLL reduce: .*COLLOPT_OFFLOAD=ignore'
    standins "$host"
    for launcher in 'srun' 'flux run'; do
        # shellcheck disable=SC2086
        PATH=$work/bin:$PATH doctor 0 "$host by $launcher" --mpi "$host" $launcher -n 2
        has 'nothing is wrong: collopt ran 80 of 80 reductions'
    done
    done_one=$host
done
[ -n "$done_one" ] || skip "no MPI"

# shellcheck disable=SC2046
doctor 0 '--json' --json $(launcher_of "$done_one") -n 2
python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
assert r["right"] and r["ranks"] == 2 and not any(f["grave"] for f in r["findings"])
assert r["nodes"][0]["facts"]["collopt"] and r["nodes"][0]["raw"]["library"] == ["yes"]' \
"$work/out" || fail "$what"

# A library that is not the launcher's: every rank is alone.
case " $native_hosts " in *" openmpi "*" mpich "*)
    # shellcheck disable=SC2046
    doctor 1 'the other library' --mpi mpich $(launcher_of openmpi) -n 2
    has 'every rank is an MPI job of its own: the launcher does not start programs of MPICH'
esac

COLLOPT_WAIT=spinn doctor 1 'a mistake in a variable' sh -c '"$@"' launcher
has 'wrong: COLLOPT_WAIT=spinn is not understood'
has 'fix: correct or unset the variable'

# ---- what the MPI library runs faster ------------------------------------------------------------

if [ -x "$build/bench/$done_one/collopt-bench" ]; then
    # each element a message of its own
    echo 'allreduce * * * 1K-16K * chain:segment=8' >slow.rules
    # shellcheck disable=SC2046
    COLLOPT_RULES=slow.rules measure=4s doctor 0 'a slow allreduce' $(launcher_of "$done_one") -n 2
    has 'note: on this node the MPI library is more than 10% faster than collopt: '
    has 'MPI_Allreduce of 4 KiB, [0-9.]* times ([0-9.]* to [0-9.]*)'
    has 'fix: collopt-tune -o slow.rules .* -n 2'
fi

# Two nodes of two ranks: between them, and inside them.
if [ -x "$build/bench/openmpi/collopt-bench" ] && [ "$(id -u)" = 0 ] &&
    command -v tc >/dev/null && unshare --net --uts --ipc --mount --pid --fork true 2>/dev/null
then
    PATH=$top/bench:$PATH COLLOPT_ALLREDUCE=chain:segment=8 measure=4s \
        doctor 0 'a slow allreduce, forced, on bench/cluster' --json --mpi openmpi \
        cluster --build "$build" --rate none --hosts 2 --ranks-per-host 2
    python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
slow = {c["where"] for c in r["speed"] if c["much_slower"] and c["collective"] == "allreduce"}
assert {c["where"] for c in r["speed"]} == {"inside nodes", "between nodes"}, r["speed"]
assert len(r["speed"]) == 18 and "between nodes" in slow, slow   # by how much elsewhere, is noise
assert "unset COLLOPT_ALLREDUCE" in [f["fix"] for f in r["findings"]]' "$work/out" || fail "$what"
else
    echo 'not tested: doctor on bench/cluster, which takes root, namespaces and tc'
fi

# figures that are known
cat >known.csv <<'END'
collective,bytes,algorithm,peer,peer_us,collopt_us,ratio,ratio_low,ratio_high,result
allreduce,8,ring,Open MPI 4.1.4,10,5,2.0,1.9,2.1,correct
allreduce,4096,ring,Open MPI 4.1.4,10,11,0.91,0.90,0.92,correct
allreduce,262144,ring,Open MPI 4.1.4,8,10,0.8,0.78,0.82,correct
reduce,8,ring,Open MPI 4.1.4,0.06,0.07,0.86,0.8,0.9,correct
scan,8,chain,Open MPI 4.1.4,5,10,0.5,0.1,1.1,correct
END
XDG_CONFIG_HOME=$work PYTHONPATH=$top/tools/python PYTHONDONTWRITEBYTECODE=1 python3 - <<'END' ||
import doctor
import figures
options, found = doctor.Options(), doctor.Findings()
options.launcher = ["srun", "-n", "4"]
options.speed = [("between nodes", figures.read("known.csv")[0])]
doctor.tell_slower(options, "openmpi", found)
note, = found.list
assert note["what"] == ("between nodes the MPI library is more than 10% faster than collopt: "
                        "MPI_Allreduce of 256 KiB, 1.25 times (1.22 to 1.28)"), note["what"]
import os
folder = os.environ["XDG_CONFIG_HOME"] + "/collopt"
assert note["fix"] == "mkdir -p %s && collopt-tune -o %s/openmpi.rules srun -n 4" % (
    folder, folder), note["fix"]
END
    fail 'figures that are known'

# ---- nodes that differ ---------------------------------------------------------------------------

# Three nodes: the words of each may be changed by the sed script in $work/view.NODE; uname says the
# node's name.
mkdir -p "$work/nodes/bin"
for node in n1 n2 n3; do
    mkdir -p "$work/nodes/$node"
    printf '#!/bin/sh\n[ "$1" = -n ] || exec %s "$@"\necho %s\n' "$(command -v uname)" $node \
        >"$work/nodes/$node/uname"
    chmod +x "$work/nodes/$node/uname"
done
cat >"$work/nodes/bin/srun" <<'END'
#!/bin/sh
# Stand-in for srun on three nodes; without MPI.
[ "$1" != --version ] || { echo slurm; exit; }
work=$(dirname "$0")/..
while :; do
    case $1 in
        -N) shift ;;
        --export=*) preload=$(echo "$1" | sed -n 's/.*LD_PRELOAD=//p') ;;
        -*) ;;
        *) break ;;
    esac
    shift
done
case $1 in *collopt-probe) sleep "${PROBE_SLEEPS:-0}"; exit "${PROBE_STATUS:-9}" ;; esac
for node in n1 n2 n3; do
    (
        count=$#
        while [ -f "$work/view.$node" ] && [ $count -gt 0 ]; do
            word=$(printf '%s' "$1" | sed -f "$work/view.$node")
            shift
            set -- "$@" "$word"
            count=$((count - 1))
        done
        SLURM_LOCALID=0 PATH=$work/$node:$PATH LD_PRELOAD=$preload exec "$@"
    )
done
END
chmod +x "$work/nodes/bin/srun"
PATH=$work/nodes/bin:$PATH
export PATH

view()                  # NODE SED-COMMAND
{
    rm -f "$work"/nodes/view.*
    [ $# = 0 ] || echo "$2" >"$work/nodes/view.$1"
}

view n3 "s|^/.*/libcollopt\\.so\$|/missing/libcollopt.so|"
doctor 1 'the library is missing on a node' srun -N 3
has '3 ranks on 3 nodes'
has '2 nodes: n1, n2 '
has ' n3 differs: collopt: .*, library MISSING'
has 'wrong: n3: /.*/libcollopt.so is missing; a job with these nodes would hang'
has 'fix: install collopt there'
hasnt 'n1 differs'

printf '#!/bin/sh\ncase $1 in --version) echo collopt-info 0.0.9 ;; esac\n' >"$work/other-info"
chmod +x "$work/other-info"
view n2 "s|^/.*/collopt-info\$|$work/other-info|"
doctor 1 'another version on a node' srun -N 3
has 'the nodes have different versions of collopt: .*0.0.9 on n2'

view
echo 'allreduce * * * * * ring' >"$work/one.rules"
printf 'allreduce * * * * * ring\nscan * * * * * host\n' >"$work/two.rules"
printf '#!/bin/sh\n[ "$1" != --files ] || { COLLOPT_RULES=%s exec %s --files; }\nexec %s "$@"\n' \
    "$work/two.rules" "$build/tools/collopt-info" "$build/tools/collopt-info" >"$work/ruled-info"
chmod +x "$work/ruled-info"
view n1 "s|^/.*/collopt-info\$|$work/ruled-info|"
COLLOPT_RULES=$work/one.rules doctor 1 'other rules on a node' srun -N 3
has 'different files of rules or machines: .*two.rules.* on n1'

view n2 "s|^@never@\$||"
sed 's/LD_PRELOAD=\$preload exec/exec/' "$work/nodes/bin/srun" >"$work/nodes/bin/lost" &&
    chmod +x "$work/nodes/bin/lost"
mkdir "$work/lost" && mv "$work/nodes/bin/lost" "$work/lost/srun" &&
    sed -i "s|^work=.*|work=$work/nodes|" "$work/lost/srun"
PATH=$work/lost:$PATH doctor 1 'a preload that is lost' srun -N 3
has 'n1, n2, n3: LD_PRELOAD does not reach the ranks'
has 'fix: .*--export=ALL,LD_PRELOAD='

view n2 "s|^/.*/libcollopt\\.so\$|$work/libcollopt.so|"
echo 'no library' >"$work/libcollopt.so"
doctor 1 'a library that cannot be loaded' srun -N 3
has 'n2: .* is there, but the loader does not take it: .*cannot be preloaded'

# ---- launchers that hang or fail -----------------------------------------------------------------

view n2 's|^h=.*|sleep 1000|'
start=$(date +%s)
doctor 1 'a node that hangs' --time 8s srun -N 3
has 'did not end a shell script within 8\.00 s; n1 answered'
[ $(($(date +%s) - start)) -lt 120 ] || fail "$what: it took too long"
! pgrep -f '^sleep 1000$' >/dev/null || fail "$what: it still runs"

view
PROBE_SLEEPS=1000 doctor 1 'MPI that hangs' --time 20s srun -N 3
has 'without collopt, a small MPI program did not end within the time limit'
PROBE_STATUS=7 doctor 1 'MPI that fails' srun -N 3
has 'without collopt, a small MPI program ended with status 7'

printf '#!/bin/sh\necho "srun: error: no such partition" >&2\nexit 1\n' >"$work/lost/srun"
PATH=$work/lost:$PATH doctor 1 'a launcher that fails' srun -N 3
has 'wrong: srun -N 3 fails to start a shell script, with status 1 srun: error: no such partition'
doctor 1 'no such launcher' nonesuch -n 2
has 'with status 127'
doctor 1 'a launcher that starts something else' true
has 'started nothing that answered'

# ---- programs that cannot be preloaded -----------------------------------------------------------

echo 'int main(void) { return 0; }' >"$work/p.c"
if ${CC:-cc} -static -o "$work/static" "$work/p.c" 2>/dev/null; then
    PROBE_STATUS=0 doctor 1 'a static program' srun -N 3 ./static
    has 'wrong: ./static is linked statically'
    has 'fix: link it with .*libcollopt-openmpi.a'
fi
${CC:-cc} -o "$work/set" "$work/p.c" && chmod u+s "$work/set"
doctor 1 'a set-user-ID program' --program ./set srun -N 3
has 'wrong: ./set has set-user-ID'

for wrong in '' '--time x srun' '--measure much srun' '--mpi lam srun' '--fast srun'; do
    # shellcheck disable=SC2086
    "$collopt" doctor $wrong >"$work/out" 2>"$work/err"
    [ $? = 2 ] || fail "doctor $wrong: not status 2"
    grep -q '^collopt doctor: ' "$work/err" || fail "doctor $wrong: says nothing"
done
finish
