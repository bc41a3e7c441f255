#!/bin/sh
# What a program's call executes in its own thread is done in integers, apart from the combination
# of its data: a program may trap operations that round, and ask which exceptions were raised.  So
# there is no arithmetic of floating-point numbers in the objects on the way of a call.  Predictions
# and reports have some, in an environment of their own (src/base/arithmetic.h).

for tool in ${OBJDUMP:-} objdump; do
    command -v "$tool" >/dev/null && break
    tool=
done
[ -n "$tool" ] || { echo "no objdump"; exit 77; }
case $("$tool" -f "${COLLOPT_BUILD:-.}"/.libs/libcollopt.so) in
*x86-64*) ;;
*) echo "the names of x86-64's instructions are looked for"; exit 77 ;;
esac

cd "${COLLOPT_BUILD:-.}" || exit 1
found=0
looked=0

# Conversions, sums, products, quotients, comparisons; addps and its like on vectors.
kinds='cvt[a-z0-9]*|u?comis[sd]|(add|sub|mul|div|sqrt|min|max|cmp[a-z]*|round)[sp][sd]'
kinds="$kinds|f(i?add|i?sub|i?mul|i?div|ild|ist|u?com|sqrt)[a-z]*"

for object in backend/*/mpi/*/.libs/*.o src/front/.libs/*.o src/base/.libs/*.o \
    src/schedule/.libs/*.o src/shm/.libs/*.o src/topology/.libs/*.o src/settings/.libs/*.o \
    src/report/.libs/*counters.o src/report/.libs/*timing.o src/select/.libs/*break_even.o \
    src/select/.libs/*trials.o; do
    [ -f "$object" ] || continue
    case $object in *-json.o | *-text.o) continue ;; esac       # read and write numbers
    looked=$((looked + 1))
    if "$tool" -d --no-show-raw-insn "$object" |
        grep -E "^ *[0-9a-f]+:[[:space:]]+v?($kinds)[[:space:]]"; then
        echo "arithmetic of floating-point numbers in $object"
        found=1
    fi
done
[ $looked -gt 50 ] || { echo "only $looked objects in $PWD"; exit 1; }
exit $found
