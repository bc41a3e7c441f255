# The backends of this build, all the ways in: preloaded, linked as collopt.pc says, and linked
# statically.  The program's arithmetic stays as it was, which app.c looks at.

. "$(dirname "$0")/common.sh"

seen()
{
    expect 1 "app ok"
    expect 1 "collopt $version saw Allreduce $1"
    expect_like 0 "^collopt:"
}

version=$(cat "$source/VERSION")
hwloc=$(sed -n 's/^HWLOC_LIBS = //p' "$build/Makefile")
linked=$(sed -n 's/^Libs: \(.*\) -L[^ ]* \(.*\)/\1 -L. \2/p' "$build/collopt.pc")
ln -s "$front" libcollopt.so

for host in $hosts; do
    program $host app.c app
    run $host 2 ./app
    expect 1 "app ok"
    run $host 2 LD_PRELOAD=$front ./app
    seen 4
    run $host 2 COLLOPT=off LD_PRELOAD=$front ./app
    seen 4                      # and passed through: a rank that is off still says so to the others

    program $host app.c linked $linked -Wl,-rpath,"${front%/*}"
    run $host 2 ./linked
    seen 4

    [ "$(abi_of "$host")" != abi ] || continue      # there is no archive for it
    program $host app.c static "$build/libcollopt-$host.a" $hwloc -lm
    run $host 2 ./static
    seen 4
done

# SMPI declares MPI_X weak, and a weak reference fetches nothing from an archive; -u does.
if [ -n "${SMPI_MPICC-}" ]; then
    cat >platform.xml <<'EOF'
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="all" prefix="n" suffix="" radical="0-1" speed="10Gf" bw="10GBps" lat="1us"/>
</platform>
EOF
    printf 'n0\nn1\n' >hosts
    $SMPI_MPICC -g -O2 -I"$source/include" -o simulated "$here/app.c" \
        -Wl,-u,MPI_Allreduce "$build/libcollopt-smpi.a" $hwloc -lm ||
        fail "compiling app.c for SMPI"
    timeout 100 $SMPI_MPIRUN -np 2 -platform platform.xml -hostfile hosts ./simulated >said 2>&1 ||
        { cat said; fail "SMPI: status $?"; }
    seen 4
fi
