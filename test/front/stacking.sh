# Other profiling tools beside us: both see every call once, whoever was preloaded first, and so do linked ones.

. "$(dirname "$0")/common.sh"

installation lib
for host in $hosts; do
    program $host app.c app
    $(wrapper $host) -g -O2 -fPIC -shared -o tool.so "$here/tool.c" || fail "compiling the tool for $host"

    counts()
    {
        expect 1 "app ok"
        expect 1 "backend Allreduce 3"
        expect 1 "backend Iallreduce 1"
        expect 1 "backend Reduce 1"
        expect 1 "backend Reduce_local 4"
        expect 1 "backend Comm_set_info 1"
        expect 1 "backend Comm_dup_with_info 1"
        expect 1 "backend Pcontrol 1"
        expect 1 "backend Finalize 1"
    }

    run $host 2 LD_PRELOAD=$work/lib/libcollopt.so ./app
    counts
    expect_like 0 "^collopt:"
    run $host 2 LD_PRELOAD=$work/lib/libcollopt.so:$work/tool.so ./app
    counts
    expect 1 "tool Allreduce 3"
    run $host 2 LD_PRELOAD=$work/tool.so:$work/lib/libcollopt.so ./app
    counts
    expect 1 "tool Allreduce 3"
    run $host 2 COLLOPT=off LD_PRELOAD=$work/lib/libcollopt.so:$work/tool.so ./app
    expect 1 "app ok"
    expect 1 "tool Allreduce 3"

    program $host app.c linked -Wl,--no-as-needed -L"$work/lib" -lcollopt -Wl,-rpath,"$work/lib"
    run $host 2 ./linked
    counts
    run $host 2 LD_PRELOAD=$work/tool.so ./linked
    counts
    expect 1 "tool Allreduce 3"
done
