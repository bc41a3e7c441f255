#!/bin/sh
# Nothing may multiply and add in one step: kernels would give different results on different
# instruction sets, and predicted times would differ between builds, by which ranks decide.
# Compilers have done it in spite of -ffp-contract=off, so the objects themselves are looked at:
# those of this build, and those of the parts that predict when compiled for a processor that can;
# or those that are given (test/aarch64.sh).

for tool in ${OBJDUMP:-} objdump; do
    command -v "$tool" >/dev/null && break
    tool=
done
[ -n "$tool" ] || { echo "no objdump"; exit 77; }

build=${COLLOPT_BUILD:-.} source=${COLLOPT_SOURCE:-.}
found=0
looked=0

# Exact products take the error of a rounded one from a fused operation; that error is exact.  Those
# of floats, and of limbs in squares, are exact without.
outside_exact_products()
{
    awk '/^[0-9a-f]+ </ { exact = $2 ~ /^<((float_)?products|squares)_below/ } !exact'
}

look()                  # FILE...
{
    looked=$((looked + 1))
    # x86: vfmadd, vfmsub, vfnmadd, vfmaddsub, vfcmadd ...; aarch64: fmadd, fmla, fmls, fnmsub,
    # fcmla ...
    fused='vfn?m(add|sub)|vfc?madd|fn?m(add|sub)|fn?m(la|ls|ad|sb)|fcmla'
    if "$tool" -d --no-show-raw-insn "$@" | outside_exact_products |
       grep -E "[[:space:]]($fused)[a-z0-9]*[[:space:]]"; then
        echo "fused multiply-add in $1"
        found=1
    fi
}

[ $# = 0 ] || { look "$@"; exit $found; }
for archive in "$build"/.libs/libcollopt-kernels-*.a "$build"/.libs/libcollopt-core.a \
    "$build"/.libs/libcollopt-*.so; do
    [ ! -f "$archive" ] || look "$archive"
done
[ $looked -gt 1 ] || { echo "no kernels in $build/.libs"; exit 1; }

# What users put into CFLAGS comes last.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
if ${CC:-cc} -march=haswell -c -x c /dev/null -o "$work/can.o" 2>/dev/null; then
    for file in "$source"/src/model/*.c "$source"/src/select/*.c "$source"/src/algorithms/*.c; do
        grep -q double "$file" || continue
        # shellcheck disable=SC2086
        ${CC:-cc} -I"$build" -I"$source/src" -D_GNU_SOURCE $LIBRARY_CFLAGS -O3 \
            -march=haswell -c "$file" -o "$work/$(basename "$file" .c).o" ||
            { echo "$file does not compile"; exit 1; }
    done
    look "$work"/*.o
fi
exit $found
