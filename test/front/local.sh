# An MPI that was opened RTLD_LOCAL by an extension module, as mpi4py is: preloaded, and opened as mpi4py.profile does.

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
    run $host 2 ./loader ./module.so ./lib/libcollopt.so
    expect 1 "app ok"
    expect 1 "backend Allreduce 3"
done
