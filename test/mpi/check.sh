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
    launch $host "$ranks" LD_PRELOAD="$library" COLLOPT_CHECK=on $variables \
        "$(program $host check)" "$@"
}

trials()                # RANKS [VARIABLE=VALUE]... -- COMMAND...: all go well
{
    checked "$@" || fail "$host, $*: status $?"
}

name()                  # COLLECTIVE: as it is called
{
    case $form in nonblocking) echo "MPI_I$(echo "$1" | tr '[:upper:]' '[:lower:]')" ;; *) echo \
        "MPI_$1" ;; esac
}

# Collopt runs the calls: nonblocking ones after a first blocking one.
mistaken()              # FORM RANKS [VARIABLE=VALUE]...
{
    form=$1 ranks=$2
    shift 2
    odd=$((ranks - 1)) what="$host, $ranks ranks, $form $*"
    of="on a communicator of $ranks ranks: rank $odd"
    case $form in
    nonblocking)
        # three sums behind each mistake; the null buffer goes to the MPI library
        first='right=1 nonblocking' run=$((8 + 10 * 3)) passed=1
        counts='has counts 3, .*[1-3], rank 0 has counts 2, .*2'
        ;;
    *)
        first='' run=20 passed=0
        counts='has 3 elements for rank 0, rank 0 has 2 elements for rank 0'
        ;;
    esac
    # shellcheck disable=SC2086
    trials "$ranks" "$@" -- $first count=$odd root=$odd op=$odd commutes=$odd type=$odd \
        element=$odd collective=$odd counts=$odd sum=$odd null=$odd
    said 1 "^collopt: $(name Allreduce) $of has 11 elements, rank 0 has 12 elements\$" "$what"
    said 1 "^collopt: $(name Reduce) $of has root $odd, rank 0 has root 0\$" "$what"
    said 1 "^collopt: $(name Scan) $of has operation max, rank 0 has operation sum\$" "$what"
    said 1 "^collopt: $(name Exscan) $of has an operation that does not commute, rank 0 has an \
operation that commutes\$" "$what"
    said 1 "^collopt: $(name Allreduce) $of has elements of type float, rank 0 has elements of \
type int32\$" "$what"
    said 1 "^collopt: $(name Reduce_scatter_block) $of has elements of 8 bytes (double), rank 0 \
has elements of 4 bytes (int32)\$" "$what"
    said 1 \
        "^collopt: $(name Allreduce) $of calls $(name Reduce), rank 0 calls $(name Allreduce)\$" \
        "$what"
    said 1 "^collopt: $(name Reduce_scatter) $of $counts\$" "$what"
    said 1 "^collopt: $(name Reduce_scatter) $of has $((2 * ranks + 3)) elements in all, rank 0 \
has $((2 * ranks)) elements in all\$" "$what"
    said 1 "^collopt: $(name Allreduce) $of has arguments that only the MPI library can judge .*, \
rank 0 has arguments that collopt" "$what"
    said 10 '^collopt' "$what"
    said $((ranks - passed)) "^rank [0-9]*: run $run passed 0\$" "$what"
    said $passed "^rank $odd: run $run passed 1\$" "$what"
}

right()                 # FORM RANKS [VARIABLE=VALUE]...: all is right
{
    form=$1 ranks=$2
    shift 2
    # shellcheck disable=SC2046
    trials "$ranks" "$@" -- $(echo "$form" | sed 's/^blocking//') right=4
    said 0 '^collopt' "$host, $ranks ranks, $form $*, nothing wrong"
    said "$ranks" '^rank [0-9]*: run 32 passed 0$' "$host, $ranks ranks, $form $*, nothing wrong"
}

several()               # RANKS [VARIABLE=VALUE]...
{
    ranks=$1
    shift
    odd=$((ranks - 1))
    trials "$ranks" "$@" -- right=1 among=$odd among=$odd
    said 1 "^collopt: MPI_Iallreduce on .* $ranks ranks: rank $odd has 1 elements, rank 0 has 12 \
elements\$" "$host, several, $*"
    said 1 '^collopt' "$host, several, $*"
}

