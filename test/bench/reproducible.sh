# bench/reproducible: a line for each cell with what placement and exact cost, failures are told,
# and wrong arguments are refused.

. "${COLLOPT_SOURCE:-.}/test/mpi/lang.sh"

costs()                 # ARGUMENT...: what it says goes to $work/said
{
    timeout 120 sh "$top/bench/reproducible" --build "$build" "$@" </dev/null >"$work/said" 2>&1
}

refused()               # STATUS WHAT-IT-SAYS ARGUMENT...
{
    wanted=$1 says=$2
    shift 2
    costs "$@"
    status=$?
    [ $status = "$wanted" ] || fail "$*: status $status, not $wanted"
    grep -q "^bench/reproducible: $says" "$work/said" || fail "$*: does not say \"$says\""
}

refused 2 '--fast is not an option' --fast
refused 2 '--mpi needs a value' --mpi
refused 2 '--mpi lam: must be openmpi or mpich' --mpi lam true
refused 2 'give a launcher'
refused 2 'collopt is not built in /nowhere' --build /nowhere true
refused 1 'COLLOPT_REPRODUCIBLE=off: collopt-bench failed' false

built_for openmpi || { [ "$failures" = 0 ] && skip "collopt is not built for openmpi"; finish; }
# shellcheck disable=SC2086     # the launcher has options
costs --collectives allreduce,scan --sizes 8,64K --pairs 6 --csv "$work/csv" $OPENMPI_RUN -n 2 ||
    fail "status $?"
for cell in 'allreduce +8 .* gather' 'allreduce +65536 .* gather' 'scan +8 .* gather' \
    'scan +65536 .* gather'; do
    [ "$(grep -cE "^$cell\$" "$work/said")" = 1 ] || fail "no line, or not one, of $cell"
done
[ "$(grep -cE '^[a-z_]+ +[0-9]+ +[0-9.]+ +[0-9.]+ +[0-9.]+  [a-z]+$' "$work/said")" = 4 ] ||
    fail "not four lines of figures"
[ "$(grep -c '^"\{0,1\}exact' "$work/csv")" = 4 ] ||
    fail "not four records of exact: $(cat "$work/csv")"
finish
