# bench/simulate on 16 simulated ranks: the same figures twice, cells once, wrong words and wrong
# results.

. "${COLLOPT_SOURCE:-.}/test/common.sh"
set -u
: "${COLLOPT_SOURCE:=$PWD}" "${COLLOPT_BUILD:=$PWD}"

[ -n "${SMPI_MPICC-x}" ] || { echo "collopt is not built for SMPI"; exit 77; }
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
simulate="$COLLOPT_SOURCE/bench/simulate --build=$COLLOPT_BUILD"
cd "$work" || exit 99

cat >mesh.xml <<'END'
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<!-- simulate: ranks=16 grid=4x4 of=8x8 ports=4 -->
<platform version="4.1">
  <cluster id="all" prefix="n" suffix="" radical="0-63" speed="10Gf" bw="12.5GBps" lat="1us"
    sharing_policy="SPLITDUPLEX" topology="TORUS" topo_parameters="8,8"/>
</platform>
END

run()                   # STATUS OPTION...
{
    status=$1
    shift
    what="$*"
    # shellcheck disable=SC2086
    $simulate --platforms mesh.xml "$@" >said 2>&1
    found=$?
    [ $found = "$status" ] || fail "$what: exit status $found, not $status"
}

refuses()               # PATTERN OPTION...
{
    pattern=$1
    shift
    run 2 -o never.csv "$@"
    grep -q -e "$pattern" said || fail "$what: nothing like \"$pattern\""
    [ ! -e never.csv ] || fail "$what: a file was written"
}

rows()                  # FILE
{
    grep -v '^#' "$1"
}

some='--collectives allreduce,scan --sizes 8,8K'
some="$some --algorithms auto,ring,leader:node=(linear),net=(ring),mesh:dims=4x4"

# shellcheck disable=SC2086
run 0 $some -o one.csv
# shellcheck disable=SC2086
run 0 $some --jobs 2 -o two.csv
for file in one two; do
    rows $file.csv | sort >$file.rows
done
cmp -s one.rows two.rows || fail "two runs differ: $(diff one.rows two.rows)"
[ ! -e one.csv.part ] || fail 'a .part was left'

rows one.csv | head -1 >said
for column in setting collective operation type ranks bytes algorithm peer peer_us collopt_us \
              ratio ratio_low ratio_high pairs outliers result bound_us bound_by; do
    tr , '\n' <said | grep -qx $column || fail "no column $column"
done
# auto, ring, leader, mesh, and the best: 5 for each of two Allreduces; of these a Scan can only
# have auto, mesh and the best, as its leaders have no linear.
[ "$(rows one.csv | wc -l)" = 17 ] || fail "$(rows one.csv | wc -l) lines of 17"
[ "$(grep -c ',correct,' one.csv)" = 16 ] || fail 'not all correct'
grep -q '^mesh 16 each,mesh,allreduce,sum,double,16,8192,mesh:dims=4x4,[a-z0-9]*,[0-9.]*,[0-9.]*,' \
    one.csv || fail 'no mesh'
grep -q 'ompi=[0-9.]* mpich=[0-9.]* mvapich2=[0-9.]* impi=[0-9.]*$' one.csv ||
    fail 'not all four peers'
grep -q ',scan,.*chain=[0-9.]* doubling=[0-9.]*$' one.csv || fail 'no peers of Scan'
# From corner to corner there are six links of 1 us, and 0.2 us for each of two processors; wrap
# links would make it four.
grep -q ',allreduce,sum,double,16,8,.*,6\.402,hops,' one.csv ||
    fail 'the bound is not that of a mesh'
rows one.csv | sed 's/"[^"]*"/-/' | awk -F, 'NR > 1 && ($10 < $18 || $11 < $18)' >said
[ ! -s said ] || fail 'times below the bound'
sh "$COLLOPT_SOURCE/bench/summary" one.csv >said || fail 'bench/summary'

# What is there is not run again, what is missing is; also from what an interruption left.
# shellcheck disable=SC2086
run 0 $some -o one.csv
grep -q times said && fail 'cells were run again'
grep -v ',scan,.*,16,8192,' one.csv >rest.csv && mv rest.csv one.csv
echo 'mesh 16 scan 8192 sum =auto 1234.5 correct recursive_doubling' >one.csv.part
# shellcheck disable=SC2086
run 0 $some -o one.csv
grep -q ',scan,.*,8192,auto,.*,1234\.500,' one.csv || fail 'the .part was not used'
grep -q 'of 3 times' said || fail 'three times should be missing: chain, doubling, mesh'

