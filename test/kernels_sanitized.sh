#!/bin/sh
# The kernels under AddressSanitizer and UndefinedBehaviorSanitizer, on every instruction set that
# this processor has.

cc=${CC:-cc}
source=${COLLOPT_SOURCE:-.}
build=$(mktemp -d) || exit 1
trap 'rm -rf "$build"' EXIT
sanitize="-fsanitize=address,undefined -fno-sanitize-recover=all"

echo 'int main(void) { return 0; }' > "$build/try.c"
$cc $sanitize "$build/try.c" -o "$build/try" 2>/dev/null && "$build/try" ||
    { echo "$cc has no sanitizers"; exit 77; }

flags="-std=gnu11 -g -O1 -fopenmp-simd -ffp-contract=off $sanitize
    -I$build -I$source/src -I$source/test"
printf '#define _GNU_SOURCE 1\n' > "$build/config.h"
objects=
try_isa() {
    isa=$1 macro=$2
    shift 2
    $cc $flags "$@" -DCOLLOPT_ISA=$isa -c "$source/src/kernels/reduce_tmpl.c" -o "$build/$isa.o" \
        2>"$build/errors" || {
        [ $isa != generic ] && echo "$isa was not built" && return
        cat "$build/errors"
        exit 1
    }
    objects="$objects $build/$isa.o"
    [ -z "$macro" ] || echo "#define $macro 1" >> "$build/config.h"
}
try_isa generic ''
case $(uname -m) in
x86_64)
    try_isa avx2 COLLOPT_HAVE_AVX2 -mavx2 -mf16c -mfma
    try_isa avx512 COLLOPT_HAVE_AVX512 -mavx2 -mf16c -mavx512f -mavx512bw -mavx512vl ;;
aarch64)
    try_isa sve COLLOPT_HAVE_SVE -march=armv8.2-a+sve ;;
esac
$cc $flags "$source/src/kernels/kernels.c" "$source/src/kernels/isa.c" \
    "$source/src/kernels/exact_words.c" "$source/src/kernels/superaccumulator.c" \
    "$source/test/kernels_plain.c" "$source/test/kernels_cases.c" "$source/test/exact_cases.c" \
    "$source/test/exact_reference.c" "$source/test/total_cases.c" $objects -lm \
    -o "$build/run" || exit 1
"$build/run" --brief