nonblocking_ones()
{
    # the counts that differ may be behind those that are told
    trials 8 -- right=1 nonblocking counts=7
    said 1 \
        "^collopt: MPI_Ireduce_scatter on .*: rank 7 has counts 3, 2, 2, 2, 2, 2, ... (hash \
[0-9a-f]*), rank 0 has counts 2, 2" \
        "$host"
    # a rank that is busy elsewhere: the other tells it after some seconds, and both may
    trials 2 -- right=1 late=1
    said 2 '^collopt: .*: rank 1 has 1 elements, rank 0 has 12 elements$' "$host, late"
    trials 3 -- ring=3
    said 1 '^collopt: MPI_Reduce .* root' "$host, ring"
    # a refused call leaves its tags to one of a hundred calls behind it
    ! lends_progress "$host" || trials 3 COLLOPT_SHM=off -- right=1 among=1 nonblocking right=20
    # Open MPI fails there if its collective has several rounds
    trials 4 OMPI_MCA_coll_libnbc_iallgather_algorithm=2 -- free=0 free=2 free=1
    said 0 '^collopt' "$host, freed early"
    # nothing was reduced yet, so that the MPI library serves the call
    trials 3 -- fresh nonblocking host count=1
    said 1 \
        'collopt: MPI_Iallreduce on .* 3 ranks: rank 1 has 11 elements, rank 0 has 12 elements$' \
        "$host, not active"
    # most of the ranks, and a communicator without rank 0 of MPI_COMM_WORLD
    trials 4 -- upper right=1 nonblocking op=2
    said 1 \
        "^collopt: .*of 3 ranks: rank 2 (3 in MPI_COMM_WORLD) has operation max, rank 0 (1 in \
MPI_COMM_WORLD) has" \
        "$host"
    trials 3 COLLOPT_ALLREDUCE=host -- right=1 nonblocking host count=2
    said 1 'collopt: .*: rank 2 has 11 elements, rank 0 has 12 elements$' \
        "$host, nonblocking, left to the MPI library"
    # the MPI library has begun it on some ranks only, so nothing can follow
    checked 3 COLLOPT_PCONTROL=on -- right=1 nonblocking fatal pcontrol=1 && fail \
        "$host: the job goes on, switched off on one rank"
    said 1 \
        "^collopt: MPI_Iallreduce on .*: rank 1 has collopt switched off, rank 0 has collopt \
switched on\$" \
        "$host, fatal"
    checked 3 -- right=1 nonblocking fatal root=1 && fail \
        "$host: the job goes on after an error of a nonblocking call"
    said 1 \
        "^collopt: MPI_Ireduce on a communicator of 3 ranks: rank 1 has root 2, rank 0 has \
root 0\$" \
        "$host, nonblocking, fatal"
    said 0 'stuck' "$host, nonblocking, fatal"
}

check()                 # HOST
{
    host=$1
    for ranks in 2 3 5; do
        for form in blocking nonblocking; do
            right $form $ranks
            mistaken $form $ranks
        done
        several $ranks
        lends_progress "$host" || continue
        right nonblocking $ranks COLLOPT_SHM=off
        mistaken nonblocking $ranks COLLOPT_SHM=off
        several $ranks COLLOPT_SHM=off
    done
    nonblocking_ones
    # the rank that is unlike the others is the first one; the same mistake again is not told again
    trials 3 COLLOPT_PCONTROL=on -- count=0 count=0 pcontrol=1
    said 1 \
        "^collopt: MPI_Allreduce on a communicator of 3 ranks: rank 0 has 11 elements, rank 1 \
has 12 elements\$" \
        "$host"
    said 1 '^collopt: .*: rank 1 has collopt switched off, rank 0 has collopt switched on$' "$host"
    said 2 '^collopt' "$host, the first rank"
    # most of the ranks, and a communicator without rank 0 of MPI_COMM_WORLD
    trials 4 -- upper op=2
    said 1 \
        "^collopt: .*of 3 ranks: rank 2 (3 in MPI_COMM_WORLD) has operation max, rank 0 (1 in \
MPI_COMM_WORLD) has" \
        "$host"
    said 1 '^collopt' "$host, another communicator"
    # what cannot be compared is told
    trials 2 COLLOPT_COMMUNICATORS=0 -- right=1
    said 1 \
        '^collopt: a communicator of 2 ranks keeps .*, or COLLOPT_COMMUNICATORS=0 reached there' \
        "$host, not taken over"
    said 1 '^collopt' "$host, not taken over"
    trials 4 COLLOPT_COMMUNICATORS=0 -- upper right=1
    said 1 \
        '^collopt: a communicator of 3 ranks keeps .*, or COLLOPT_COMMUNICATORS=0 reached there' \
        "$host, without rank 0 of the world"
    # on two nodes of four, several algorithms of a Reduce_scatter_block are predicted to take as
    # long, but for the last bit
    trials 8 COLLOPT_TOPOLOGY=nodes:4 -- upwards=1
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
