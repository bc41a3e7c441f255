# As launch() of lang.sh, which is to be sourced before, for up to 96 ranks of SimGrid's MPI.  There
# is nothing to preload: the archive is in the program.

cat >"$work/platform.xml" <<'END'
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="all" prefix="n" suffix="" radical="0-95" speed="10Gf" bw="10GBps" lat="1us"/>
</platform>
END
awk 'BEGIN { for (i = 0; i < 96; i++) print "n" i }' >"$work/hosts"

# The simulator's own collectives, which the tests use beside, are quadratic in the ranks unless
# they are chosen.
simulate()              # smpi RANKS [VARIABLE=VALUE]... PROGRAM [ARGUMENT]...
{
    launch_ranks=$2
    shift 2
    simulated=
    while case $1 in *=*) true ;; *) false ;; esac; do
        case $1 in LD_PRELOAD=*) ;; *) simulated="$simulated $1" ;; esac
        shift
    done
    # shellcheck disable=SC2086
    env $simulated timeout "${LAUNCH_SECONDS:-400}" "${SMPI_MPIRUN:-smpirun}" -np "$launch_ranks" \
        -platform "$work/platform.xml" -hostfile "$work/hosts" --cfg=smpi/simulate-computation:no \
        --cfg=smpi/coll-selector:mpich --log=root.thresh:error "$@" </dev/null >"$work/said" 2>&1
}
