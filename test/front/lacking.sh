# Names that a host lacks are not there because we are: not for a linker, not for weak references,
# not for dlsym. Those that it has are found, and lead to us.

. "$(dirname "$0")/common.sh"

installation lib
ours=$work/lib/libcollopt.so
mkdir linking
ln -s "$ours" linking/libcollopt.so

has()           # HOST NAME: as a configure script asks, with the libraries that are named further
{
    host=$1 name=$2
    shift 2
    printf 'char %s(void);\nint main(void) { return %s(); }\n' $name $name >asked.c
    $(wrapper $host) -o asked asked.c "$@" 2>/dev/null
}

for host in $hosts; do
    for name in MPI_Allreduce MPI_Allreduce_c PMPI_Scan_c MPI_Reduce_init MPI_Reduce_init_c \
        MPIX_Reduce_init MPI_Comm_idup_with_info; do
        has $host $name && without=yes || without=no
        has $host $name -Wl,--no-as-needed -Llinking -lcollopt && with=yes || with=no
        [ $with = $without ] || fail "$host, $name: a linker says $without, with -lcollopt $with"
    done
    has $host MPI_Allreduce_c && large=1 || large=0

    for flags in "" "-fPIE -pie -Wl,-z,now" "-fno-pie -no-pie" "-Wl,-z,now"; do
        program $host names.c names $flags
        run $host 1 ./names
        sort said >alone
        for variable in X=1 LD_BIND_NOW=1; do
            run $host 1 $variable LD_PRELOAD=$ours ./names
            grep -v "^backend" said | sort | cmp -s - alone || {
                cat said; echo alone:; cat alone
                fail "$host $flags $variable: other names are found than without us"
            }
            expect $large "backend Allreduce_c 2"
        done
    done

    # opened late, by a program without MPI
    program $host names.c module.so -Dmain=run -fPIC -shared
    $CC -o loader "$here/loader.c" -ldl || fail "compiling loader.c"
    run $host 1 ./loader ./module.so
    grep "weak after" said >alone
    run $host 1 LD_PRELOAD=$ours ./loader ./module.so
    grep "weak after" said | cmp -s - alone ||
        { cat said; fail "$host: a module finds other names than without us"; }
done
