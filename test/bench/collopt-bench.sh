# collopt-bench on both hosts: what it writes can be read, wrong results are noticed, wrong
# arguments are refused.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

quick='--pairs 2 --calls 2 --progress off'

# A run of two ranks that must exit with STATUS; LIBRARIES are preloaded.
bench()                 # STATUS WHAT LIBRARIES ARGUMENT...
{
    bench_status=$1 what="$host, $2" libraries=$3
    shift 3
    # shellcheck disable=SC2086     # options
    launch "$host" 2 LD_PRELOAD="$libraries" $variables "$program" $quick "$@"
    found=$?
    [ $found = "$bench_status" ] || fail "$what: exit status $found, not $bench_status"
}

# A column of $work/csv by its name, one value to a line; none of the values here holds a comma in
# quotes before the columns asked for.
column()                # NAME
{
    awk -F, -v name="$1" '/^#/ { next }
        !at { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
        { print $at }' "$work/csv"
}

cells()                 # COUNT: lines of $work/csv behind the header, as many in the summary
{
    [ "$(column result | wc -l)" = "$1" ] ||
        fail "$what: $(column result | wc -l) cells in the file, not $1"
    sh "$top/bench/summary" "$work/csv" >"$work/summary" || [ "$bench_status" = 1 ] ||
        fail "$what: the summary refuses the file"
    grep -q "^[^ ].* $1  *[0-9]* .*  some setting\$" "$work/summary" ||
        { cat "$work/summary"; fail "$what: no line of $1 cells in the summary"; }
}

has()                   # FILE PATTERN...
{
    file=$1
    shift
    for pattern; do
        grep -q -e "$pattern" "$file" || fail "$what: nothing like \"$pattern\" in $file"
    done
}

writing()
{
    bench 0 'all collectives' "$library" --collectives all --ops sum,maxloc,user,noncommutative \
        --sizes 8,1000,40000 --seed 7 --setting 'some setting' --csv "$work/csv" \
        --picture "$work/picture.svg"
    cells 84
    [ "$(column result | sort -u)" = correct ] || fail "$what: not all results are correct"
    [ "$(column collective | sort -u | wc -l)" = 7 ] || fail "$what: not all collectives are there"
    for name in setting collective operation type ranks bytes algorithm peer peer_us collopt_us \
        ratio ratio_low ratio_high pairs outliers in_place input result; do
        [ "$(column $name | grep -c .)" = 84 ] || fail "$what: column $name is not filled"
    done
    ! column algorithm | grep -q none || fail "$what: collopt is not there"
    has "$work/csv" '^# seed: 7$' '^# MPI: ' '^# collopt: [0-9]' '^# date: 20' \
        '^# host .*: .*, [0-9]* processors, load ' '^# rank 1: .*, processors [0-9]' \
        '^# environment: LD_PRELOAD=' "address of the MPI library's own function"
    has "$work/said" '^# allreduce, sum of double (some setting)$' \
        '^# geometric mean .* 84 cells, .* 0 wrong$'
    if command -v gnuplot >/dev/null; then
        has "$work/picture.svg" '<svg' 'reduce_scatter_block' 'some setting'
        [ ! -f "$work/picture.gp" ] || fail "$what: gnuplot's instructions are left over"
    fi
    column collective >"$work/order"
    sort "$work/order" | cmp -s - "$work/order" && fail "$what: the cells are not shuffled"
    column bytes >>"$work/order"
}

# The same seed, the same order; what is missing is said.
again()
{
    bench 0 'without gnuplot' "$library" --collectives all --ops sum,maxloc,user,noncommutative \
        --sizes 8,1000,40000 --seed 7 --csv "$work/csv" --in-place --json
    if command -v python3 >/dev/null; then
        sed -n '/^{/,/^}/p' "$work/said" >"$work/json"
        python3 -c 'import json, sys; j = json.load(open(sys.argv[1]))
assert len(j["cells"]) == 84 and j["seed"] == 7 and len(j["binding"]) == 2
assert all(c["result"] == "correct" and c["ratio"] > 0 for c in j["cells"])' "$work/json" ||
fail "$what: the JSON is not as it should be"
    fi
    ! grep -q '^# allreduce, sum' "$work/said" || fail "$what: tables beside JSON"
    { column collective; column bytes; } | cmp -s - "$work/order" ||
        fail "$what: the same seed gives another order"
    variables=PATH=/nonexistent
    bench 0 'without gnuplot' "$library" --sizes 64 --collectives scan \
        --picture "$work/missing.svg" --setting 'some setting'
    variables=
    has "$work/said" 'gnuplot is not installed here.*: gnuplot .*missing.gp makes .*missing.svg'
    has "$work/missing.gp" '^set output .*missing.svg' "^set title 'scan'"
    if command -v gnuplot >/dev/null; then
        gnuplot "$work/missing.gp" && has "$work/missing.svg" '<svg' ||
            fail "$what: the instructions make no picture"
    fi
    bench 0 'without collopt' '' --sizes 64 --collectives reduce --csv "$work/csv"
    has "$work/said" 'collopt is not loaded: '
    [ "$(column algorithm)" = none ] || fail "$what: some algorithm was run"
    variables=COLLOPT=off
    bench 0 'switched off' "$library" --sizes 64 --collectives reduce
    variables=
    has "$work/said" 'left every call to the MPI library: is it switched off'
}

choosing()
{
    bench 0 'algorithms' "$library" --collectives allreduce,reduce --sizes 4096 \
        --setting 'some setting' --csv "$work/csv" \
        --algorithms auto,ring,two_tree:segment=1K,leader:node='(linear)',net='(linear)'
    has "$work/csv" ',ring,.*,correct$' ',two_tree:segment=1K,.*,correct$' \
        ',"leader:node=(linear),net=(linear)",.*,correct$'
    cells 8
    variables=COLLOPT_PCONTROL=on
    bench 0 'MPI_Pcontrol' "$library" --collectives allreduce --sizes 8,4096 \
        --ops noncommutative,sum --csv "$work/csv" --setting 'some setting' --algorithms all
    variables=
    has "$work/csv" '^# host and collopt switched by: MPI_Pcontrol$' \
        ',recursive_doubling,' ',elimination,'
    has "$work/said" ' left out, where the algorithm cannot serve$'
    [ "$(column result | sort -u)" = correct ] || fail "$what: not all results are correct"
}

unserved()
{
    bench 1 'a parameter that there is not' "$library" --collectives reduce_scatter \
        --sizes 64,4096 --algorithms ring:segment=4
    has "$work/said" "info key collopt_reduce_scatter=ring:segment=4 is not understood: ring takes \
no parameters" \
        '^collopt-bench: nothing was measured: what was asked for could serve none of 2 cells'
    ! grep -q reduce_scatter_block "$work/said" || fail "$what: a collective that was not asked for"
}

# An input is fresh from 2 KiB on, and where there are peers, unless told otherwise.
inputs()
{
    bench 0 'fresh input' "$library" --collectives scan,reduce_local --sizes 1024,2048,100K \
        --in-place --csv "$work/csv"
    [ "$(column input | sort | uniq -c | tr -s ' \n' ' ')" = ' 2 fresh 4 same ' ] ||
        fail "$what: not those that should be"
    [ "$(column result | sort -u)" = correct ] || fail "$what: not all results are correct"
    bench 0 'same input' "$library" --collectives reduce --sizes 2048 --input same --csv "$work/csv"
    [ "$(column input)" = same ] || fail "$what: it is fresh"
    has "$work/said" '^# reduce, sum of double, same input ('
}

# Has this MPI library persistent collectives, as configure has found?
has_persistent()
{
    prefix=$(echo "$host" | tr '[:lower:]' '[:upper:]')
    grep -q "^${prefix}_CPPFLAGS = .*-DCOLLOPT_HAVE_PERSISTENT\(_X\)\{0,1\}=1" "$build/Makefile"
}

form()                  # FORM
{
    bench 0 "$1" "$library" --form "$1" --ops sum,noncommutative --sizes 8,4096,100K \
        --setting 'some setting' --csv "$work/csv"
    cells 36
    [ "$(column collective | sort -u | wc -l)" = 6 ] || fail "$what: not all collectives are there"
    [ "$(column form | sort -u)" = "$1" ] || fail "$what: not the form of every cell"
    [ "$(column result | sort -u)" = correct ] || fail "$what: not all results are correct"
    [ "$1" = blocking ] || {
        [ "$(column algorithm | sort -u)" = "$1" ] || fail "$what: collopt has not run every cell"
        has "$work/said" "^# exscan, sum of double, $1 (some setting)\$"
    }
}

# What is no blocking call: each side has requests of its own, of its own functions.
requests()              # FORM
{
    form "$1"
    bench 0 "$1, in place" "$library" --form "$1" --collectives reduce,scan --sizes 4096 \
        --in-place --json
    has "$work/said" "\"form\": \"$1\"" '"in_place": true' '"result": "correct"'
    variables=COLLOPT_PCONTROL=on
    bench 0 "$1, MPI_Pcontrol" "$library" --form "$1" --collectives allreduce --sizes 4096 \
        --csv "$work/csv"
    [ "$(column algorithm)" = "$1" ] || fail "$what: collopt has not run it"
    variables=COLLOPT_ALLREDUCE=host
    bench 0 "$1, left to the host" "$library" --form "$1" --collectives allreduce --sizes 4096 \
        --csv "$work/csv"
    variables=
    [ "$(column algorithm)" = host ] || fail "$what: collopt has run it"
    has "$work/said" 'left every call to the MPI library'
    bench 1 "$1, wrong results" "$work/spoil.so:$library" --form "$1" \
        --collectives allreduce,scan --sizes 8,4096 --csv "$work/csv"
    [ "$(column result | grep -c WRONG)" = 1 ] || fail "$what: not the one that is"
    has "$work/said" 'WRONG result with collopt: allreduce, sum of double, 4096 bytes'
}

forms()
{
    form blocking
    requests nonblocking
    if has_persistent; then
        requests persistent
    else
        refused '^collopt-bench: --form: persistent: the MPI library .* has no MPI_Allreduce_init' \
            --form persistent
    fi
}

# How it measures, on what is known.
measuring()
{
    (cd "$top/bench" && "$compiler" -D_GNU_SOURCE -O2 -I. -I../include -o "$work/test_measure" \
        ../test/bench/test_measure.c lib/measure.c lib/statistics.c lib/bench_mpi.c -ldl -lm) ||
        fail "$host: test_measure.c"
    launch "$host" 2 LD_PRELOAD="$library" "$work/test_measure" ||
        fail "$host, test_measure: status $?"
}

spoiling()
{
    "$compiler" -shared -fPIC -o "$work/spoil.so" "$top/test/bench/spoil.c" -ldl ||
        fail "$host: spoil.c"
    bench 1 'wrong results' "$work/spoil.so:$library" --collectives allreduce,scan \
        --ops sum,noncommutative --sizes 8,4096 --setting 'some setting' --csv "$work/csv"
    cells 8
    [ "$(column result | grep -c WRONG)" = 2 ] || fail "$what: not the two that are"
    has "$work/said" 'WRONG result with collopt: allreduce, sum of double, 4096 bytes' \
        ' 4K .* WRONG$' ' 2 wrong$'
    bench 1 'wrong results in JSON' "$work/spoil.so:$library" --collectives allreduce \
        --sizes 4096 --json
    has "$work/said" '"result": "WRONG"'
}

# Under a launcher of another MPI library each rank is a job of its own.
launched_by_another()
{
    what="$host, another launcher"
    for word in OMPI_COMM_WORLD_SIZE PMI_SIZE SLURM_STEP_NUM_TASKS; do
        env -u OMPI_COMM_WORLD_SIZE -u PMI_SIZE LD_PRELOAD="$library" "$word=2" "$program" $quick \
            --sizes 8 >"$work/said" 2>&1 </dev/null
        found=$?
        [ $found = 2 ] || fail "$what, $word: exit status $found, not 2"
        has "$work/said" "^collopt-bench: $word is 2, and every rank finds itself alone: the \
launcher belongs to another MPI library"
    done
    launch "$host" 1 LD_PRELOAD="$library" SLURM_STEP_NUM_TASKS=2 "$program" $quick --sizes 8 \
        --collectives reduce_local || fail "$what: one rank is refused"
}

refused()               # SENTENCE ARGUMENT...
{
    sentence=$1
    shift
    bench 2 "$*" "$library" "$@"
    [ "$(grep -c '^collopt-bench: ' "$work/said")" = 1 ] ||
        fail "$what: not refused by one sentence"
    has "$work/said" "$sentence"
}

refusing()
{
    refused '^collopt-bench: --collectives: there is no "alreduce"; there are: .* allreduce' \
        --collectives alreduce
    refused '^collopt-bench: --sizes: "16M:8" is not understood; sizes are' --sizes 8,16M:8
    refused '^collopt-bench: --algorithms: none of the collectives asked for has "rong"' \
        --algorithms rong --csv "$work/none"
    [ ! -f "$work/none" ] || fail "$what: a file was written"
    refused "^collopt-bench: --csv: \"$work/absent/csv\" cannot be written: No such file" \
        --csv "$work/absent/csv"
    [ "$host" = mpich ] || return 0        # it starts programs faster
    refused '^collopt-bench: --colectives is not an option' --colectives scan
    refused '^collopt-bench: --ops: there is no "add"; there are: all sum' --ops add
    refused '^collopt-bench: --types: there is no "quad"; there are: all double' --types quad
    refused '^collopt-bench: --sizes: "0" is not understood' --sizes 0
    refused '^collopt-bench: --sizes: "9X" is not understood' --sizes 1T,1K:2T:1T,9X
    refused '^collopt-bench: --sizes: "16777216T" is not understood' --sizes 16777216T
    refused '^collopt-bench: --sizes: "99999999999G" is not understood' --sizes 99999999999G
    refused '^collopt-bench: --sizes: "8:1M:1" is not understood' --sizes 8:1M:1
    refused '^collopt-bench: --input: "old" is not fresh or same' --input old
    refused '^collopt-bench: --form: "lazy" is not blocking, persistent or nonblocking' --form lazy
    refused '^collopt-bench: --form: MPI_Reduce_local is blocking only' \
        --collectives all --form nonblocking
    refused '^collopt-bench: --form: nonblocking reductions have one algorithm' \
        --form nonblocking --algorithms all
    refused '^collopt-bench: --time: "soon" is not a number of seconds' --time soon
    refused '^collopt-bench: --pairs: "1.5" is not a whole number' --pairs 1.5
    refused '^collopt-bench: --seed: "-1" is not a whole number' --seed -1
    refused '^collopt-bench: --picture: "a.gif" ends neither with .svg' --picture a.gif
    refused '^collopt-bench: --progress: "maybe" is not auto, on or off' --progress maybe
    refused '^collopt-bench: --csv needs a value' --csv
    refused '^collopt-bench: scan: there is nothing to be given without an option' scan
    bench 0 help '' --help
    for option in $(sed -n 's/^ *\(--[a-z-]*\).*/\1/p' "$work/said"); do
        grep -q -e "$option" "$top/doc/manual/collopt-bench.1.md" ||
            fail "collopt-bench.1 has no $option"
    done
}

on_host()               # HOST
{
    host=$1 program=$build/bench/$1/collopt-bench variables=
    compiler=$(wrapper "$host")
    measuring
    writing
    again
    choosing
    unserved
    inputs
    spoiling
    forms
    launched_by_another
    refusing
}

test_hosts=$native_hosts
for_each_host on_host
