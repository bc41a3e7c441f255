# overlap: a line for each size and side, results right, shares that are numbers of at most 1,
# collopt has run its side; wrong results and wrong arguments are told.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

run()                   # STATUS WHAT LIBRARIES ARGUMENT...
{
    wanted=$1 what="$host, $2" libraries=$3
    shift 3
    # shellcheck disable=SC2086     # variables
    launch "$host" 2 LD_PRELOAD="$libraries" $variables "$build/bench/$host/overlap" "$@"
    status=$?
    [ $status = "$wanted" ] || fail "$what: exit status $status, not $wanted"
}

has()                   # PATTERN...
{
    for pattern; do
        grep -q -e "$pattern" "$work/said" || fail "$what: nothing like \"$pattern\""
    done
}

column()                # NAME
{
    awk -F, -v name="$1" '
        /^#/ { next }
        !at { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
        { print $at }' "$work/csv"
}

lines()                 # NAME: its values, on one line
{
    column "$1" | tr '\n' ' '
}

measuring()
{
    run 0 'all sizes' "$library" --rounds 3 --setting here --csv "$work/csv"
    has '^# MPI_Iallreduce, sum of double, and a computation of the same time (here)$'
    for size in 64K 256K 1M 4M; do
        has "^ *$size  collopt .* nonblocking\$" "^ *$size  [A-Z].* host\$"
    done
    [ "$(lines bytes)" = '65536 65536 262144 262144 1048576 1048576 4194304 4194304 ' ] ||
        fail "$what: sizes $(lines bytes)"
    [ "$(lines side)" = 'peer collopt peer collopt peer collopt peer collopt ' ] ||
        fail "$what: sides $(lines side)"
    both='host nonblocking '
    [ "$(lines algorithm)" = "$both$both$both$both" ] ||
        fail "$what: what ran was $(lines algorithm)"
    [ "$(column result | sort -u)" = correct ] || fail "$what: not all results are correct"
    for name in hidden hidden_low hidden_high; do
        [ "$(column "$name" | grep -x -e '-\{0,1\}[0-9]*\.[0-9]*' | awk '$1 <= 1' | wc -l)" = 8 ] ||
            fail "$what: $name: $(lines "$name")"
    done
    for name in reduce_us compute_us both_us; do
        [ "$(column "$name" | awk '$1 > 0' | wc -l)" = 8 ] || fail "$what: $name: $(lines "$name")"
    done
    run 0 'computing elsewhere' "$library" --sizes 64K --rounds 3 --elsewhere --csv "$work/csv"
    has 'a computation of the same time elsewhere ('
    [ "$(lines result)" = 'correct correct ' ] || fail "$what: results are $(lines result)"
    # a sleep is never shorter than asked for, and it is asked for what the reduction took before
    [ "$(column compute_us | awk '$1 > 1' | wc -l)" = 2 ] || fail "$what: $(lines compute_us)"
    run 0 JSON "$library" --sizes 64K --rounds 1 --json
    has '"hidden": ' '"library": "collopt"' '"algorithm": "nonblocking"' '"result": "correct"'
}

# What the counters say is told, and so is what they do not say.
passing_on()
{
    variables=COLLOPT_ALLREDUCE=host
    run 0 'left to the host' "$library" --sizes 64K --rounds 1 --csv "$work/csv"
    variables=
    [ "$(lines algorithm)" = 'host host ' ] || fail "$what: what ran was $(lines algorithm)"
    run 0 'without collopt' '' --sizes 64K --rounds 1 --csv "$work/csv"
    has '^overlap: collopt is not loaded'
    [ "$(lines algorithm)" = 'none none ' ] || fail "$what: what ran was $(lines algorithm)"
}

spoiling()
{
    "$compiler" -shared -fPIC -o "$work/spoil.so" "$top/test/bench/spoil.c" -ldl ||
        fail "$host: spoil.c"
    run 1 'wrong results' "$work/spoil.so:$library" --sizes 64K --rounds 1 --csv "$work/csv"
    [ "$(lines result)" = 'correct WRONG ' ] || fail "$what: results are $(lines result)"
    has ' WRONG$'
}

refused()               # SENTENCE ARGUMENT...
{
    sentence=$1
    shift
    run 2 "$*" "$library" "$@"
    has "$sentence"
}

refusing()
{
    refused '^overlap: --rounds: "0" is not a number from 1 to' --rounds 0
    refused '^overlap: --sizes: "9X" is not understood' --sizes 9X
    refused '^overlap: --size[ :].*see --help' --size
    refused '^overlap: "64K" is not an option' 64K
    what="$host, one rank"
    launch "$host" 1 LD_PRELOAD="$library" "$build/bench/$host/overlap" &&
        fail "$what: it is not refused"
    has '^overlap: needs two ranks or more'
}

on_host()               # HOST
{
    host=$1 variables=
    compiler=$(wrapper "$host")
    measuring
    passing_on
    spoiling
    refusing
}

test_hosts=$native_hosts
for_each_host on_host
