#!/bin/sh
# collopt-info: its three forms, mistakes, and JSON that other programs can read.

. "${COLLOPT_SOURCE:-.}/test/common.sh"
info=$COLLOPT_BUILD/tools/collopt-info
version=$(cat "$COLLOPT_SOURCE/VERSION")
platforms=$COLLOPT_SOURCE/bench/platforms
build=$COLLOPT_BUILD source=$COLLOPT_SOURCE nodes=$COLLOPT_SOURCE/bench/nodes
unset COLLOPT_SOURCE COLLOPT_BUILD

has() # PATTERN: the last output has it
{
    grep -q -e "$1" "$work/out" || fail "no \"$1\" in $what"
}

what='one screen'
COLLOPT_WAIT=spin "$info" >"$work/out" 2>"$work/err" || fail "status $?"
[ "$(wc -l <"$work/out")" -le 23 ] || fail "$what: $(wc -l <"$work/out") lines"
has "^collopt $version\$"
has '^  COLLOPT_WAIT=spin$'
! grep -q 'COLLOPT_AFTER' "$work/out" || fail "$what: what is not set"
has '^collopt-info --all also'
"$info" | grep -q '^  none of [0-9]*: collopt is on' || fail "$what: nothing is set"

what=--all
COLLOPT_WAIT=spin COLLOPT_ALLREDUCE=host "$info" --all >"$work/out" 2>"$work/err" ||
    fail "status $?"
[ -s "$work/err" ] && fail "said: $(cat "$work/err")"
has "^collopt $version\$"
has 'library .*/libcollopt\.so'
has 'processors  [1-9]'
has '^  allreduce$'
has '^\* COLLOPT_WAIT=spin$'
has '^\* COLLOPT_ALLREDUCE=host$'
has '^  COLLOPT_AFTER=auto$'
has '^  HCOLL  *libhcoll.so  *coll_hcoll_enable$'
if [ -f "$build/.libs/libcollopt-openmpi.so" ]; then
    has '^  openmpi .*built with Open MPI [0-9].*libcollopt-openmpi\.so$'
fi
if [ -f "$build/.libs/libcollopt-mpich.so" ]; then
    has '^  mpich .*built with MPICH [0-9].*libcollopt-mpich\.so$'
fi

what=mistakes
COLLOPT_WAIT=spinn COLLOPT_ALREDUCE=ring "$info" --all >"$work/out" 2>&1 ||
    fail "status $? for mistakes"
