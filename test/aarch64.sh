#!/bin/sh
# The kernels on aarch64: cross-compiled here, run by an emulator, with NEON and with SVE of two
# lengths. And MPI_Pcontrol, which is written in assembler.
# CROSS_CC and QEMU name other tools than Debian's gcc-aarch64-linux-gnu and qemu-user.

cc=${CROSS_CC:-aarch64-linux-gnu-gcc}
source=${COLLOPT_SOURCE:-.}
for qemu in ${QEMU:-qemu-aarch64 qemu-aarch64-static}; do
    command -v "$qemu" >/dev/null && break
    qemu=
done
command -v "$cc" >/dev/null && [ -n "$qemu" ] || {
    echo "no $cc or no qemu-aarch64. On Debian and Ubuntu install gcc-aarch64-linux-gnu" \
        "libc6-dev-arm64-cross qemu-user"
    exit 77
}

build=$(mktemp -d) || exit 1
trap 'rm -rf "$build"' EXIT
cat > "$build/config.h" <<END
#define _GNU_SOURCE 1
#define COLLOPT_HAVE_NEON 1
#define COLLOPT_HAVE_SVE 1
END

flags="-std=gnu11 -Wall -Wextra -Werror -O2 -ftree-vectorize -fopenmp-simd -ffp-contract=off
    -fno-math-errno -fno-trapping-math
    -fno-tree-slp-vectorize -I$build -I$source/src -I$source/test"
compile() { object=$1; shift; "$cc" $flags "$@" -o "$build/$object" || exit 1; }

compile generic.o -c "$source/src/kernels/reduce_tmpl.c" -DCOLLOPT_ISA=generic -O1 \
    -fno-tree-vectorize
compile neon.o    -c "$source/src/kernels/reduce_tmpl.c" -DCOLLOPT_ISA=neon
compile sve.o     -c "$source/src/kernels/reduce_tmpl.c" -DCOLLOPT_ISA=sve -march=armv8.2-a+sve
compile run -static "$source/src/kernels/kernels.c" "$source/src/kernels/isa.c" \
    "$source/src/kernels/exact_words.c" "$source/src/kernels/superaccumulator.c" \
    "$source/test/kernels_plain.c" "$source/test/kernels_cases.c" "$source/test/exact_cases.c" \
    "$source/test/exact_reference.c" "$source/test/total_cases.c" \
    "$build/generic.o" "$build/neon.o" "$build/sve.o" -lm

compile pcontrol -static "$source/src/front/pcontrol.c" "$source/test/front/pcontrol.c"
"$qemu" "$build/pcontrol" || exit 1

OBJDUMP=aarch64-linux-gnu-objdump sh "$source/test/no_fma.sh" "$build"/[gns]*.o || exit 1
"$qemu" "$build/run" --brief neon &&
    "$qemu" -cpu max,sve-default-vector-length=32 "$build/run" --brief sve &&
    "$qemu" -cpu max,sve-default-vector-length=64 "$build/run" --brief sve
