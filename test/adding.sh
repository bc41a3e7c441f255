#!/bin/sh
# An algorithm is one file and one line: a scan in a scratch folder, under a name of its own, is
# proved, run, drawn, chosen and documented without another edit.  It takes the place of the one
# that it is a copy of, so that the model has a reason to choose it; beside that one it is useless,
# and test_earns says what to do.

. "${COLLOPT_SOURCE:-.}/test/common.sh"
build=$COLLOPT_BUILD source=$COLLOPT_SOURCE
unset COLLOPT_BUILD COLLOPT_SOURCE MAKEFLAGS MFLAGS MAKELEVEL

value()                 # VARIABLE: of the Makefile
{
    # shellcheck disable=SC2016
    (cd "$build" &&
        printf 'include Makefile\nadding-value:\n\t@echo "$(%s)"\n' "$1" |
        make -s -f - adding-value 2>/dev/null)
}

has()                   # PATTERN WHAT
{
    grep -q -e "$1" "$work/out" || { cat "$work/out"; fail "$2: no \"$1\""; }
}

# ---- the file and the line ----

mkdir -p "$work/src/algorithms"
cp -r "$source"/src/algorithms/*.[ch] "$source/src/algorithms/algorithms.mk" "$work/src/algorithms"
sed -e 's/recursive_multiplying/scratch/g; s/scan_multiplying/scan_scratch/g' \
    -e '/^const .* collopt_scan_recursive_doubling/,/^};/d' \
    "$source/src/algorithms/scan_multiplying.c" >"$work/src/algorithms/scratch.c"
sed -i 's|.*src/algorithms/scan_multiplying\.c.*|&\n\tsrc/algorithms/scratch.c \\|' \
    "$work/src/algorithms/algorithms.mk"
# not in the registry for now
sed -i '/^COLLOPT_SCAN_AND_EXSCAN(recursive_multiplying/d' \
    "$work/src/algorithms/scan_multiplying.c"

# ---- the rule of the registry makes the list and the programs that use the new algorithm ----

cd "$work" || exit 99
registry=src/algorithms/algorithms-registry.c
printf 'srcdir = .\nMKDIR_P = mkdir -p\ninclude src/algorithms/algorithms.mk\n' >Makefile
sed -i '/^if COLLOPT/,/^endif/d' src/algorithms/algorithms.mk           # Automake's
make -s "$registry" || { fail "no registry: status $?"; exit 1; }
grep -q '&collopt_exscan_scratch,' "$registry" || fail "the registry: $(cat "$registry")"
libraries="$build/.libs/libcollopt-core.a $(value HWLOC_LIBS) -lm -lpthread -ldl"
compiled()              # FILE...
{
    for file; do
        # shellcheck disable=SC2086
        $CC $LIBRARY_CFLAGS -Wno-missing-prototypes -O1 -I"$build" -I"$source/src" \
            -I"$source/src/algorithms" -I"$source/include" -D_GNU_SOURCE -c "$file" \
            || { fail "$file cannot be compiled"; exit 1; }
    done
}
compiled "$registry" src/algorithms/scratch.c

program()               # NAME LIBRARIES: links the objects of a program of the build with the new
                        # algorithm
{
    objects=
    for object in $(value "$(echo "$1" | tr '/-' '__')_OBJECTS"); do
        objects="$objects $build/$object"
    done
    # shellcheck disable=SC2086
    $CC -o "${1##*/}" $objects scratch.o algorithms-registry.o $2 $libraries ||
        { fail "$1 cannot be linked"; exit 1; }
}

program tools/collopt-plan
program tools/collopt-info
program tools/algorithms-page

# ---- drawn, chosen, documented ----

./collopt-plan scan --algorithm scratch:radix=3 --ranks 9 --count 4 >out ||
    fail "collopt-plan: status $?"
