# Much of everything: results are compared and memory stays flat.  This runs a short part; by hand,
# in the build folder,
#
#     TEST_LOAD=long COLLOPT_SOURCE=.. sh ../test/mpi/load.sh
#
# does a million reductions and ten thousand communicators on 8 ranks, and vectors beyond 2^31
# elements where the MPI library has such counts and the machine the memory (12 GiB).

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

part()                  # HOST RANKS SUBJECT SIZE
{
    quiet "$1" "$2" "$(program "$1" load)" "$3" "$4"
    grep ' on [0-9]* ranks: ' "$work/said"
}

# Two ranks with two vectors each.
largest()               # HOST
{
    free=$(awk '/^MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)
    [ "$free" -ge 12 ] || { echo "left out: large vectors, as there are $free GiB"; return; }
    part "$1" 2 large 1073741824
    # MPI_Allreduce_c
    nm -D "$(program "$1" load)" | grep -q MPI_Allreduce_c || return 0
    part "$1" 2 large 2200000000
}

load()                  # HOST
{
    if [ "${TEST_LOAD-}" = long ]; then
        LAUNCH_SECONDS=3600
        ranks=8 many=10000
        # MPICH never yields, and has no more than 2048 contexts
        [ "$(mpi_of "$1")" = openmpi ] || ranks=2 many=900
        part "$1" $ranks small 1000000
        part "$1" $ranks communicators $many
        largest "$1"
    else
        part "$1" 2 small 5000
        part "$1" 2 communicators 100
        part "$1" 2 large 20000000
    fi
}

for_each_host load
