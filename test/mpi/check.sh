# COLLOPT_CHECK=on: ranks that disagree get an error and one line that names the rank and what
# differs; others are left in peace.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

host=
checked()               # RANKS [VARIABLE=VALUE]... -- COMMAND...
{
    ranks=$1
    shift
    variables_of "$@"
    shift "$words"
    # shellcheck disable=SC2086
    LAUNCH_SECONDS=60 launch $host "$ranks" LD_PRELOAD="$library" COLLOPT_CHECK=on $variables \
        "$(program $host check)" "$@"
}

trials()                # RANKS [VARIABLE=VALUE]... -- COMMAND...: all go well
{
    checked "$@" || fail "$host, $*: status $?"
}

mistaken()              # RANKS
{
    odd=$(($1 - 1))
    of="on a communicator of $1 ranks: rank $odd"
    trials "$1" -- count=$odd root=$odd op=$odd commutes=$odd type=$odd element=$odd \
        collective=$odd counts=$odd sum=$odd null=$odd
    said 1 "^collopt: MPI_Allreduce $of has 11 elements, rank 0 has 12 elements\$" "$host"
    said 1 "^collopt: MPI_Reduce $of has root $odd, rank 0 has root 0\$" "$host"
    said 1 "^collopt: MPI_Scan $of has operation max, rank 0 has operation sum\$" "$host"
    said 1 "^collopt: MPI_Exscan $of has an operation that does not commute, rank 0 has an \
operation that commutes\$" "$host"
    said 1 "^collopt: MPI_Allreduce $of has elements of type float, rank 0 has elements of type \
int32\$" "$host"
    said 1 "^collopt: MPI_Reduce_scatter_block $of has elements of 8 bytes (double), rank 0 has \
elements of 4 bytes (int32)\$" "$host"
    said 1 "^collopt: MPI_Allreduce $of calls MPI_Reduce, rank 0 calls MPI_Allreduce\$" "$host"
    said 1 "^collopt: MPI_Reduce_scatter $of has 3 elements for rank 0, rank 0 has 2 elements for \
rank 0\$" "$host"
    said 1 "^collopt: MPI_Reduce_scatter $of has $((2 * $1 + 3)) elements in all, rank 0 has \
$((2 * $1)) elements in all\$" "$host"
    said 1 "^collopt: MPI_Allreduce $of has arguments that only the MPI library can judge .*, \
rank 0 has arguments that collopt" "$host"
    said 10 '^collopt' "$host, $1 ranks, mistakes"
    said "$1" '^rank [0-9]*: run 20 passed 0$' "$host, $1 ranks, mistakes"
}

check()                 # HOST
{
    host=$1
    for ranks in 2 3 5; do
        trials "$ranks" -- right=4
        said 0 '^collopt' "$host, $ranks ranks, nothing wrong"
        said "$ranks" '^rank [0-9]*: run 32 passed 0$' "$host, $ranks ranks, nothing wrong"
        mistaken "$ranks"
    done
    # the rank that is unlike the others is the first one; the same mistake again is not told again
    trials 3 COLLOPT_PCONTROL=on -- count=0 count=0 pcontrol=1
    said 1 '^collopt: MPI_Allreduce on a communicator of 3 ranks: rank 0 has 11 elements, '\
'rank 1 has 12 elements$' "$host"
    said 1 '^collopt: .*: rank 1 has collopt switched off, rank 0 has collopt switched on$' "$host"
    said 2 '^collopt' "$host, the first rank"
    # most of the ranks, and a communicator without rank 0 of MPI_COMM_WORLD
    trials 4 -- upper op=2
    said 1 '^collopt: .*of 3 ranks: rank 2 (3 in MPI_COMM_WORLD) has operation max, '\
'rank 0 (1 in MPI_COMM_WORLD) has' "$host"
    said 1 '^collopt' "$host, another communicator"
    # what cannot be compared is told
    trials 2 COLLOPT_COMMUNICATORS=0 -- right=1
    said 1 \
        '^collopt: a communicator of 2 ranks keeps .*, or COLLOPT_COMMUNICATORS=0 reached there' \
        "$host, not engaged"
    said 1 '^collopt' "$host, not engaged"
    trials 4 COLLOPT_COMMUNICATORS=0 -- upper right=1
    said 1 \
        '^collopt: a communicator of 3 ranks keeps .*, or COLLOPT_COMMUNICATORS=0 reached there' \
        "$host, without rank 0 of the world"
    # on two nodes of four, several algorithms of a Reduce_scatter_block are predicted to take as
    # long, but for the last bit
    trials 8 COLLOPT_NODE_RANKS=4 -- upwards=1
    said 0 '^collopt' "$host, a rank that rounds otherwise"
    # whatever serves the call, and switched off it is silent
    trials 3 COLLOPT_ALLREDUCE=host -- right=1 count=2
    said 1 '^collopt' "$host, left to the MPI library"
    trials 3 COLLOPT=off -- right=1
    said 0 '^collopt' "$host, off"
    # as it is by default: the job ends
    checked 3 -- fatal root=1 && fail "$host: the job goes on after an error"
    said 1 \
        '^collopt: MPI_Reduce on a communicator of 3 ranks: rank 1 has root 2, rank 0 has root 0$' \
        "$host, fatal"
    said 0 'stuck' "$host, fatal"
}

for_each_host check