# Whenever it is interrupted, the rest comes out as if it had not been.
# shellcheck disable=SC2086
$simulate --platforms mesh.xml $some -o three.csv >said 2>&1 &
sleep 1
kill -INT $!
wait $!
status=$?
case $status in 0 | 130) ;; *) fail "interrupted: status $status" ;; esac
# shellcheck disable=SC2086
run 0 $some -o three.csv
rows three.csv | sort >three.rows
cmp -s two.rows three.rows || fail "an interrupted run differs: $(diff two.rows three.rows)"

# Exact sums travel as accumulators, by algorithms that combine partial sums.
run 0 --collectives allreduce --sizes 8 --algorithms auto --peers named --reproducible exact \
    -o exact.csv
grep -q 'COLLOPT_REPRODUCIBLE=exact' exact.csv || fail 'the mode is not in the file'
grep -q ',allreduce,sum,double,16,8,auto,.*,correct,' exact.csv || fail 'no exact sum'
grep -q ',auto,.*,\(gather\|alltoall\),' exact.csv && fail 'an exact sum does not travel as such'

# Operations of all kinds; peers that get one wrong are no peers there.
run 0 --collectives allreduce,reduce_scatter,scan --sizes 8K \
    --operations user,maxloc,noncommutative --algorithms auto --peers named -o operations.csv
for row in user,double maxloc,2int noncommutative,2uint32; do
    for collective in allreduce reduce_scatter scan; do
        grep -q "^mesh 16 auto,mesh,$collective,$row,16,8192,auto,.*,correct," operations.csv ||
            fail "no $collective of $row"
    done
done
grep -q ',allreduce,noncommutative,.*rdb=[0-9.]* rab_rdb=wrong' operations.csv ||
    fail 'a peer that takes all operations to commute'
grep -q ",reduce_scatter,noncommutative,.*mpich_noncomm=[0-9.]*" operations.csv ||
    fail "no peer for operations that do not commute"
grep -q ",reduce_scatter,user,.*mpich_noncomm" operations.csv &&
    fail "a peer that nobody chooses for operations that commute"
grep -q ',allreduce,user,.*rdb=[0-9.]* rab_rdb=[0-9.]*$' operations.csv ||
    fail 'a sum made by MPI_Op_create'
# Chunks that follow one another: while one is between nodes, another is in them.
cat >nodes.xml <<'END'
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<!-- simulate: ranks=16 node=4 ports=1 -->
<platform version="4.1">
  <cluster id="all" prefix="n" suffix="" radical="0-3" speed="10Gf" bw="12.5GBps" lat="500ns"
    sharing_policy="SPLITDUPLEX" loopback_bw="8GBps" loopback_lat="400ns"/>
</platform>
END
chunked=
for algorithm in recursive_splitting:radix=4 transpose:width=4; do
    chunked=$chunked$algorithm,chunks=1,$algorithm,chunks=4,
done
run 0 --platforms nodes.xml --peers named --collectives allreduce,reduce,scan,exscan --sizes 512K \
    --algorithms "${chunked%,}" -o chunks.csv
row='nodes 16 each,[a-z]*,\([a-z]*\),[^"]*"[a-z_]*:[a-z]*=4,chunks=\([14]\)"'
row="$row,[a-z_]*,[0-9.]*,\([0-9.]*\),.*,correct,"
rows chunks.csv | sed -n "s/^$row.*/\1 \2 \3/p" |
    awk '{ us[$1, $2] = $3; seen[$1] = 1 }
        END { for (c in seen) if (us[c, 4] < 0.85 * us[c, 1]) n++; exit n != 4 }' ||
    { rows chunks.csv >said; fail 'chunks do not overlap'; }
# Strands that begin on different sides of a torus have links of their own.
cat >torus.xml <<'END'
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<!-- simulate: ranks=16 grid=4x4 ports=4 -->
<platform version="4.1">
  <cluster id="all" prefix="n" suffix="" radical="0-15" speed="10Gf" bw="12.5GBps" lat="1us"
    sharing_policy="SPLITDUPLEX" topology="TORUS" topo_parameters="4,4"/>
</platform>
END
run 0 --platforms torus.xml --peers named --collectives allreduce,reduce --sizes 512K \
    --algorithms auto,recursive_splitting:radix=4,strands=1,recursive_splitting:radix=4,strands=2 \
    -o strands.csv