has '^scan by scratch:radix=3, 9 ranks' 'the plan'
./collopt-plan scan --algorithm scratch --ranks 4 --format svg >out ||
    fail "collopt-plan, svg: status $?"
has '<svg' 'the drawing'
./collopt-info --explain scan --ranks 64 --nodes 64 --bytes 8 >out || fail "collopt-info: status $?"
has '^  scratch:radix=4 (predicted ' 'the choice'
COLLOPT_SCAN=scratch:radix=2 ./collopt-info --explain scan --ranks 64 --nodes 64 --bytes 8M >out ||
    fail "collopt-info, forced: status $?"
has '^  scratch:radix=2 (forced by COLLOPT_SCAN; predicted ' 'the forced choice'
./collopt-info --algorithms >out || fail "collopt-info, the catalogue: status $?"
has '^  scratch  ' 'the catalogue'
./algorithms-page "$source/doc/algorithms.in" >out || fail "algorithms-page: status $?"
has '^| `*scratch' 'the page'

# ---- proved ----

if [ -n "$(value test_unit_test_schedules_OBJECTS)" ]; then
    tests="$build/.libs/libcollopt-proof.a $(value CHECK_LIBS)"
    program test/unit/test_schedules "$tests"
    program test/unit/test_earns "$tests"
    program test/unit/test_model "$tests"
    CK_RUN_CASE=small ./test_schedules exscan scratch >out 2>&1 ||
        { cat out; fail "the proof: status $?"; }
    has '^100%: Checks: 1,' 'the proof'
    ./test_model exscan scratch >out 2>&1 || { cat out; fail "rounds and bytes: status $?"; }
    ./test_earns >out 2>&1 || { cat out; fail "its place: status $?"; }
    cp "$source/src/algorithms/scan_multiplying.c" src/algorithms
    make -s "$registry" && compiled "$registry"
    program test/unit/test_earns "$tests"
    ./test_earns >out 2>&1 && fail 'a copy of another algorithm earns its place'
    has '^scan scratch does not earn its place: .* add a row to KEPT' 'a useless algorithm'
    # Half as many rounds again as there are: what is proved, and stated wrongly.
    cp src/algorithms/scratch.c right.c
    sed 's/collopt_messages(t, 1, /collopt_messages(t, 1.5, /' right.c >src/algorithms/scratch.c
    cmp -s right.c src/algorithms/scratch.c && fail 'no rounds to state wrongly'
    compiled src/algorithms/scratch.c
    program test/unit/test_model "$tests"
    ./test_model exscan scratch >out 2>&1 && fail 'rounds that are stated wrongly are not found'
    has '^scratch exscan on 64 ranks, .*, short: predicted [0-9]*, replayed [0-9]*$' 'wrong rounds'
    cp right.c src/algorithms/scratch.c
    compiled src/algorithms/scratch.c
fi

# ---- run, in a program that is linked with the archive ----

cat >app.c <<'.'
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, mine, sum = 0, wrong = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 100; i++) {
        mine = rank + i;
        MPI_Scan(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        wrong |= sum != rank * (rank + 1) / 2 + (rank + 1) * i;
    }
    MPI_Finalize();
    return wrong;
}
.
. "$source/test/launch.sh"
for host in $(value ARCHIVES); do
    # shellcheck disable=SC2046,SC2086
    $(wrapper "$host") -o app app.c scratch.o algorithms-registry.o \
        "$build/libcollopt-$host-objects.a" $libraries \
        || { fail "$host: no program"; continue; }
    # shellcheck disable=SC2046
    timeout 60 $(launcher_of "$host") -n 3 env COLLOPT_AFTER=1 COLLOPT_LOG=decide \
        COLLOPT_SCAN=scratch:radix=3 ./app >out 2>&1 \
        || { cat out; fail "$host: status $?"; }
    has '^collopt: scan, 3 ranks, 4 bytes.*: scratch:radix=3 (forced by COLLOPT_SCAN)$' "$host"
done
exit $failed