has 'COLLOPT_WAIT=spinn is not understood.*did you mean spin'
has 'COLLOPT_ALREDUCE is not a variable.*did you mean COLLOPT_ALLREDUCE'
has '^  COLLOPT_WAIT=auto$'
COLLOPT_AFTER=0 "$info" --check >"$work/out" 2>&1 && fail '--check finds nothing wrong'
has 'COLLOPT_AFTER=0 is not understood'
COLLOPT_ISA=pentium "$info" --check >"$work/out" 2>&1 && fail '--check finds nothing wrong'
has '^collopt: COLLOPT_ISA: .*pentium'
COLLOPT_AFTER=1 "$info" --check >"$work/out" 2>&1 || fail '--check finds something wrong'
[ -s "$work/out" ] && fail "--check said: $(cat "$work/out")"
"$info" --nonsense >/dev/null 2>&1
[ $? -eq 2 ] || fail 'unknown option'
"$info" word >"$work/out" 2>&1
[ $? -eq 2 ] || fail 'a word'
has '"word" is no option'
what=--check-topology
printf 'torus:4x2\nn1 0 0\nn2 3 1\n' >"$work/hosts"
"$info" --check-topology "$work/hosts" >"$work/out" || fail "$what: status $?"
has '/hosts: 2 hosts of the 8 on a torus of 4x2$'
printf 'n1 r1/s1\n' >"$work/hosts"
"$info" --check-topology "$work/hosts" >"$work/out" || fail "$what, switches: status $?"
has '/hosts: 1 host below 1 switch$'
printf 'n1 r1/s1\nn2\nn1 r1/s2\n' >"$work/hosts"
"$info" --check-topology "$work/hosts" >"$work/out" && fail "$what finds nothing wrong"
has '/hosts:2: "n2" has 0 words behind it'
"$info" --check-topology "$work/none" >"$work/out" && fail "$what finds a file"
has '/none: No such file'
what=--check-machine
printf 'net.latency = 1 us\nhost mpich scan 2 1 2 8 exact = 2 us\n' >"$work/machine"
"$info" --check-machine "$work/machine" >"$work/out" || fail "$what: status $?"
has "/machine: 1 number and 1 time of the MPI library's\$"
printf 'net.latency = 1 GB/s\nnet.latncy = 1 us\n' >"$work/machine"
"$info" --check-machine "$work/machine" >"$work/out" && fail "$what finds nothing wrong"
has '/machine:1: net.latency = "1 GB/s" is not understood; '
has '/machine:2: there is no key "net.latncy"; did you mean net.latency? '
for file in "$platforms"/*.machine; do
    "$info" --check-machine "$file" >"$work/out" || fail "$file: $(cat "$work/out")"
done
"$info" --check-machine "$platforms/fat-tree.machine" --check-topology "$work/none" >"$work/out" &&
    fail "$what, a topology that is none"
"$info" --check-machine "$work/machine" "$work/machine" >"$work/out" 2>&1
[ $? = 2 ] || fail "$what, two files: not status 2"
what='a spot and a host'
printf 'mesh:2x3\n%s 1 2\n' "$(hostname)" >"$work/hosts"
COLLOPT_TOPOLOGY=file:$work/hosts HWLOC_SYNTHETIC='numa:1 l3:1 core:64 pu:1' "$info" >"$work/out" ||
    fail "$what: status $?"
has '^  in its file at 1 2, .*/hosts$'
if grep -q '^#define COLLOPT_HAVE_HWLOC 1' "$build/config.h" && taskset -c 0 true 2>/dev/null; then
    HWLOC_SYNTHETIC='numa:1 l3:1 core:64 pu:1' taskset -c 0 "$info" >"$work/out"
    has '^  runs on     NUMA domain 0, last-level cache 0, core 0$'
fi
what='what keeps it from running'
for variable in COLLOPT=off COLLOPT_GPU=native COLLOPT_COMMUNICATORS=0; do
    env "$variable" "$info" >"$work/out" || fail "$what: status $?"
    has "^With $variable all communicators of several ranks keep the MPI library's own \
collectives\\.\$"
    env "$variable" "$info" --json >"$work/out" || fail "$what: status $?"
    has "\"kept_from_running_by\": *\"$variable\""
done
"$info" >"$work/out"
grep -q '^With ' "$work/out" && fail "$what: nothing does"
what=--version
"$info" --version >"$work/out"
has "^collopt-info $version\$"
what=--help
"$info" --help >"$work/out"
has '^Usage: collopt-info'

what=--algorithms
what=--explain
"$info" --explain allreduce --ranks 64 --nodes 4 --bytes 1M --op sum >"$work/out" ||
    fail "--explain: status $?"
has '^allreduce of 1M on 64 ranks, 4 nodes, fast network$'
has '^  [a-z_]*.* (predicted [0-9.]* us; [a-z_]* [0-9.]* us)$'
test "$(grep -c '^ *[0-9]*\.[0-9][0-9]  [a-z_]*' "$work/out")" -eq 6 || fail 'not six predictions'
"$info" --explain reduce --ranks 64 --bytes 1M --topology torus:4x4x4 >"$work/out" ||
    fail "--explain, a torus: status $?"
has '^  swing_torus:dims=4x4x4 (predicted'
COLLOPT_SCAN=chain "$info" --explain scan --op noncommutative --ranks 5 --network tcp \
    >"$work/out" || fail "--explain, forced: status $?"