row='torus 16 each,[a-z]*,\([a-z]*\),[^"]*"[a-z_]*:radix=4,strands=\([12]\)"'
row="$row,[a-z_]*,[0-9.]*,\([0-9.]*\),.*,correct,"
rows strands.csv | sed -n "s/^$row.*/\1 \2 \3/p" |
    awk '{ us[$1, $2] = $3; seen[$1] = 1 }
        END { for (c in seen) if (us[c, 2] < 0.8 * us[c, 1]) n++; exit n != 2 }' ||
    { rows strands.csv >said; fail 'strands do not overlap'; }

refuses 'xor is no operation; there are sum, user,' --operations sum,xor

refuses 'mash is no collective; there are allreduce,' --collectives mash
refuses '9 is not a size: bytes of whole elements of 8' --sizes 8,9
refuses 'rong is no algorithm; there are auto, all, ' --algorithms auto,rong
refuses 'COLLOPT_ALLREDUCE=ring:strands=2:x is not understood: ' --algorithms ring,ring:strands=2:x
echo 'net.latncy = 1 us' >wrong.machine
refuses 'wrong.machine:1: there is no key' --machine wrong.machine
refuses 'none of these platforms has so many ranks: mesh 16' --ranks 17
run 2 -o missing/one.csv
grep -q -e '-o missing/one.csv: No such file' said || fail 'a file that cannot be written'
refuses 'x is not a number of ranks' --ranks x
refuses 'moon.xml is no platform and no file; there are dragonfly,' --platforms moon.xml
refuses '--machine moon: there is no such file' --machine moon
echo '<platform/>' >bare.xml
refuses 'has no comment <!-- simulate: ranks=' --platforms bare.xml
sed 's/"4,4;/"5,4;/' "$COLLOPT_SOURCE/bench/platforms/dragonfly.xml" >wide.xml
refuses 'a dragonfly of 5 groups and 4 routers in a chassis' --platforms wide.xml
sed 's/ smpi.ois:[^ ]*//' one.csv >other.csv
run 2 -o other.csv
grep -q 'was simulated otherwise' said || fail 'a file of another model was gone on with'
run 2 --machine "$COLLOPT_SOURCE/bench/platforms/nodes-16.machine" -o one.csv
grep -q 'was simulated otherwise' said || fail 'another machine was gone on with'
echo some,file >other.csv
run 2 -o other.csv
grep -q 'has not the columns' said || fail 'a file of somebody else was taken'

# A simulator whose ring is wrong, and one that dies.
cat >smpirun <<'END'
#!/bin/sh
for word; do
    case $word in
    list) for c in allreduce scan; do echo "algorithm $c ring"; done ;;
    links) echo "links 1 2 1e-10" ;;
    allreduce:*) case $COLLOPT_ALLREDUCE in ring) r=WRONG ;; *) r=correct ;; esac
        echo "cell $(echo "$word" | tr : ' ') 10 $r ring" ;;
    scan:*) exit 3 ;;
    esac
done
END
chmod +x smpirun
SMPI_MPIRUN=./smpirun
export SMPI_MPIRUN
run 1 --collectives allreduce,scan --sizes 8 -o wrong.csv
grep -q ',ring,ompi,10.000,10.000,,,,1,0,WRONG,' wrong.csv || fail 'WRONG was not noticed'
grep -q '1 wrong results, 4 times without a figure' said || fail 'nothing was said of it'
grep -q 'mesh 16 chain scan:8:sum: exit status 3' said ||
    fail 'nothing was said of a simulator that died'

# One whose Scan along a chain takes long, and whose ring does.
cat >smpirun <<'END'
#!/bin/sh
for word; do
    case $word in
    list) for c in allreduce scan; do echo "algorithm $c ring"; done ;;
    links) echo "links 1 2 1e-10" ;;
    allreduce:*)
        case $COLLOPT_ALLREDUCE in
        ring) exec sleep 60 ;;
        *) echo "cell $(echo "$word" | tr : ' ') 10 correct host" ;;
        esac
        ;;
    chain) exec sleep 60 ;;
    scan:*) echo "cell $(echo "$word" | tr : ' ') 20 correct host" ;;
    esac
done
END
run 0 --collectives allreduce,scan --sizes 8 --patience 1 -o late.csv
grep -q 'scan,.*,auto,doubling,20.000,.*doubling=20.000 chain=late$' late.csv ||
    fail 'a late peer was not named'
grep -q ',allreduce,.*,auto,ompi,.*impi=10.000$' late.csv || fail 'the peers of Allreduce are known'
grep -q ',ring,' late.csv && fail 'a late algorithm has a row'
grep -q 'mesh 16 chain scan:8:sum: left out, not known after 1 s' said ||
    fail 'nothing was said of a late peer'
