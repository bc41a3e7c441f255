# The examples in C on SimGrid's SMPI, linked with its archive: simulated ranks on simulated nodes,
# more than there are processors here.  Each checks itself, and collopt must have run all of its
# reductions.

. "${COLLOPT_SOURCE:-.}/test/mpi/lang.sh"

[ -n "${SMPI_MPICC-}" ] || skip "collopt is not built for SMPI"
hwloc=
! grep -q '^#define COLLOPT_HAVE_HWLOC 1' "$build/config.h" || hwloc=$(pkg-config --libs hwloc)

cat >"$work/platform.xml" <<'END'
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="node-" suffix="" radical="0-15"
    speed="10Gf" bw="12.5GBps" lat="1us"/>
</platform>
END
for node in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
    echo "node-$node"
done >"$work/hosts"

simulate()              # RANKS PROGRAM [ARGUMENT]...
{
    rm -f "$work/report"
    ranks=$1
    shift
    COLLOPT_AFTER=1 COLLOPT_REPORT=$work/report timeout 120 "$SMPI_MPIRUN" -np "$ranks" \
        -platform "$work/platform.xml" -hostfile "$work/hosts" --cfg=smpi/simulate-computation:no \
        --cfg=smpi/host-speed:10Gf --log=root.thres:error "$@" </dev/null >"$work/said" 2>&1
}

for source in "$top"/examples/*.c; do
    name=$(basename "${source%.*}")
    arguments=
    [ "$name" != conjugate_gradient ] || arguments=64
    # SMPI declares MPI_X weak, and a weak reference fetches nothing from an archive: all of it is
    # taken.
    # shellcheck disable=SC2086     # a list of flags
    "$SMPI_MPICC" -g -O2 -I"$top/include" -o "$work/$name" "$source" \
        -Wl,--whole-archive "$build/libcollopt-smpi.a" -Wl,--no-whole-archive $hwloc -lm ||
        { fail "$name does not link"; continue; }
    for ranks in 1 5 16 64; do
        # shellcheck disable=SC2086
        simulate $ranks "$work/$name" $arguments ||
            fail "$name on $ranks simulated ranks: status $?"
        [ "$ranks" = 1 ] ||
            { [ "$(reported run '')" -gt 0 ] && [ "$(reported passed '')" = 0 ]; } ||
            fail "$name on $ranks simulated ranks:" \
                "collopt ran $(reported run '') calls and passed $(reported passed '')"
    done
    cat "$work/said"
done
finish
