# mpi4py that loads collopt itself: mpi4py.profile(path).
. "${COLLOPT_SOURCE:-.}/test/mpi/python/check.sh"

for ranks in 1 2 4; do
    launch "$host" $ranks COLLOPT_AFTER=1 "$python" "$family" "$library" ||
        fail "$ranks ranks: status $?"
    grep 'counted by collopt' "$work/said" || fail "on $ranks ranks not counted by collopt"
done
finish
