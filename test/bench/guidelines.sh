# guidelines: all are measured and all results right, on the host and on collopt; one that is
# violated is told, and so are a wrong result and wrong arguments.  bench_messages: a line for each
# length, and what both ratios come to.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

few='--calls 2 --pairs 6 --seed 1'

check()                 # STATUS WHAT PRELOADED ARGUMENT...
{
    wanted=$1 what="$host, $2" preloaded=$3
    shift 3
    rm -f "$work/csv"
    launch "$host" 2 ${preloaded:+LD_PRELOAD="$preloaded"} "$build/bench/$host/guidelines" "$@"
    status=$?
    [ $status = "$wanted" ] || fail "$what: status $status, not $wanted"
}

said_line()             # PATTERN
{
    grep -qE -- "$1" "$work/said" || fail "$what: no line \"$1\""
}

records()               # COUNT RESULT OF
{
    count=$(awk -F, -v result="$2" -v of="$3" \
        '!/^#/ && $16 == result && $17 ~ of' "$work/csv" | wc -l)
    [ "$count" = "$1" ] || fail "$what: $count records of $3 are $2, not $1"
}

measuring()
{
    # shellcheck disable=SC2086     # options
    check 0 'all guidelines' "$library" $few --sizes 8 --csv "$work/csv" --setting here
    said_line '^(Open MPI|MPICH) [0-9.]+: [0-9]+ of 32 guidelines violated, [0-9]+ more perhaps'
    said_line '^collopt: [0-9]+ of 32 guidelines violated'
    for of in 'MPI' collopt; do
        records 20 correct $of
        records 12 unchecked $of
    done
    sh "$top/bench/summary" "$work/csv" >"$work/summary" 2>&1 ||
        fail "$what: bench/summary does not read the CSV"
    grep -q '32 .* here; guidelines of collopt$' "$work/summary" ||
        fail "$what: $(cat "$work/summary")"
    check 0 'without collopt' '' --sizes 8 --calls 1 --pairs 1 --of collopt
    said_line '^guidelines: collopt is not loaded'
}

violating()
{
    "$compiler" -shared -fPIC -o "$work/slow.so" "$top/test/bench/slow.c" -ldl ||
        fail "$host: slow.c"
    # shellcheck disable=SC2086     # options
    check 3 'a slow allreduce' "$work/slow.so:$library" $few --collectives allreduce --sizes 8 \
        --of collopt --strict
    said_line 'allreduce <= reduce_scatter \+ allgatherv'
    "$compiler" -shared -fPIC -o "$work/spoil.so" "$top/test/bench/spoil.c" -ldl ||
        fail "$host: spoil.c"
    # shellcheck disable=SC2086     # options
    check 1 'a wrong allreduce' "$work/spoil.so:$library" $few --collectives allreduce \
        --sizes 1K --of collopt
    said_line 'WRONG +1K .* allreduce <= reduce \+ bcast'
}

messages()
{
    what="$host, bench_messages"
    launch "$host" 2 LD_PRELOAD="$library" "$build/bench/$host/bench_messages" 8 64 ||
        fail "$what: status $?"
    awk '$1 == 8 || $1 == 64 { lines++; own += log($6); bound += log($7) }
         function near(x, y) { return (x / y - 1) ^ 2 < .0004 }
         /^geometric mean/ {
             good = lines == 2 && near($3, exp(own / 2)) && near($4, exp(bound / 2))
         }
         END { exit !good }' "$work/said" || fail "$what: $(cat "$work/said")"
    launch "$host" 2 "$build/bench/$host/bench_messages" 24
    status=$?
    [ $status = 2 ] || fail "$what: status $status for 24 bytes"
    said_line '^bench_messages: lengths are bytes'
}

refused()               # SENTENCE ARGUMENT...
{
    sentence=$1
    shift
    check 2 "$*" "$library" "$@"
    said_line "^guidelines: $sentence"
}

on_host()               # HOST
{
    host=$1
    compiler=$(wrapper "$host")
    measuring
    violating
    [ "$host" = openmpi ] || return 0
    messages
    refused '--sizes: "many" is not understood; sizes are such as' --sizes many
    refused '--collectives: there is no "bcast"; there are: all allreduce' --collectives bcast
    refused '--of: "mine" is not host, collopt or both' --of mine
    refused '--time: "0" is not a number from 0.001 to 3600' --time 0
    refused '--fast: no such option' --fast
    refused '"8" is not an option' 8
    check 0 help '' --help
    said_line '--tolerance PERCENT'
}

test_hosts=$native_hosts
for_each_host on_host