has '^  chain.*(forced by COLLOPT_SCAN; predicted [0-9.]* us)$'
echo 'host openmpi scan 64 64 1 8 commutative = 2 us' >"$work/machine"
COLLOPT_MACHINE=$work/machine "$info" --explain scan --ranks 64 --nodes 64 \
    --host openmpi >"$work/out" \
    || fail "--explain, a measured host: status $?"
has '^  host (measured 2.00 us; first own, [a-z_]*, predicted [0-9.]* us)$'
has '^ *2.00  MPI library (openmpi): measured$'
# full bisection, for an algorithm whose ranks all send as far at once
for taper in 1 2; do
    echo "net.taper = $taper" >"$work/machine"
    COLLOPT_MACHINE=$work/machine "$info" --explain reduce --ranks 256 --nodes 256 --bytes 4M \
        >"$work/out" || fail "--explain, taper: status $?"
    case $taper in 1) has '^  circulant_pipeline' ;; 2) has '^  two_tree' ;; esac
done
# and what else the environment says of jobs; mistakes in it are told once
for said in COLLOPT_SCAN=chian COLLOPT_AFTER=x COLLOPT_MACHINE=/nonexistent; do
    env "$said" "$info" --explain scan --ranks 64 >"$work/out" 2>"$work/err" ||
        fail "--explain, $said: status $?"
    [ "$(grep -c "${said%=*}" "$work/err")" = 1 ] || fail "--explain, $said: $(cat "$work/err")"
done
COLLOPT_REPRODUCIBLE=placement "$info" --explain allreduce --ranks 64 --nodes 4 --bytes 1M \
    >"$work/out" || fail "--explain, placement: status $?"
has '^allreduce of 1M on 64 ranks, wherever they are$'
has '^  circulant (fixed table, COLLOPT_REPRODUCIBLE=placement)$'
COLLOPT_REPRODUCIBLE=exact "$info" --explain allreduce --ranks 64 --bytes 1M >"$work/out" ||
    fail "--explain, exact: status $?"
has '^  alltoall (fixed table, COLLOPT_REPRODUCIBLE=exact)$'
for collective in scan exscan; do
    for limit in '256 1M' '257 64K' '4096 16M'; do
        COLLOPT_REPRODUCIBLE=exact "$info" --explain $collective --ranks "${limit% *}" \
            --bytes "${limit#* }" >"$work/out" 2>&1 \
            || fail "--explain, exact $collective: status $?"
        grep -q '^collopt' "$work/out" &&
            fail "--explain, exact $collective, $limit: $(cat "$work/out")"
        has '(\(fixed table, COLLOPT_REPRODUCIBLE=exact\|exact, predicted .*\))$'
    done
done
COLLOPT_REPRODUCIBLE=exact "$info" --explain allreduce --ranks 64 --nodes 4 >"$work/out" ||
    fail "--explain, exact: status $?"
has '^allreduce of 8 bytes on 64 ranks, 4 nodes, '
has '^  [a-z_]*.* (exact, predicted [0-9.]* us in exact accumulators; gather [0-9.]* us)$'
has '^ *us  predicted for, in exact accumulators$'
COLLOPT_REPRODUCIBLE=exact COLLOPT_ALLREDUCE=ring "$info" --explain allreduce --ranks 64 \
    --json >"$work/out" || fail "--explain, exact: status $?"
has '"why": "forced by COLLOPT_ALLREDUCE, in exact accumulators"'
has '"exact_accumulators": true'
COLLOPT_REPRODUCIBLE=exact "$info" --explain allreduce --ranks 64 --nodes 4 --bytes 1M --op exact \
    >"$work/out" || fail "--explain, exact: status $?"
has '^  [a-z_]*.* (predicted '
COLLOPT_ADAPT=on "$info" --explain allreduce >"$work/out" || fail "--explain, adapt: status $?"
has '^  COLLOPT_ADAPT=on: the first calls try others too'
COLLOPT_ADAPT=on COLLOPT_ALLREDUCE=ring "$info" --explain allreduce >"$work/out" ||
    fail "--explain, adapt: status $?"