grep -q '2 times are not known' said || fail 'late times were not counted'
refuses 'x is not a number of seconds' --patience x
run 0 --peers named --collectives allreduce,scan --sizes 8 --algorithms auto \
    --patience 1 -o named.csv
grep -q ',allreduce,.*,auto,rdb,.*,rdb=10.000 rab_rdb=10.000$' named.csv ||
    fail 'not the peers with names'
refuses "invalid choice: 'moon'" --peers moon

# One that nobody checks: a sum is right, other operations need not be.
cat >smpirun <<'END'
#!/bin/sh
for word; do
    case $word in
    list) for c in allreduce scan; do echo "algorithm $c ring"; done ;;
    links) echo "links 1 2 1e-10" ;;
    allreduce:*) case " $* " in *" --by "* | *selector:mpich*) r=unchecked ;; *) r=correct ;; esac
        echo "cell $(echo "$word" | tr : ' ') 10 $r host" ;;
    esac
done
END
run 0 --collectives allreduce --sizes 8 --operations sum,noncommutative \
    --algorithms auto -o unchecked.csv
grep -q ',sum,.*mpich=10.000 ' unchecked.csv || fail 'a sum that was not checked'
grep -q ',noncommutative,.*ompi=10.000 mvapich2=10.000 impi=10.000 mpich=unchecked$' \
    unchecked.csv || fail 'an unchecked peer was taken'

# Bounds, in links of 1 us, 0.4 us of it the processors', and 100 us for a vector of 1 MB; the
# farthest rank is FAR us away.  Eight bytes, 0.0008 us, are in the latencies already.
cat >smpirun <<'END'
#!/bin/sh
for word; do
    case $word in
    list) for c in allreduce reduce reduce_scatter scan exscan; do echo "algorithm $c ring"; done ;;
    links) echo "links 1 $FAR 1e-10" ;;
    [a-z]*:[0-9]*) echo "cell $(echo "$word" | tr : ' ') 1e9 correct host" ;;
    esac
done
END
sed 's/ranks=16 .* ports=4/ranks=16 grid=4x4 ports=4/' mesh.xml >torus.xml
# the last side is a ring
sed 's/ranks=16 .* ports=4/ranks=16 grid=2x2x4 of=4x4x4 ports=5/' mesh.xml >tube.xml
sed 's/ranks=16 .* ports=4/ranks=16 node=4 ports=1/' mesh.xml >nodes.xml

bounds()                # PLATFORM FAR BYTES COLLECTIVE BOUND BY ...
{
    platform=$1 bytes=$3
    FAR=$2 simulate_one "$platform" "$bytes"
    shift 3
    while [ $# -gt 0 ]; do
        grep -q "^$platform 16 auto,.*,$1,.*,$2,$3,host," bound.csv || {
            grep "^$platform 16 auto,.*,$1," bound.csv >said
            fail "$platform: the bound of $1 is not $2, $3"
        }
        shift 3
    done
}

simulate_one()          # PLATFORM BYTES; FAR is set
{
    export FAR
    rm -f bound.csv
    # shellcheck disable=SC2086
    $simulate --platforms "$1.xml" --collectives allreduce,reduce,reduce_scatter,scan,exscan \
        --sizes "$2" --algorithms auto -o bound.csv >said 2>&1 || fail "$1: exit status $?"
}

# A corner has two links; what is sent in all goes over 48, from column to column go 4 vectors over
# 4 links.
bounds mesh 6 1000000 allreduce 63.099 links reduce 55.599 ports reduce_scatter 47.474 ports \
    scan 100.599 cut exscan 100.599 cut
# Four links for each of 16; 4 vectors go over 8 links.
bounds torus 4 1000000 allreduce 47.474 links reduce 28.599 ports reduce_scatter 24.037 ports \
    scan 50.599 cut exscan 50.599 cut
bounds tube 4 1000000 reduce 28.599 ports
# Three of four nodes for each.
bounds nodes 4 1000000 allreduce 150.599 links reduce 103.599 ports reduce_scatter 75.599 ports \
    scan 103.599 ports
# Within 2 us a rank can have something from 16: of 1 us, 5 steps of its processor,
# 1 1 1 1 1 2 3 4 5 6 8 11 15 20.
bounds nodes 2 8 reduce 2.600 processor allreduce 2.600 processor
bounds nodes 3 8 reduce 3.000 hops

[ $failed = 0 ] && echo "bench/simulate: passed"
exit $failed
