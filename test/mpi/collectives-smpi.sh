# Every algorithm on SimGrid's MPI, from the static archive, where ranks are simulated: 8 and 16 of them.

. "${COLLOPT_SOURCE:-.}/test/mpi/collectives.sh"

[ -n "${SMPI_MPICC-x}" ] || skip "collopt is not built for SMPI"
program=$build/test/mpi/smpi/test_collectives

cat >"$work/platform.xml" <<'END'
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><cluster id="all" prefix="n" suffix="" radical="0-15" speed="10Gf" bw="10GBps" lat="1us"/></platform>
END
for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do echo "n$i"; done >"$work/hosts"

launch()                # smpi RANKS [VARIABLE=VALUE]... PROGRAM [ARGUMENT]...
{
    launch_ranks=$2
    shift 2
    simulated=
    while case $1 in *=*) true ;; *) false ;; esac; do
        case $1 in LD_PRELOAD=*) ;; *) simulated="$simulated $1" ;; esac
        shift
    done
    # shellcheck disable=SC2086
    env $simulated timeout "${LAUNCH_SECONDS:-100}" "${SMPI_MPIRUN:-smpirun}" -np "$launch_ranks" -platform "$work/platform.xml" \
        -hostfile "$work/hosts" --cfg=smpi/simulate-computation:no --log=root.thresh:error "$@" </dev/null >"$work/said" 2>&1
}

host=smpi
launch smpi 1 "$program" list
grep '^[a-z_]* [a-z_0-9:=,]*$' "$work/said" >"$work/list"
[ -s "$work/list" ] || fail "$program list"
runs=$(awk '{ n[$1]++ } END { for (c in n) if (n[c] > most) most = n[c]; print most }' "$work/list")
i=0
while [ $i -lt "$runs" ]; do
    # shellcheck disable=SC2046
    one 8 $(settings $i) --
    i=$((i + 1))
done
one 16 --
finish
