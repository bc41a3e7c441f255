# Every algorithm of the registry on one host, against a serial fold: collectives-<host>.sh source
# this and call `all`.
#
# What is forced is read once per process, so there is one run for the first algorithms of all
# collectives, one for the second ones, and so on; collectives that have no more are left out.
# Eight ranks are one group, then several smaller ones at the same time; two ranks have a processor
# each, where waiting is another.  What depends on the number of ranks is in schedules, which are
# proved without MPI, and is the same for each MPI: the first host has groups of all sizes.
#
# A failure says its words; alone it runs by
#
#     mpirun -n RANKS env LD_PRELOAD=.libs/libcollopt.so COLLOPT_AFTER=1 COLLOPT_ALLREDUCE=ring \
#         test/mpi/openmpi/test_collectives allreduce op=affine type=dense count=17 in_place
#
# TEST_QUICK=1: each collective once by each form, on 3 ranks.
# TEST_THOROUGH=1: all combinations, on 13 ranks too, and the usual ones on 12 and 16.
# TEST_ONLY='allreduce ring': that algorithm alone.

. "${COLLOPT_SOURCE:-.}/test/mpi/lang.sh"

# The I-th algorithm of each collective that has so many, as settings.
settings()              # I
{
    awk -v i="$1" -v only="${TEST_ONLY-}" '
        index($0, only) == 1 || only == "" { list[$1, n[$1]++] = $2 }
        END { for (c in n) if (i < n[c]) printf "COLLOPT_%s=%s\n", toupper(c), list[c, i] }' \
        "$work/list"
}

# Of each forced algorithm that could not serve a trial there must be one notice; otherwise nothing
# may be said.
judge()                 # STATUS WHAT...
{
    status=$1
    shift
    [ "$status" = 0 ] || fail "$*: status $status"
    refused=$(sed -n \
        's/^test_collectives:.* \([0-9]*\) forced algorithms could not serve all$/\1/p' \
        "$work/said")
    noticed=$(grep -c '^collopt: .* cannot serve .*; the next choice is used$' "$work/said")
    [ "$refused" = "$noticed" ] ||
        fail "$*: $refused algorithms could not serve all, $noticed notices"
    ! grep '^collopt' "$work/said" | grep -v ' cannot serve ' || fail "$*: collopt complains"
    ! grep 'leaked' "$work/said" || fail "$*: something is leaked"
}

prepare()               # HOST
{
    host=$1
    program=$build/test/mpi/$(abi_of "$host")/test_collectives
    built_for "$host" || skip "collopt is not built for $host"
    launch "$host" 1 "$program" list &&
        grep "^[a-z_]* [a-z_0-9:=,()]*$" "$work/said" >"$work/list" ||
        { fail "$program list"; finish; }
    runs=$(awk '{ n[$1]++ } END { for (c in n) if (n[c] > most) most = n[c]; print most }' \
        "$work/list")
    [ -z "${TEST_ONLY-}" ] || runs=$(grep -c "^$TEST_ONLY" "$work/list")
}

one()                   # RANKS [VARIABLE=VALUE]... -- [GROUPS]... [WORD]...
{
    ranks=$1
    shift
    variables_of "$@"
    shift "$words"
    # shellcheck disable=SC2086     # lists
    launch "$host" "$ranks" LD_PRELOAD="$library" COLLOPT_AFTER=1 \
        $variables "$program" "$@"
    judge $? "$host, $ranks ranks,$variables $*"
}

quick()
{
    for collective in $(awk '{ print $1 }' "$work/list" | sort -u); do
        for form in blocking persistent nonblocking; do
            one 3 TEST_FORM=$form -- "$collective" count=17
        done
    done
    finish
}

