#!/bin/sh
# Measures the kernels against the targets of doc/kernels.md, beside each MPI library found: a
# verdict for each target, and the cells that miss it. Five minutes, for which nothing else should
# run. The figures stay in kernel_targets.csv.
#
#     bench/kernel_targets.sh [BUILD]            the build folder, by default the present one

build=${1:-.}
out=kernel_targets.csv
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM

# bench SET HOST OPTION...: appends to the figures of one set
bench()
{
    set=$1 host=$2
    shift 2
    "$build/bench/bench_kernels-$host" --quiet --csv="$work/csv" "$@" || exit 1
    sed "1d; s/^/$set,/" "$work/csv" >>"$out"
}

echo "set,mpi,isa,op,type,bytes,form,value" >"$out"
hosts=
for host in openmpi mpich; do
    [ -x "$build/bench/bench_kernels-$host" ] || continue
    hosts="$hosts $host"
    echo "beside $host ..."
    bench cached $host --rounds=11 --forms=host,ours --bytes=1024,262144
    bench memory $host --rounds=9 --forms=host,ours --bytes=8388608
    bench sorted $host --rounds=11 --forms=host,ours --bytes=1024,262144,8388608 \
        --sorted minloc maxloc
    bench huge $host --rounds=7 --forms=host,ours,update --bytes=134217728 \
        sum prod min max land lor lxor band bor bxor \
        int8 uint64 float double bool byte complex_double
    LD_PRELOAD=$build/.libs/libcollopt.so "$build/bench/$host/bench_local" |
        awk -v mpi=$host '{ print "local," mpi ",,sum,double," 8 * $1 ",ours/host," $4 }' >>"$out"
done
[ -n "$hosts" ] || { echo "no bench_kernels in $build/bench: make bench-kernels" >&2; exit 1; }
bench folds "${hosts##* }" --rounds=11 --forms=fold4,folded4,fold8,folded8 \
    --bytes=8388608,33554432,134217728 sum

echo
awk -F, '
function want(target, least, value, what) {
    if (!(target in all)) {
        order[++targets] = target; lowest[target] = value; from[target] = least
    }
    all[target]++
    if (value < lowest[target]) lowest[target] = value
    if (value >= least) met[target]++
    else missed[target] = missed[target] sprintf("      %-44s %.2f\n", what, value)
}
function wanted(x) {                    # the forms of targets that are ratios to the faster host
    return x ~ /^(cached|memory|sorted|huge|local)$/
}
NR > 1 && $7 == "ours/host" && wanted($1) {     # against the faster host: the least of the ratios
    key = $1 "," $4 "," $5 "," $6
    if (!(key in ratio)) keys[++n] = key
    if (!(key in ratio) || $8 < ratio[key]) ratio[key] = $8
}
NR > 1 && $7 == "ours/update" && $2 != "" { update[$2 "," $4 "," $5 "," $6] = $8 }
$1 == "folds" && $7 ~ /\// { fold[$7 "," $5 "," $6] = $8 }
END {
    for (i = 1; i <= n; i++) {
        split(keys[i], k, ","); r = ratio[keys[i]]; what = k[2] " " k[3] ", " k[4] " bytes"
        pair = k[2] ~ /loc$/
        logical = k[2] ~ /^l(and|or|xor)$/
        if (k[1] == "local")
            want("MPI_Reduce_local through the library, short: 0.95 of the faster host", 0.95, r,
                 what)
        else if (k[1] == "sorted")
            want("MINLOC, MAXLOC, sorted: 0.95 of the faster host", 0.95, r, what)
        else
            want("every combination and length: 0.95 of the faster host", 0.95, r, what)
        if (k[1] == "cached" && k[2] ~ /^(sum|min|max|b.*)$/ && k[3] !~ /complex|long_double/ &&
            k[4] == 262144)
            want("sums, MIN, MAX, bitwise, 256 KiB: 0.95 of the faster host", 0.95, r, what)
        if (k[1] == "cached" && ((k[2] == "prod" && k[3] ~ /^complex_(float|double)$/) || logical))
            want("complex products and logical operations, in cache: 3 times the faster host", 3, r,
                 what)
        if (k[1] == "cached" && pair)
            want("MINLOC, MAXLOC, random, in cache: 3 times the faster host", 3, r, what)
        if (k[1] == "memory" && pair)
            want("MINLOC, MAXLOC, random, 8 MiB: 3 times the faster host", 3, r, what)
    }
    for (key in update) {
        split(key, k, ",")
        want("128 MiB: 0.95 of the loop y += x", 0.95, update[key], k[1] ": " k[2] " " k[3])
    }
    for (key in fold) {
        split(key, k, ","); what = k[1] " sum " k[2] ", " k[3] / 1048576 " MiB"
        if (k[2] !~ /float16|long_double/)
            want("sums of 4 and 8 operands, 8 MiB and more: 1.7 times two by two", 1.7, fold[key],
                 what)
    }
    for (i = 1; i <= targets; i++) {
        t = order[i]
        printf "%-6s %3d of %3d, least %.2f  %s\n%s", met[t] == all[t] ? "met" : "MISSED", met[t],
            all[t], lowest[t], t, missed[t]
    }
}' "$out"
