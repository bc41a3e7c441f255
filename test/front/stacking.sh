# Other profiling tools beside us: they see what they see without us, whoever was preloaded first
# and however they go on, and we see every call once. Where a tool takes reductions past us, that is
# said.

. "$(dirname "$0")/common.sh"

installation lib
ours=$work/lib/libcollopt.so

counts()        # INITS PCONTROLS: how often these came by; a call that comes back from a tool is
                # the same call
{
    expect 1 "app ok"
    expect 1 "backend Allreduce 3"
    expect 1 "backend Iallreduce 1"
    expect 1 "backend Reduce 1"
    expect 1 "backend Reduce_local 4"
    expect 1 "backend Init_thread $1"
    expect 1 "backend Comm_set_info 1"
    expect 1 "backend Comm_dup_with_info 1"
    expect 1 "backend Pcontrol $2"
    expect 1 "backend Finalize 1"
    expect_like 0 "^collopt:"
    expect_like 0 "missed"
}

# What a tool that goes past us leaves to us
rest()
{
    expect 1 "app ok"
    expect 1 "backend Init_thread 1"
    expect 1 "backend Comm_set_info 1"
    expect 1 "backend Comm_dup_with_info 1"
    expect_like 0 "backend Allreduce"
    expect 6 "backend missed Allreduce"         # 3 on each rank
    expect_like 1 "^collopt: .* goes past collopt: $1, which was loaded behind libcollopt.so"
}

as_alone()
{
    grep "^tool.* [0-9]*$" said | sort | cmp -s - alone ||
        { cat said; echo "alone:"; cat alone; fail "$*: the tool saw something else"; }
}

for host in $hosts; do
    program $host app.c app
    program $host app.c linked -Wl,--no-as-needed -L"$work/lib" -lcollopt -Wl,-rpath,"$work/lib"
    run $host 2 LD_PRELOAD=$ours ./app
    counts 1 1
    run $host 2 ./linked
    counts 1 1

    for kind in "" "-DNEXT" "-DNEXT -DPMPI"; do
        shared tool.so tool.c $kind
        run $host 2 LD_PRELOAD=$work/tool.so ./app
        expect 1 "tool Allreduce 3"
        expect 1 "tool Pcontrol 1"
        expect_like 0 "something else"
        grep "^tool.* [0-9]*$" said | sort >alone

        # before us
        run $host 2 LD_PRELOAD=$work/tool.so:$ours ./app
        counts 1 1
        as_alone "tool $kind before us"
        run $host 2 LD_PRELOAD=$work/tool.so ./linked
        counts 1 1
        as_alone "tool $kind, we are linked"

        # behind us
        run $host 2 LD_PRELOAD=$ours:$work/tool.so ./app
        as_alone "tool $kind behind us"
        case $kind in
        "") counts 2 2 ;;
        *) rest $work/tool.so ;;
        esac
        run $host 2 COLLOPT=off LD_PRELOAD=$ours:$work/tool.so ./app
        as_alone "tool $kind behind us, switched off"
        expect_like 0 "^collopt:"
    done

    # An MPI library in two objects
    shared half.so tool.c -DNEXT -DHALF
    run $host 2 LD_PRELOAD=$ours:$work/half.so ./app
    counts 1 1
    expect_like 0 "^tool"

    # One tool of either kind: natively the call goes from the first to the second, which gets
    # nothing but the level of MPI_Pcontrol.
    shared plain.so tool.c
    for order in plain.so:OURS:tool.so OURS:plain.so:tool.so tool.so:OURS:plain.so; do
        without=$(echo $order | sed "s|OURS:||; s|[a-z]*\.so|$work/&|g")
        with=$(echo $order | sed "s|[a-z]*\.so|$work/&|g; s|OURS|$ours|")
        run $host 2 LD_PRELOAD=$without ./app
        grep "^tool.* [0-9]*$" said | sort >alone
        run $host 2 LD_PRELOAD=$with ./app
        expect 1 "app ok"
        as_alone "$order"
    done
done
