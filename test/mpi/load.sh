# Much of everything: results are compared and memory stays flat.  This runs a short part; by hand,
# in the build folder,
#
#     TEST_LOAD=long COLLOPT_SOURCE=.. sh ../test/mpi/load.sh
#
# does a million reductions, ten thousand communicators and a minute of 8 threads on 8 communicators
# on 8 ranks, and vectors beyond 2^31 elements, of char where the MPI library has such counts and in
# blocks everywhere, if the machine has the memory (12 GiB).  TEST_LOAD=small, communicators,
# threads or large: only that part.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

part()                  # HOST RANKS SUBJECT SIZE
{
    quiet "$1" "$2" "$(program "$1" load)" "$3" "$4"
    grep ' on [0-9]* ranks: ' "$work/said"
}

# Two ranks; most of what they give is never touched.
largest()               # HOST
{
    free=$(awk '/^MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)
    [ "$free" -ge 12 ] || { echo "left out: large vectors, as there are $free GiB"; return; }
    part "$1" 2 large 1073741824
    part "$1" 2 blocks 2200000000
    # MPI_Allreduce_c
    nm -D "$(program "$1" load)" | grep -q MPI_Allreduce_c || return 0
    part "$1" 2 large 2200000000
}

load()                  # HOST
{
    LAUNCH_SECONDS=3600
    ranks=8 many=10000
    # MPICH never yields, and has no more than 2048 contexts
    [ "$(mpi_of "$1")" = openmpi ] || ranks=2 many=900
    case ${TEST_LOAD-} in
    small | long) part "$1" $ranks small 1000000 ;;
    esac
    case ${TEST_LOAD-} in
    communicators | long) part "$1" $ranks communicators $many ;;
    esac
    case ${TEST_LOAD-} in
    threads | long) part "$1" $ranks threads 60 ;;
    esac
    case ${TEST_LOAD-} in
    large | long) largest "$1" ;;
    '')
        part "$1" 2 small 5000
        part "$1" 2 communicators 100
        part "$1" 2 threads 1
        part "$1" 2 large 20000000
        part "$1" 2 blocks 20000000
        ;;
    esac
}

for_each_host load
