# mpi4py with collopt preloaded, and without.
. "${COLLOPT_SOURCE:-.}/test/mpi/python/check.sh"

launch "$host" 2 "$python" "$family" || fail "2 ranks without collopt: status $?"
for ranks in 1 2 3 4; do
    launch_collopt "$host" $ranks "$python" "$family" || fail "$ranks ranks: status $?"
    grep 'counted by collopt' "$work/said" || fail "on $ranks ranks not counted by collopt"
    launch_collopt "$host" $ranks "$python" "$top/examples/exact_sum.py" ||
        fail "exact_sum.py on $ranks ranks: status $?"
done
finish
