# An MPI that was opened RTLD_LOCAL by an extension module, as mpi4py is: preloaded, opened as
# mpi4py.profile does, and opened too late for MPI_Init.

. "$(dirname "$0")/common.sh"

installation lib
$CC -o loader "$here/loader.c" -ldl || fail "compiling loader.c"
for host in $hosts; do
    program $host app.c module.so -Dmain=run -fPIC -shared
    run $host 2 ./loader ./module.so
    expect 1 "app ok"
    run $host 2 LD_PRELOAD=$work/lib/libcollopt.so ./loader ./module.so
    expect 1 "app ok"
    expect 1 "backend Allreduce 3"
    run $host 2 ./loader ./lib/libcollopt.so ./module.so
    expect 1 "app ok"
    expect 1 "backend Allreduce 3"

    program $host late.c first.so -fPIC -shared
    cp first.so second.so
    run $host 2 ./loader ./first.so ./second.so
    expect 1 "late ok"
    # What MPI_Init opens puts Open MPI's own library before ours, which sees nothing then, and says
    # so.  On MPICH it does; nobody was asked in MPI_Init, so all ranks ask at the third call.
    case $host in
    openmpi | abi@openmpi) seen="run 0 passed 0" behind=1 ;;
    *) seen="run 4 passed 2" behind=0 ;;
    esac
    run $host 2 COLLOPT_AFTER=3 ./loader ./first.so "$front" ./second.so
    expect 1 "late ok: $seen"
    expect_like $behind "^collopt: libcollopt.so is loaded behind "
    expect_like $behind "^collopt:"
done
