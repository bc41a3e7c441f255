# The archives, and -lcollopt: the same program without preloading.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

compile()               # HOST FILE [FLAG]...
{
    compiler=$(wrapper "$1") file=$2
    shift 2
    $compiler -g -O2 -D_GNU_SOURCE -I"$top/src" -I"$top/include" -o "$file" \
        "$top/test/mpi/test_collectives.c" "$top/test/mpi/common.c" "$top/test/mpi/elements.c" \
        "$top/test/mpi/zones.c" "$@" "$build/.libs/libcollopt-core.a" \
        $hwloc -lm -lpthread >"$work/said" 2>&1 || fail "compiling $file"
}

run()                   # HOST RANKS FILE
{
    LAUNCH_SECONDS=300 launch "$1" "$2" COLLOPT_AFTER=1 "$3" || fail "$1, $2 ranks, $3: status $?"
    said 0 '^collopt\|leaked' "$3"
}

linked()                # HOST
{
    if [ "$(abi_of "$1")" != abi ]; then            # there is no archive for it
        compile "$1" "$work/static-$1" "$build/libcollopt-$1.a"
        run "$1" 3 "$work/static-$1"
    fi
    compile "$1" "$work/linked-$1" -Wl,--no-as-needed -L"$work" -lcollopt -Wl,-rpath,"$build/.libs"
    run "$1" 3 "$work/linked-$1"
}

hwloc=$(sed -n 's/^HWLOC_LIBS = //p' "$build/Makefile")
ln -s "$library" "$work/libcollopt.so"
for_each_host linked
