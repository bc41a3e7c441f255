# Our own backend missing, of another version, or not a library at all: each rank that has it so
# says so, and where it is, and uses the host's own collectives.

. "$(dirname "$0")/common.sh"

warned()        # PATTERN RANK...
{
    pattern=$1
    shift
    expect 1 "app ok"
    expect_like $# "^collopt: "
    for rank; do
        expect_like 1 "^collopt: rank $rank on $(uname -n): .*$pattern.*; the MPI library's own \
collectives are used"
    done
}

for host in $hosts; do
    installation lib            # whole again: two hosts of the standard ABI have one backend
    program $host app.c app
    backend=lib/collopt/libcollopt-$(abi_of "$host").so

    mkdir -p bare
    cp "$front" bare
    run $host 2 sh -c "test \${PMI_RANK-\$OMPI_COMM_WORLD_RANK} = 1 && lib=bare || lib=lib
        LD_PRELOAD=$work/\$lib/libcollopt.so exec ./app"
    warned "bare/collopt/libcollopt-$(abi_of "$host").so is missing" 1
    expect 1 "backend Allreduce 3"

    rm $backend
    run $host 2 LD_PRELOAD=$work/lib/libcollopt.so ./app
    warned "$backend is missing" 0 1
    expect_like 0 "^backend"
    run $host 2 COLLOPT=off LD_PRELOAD=$work/lib/libcollopt.so ./app
    expect 1 "app ok"
    expect_like 0 "^collopt:"

    echo "not a library" >$backend
    run $host 2 LD_PRELOAD=$work/lib/libcollopt.so ./app
    warned "$backend: " 0 1
    expect_like 0 "^backend"

    shared $backend backend.c -DVERSION=99
    run $host 2 LD_PRELOAD=$work/lib/libcollopt.so ./app
    warned "$backend is of another version than libcollopt.so" 0 1
    expect_like 0 "^backend"
done
