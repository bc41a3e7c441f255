# collopt_exact_sum on real MPIs: the same bits on any number of ranks, whether collopt has taken
# the communicator over or is off.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

# What is refused is said.
quietly()               # HOST RANKS [VARIABLE=VALUE]... PROGRAM
{
    quiet_host=$1 quiet_ranks=$2
    shift 2
    launch "$quiet_host" "$quiet_ranks" LD_PRELOAD="$library" "$@" ||
        fail "$quiet_host, $quiet_ranks ranks, $*: status $?"
    said "$quiet_ranks" '^collopt: collopt_exact_sum: the operation is none of' "$quiet_host"
    said "$((4 * quiet_ranks))" '^collopt: ' "$quiet_host, $*"
}

exact_sum()             # HOST
{
    with=$(program "$1" exact_sum)
    quietly "$1" 2 COLLOPT_AFTER=1 "$with"
    quietly "$1" 3 COLLOPT=off "$with"
    [ "$(mpi_of "$1")" = openmpi ] || return
    for ranks in 1 4 5 8; do
        quietly "$1" $ranks COLLOPT_AFTER=1 "$with"
    done
    quietly "$1" 7 COLLOPT_ISA=generic "$with"
}

for_each_host exact_sum
