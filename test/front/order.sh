# Linked behind the MPI library, collopt is never called: one rank says so. Linked before it, or
# behind it and preloaded, it is called and says nothing.

. "$(dirname "$0")/common.sh"

linked()        # FILE FLAG...: a program with these libraries in this order
{
    program $host app.c "$@" -Wl,--no-as-needed -Wl,-rpath,"$work/lib"
}

for host in $hosts; do
    installation lib
    program $host app.c app
    mpi=$(env $(library_of $host) ldd ./app | awk '/libmpi/ { print $3; exit }')
    [ -f "$mpi" ] || fail "$host: which MPI library?"

    linked behind "-Wl,--no-as-needed" "$mpi" lib/libcollopt.so
    run $host 2 ./behind
    expect 1 "app ok"
    expect_like 1 "^collopt: libcollopt.so is loaded behind .*libmpi.*, whose MPI_Allreduce the \
program calls: link it before the MPI library, or preload it; the MPI library's own"
    expect_like 0 "^backend"
    run $host 2 COLLOPT=off ./behind
    expect_like 0 "^collopt:"
    run $host 2 LD_PRELOAD="$work/lib/libcollopt.so" ./behind
    expect 1 "backend Allreduce 3"
    expect_like 0 "^collopt:"

    linked before "-Wl,--no-as-needed" lib/libcollopt.so "$mpi"
    run $host 2 ./before
    expect 1 "backend Allreduce 3"
    expect_like 0 "^collopt:"
done