! grep -q 'COLLOPT_ADAPT' "$work/out" || fail 'what is forced is not tried'
COLLOPT=off "$info" --explain allreduce >"$work/out" || fail "--explain, off: status $?"
has '^  host (COLLOPT=off)$'
for said in COLLOPT_TOPOLOGY=nodes:4,4,8; do
    env "$said" "$info" --explain allreduce --ranks 16 >"$work/out" ||
        fail "--explain, $said: status $?"
    has '^allreduce of 8 bytes on 16 ranks, 3 nodes, fast network$'
    env "$said" "$info" --explain allreduce --ranks 16 --nodes 2 >"$work/out" ||
        fail "--explain, $said and --nodes: status $?"
    has '^allreduce of 8 bytes on 16 ranks, 2 nodes, fast network$'
done
COLLOPT_TOPOLOGY=torus:4x4x4 "$info" --explain reduce --ranks 64 --bytes 1M >"$work/out" ||
    fail "--explain, a torus: status $?"
has '^reduce of 1M on 64 ranks, 64 nodes, torus$'
has '^  swing_torus:dims=4x4x4 (predicted'
COLLOPT_TOPOLOGY=torus:4x4x4 "$info" --explain reduce --ranks 32 >"$work/out" 2>&1 ||
    fail "--explain, a torus that does not fit: status $?"
has 'COLLOPT_TOPOLOGY=torus:4x4x4 has room for 64 ranks, not for 32; it is ignored$'
has '^reduce of 8 bytes on 32 ranks, 1 node, shared memory$'
printf 'torus:2x2\nn1 0 0\nn2 0 1\nn3 1 0\nn4 1 1\n' >"$work/hosts"
COLLOPT_TOPOLOGY=file:$work/hosts "$info" --explain reduce --ranks 4 >"$work/out" 2>&1 ||
    fail "--explain, hosts: status $?"
has '^collopt-info: COLLOPT_TOPOLOGY=file:.*/hosts is ignored: .* names of its hosts, .*; '\
'say it by --topology torus:2x2'
[ "$(grep -c '^collopt' "$work/out")" = 1 ] || fail "--explain, hosts: $(cat "$work/out")"
COLLOPT_TOPOLOGY=cartesian "$info" --explain reduce --ranks 4 >"$work/out" 2>&1 ||
    fail "--explain, cartesian: status $?"
has "^collopt-info: COLLOPT_TOPOLOGY=cartesian is ignored: that takes a communicator's \
dimensions, .*; say it by --topology torus:2x2"
"$info" --explain reduce --ranks 4 >"$work/out" 2>&1 || fail "--explain, no topology: status $?"
grep -q '^collopt' "$work/out" && fail "--explain, no topology: $(cat "$work/out")"
COLLOPT_TOPOLOGY=file:$work/hosts "$info" --explain reduce --ranks 4 --topology torus:2x2 \
    >"$work/out" 2>&1 \
    || fail "--explain, hosts and a torus: status $?"
grep -q '^collopt' "$work/out" && fail "--explain, hosts and a torus: $(cat "$work/out")"

# measurements that come with collopt, as if they were for this processor
processor=$("$info" --all | sed -n 's/^  names  *MPI-VERSION-\([^ ]*\) .*/\1/p')
mkdir -p "$work/data/collopt"
for file in "$source"/data/collopt/*.rules; do
    name=${file##*/}
    cp "$file" "$work/data/collopt/${name%-amd-epyc.rules}-$processor.rules" || exit 1
