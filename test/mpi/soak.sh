# Long random sequences of calls, each with settings of its own; test_soak.c says what they are after.  A failure says its
# seed, its step and its call, and what to run.
#
# TEST_SOAK_SEEDS='100 101': these instead of the few that are run each time, on each of TEST_SOAK_RANKS='2 3 5';
# TEST_SOAK_HOSTS='mpich smpi', TEST_SOAK_STEPS=1000, TEST_SOAK_MOST=BYTES of a vector.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"
. "$top/test/mpi/simulated.sh"

start()                 # HOST RANKS ...
{
    case $1 in
    smpi) LAUNCH_SECONDS=${TEST_SOAK_SECONDS:-300} simulate "$@" ;;
    *) LAUNCH_SECONDS=${TEST_SOAK_SECONDS:-300} launch "$@" ;;
    esac
}

ours=0 all=0
soak()                  # HOST RANKS STEPS SEED
{
    with=$(program "$1" soak) most=${TEST_SOAK_MOST:-4194304}
    start "$1" 1 "$with" settings "$4" "$2" || fail "$1, $2 ranks: no settings for seed $4"
    settings=$(grep '^COLLOPT_' "$work/said" | tr '\n' ' ')
    # shellcheck disable=SC2086     # a list
    if ! start "$1" "$2" LD_PRELOAD="$library" $settings "$with" "$4" "$3" 0 "$most" \
            || ! grep -q '^test_soak: ' "$work/said"; then
        fail "$1, $2 ranks: mpirun -n $2 env LD_PRELOAD=.libs/libcollopt.so $settings $with $4 $3 0 $most"
        return
    fi
    ! grep '^collopt' "$work/said" | grep -v ' cannot serve \| COLLOPT_COMMUNICATORS=' \
        || fail "$1, $2 ranks, seed $4: collopt complains, with $settings"
    counts=$(sed -n 's/^test_soak: seed .*: \([0-9]*\) calls .*, \([0-9]*\) of them .*/\1 \2/p' "$work/said")
    all=$((all + ${counts% *})) ours=$((ours + ${counts% *} - ${counts#* }))
}

few()                   # HOST
{
    case $1 in
    smpi)
        TEST_SOAK_MOST=100000 soak smpi 17 40 4
        return
        ;;
    openmpi | abi@openmpi) soak "$1" 5 100 3 ;;
    esac
    soak "$1" 2 150 1
    soak "$1" 3 150 7
}

many()                  # HOST
{
    case " ${TEST_SOAK_HOSTS-$1} " in *" $1 "*) ;; *) return ;; esac
    for ranks in ${TEST_SOAK_RANKS:-2 3 5}; do
        for seed in $TEST_SOAK_SEEDS; do
            soak "$1" "$ranks" "${TEST_SOAK_STEPS:-400}" "$seed"
        done
    done
}

# Settings leave some of the calls to the MPI library, but not most of them.
each()                  # HOST
{
    ours=0 all=0
    if [ -n "${TEST_SOAK_SEEDS-}" ]; then many "$1"; else few "$1"; fi
    echo "$1: $all calls of rank 0, $ours of them by collopt"
    [ $((2 * ours)) -ge "$all" ] || fail "$1: collopt ran $ours of $all calls"
}

[ -z "${SMPI_MPICC-x}" ] || each smpi
for_each_host each