all()                   # HOST
{
    prepare "$1"
    [ -z "${TEST_QUICK-}" ] || quick
    case $test_hosts in "$host"*) groups='7,1 5,3 4,2,2' ;; *) groups=5,3 ;; esac
    i=0
    while [ $i -lt "$runs" ]; do
        forced=$(settings $i | tr '\n' ' ')
        # shellcheck disable=SC2086
        one 8 $forced -- $groups
        # shellcheck disable=SC2086
        one 2 $forced --
        i=$((i + 1))
    done
    one 1 --
    one 3 -- 2,1
    on_nodes
    for grid in torus:2x4 mesh:8; do                    # on which the farthest are sent to first
        one 8 COLLOPT_TOPOLOGY=$grid COLLOPT_ALLREDUCE=recursive_multiplying:radix=8 \
            COLLOPT_REDUCE=recursive_splitting:radix=4 \
            COLLOPT_REDUCE_SCATTER=recursive_splitting:radix=8 \
            COLLOPT_REDUCE_SCATTER_BLOCK=near_splitting:radices=2x2x2 \
            COLLOPT_SCAN=recursive_multiplying:radix=4 -- count=17
        one 8 COLLOPT_TOPOLOGY=$grid COLLOPT_ALLREDUCE=recursive_splitting:radix=4,splits=1 \
            COLLOPT_REDUCE=recursive_splitting:radices=2x4 \
            COLLOPT_REDUCE_SCATTER=recursive_splitting:radices=2x4 \
            COLLOPT_REDUCE_SCATTER_BLOCK=near_splitting:radix=4 \
            COLLOPT_EXSCAN=recursive_multiplying:radix=8 -- count=1000
    done
    one 8 COLLOPT_ALLREDUCE=recursive_splitting:radix=4,chunks=3 \
        COLLOPT_REDUCE=recursive_splitting:chunks=2 COLLOPT_SCAN=transpose:width=2,chunks=4 \
        COLLOPT_EXSCAN=transpose:width=2,chunks=3 -- 6,2 count=1000
    one 8 COLLOPT_ALLREDUCE=recursive_splitting:radix=2,strands=3 \
        COLLOPT_REDUCE=recursive_splitting:radix=2,strands=2,chunks=2 \
        COLLOPT_REDUCE_SCATTER=strided_splitting:radix=4 \
        COLLOPT_REDUCE_SCATTER_BLOCK=strided_splitting:radices=2x4 --
    one 8 COLLOPT_REDUCE=postal_tree:parts=4,window=1 -- 6,2 reduce
    one 8 COLLOPT_CUT=1000 -- count=1000                # messages cut in many
    one 4 COLLOPT_CUT=1 -- count=17
    # five elements by their size, which all ranks know; by the extent, which not all have, two
    one 4 COLLOPT_CUT=40 COLLOPT_REDUCE=chain:segment=40 \
        COLLOPT_SCAN=chain:segment=40 -- type=differing
    one 4 COLLOPT_CUT=40 -- type=differing
    # in the pieces that suit the host: eager ones, and such as caches hold
    one 3 TEST_LONGEST=60 -- count=60
    one 2 TEST_LONGEST=5000 -- count=5000
    one 2 TEST_LONGEST=300001 -- count=300001
    one 2 COLLOPT_WAIT=yield --
    one 3 COLLOPT_WAIT=spin -- count=17
    one 3 COLLOPT_ISA=generic --
    one 2 COLLOPT_SCRATCH=0 -- count=1000
    for form in persistent nonblocking; do
        # each persistent one takes some tens of us to be made
        for ranks in 1 2 7; do
            one $ranks TEST_FORM=$form -- count=17
        done
        one 8 TEST_FORM=$form -- count=1000
        one 5 TEST_FORM=$form -- 4,1 3,2 count=17
        one 3 TEST_FORM=$form --
        one 3 TEST_FORM=$form TEST_LONGEST=5000 -- count=5000
        one 4 TEST_FORM=$form -- type=differing
        one 3 TEST_FORM=$form COLLOPT_CHECK=on -- count=17
        lends_progress "$host" || continue
        one 3 TEST_FORM=$form COLLOPT_SHM=off --
        one 7 TEST_FORM=$form COLLOPT_TOPOLOGY=nodes:2 -- count=17
        one 4 TEST_FORM=$form COLLOPT_SHM=off -- type=differing
        one 3 TEST_FORM=$form COLLOPT_SHM=off COLLOPT_CHECK=on -- count=17
    done
    # whatever the counts, all ranks choose alike
    one 3 COLLOPT_CHECK=on -- reduce_scatter shape=ragged in_place
    [ -z "${TEST_THOROUGH-}" ] || thoroughly
    finish
}

# Algorithms that look at the nodes, once more where there are several: uneven ones, ranks alone,
# ranks dealt in turn.
on_nodes()
{
    {
        echo                    # nothing forced: what is chosen
        for name in $(sed -n 's/^[a-z_]* \([a-z_]*\):.*=(.*/\1/p' "$work/list" | sort -u); do
            awk -v name="$name" '$2 == name { printf "COLLOPT_%s=%s ", toupper($1), $2 }
                END { print "" }' "$work/list"
        done
    } >"$work/forced"
    while read -r forced <&3; do
        # shellcheck disable=SC2086
        one 8 COLLOPT_TOPOLOGY=nodes:3 $forced -- 8 $groups
        # shellcheck disable=SC2086
        one 8 COLLOPT_TOPOLOGY=nodes:1,3,2 $forced -- 8 count=1000
        # shellcheck disable=SC2086
        one 8 COLLOPT_TOPOLOGY=nodes:cyclic:3 $forced -- 8 count=1000
    done 3<"$work/forced"
}

thoroughly()
{
    i=0
    while [ $i -lt "$runs" ]; do
        # shellcheck disable=SC2046
        one 13 $(settings $i) -- 12,1 11,2 10,3 9,4 6,6,1
        i=$((i + 1))
    done
    unset TEST_THOROUGH         # not every combination on so many ranks
    i=0
    while [ $i -lt "$runs" ]; do
        # shellcheck disable=SC2046
        one 12 $(settings $i) --
        # shellcheck disable=SC2046
        one 16 $(settings $i) --
        i=$((i + 1))
    done
}