done
measured_choice()       # EXPRESSION HOST ARGUMENT...
{
    expected="$1 (measured $work/data/collopt/$2-$processor.rules:"
    host=$2
    shift 2
    XDG_DATA_DIRS=$work/data "$info" --explain "$@" --host "$host" >"$work/out" ||
        fail "--explain $*: status $?"
    grep -qF "  $expected" "$work/out" || { cat "$work/out"; fail "--explain $*: not $expected"; }
}
measured_choice recursive_doubling openmpi-4.1 allreduce --ranks 2 --bytes 4095
measured_choice circulant openmpi-4.1 reduce --ranks 2 --bytes 1M
measured_choice linear:window=2 mpich-4.0 reduce --ranks 2 --bytes 1M
measured_choice circulant mpich-4.0 allreduce --ranks 2 --bytes 256K
measured_choice elimination openmpi-4.1 allreduce --ranks 2 --bytes 256K --op noncommutative
measured_choice sweep mpich-4.0 scan --ranks 2 --bytes 64K
measured_choice linear:window=16 openmpi-4.1 allreduce --ranks 8 --crowded
predicted()             # ARGUMENT...
{
    XDG_DATA_DIRS=$work/data "$info" --explain allreduce --ranks 2 "$@" >"$work/out" ||
        fail "--explain $*: status $?"
    has '^  [a-z_:=0-9]* (predicted '
}
predicted
what='--explain, without --host'
XDG_DATA_DIRS=$work/data "$info" --explain allreduce >"$work/out"
if [ -f "$build/.libs/libcollopt-openmpi.so" ]; then
    mpi=$("$info" | sed -n 's/^  openmpi .*Open MPI \([0-9]*\.[0-9]*\).*/\1/p')
    if [ -f "$work/data/collopt/openmpi-$mpi-$processor.rules" ]; then
        has "left out: $work/data/collopt/openmpi-$mpi-$processor.rules"
        measured_choice recursive_doubling openmpi-$mpi allreduce --ranks 2 --bytes 4095
        XDG_DATA_DIRS=$work/data "$info" --explain allreduce --ranks 2 --bytes 4095 --host openmpi \
            >"$work/out"
        has "(measured $work/data/collopt/openmpi-$mpi-$processor.rules:"
    fi
fi
predicted --host openmpi-5.0
COLLOPT_MACHINE=none predicted --host openmpi-4.1
mv "$work/data/collopt/openmpi-4.1-$processor.rules" "$work/data/collopt/openmpi-4.1-another.rules"
predicted --host openmpi-4.1
"$info" --explain reduce_scatter_block --ranks 6 --bytes 8 >"$work/out" ||
    fail "--explain, parts: status $?"
has '^reduce_scatter_block of 48 bytes on 6 ranks, 1 node, shared memory$'
what='caches of a node'
COLLOPT_MACHINE=$nodes/epyc-7742-2x64.machine "$info" --explain allreduce --ranks 128 --caches 32 \
    --bytes 1K >"$work/out" ||
    fail "--explain, $what: status $?"
has '128 ranks, 1 node, shared memory of several caches and .*epyc-7742-2x64.machine'
has '^  lanes:.*by=cache (predicted [0-9.]* us; '
"$info" --explain exscan --ranks 512 --nodes 32 --bytes 8G --network tcp >"$work/out" ||
    fail "--explain, long: status $?"
has '(predicted [0-9.]* s; [a-z_]* [0-9.]* s)$'
refused()
{
    want=$1
    shift
    "$info" "$@" >"$work/out" 2>&1
    test $? -eq 2 || fail "status not 2: $*"
    has "$want"
}
# files in default places are for an MPI, which --host names; none that comes with collopt is there
what='--explain, files in default places'
XDG_DATA_DIRS=$work/none
export XDG_DATA_DIRS
mkdir -p "$work/config/collopt"
echo '* * * * * * host' >"$work/config/collopt/site.rules"
echo 'allreduce * * * * * ring' >"$work/config/collopt/mpich.rules"
rules=$work/config/collopt
XDG_CONFIG_HOME=$work/config "$info" --explain allreduce >"$work/out" || fail "$what: status $?"
has "^  left out: $rules/site.rules, which a job would use; it counts with --host openmpi\$"
has "^  left out: $rules/mpich.rules, .* --host mpich\$"
XDG_CONFIG_HOME=$work/config "$info" --explain allreduce --host mpich >"$work/out" ||
    fail "$what, --host: status $?"
