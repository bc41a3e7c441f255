# The standard ABI of MPI 5 is known by MPI_Abi_get_version alone: a library that answers 1 or more
# is served by libcollopt-abi.so, whatever it calls itself; one that answers -1, as the ordinary
# libraries of Open MPI 6 and MPICH 5 do, is not.

. "$(dirname "$0")/common.sh"

hosts="$hosts abi"
installation lib
preload=LD_PRELOAD=$work/lib/libcollopt.so

library()       # [FLAG]...: what the program is linked with from now on
{
    shared libstrange.so strange.c "$@"
}

asked()         # WHAT [VARIABLE=VALUE]...
{
    what=$1
    shift
    env "$@" ./stranger >said 2>&1 || { cat said; fail "$what: status $?"; }
    expect 1 "stranger ok"
}

library
$CC -o stranger "$here/stranger.c" -L. -lstrange -Wl,-rpath,"$work" -ldl -lpthread ||
    fail "compiling stranger.c"

for called in "Strange MPI 5.0" "Open MPI v6.0.0rc2, package: none" "MPICH Version:      5.0.2" \
    "MPItrampoline 6.0"; do
    for major in 1 2; do
        library -DABI=$major -DCALLED="\"$called\""
        asked "$called, ABI $major" "$preload"
        expect_like 0 "^collopt:"
        expect_like 1 "^backend Allreduce [1-9]"
    done
    for no in -DABI=-1 -DABI=0 "-DABI=1 -DABI_STATUS=17"; do
        # shellcheck disable=SC2086     # two flags
        library $no -DCALLED="\"$called\""
        asked "$called, $no" "$preload"
        expect_like 1 "^collopt: this MPI library is not one that collopt knows ($called)"
        expect_like 0 "^backend"
    done
done

library -DABI=1
rm lib/collopt/libcollopt-abi.so
asked "no backend" "$preload"
expect_like 1 "^collopt: .*lib/collopt/libcollopt-abi.so is missing"
