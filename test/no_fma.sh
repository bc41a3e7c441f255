#!/bin/sh
# No kernel may multiply and add in one step: results would differ between instruction sets. Compilers have done it in spite of
# -ffp-contract=off, so the objects themselves are looked at.

for tool in ${OBJDUMP:-} objdump; do
    command -v "$tool" >/dev/null && break
    tool=
done
[ -n "$tool" ] || { echo "no objdump"; exit 77; }

found=0
looked=0
for archive in "${COLLOPT_BUILD:-.}"/.libs/libcollopt-kernels-*.a; do
    [ -f "$archive" ] || continue
    looked=$((looked + 1))
    # x86: vfmadd, vfmsub, vfnmadd, vfmaddsub, vfcmadd ...; aarch64: fmadd, fmla, fmls, fnmsub, fcmla ...
    if "$tool" -d --no-show-raw-insn "$archive" |
       grep -E '[[:space:]](vfn?m(add|sub)|vfc?madd|fn?m(add|sub)|fn?m(la|ls|ad|sb)|fcmla)[a-z0-9]*[[:space:]]'; then
        echo "fused multiply-add in $archive"
        found=1
    fi
done
[ $looked -gt 0 ] || { echo "no kernels in ${COLLOPT_BUILD:-.}/.libs"; exit 1; }
exit $found