has "^  ring (rule $rules/mpich.rules:1"
! grep -q 'left out' "$work/out" || fail "$what: left out with --host"
XDG_CONFIG_HOME=$work/config "$info" >"$work/out" || fail "$what, the list: status $?"
has "^  openmpi     rules  *$rules/site.rules\$"
has "^  mpich       rules  *$rules/mpich.rules\$"
rm "$rules/mpich.rules"
XDG_CONFIG_HOME=$work/config "$info" --explain allreduce >"$work/out" || fail "$what: status $?"
[ "$(grep -c 'left out' "$work/out")" = 1 ] || fail "$what: one file is told more than once"
XDG_CONFIG_HOME=$work/config COLLOPT_RULES=none "$info" --explain allreduce >"$work/out" ||
    fail "$what, none: status $?"
! grep -q 'left out' "$work/out" || fail "$what: left out although COLLOPT_RULES=none"

refused 'it takes reduce, allreduce' --explain allredcue
refused 'op max: it takes sum' --explain allreduce --op max
refused 'ranks 1: it takes 2 to' --explain allreduce --ranks 1
refused 'nodes 9: it takes 1 to 8' --explain allreduce --ranks 8 --nodes 9
refused 'bytes -1: it takes' --explain allreduce --bytes -1
refused 'has room for 16 ranks, not for 64' --explain allreduce --ranks 64 --topology torus:4x4
refused 'names of its hosts, which are not known here; it takes torus:8x8x4' --explain allreduce \
    --topology file:/none
refused 'host lam: it takes openmpi or mpich' --explain allreduce --host lam
refused 'it takes fast or tcp' --explain allreduce --network ib
refused 'it takes 1, unless all ranks are on one node' --explain allreduce --ranks 8 \
    --nodes 2 --caches 4
refused 'for --explain COLLECTIVE' --ranks 8

"$info" --algorithms >"$work/out" || fail "--algorithms: status $?"
has '^allreduce  *order  *rounds  *bytes$'
has '^  ring  *comm\.  *126, 118  *1\.97, 1\.97$'
has '^  recursive_doubling  *any  *6, 7  *6, 7$'
has '^    Patarasuk and Yuan'
has '^    segment=BYTES  bytes in one piece of the pipeline (1 to 1T)$'
has '^    node=(ALGORITHM)  .*(for reduce)$'
"$info" --algorithms --json >"$work/out" || fail "--algorithms --json: status $?"
if command -v jq >/dev/null; then
    jq -e '(.algorithms | length > 50)
        and all(.algorithms[];
            .collective and .name and .rounds and .vectors and .summary and .source
            and (.commutative_only | type == "boolean")
            and all(.parameters[]; .algorithm_of or (.least <= .most)))' "$work/out" >/dev/null ||
        fail "--algorithms --json is not as it should be: $(cat "$work/out")"
elif command -v python3 >/dev/null; then
    python3 -m json.tool "$work/out" >/dev/null || fail '--algorithms --json is not JSON'
fi

what=--json
COLLOPT_REPORT='a "b"\c' "$info" --json >"$work/out" || fail "--json: status $?"
if command -v jq >/dev/null; then
    jq -e --arg v "$version" '.version == $v
        and (.backends | type == "array") and .machine.processors >= 1
        and (.algorithms | length > 0) and all(.algorithms[]; .name and .collective and .summary)
        and (.variables[] | select(.name == "COLLOPT_REPORT")
            | .value == "a \"b\"\\c" and .set and .default == null)
        and (.variables[] | select(.name == "COLLOPT_AFTER") | .value == "auto" and (.set | not))' \
        "$work/out" >/dev/null || fail "--json is not as it should be: $(cat "$work/out")"
elif command -v python3 >/dev/null; then
    python3 -m json.tool "$work/out" >/dev/null || fail '--json is not JSON'
fi
exit $failed
