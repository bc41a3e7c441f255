#!/bin/sh
# Allreduce on simulated tori (SimGrid): collopt's algorithms, and what SimGrid takes for the choices of other MPI libraries.
#
#     bench/torus.sh bench/smpi/bench_torus [BYTES]...
#
# 64 ranks, one on each node of 8x8 and of 4x4x4; links of 10 GB/s each way and 1 us, all of which a node can use at once.
# Combining takes no simulated time; a look whether a message has come, 50 ns.

program=${1:?usage: torus.sh bench_torus [BYTES]...}
shift
[ $# -gt 0 ] || set -- 1024 32768 262144 1048576
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
i=0
while [ $i -lt 64 ]; do
    echo "n$i"
    i=$((i + 1))
done >"$work/hosts"

platform()              # SIDES, as in 4,4,4
{
    cat >"$work/platform.xml" <<END
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><cluster id="all" prefix="n" suffix="" radical="0-63" speed="10Gf" bw="10GBps" lat="1us"
 sharing_policy="SPLITDUPLEX" topology="TORUS" topo_parameters="$1"/></platform>
END
}

run()                   # NAME [VARIABLE=VALUE]... [-- OPTION]...
{
    name=$1
    shift
    set_=
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        set_="$set_ $1"
        shift
    done
    [ $# -eq 0 ] || shift
    # shellcheck disable=SC2086
    printf '%-34s%s\n' "$name" "$(env COLLOPT_AFTER=1 $set_ "${SMPI_MPIRUN:-smpirun}" -np 64 -platform "$work/platform.xml" \
        -hostfile "$work/hosts" \
        --cfg=smpi/simulate-computation:no --cfg=smpi/test:5e-8 \
        --cfg=smpi/grow-injected-times:no --log=root.thresh:error "$@" "$program" $bytes 2>&1 </dev/null |
        tail -1)"
}

bytes=$*
for dims in 8x8 4x4x4; do
    platform "$(echo $dims | tr x ,)"
    echo "$dims: us for $bytes bytes"
    for a in recursive_doubling rabenseifner circulant swing ring swing_torus:dims=$dims \
             bucket:dims=$dims mesh:dims=$dims; do
        run "$a" "COLLOPT_ALLREDUCE=$a"
    done
    for host in ompi mpich mvapich2 impi; do
        run "SimGrid as $host" COLLOPT=off -- --cfg=smpi/coll-selector:$host
    done
done
