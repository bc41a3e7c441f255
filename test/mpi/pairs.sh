# Pairs with gaps, for MINLOC and MAXLOC: buffers that end with the last element's data, and gaps
# that another thread writes.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

# The algorithms whose messages are in several runs, of the whole vector's end before its beginning,
# and what is chosen.
pairs()                 # HOST
{
    for how in guards gaps; do
        quiet "$1" 2 "$(program "$1" pairs)" $how
        quiet "$1" 3 COLLOPT_ALLREDUCE=circulant COLLOPT_REDUCE_SCATTER=circulant \
            COLLOPT_REDUCE_SCATTER_BLOCK=circulant COLLOPT_REDUCE=circulant COLLOPT_SCAN=transpose \
            COLLOPT_EXSCAN=transpose "$(program "$1" pairs)" $how
    done
    quiet "$1" 3 COLLOPT_ALLREDUCE=swing COLLOPT_REDUCE_SCATTER=ring \
        COLLOPT_REDUCE=ring COLLOPT_CUT=100 "$(program "$1" pairs)" guards
}

# And predefined datatypes that few hosts have, in the host's own bits.
rare()                  # HOST
{
    launch "$1" 2 "$(program "$1" rare)" || fail "$1, rare datatypes without collopt: status $?"
    for with in COLLOPT_SHM=auto COLLOPT_SHM=off COLLOPT_REPRODUCIBLE=exact; do
        quiet "$1" 2 $with "$(program "$1" rare)"
    done
}

both()                  # HOST
{
    pairs "$1"
    rare "$1"
}

for_each_host both
