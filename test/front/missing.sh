# Our own backend missing, of another version, or not a library at all: one warning, and the host's own collectives.

. "$(dirname "$0")/common.sh"

warned()        # PATTERN
{
    expect 1 "app ok"
    expect_like 1 "^collopt: "
    expect_like 1 "^collopt: .*$1.*; the MPI library's own collectives are used"
    expect_like 0 "^backend"
}

installation lib
for host in $hosts; do
    program $host app.c app
    backend=lib/collopt/libcollopt-$host.so

    rm $backend
    run $host 2 LD_PRELOAD=$work/lib/libcollopt.so ./app
    warned "$backend is missing"
    run $host 2 COLLOPT=off LD_PRELOAD=$work/lib/libcollopt.so ./app
    expect 1 "app ok"
    expect_like 0 "^collopt:"

    echo "not a library" >$backend
    run $host 2 LD_PRELOAD=$work/lib/libcollopt.so ./app
    warned "$backend: "

    shared $backend backend.c -DVERSION=99
    run $host 2 LD_PRELOAD=$work/lib/libcollopt.so ./app
    warned "$backend is of another version than libcollopt.so"
done
