# Every algorithm by the host's messages alone, on two and three ranks: other tests use shared
# memory.  And shared memory with segments so small that most messages have to go by the host after
# all, and for long vectors.

. "${COLLOPT_SOURCE:-.}/test/mpi/collectives.sh"

for host in $test_hosts; do
    prepare "$host"
    i=0
    while [ $i -lt "$runs" ]; do
        forced=$(settings $i | tr '\n' ' ')
        # shellcheck disable=SC2086
        one 2 COLLOPT_SHM=off $forced --
        # shellcheck disable=SC2086
        [ "$host" = mpich ] || one 3 COLLOPT_SHM=off $forced -- count=1000
        i=$((i + 1))
    done
    one 3 COLLOPT_SHM=off -- 2,1
    one 3 COLLOPT_SHM=off TEST_LONGEST=5000 -- count=5000
    one 3 COLLOPT_SHM_SIZE=64K --
    for algorithm in linear gather alltoall recursive_multiplying recursive_splitting; do
        one 5 COLLOPT_SHM_SIZE=64K COLLOPT_ALLREDUCE=$algorithm -- 5 allreduce count=1000
    done
    one 3 COLLOPT_TOPOLOGY=nodes:2,1 --
    one 2 TEST_LONGEST=300001 -- count=300001
    one 2 COLLOPT_WAIT=spin -- count=17
done
finish
