# Every algorithm on SimGrid's MPI, from the static archive, where ranks are simulated: 8 of them with everything there is to
# try, 64 and 96 with a sum that all algorithms serve.

. "${COLLOPT_SOURCE:-.}/test/mpi/collectives.sh"

[ -n "${SMPI_MPICC-x}" ] || skip "collopt is not built for SMPI"
program=$build/test/mpi/smpi/test_collectives

cat >"$work/platform.xml" <<'END'
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><cluster id="all" prefix="n" suffix="" radical="0-95" speed="10Gf" bw="10GBps" lat="1us"/></platform>
END
awk 'BEGIN { for (i = 0; i < 96; i++) print "n" i }' >"$work/hosts"

# The simulator's own collectives, which the tests use beside, are quadratic in the ranks unless they are chosen.
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
        -hostfile "$work/hosts" --cfg=smpi/simulate-computation:no --cfg=smpi/coll-selector:mpich \
        --log=root.thresh:error "$@" </dev/null >"$work/said" 2>&1
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
