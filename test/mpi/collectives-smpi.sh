# Every algorithm on SimGrid's MPI, from the static archive, where ranks are simulated: 8 of them
# with everything there is to try, 64 and 96 with a sum that all algorithms serve.

. "${COLLOPT_SOURCE:-.}/test/mpi/collectives.sh"

[ -n "${SMPI_MPICC-x}" ] || skip "collopt is not built for SMPI"
program=$build/test/mpi/smpi/test_collectives
. "$top/test/mpi/simulated.sh"

launch()
{
    simulate "$@"
}

runs_of()               # LIST: so many as the collective with the most algorithms has
{
    awk '{ n[$1]++ } END { for (c in n) if (n[c] > most) most = n[c]; print most }' "$1"
}

host=smpi
launch smpi 1 "$program" list
grep '^[a-z_]* [a-z_0-9:=,]*$' "$work/said" >"$work/list"
[ -s "$work/list" ] || fail "$program list"
runs=$(runs_of "$work/list")
i=0
while [ $i -lt "$runs" ]; do
    # shellcheck disable=SC2046
    one 8 $(settings $i) --
    i=$((i + 1))
done
one 16 --

# Parameters other than an algorithm's own have been tried, and lists of them are for eight ranks.
grep -v : "$work/list" >"$work/plain" && mv "$work/plain" "$work/list"
runs=$(runs_of "$work/list")
i=0
while [ $i -lt "$runs" ]; do
    forced=$(settings $i | tr '\n' ' ')
    # shellcheck disable=SC2086
    one 64 $forced -- count=1000 op=sum type=int32
    # shellcheck disable=SC2086
    one 96 $forced -- count=1000 op=sum type=int32
    i=$((i + 1))
done
finish
