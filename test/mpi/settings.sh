# Environment variables on real MPIs: when collopt begins, how it waits and cuts, MPI_Pcontrol, the
# report.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

with=
host=

# Every rank says LINE, after the commands.
tells()                 # RANKS LINE [VARIABLE=VALUE]... -- COMMAND...
{
    tells_ranks=$1 line=$2
    shift 2
    variables_of "$@"
    shift "$words"
    # shellcheck disable=SC2086
    launch $host "$tells_ranks" LD_PRELOAD="$library" $variables "$with" "$@" ||
        fail "$host,$variables $*: status $?"
    said "$tells_ranks" "^rank [0-9]*: $line\$" "$host,$variables $*"
}

# By default nothing is prepared that few short calls would have to pay for; long calls pay at once,
# and so do many.
pays()
{
    tells 2 'run 0 passed 10' -- allreduce=10
    tells 2 'run 0 passed 10' -- dup reduce=2 allreduce=3 dup reduce=5
    tells 2 'run [1-9][0-9]* passed [1-9][0-9]*' -- allreduce=2000
    tells 2 'run [1-9][0-9]* passed [1-9][0-9]*' -- dup allreduce=2000
    tells 2 'run 2 passed 0' -- bytes=4000000 allreduce reduce
    tells 2 'run 2 passed 0' -- dup bytes=4000000 allreduce reduce
    tells 2 'run 2 passed 3' COLLOPT_REDUCE=linear -- reduce=2 allreduce=3
    tells 2 'run 2 passed 3' COLLOPT_REDUCE=linear -- dup reduce=2 allreduce=3
}

beginning()
{
    tells 3 'run 3 passed 2' COLLOPT_AFTER=3 -- allreduce=5
    tells 3 'run 4 passed 6' COLLOPT_AFTER=3 -- allreduce=2 dup reduce=2 dup reduce=6
    tells 3 'run 5 passed 0' COLLOPT_AFTER=1 -- reduce=5
    tells 3 'run 0 passed 5' COLLOPT_AFTER=6 -- allreduce=5
    tells 3 'run 0 passed 5' COLLOPT=off -- allreduce=5
    said 0 '^collopt' "$host, off"
    pays
    tells 1 'run 3 passed 2' COLLOPT_AFTER=3 -- allreduce=5
    tells 3 'run 0 passed 5' COLLOPT_AFTER=1 COLLOPT_ALLREDUCE=host -- allreduce=5
    tells 3 'run 0 passed 7' COLLOPT_AFTER=1 COLLOPT_GPU=native -- allreduce=5 dup reduce=2
    said 1 "^collopt: COLLOPT_GPU=native: a communicator of 3 ranks keeps the MPI library's own \
collectives" "$host, native"
    said 1 '^collopt' "$host, native"
}

talking()
{
    tells 2 'run 4 passed 0' COLLOPT_AFTER=1 COLLOPT_LOG=decide \
        COLLOPT_ALLREDUCE=ring -- allreduce=4
    said 1 '^collopt: allreduce, 2 ranks, 64 bytes, sum of int32, by shared memory: '\
'ring (forced by COLLOPT_ALLREDUCE)$' "$host, decisions"
    tells 4 'run 1 passed 0' COLLOPT_AFTER=1 COLLOPT_LOG=decide \
        COLLOPT_ALLREDUCE=bucket:dims=2x2 -- allreduce
    said 1 '^collopt: allreduce, 4 ranks, .*: bucket.* (forced by COLLOPT_ALLREDUCE)$' \
        "$host, dims that fit"
    tells 2 'run 1 passed 0' COLLOPT_AFTER=1 COLLOPT_ALLREDUCE=bucket:dims=2x2 -- allreduce
    said 1 \
        '^collopt: .* cannot serve 2 ranks, .*: its dims do not multiply to the number of ranks; ' \
        "$host, dims that do not fit"
    tells 2 'run 0 passed 4' COLLOPT_AFTER=1 COLLOPT_LOG=decide COLLOPT_COMMUNICATORS=0 \
        -- dup allreduce=2 dup allreduce=2
    said 1 '^collopt: a communicator of 2 ranks keeps .*COLLOPT_COMMUNICATORS=0 reached there' \
        "$host, two communicators too many"
    tells 2 'run 1 passed 0' COLLOPT_AFTER=1 COLLOPT_ALREDUCE=ring -- allreduce
    said 1 '^collopt: COLLOPT_ALREDUCE is not a variable .* did you mean COLLOPT_ALLREDUCE?' \
        "$host, a misspelt name"
    tells 2 'run 1 passed 0' COLLOPT_AFTER=1 COLLOPT_ALLREDUCE=rong -- allreduce
    said 1 '^collopt: COLLOPT_ALLREDUCE=rong is not understood: ' "$host, a misspelt algorithm"
}

# The grids of ranks that are known give algorithms their dims.
lying()
{
    bucket='COLLOPT_AFTER=1 COLLOPT_LOG=decide COLLOPT_ALLREDUCE=bucket'
    tells 8 'run 1 passed 0' COLLOPT_AFTER=1 COLLOPT_LOG=decide COLLOPT_ALLREDUCE=swing_torus \
        -- bytes=8000 cart=2x4 allreduce
    said 1 '^collopt: allreduce, 8 ranks, .*: swing_torus:dims=2x4 (forced' \
        "$host, a Cartesian communicator"
    # shellcheck disable=SC2086
    tells 8 'run 2 passed 0' $bucket COLLOPT_TOPOLOGY=torus:2x2x2 -- bytes=8000 cart=2x4 \
        allreduce halves allreduce
    said 1 '^collopt: allreduce, 8 ranks, .*: bucket:dims=2x2x2 (forced' "$host, a torus"
    said 1 '^collopt: allreduce, 4 ranks, .*: bucket:dims=2x2 (forced' "$host, half a torus"
    # shellcheck disable=SC2086
    tells 4 'run 1 passed 0' $bucket COLLOPT_TOPOLOGY=torus:4x4 -- bytes=8000 allreduce
    said 1 '^collopt: COLLOPT_TOPOLOGY=torus:4x4 has room for 16 ranks, MPI_COMM_WORLD has 4; '\
'it is ignored' "$host, a shape"
    said 1 '^collopt: allreduce, 4 ranks, .*: bucket:dims=2x2 (forced' \
        "$host, a shape that does not fit"
    # shellcheck disable=SC2086
    tells 4 'run 1 passed 0' $bucket COLLOPT_TOPOLOGY=mesh:4x1 -- bytes=8000 allreduce
    said 1 '^collopt: allreduce, 4 ranks, .*: bucket:dims=4 (forced' "$host, a line"
    tells 4 'run 1 passed 0' COLLOPT_AFTER=1 COLLOPT_LOG=decide COLLOPT_ALLREDUCE=leader \
        COLLOPT_TOPOLOGY=nodes:2 -- allreduce
    said 1 '^collopt: allreduce, 4 ranks, .*: leader:' "$host, nodes"
    tells 4 'run 1 passed 0' COLLOPT_AFTER=1 COLLOPT_LOG=decide COLLOPT_TOPOLOGY=torus:2x2 \
        -- bytes=100000 allreduce
    said 1 \
        '^collopt: allreduce, 4 ranks, .*: bucket:dims=2x2 (predicted .* us; swing_torus .* us)' \
        "$host, on a torus"
    tells 4 'run 1 passed 0' COLLOPT_AFTER=1 COLLOPT_LOG=decide COLLOPT_TOPOLOGY=cartesian \
        -- bytes=100000 cart=2x2 allreduce
    said 1 \
        '^collopt: allreduce, 4 ranks, .*: bucket:dims=2x2 (predicted .* us; swing_torus .* us)' \
        "$host, cartesian"
    tells 4 'run 1 passed 0' COLLOPT_AFTER=1 COLLOPT_LOG=decide -- bytes=100000 cart=2x2 allreduce
    said 1 '^collopt: allreduce, 4 ranks, .*: [a-z_]*[:=a-z0-9]* (\(measured\|predicted\) .*)' \
        "$host, a program's torus"
    tells 3 'run 0 passed 5' COLLOPT_AFTER=1 COLLOPT_GPU=native COLLOPT_TOPOLOGY=rong -- allreduce=5
    said 1 '^collopt: COLLOPT_TOPOLOGY=rong is not understood: it takes torus:' "$host, no shape"
}

# Hosts in a file: one that is not there; ranks of a torus, where hosts can be given names;
# switches.
hosting()
{
    printf 'torus:2x2\nhost0 0 0\nhost1 0 1\nhost2 1 0\nhost3 1 1\n' >"$work/hosts"
    tells 3 'run 1 passed 0' COLLOPT_AFTER=1 COLLOPT_TOPOLOGY=file:"$work/hosts" -- allreduce
    said 1 "^collopt: COLLOPT_TOPOLOGY=file:.*/hosts has no line, or several, for the host .*; \
it is ignored where" "$host, a host that is not there"
    said 1 '^collopt: ' "$host, a host that is not there"
    unshare -u hostname host0 2>/dev/null || return 0
    for ranks in 4 3; do
        # shellcheck disable=SC2016
        launch "$host" $ranks \
            unshare -u sh -c 'hostname "host${OMPI_COMM_WORLD_RANK-${PMI_RANK-}}" && exec "$@"' sh \
            env LD_PRELOAD="$library" COLLOPT_AFTER=1 COLLOPT_LOG=decide COLLOPT_NODES=names \
            COLLOPT_TOPOLOGY=file:"$work/hosts" "$(program "$host" settings)" bytes=100000 \
            allreduce || fail "$host, hosts with names: status $?"
        if [ $ranks = 4 ]; then
            said 1 '^collopt: allreduce, 4 ranks, .*: bucket:dims=2x2 (predicted' \
                "$host, hosts on a torus"
            said 0 'COLLOPT_TOPOLOGY' "$host, hosts on a torus"
        else
            said 1 '^collopt: COLLOPT_TOPOLOGY=file:.*: ranks 0 to 2 are no box of the grid' \
                "$host, hosts that are no box"
        fi
    done
}

# Ranks by groups: two pairs, bound to one processor each; below switches, as Slurm says; where
# nothing is known.
grouping()
{
    if grep -q '^#define COLLOPT_HAVE_HWLOC 1' "$build/config.h" &&
        taskset -c 1 true 2>/dev/null; then
        # shellcheck disable=SC2016
        launch "$host" 4 sh -c 'rank=${OMPI_COMM_WORLD_RANK-${PMI_RANK-}}
            taskset -pc $((rank / 2)) $$ >/dev/null && exec "$@"' sh \
            env LD_PRELOAD="$library" COLLOPT_AFTER=1 COLLOPT_LOG=decide \
            COLLOPT_ALLREDUCE=leader:by=numa HWLOC_SYNTHETIC='numa:2 core:1 pu:1' \
            "$(program "$host" settings)" allreduce || fail "$host, ranks that are bound: status $?"
        said 1 '^collopt: allreduce, 4 ranks, .*: leader:.*,by=numa (forced by' \
            "$host, ranks that are bound"
        said 1 '^collopt: communicators of 4 ranks: one node of 4 ranks; 2 NUMA domains; ' \
            "$host, ranks that are bound"
    fi
    for pattern in switch.switch.node switch.block.node; do
        # shellcheck disable=SC2016
        launch "$host" 4 sh -c 'rank=${OMPI_COMM_WORLD_RANK-${PMI_RANK-}}
            export SLURM_TOPOLOGY_ADDR="root.s$((rank / 2)).n$rank"
            export SLURM_TOPOLOGY_ADDR_PATTERN=switch.switch.node
            [ "$rank" != 3 ] || SLURM_TOPOLOGY_ADDR_PATTERN=$1
            shift; exec "$@"' sh $pattern \
            env LD_PRELOAD="$library" COLLOPT_AFTER=1 COLLOPT_LOG=decide \
            COLLOPT_ALLREDUCE=leader:by=switch "$(program "$host" settings)" allreduce ||
            fail "$host, switches by Slurm: status $?"
        if [ $pattern = switch.switch.node ]; then
            said 1 '^collopt: allreduce, 4 ranks, .*: leader:.*,by=switch (forced by' \
                "$host, switches by Slurm"
        else
            said 1 '^collopt: .*by=switch cannot serve 4 ranks, .*: it is to go by groups that '\
'are not known' "$host, other switches"
        fi
    done
    # one node's address for all, from a launcher that copies its own
    for nodes in auto nodes:2; do
        tells 4 'run 1 passed 0' COLLOPT_AFTER=1 COLLOPT_LOG=decide COLLOPT_TOPOLOGY=$nodes \
            COLLOPT_ALLREDUCE=leader:by=switch SLURM_TOPOLOGY_ADDR=root.s0.n0 \
            SLURM_TOPOLOGY_ADDR_PATTERN=switch.switch.node -- allreduce
        case $nodes in
            auto)
                said 1 '^collopt: communicators of 4 ranks: one node of 4 ranks; 1 switch' \
                    "$host, an address of one node"
                ;;
            nodes:2)
                said 1 '^collopt: .*by=switch cannot serve 4 ranks, .*: it is to go by groups '\
'that are not known' "$host, a copied address"
                ;;
        esac
    done
}

waiting()
{
    for wait in auto spin yield; do
        tells 2 'run 40 passed 0' COLLOPT_AFTER=1 COLLOPT_WAIT=$wait -- allreduce=10 bytes=100000 \
            allreduce=10 reduce=20
    done
    for yields in 0 1; do           # Open MPI by itself, or only we
        tells 4 'run 20 passed 0' COLLOPT_AFTER=1 COLLOPT_WAIT=auto \
            OMPI_MCA_mpi_yield_when_idle=$yields -- allreduce=10 bytes=100000 reduce=10
    done
    tells 3 'run 20 passed 0' COLLOPT_AFTER=1 COLLOPT_CUT=100 -- bytes=10000 allreduce=10 reduce=10
    tells 3 'run 20 passed 0' COLLOPT_AFTER=1 COLLOPT_SCRATCH=0 -- bytes=10000 \
        allreduce=10 reduce=10
}

# Eight ranks on two processors, where the MPI library does not yield by itself: the least time of
# 100 calls in $us.
crowd()                 # WAIT
{
    tells 8 'run 310 passed 0' COLLOPT_AFTER=1 COLLOPT_LOG=decide COLLOPT_WAIT="$1" \
        OMPI_MCA_mpi_yield_when_idle=0 taskset -c 0,1 -- bytes=8 allreduce=10 clock allreduce=100 \
        clock allreduce=100 clock allreduce=100 clock
    said 1 '^collopt: communicators of 8 ranks: .*; more ranks than processors' \
        "$host, COLLOPT_WAIT=$1, ranks share processors"
    us=$(sed -n 's/^rank 0: \([0-9]*\) us$/\1/p' "$work/said" | sort -n | head -n 1)
    : "${us:=999999999}"
}

# Whoever spins there takes a hundred times as long as whoever yields.  Other programs may take a
# processor for a while, so what is slow is looked at three times.
crowding()
{
    taskset -c 0,1 true 2>/dev/null || return 0
    launcher=$OPENMPI_RUN auto=999999999 yield=999999999
    # with so many slots it does not know that ranks share processors
    OPENMPI_RUN="$OPENMPI_RUN --host localhost:8"
    for look in 1 2 3; do
        crowd auto
        [ "$us" -ge $auto ] || auto=$us
        crowd yield
        [ "$us" -ge $yield ] || yield=$us
        [ $auto -gt $((5 * yield)) ] || break
    done
    OPENMPI_RUN=$launcher
    echo "$host: 100 calls of 8 ranks on 2 processors: $auto us," \
        "with COLLOPT_WAIT=yield $yield us, looked at $look times"
    [ $auto -le $((5 * yield)) ] ||
        fail "$host: waiting does not yield where ranks share processors"
}

switching()
{
    tells 3 'run 9 passed 0' COLLOPT_AFTER=1 -- allreduce=3 pcontrol=0 allreduce=3 \
        pcontrol=1 allreduce=3
    tells 3 'run 6 passed 3' COLLOPT_AFTER=1 COLLOPT_PCONTROL=on -- allreduce=3 pcontrol=0 \
        allreduce=3 pcontrol=1 allreduce=3
    tells 3 'run 2 passed 0' COLLOPT_AFTER=1 COLLOPT_PCONTROL=on -- allreduce=3 pcontrol=0 \
        allreduce=3 pcontrol=2 allreduce=2
    tells 3 'run 6 passed 0' COLLOPT_AFTER=1 COLLOPT_PCONTROL=on -- allreduce=3 \
        pcontrol=7 allreduce=3
    tells 3 'run 0 passed 3' COLLOPT_AFTER=1 COLLOPT_PCONTROL=on -- pcontrol=0 allreduce=3
}

# What COMMANDS choose, by what is said of the decisions.
chosen()                # WHY COMMANDS
{
    # shellcheck disable=SC2086
    tells 2 'run 2 passed 0' COLLOPT_AFTER=1 COLLOPT_LOG=decide COLLOPT_REDUCE=binomial -- $2
    said 1 "^collopt: .*$1\$" "$host, info keys, $2"
}

informing()
{
    ring='allreduce, 2 ranks, .*: ring (forced by info key collopt_allreduce)'
    chosen "$ring" 'info=allreduce=ring allreduce=2'
    chosen "$ring" 'allreduce info=allreduce=ring allreduce'            # it had a plan already
    chosen "$ring" 'infodup=allreduce=ring allreduce=2'
    chosen "$ring" 'dup info=allreduce=ring allreduce info=allreduce=auto allreduce'
    said 1 '[a-z_]* (\(measured\|predicted\) .*)$' "$host, info keys taken back"
    # a duplicate has none
    chosen '[a-z_]* (\(measured\|predicted\) .*)' 'dup info=allreduce=ring dup allreduce=2'
    # before COLLOPT_REDUCE
    chosen 'reduce, 2 ranks, .*: chain:segment=.* (forced by info key collopt_reduce)' \
        'info=reduce=chain reduce=2'
    chosen 'info key collopt_allreduce=bucket cannot serve 2 ranks, .*; the next choice is used' \
        'info=allreduce=bucket:dims=3x2 allreduce=2'
    tells 2 'run 2 passed 0' COLLOPT_AFTER=1 -- info0=allreduce=ring allreduce=2
    said 1 '^collopt: the info keys collopt_... differ between the 2 ranks of a communicator' \
        "$host, info keys that differ"
    # nobody waits for anybody where keys are given, before a communicator is taken over or after
    chosen "$ring" 'infoturn=allreduce=ring allreduce=2'
    chosen "$ring" 'allreduce infoturn=allreduce=ring allreduce'
    chosen "$ring" 'infoturn= infoturn=allreduce=ring allreduce infoturn= allreduce'
    tells 2 'run 3 passed 0' COLLOPT_AFTER=1 -- allreduce infoturn0=allreduce=ring allreduce=2
    said 1 '^collopt: the info keys collopt_... differ between the 2 ranks of a communicator' \
        "$host, info keys of rank 0 only"
    tells 2 'run 2 passed 0' COLLOPT_AFTER=1 -- info=allreduce=rong info=allreduce=rong \
        info=alreduce=ring allreduce=2
    said 1 '^collopt: info key collopt_allreduce=rong is not understood: .*' \
        "$host, an unknown algorithm as info key"
    said 1 '^collopt: collopt_alreduce is not an info key .* did you mean collopt_allreduce?' \
        "$host, an unknown info key"
    said 2 '^collopt' "$host, what is wrong with info keys"
    # each communicator has a rank that speaks, also without rank 0 of MPI_COMM_WORLD
    tells 4 'run 2 passed 0' COLLOPT_AFTER=1 -- halves info=reduce=chian allreduce=2
    said 2 '^collopt: info key collopt_reduce=chian is not understood: .*' \
        "$host, info keys of half the ranks"
    # those that were given before stay in force, also where not all ranks have the wrong one
    for wrong in info=allreduce=rong info0=allreduce=rong infoturn0=allreduce=ring:segments=3; do
        chosen "$ring" "info=allreduce=ring $wrong allreduce=2"
        chosen "$ring" "allreduce info=allreduce=ring $wrong allreduce"
        chosen "$ring" "info=allreduce=ring allreduce $wrong allreduce"
        said 0 'differ' "$host, a wrong info key"
        said 2 '^collopt: [^c]' "$host, a wrong info key"
    done
    # by MPI_Comm_idup_with_info, or the same by MPI_Comm_dup_with_info where there is none
    chosen "$ring" 'infoidup=allreduce=ring allreduce=2'
    chosen "$ring" 'infoidup=reduce=chain info=allreduce=ring allreduce=2'
    chosen 'reduce, 2 ranks, .*: chain:segment=.* (forced by info key collopt_reduce)' \
        'infoidup=reduce=chain info=allreduce=ring reduce=2'
    chosen 'reduce, 2 ranks, .*: binomial (forced by COLLOPT_REDUCE)' \
        'infoidup=reduce=chain info=reduce=auto reduce=2'
    chosen '[a-z_]* (\(measured\|predicted\) .*)' \
        'infoidup=allreduce=ring dup infoidup=allreduce=ring dup allreduce=2'
    tells 2 'run 2 passed 0' COLLOPT_AFTER=1 -- infoidup0=allreduce=ring allreduce=2
    said 1 '^collopt: the info keys collopt_... differ between the 2 ranks of a communicator' \
        "$host, later info keys that differ"
    tells 1 'run 0 passed 2' COLLOPT_AFTER=1 -- infoidup=allreduce=host allreduce=2
    tells 2 'run 0 passed 2' COLLOPT_AFTER=1 -- info=allreduce=host allreduce=2
    tells 2 'run 0 passed 2' COLLOPT=off -- info0=allreduce=ring allreduce=2
    said 0 '^collopt' "$host, info keys where collopt is off"
}

# A file of rules: by size and operation, passed over where an algorithm cannot serve, and with a
# mistake.
ruling()
{
    cat >"$work/rules" <<'.'
# collective  ranks  nodes  ppn  bytes   op              algorithm
allreduce     *      *      *    0-64    exact           bucket:dims=3x2     # not for 2 ranks
allreduce     2      1      2    0-64    commutative     linear
allreduce     *      *      *    65-8K   commutative     ring
allreduce     *      *      *    *       noncommutative  elimination
reduce        *      *      *    *       *               chain
reduce        *      *      *    *       *               host
scan          *      *      *    *       *               host
*             *      *      *    *       *               auto
.
    rules=$work/rules
    tells 2 'run 10 passed 0' COLLOPT_AFTER=1 COLLOPT_LOG=decide COLLOPT_RULES="$rules" \
        -- allreduce=2 bytes=4096 allreduce=3 ordered=1 bytes=100000 allreduce=4 calls=linear \
        calls=ring calls=elimination
    said 2 '^rank .: 2 calls of linear$' "$host, rules"
    said 2 '^rank .: 3 calls of ring$' "$host, rules"
    said 2 '^rank .: 1 calls of elimination$' "$host, rules"
    said 1 \
        "^collopt: rule $rules:2, bucket, cannot serve allreduce of 2 ranks, 64 bytes: its dims " \
        "$host, a rule that cannot serve"
    said 1 "^collopt: allreduce, 2 ranks, 64 bytes, .*: linear:window=[0-9]* (rule $rules:3)\$" \
        "$host, rules"
    said 1 "^collopt: allreduce, 2 ranks, 4096 bytes, .*: ring (rule $rules:4)\$" "$host, rules"
    said 1 "^collopt: allreduce, 2 ranks, 4096 bytes, user of derived.*: elimination \
(rule $rules:5)\$" "$host, rules"
    said 1 "^collopt: allreduce, 2 ranks, 100000 bytes, .* (\\(measured\\|predicted\\) .*)\$" \
        "$host, auto"
    # what goes before rules
    tells 2 'run 4 passed 0' COLLOPT_AFTER=1 COLLOPT_LOG=decide COLLOPT_RULES="$rules" \
        COLLOPT_REDUCE=binomial -- reduce=2 info=reduce=linear reduce=2
    said 1 'reduce, 2 ranks, .*: binomial (forced by COLLOPT_REDUCE)$' "$host, forced before rules"
    said 1 'reduce, 2 ranks, .*: linear:window=[0-9]* (forced by info key collopt_reduce)$' \
        "$host, info keys before rules"
    echo 'reduce * * * * * host' >"$work/rules"
    tells 3 'run 2 passed 3' COLLOPT_AFTER=1 COLLOPT_RULES="$rules" -- allreduce=2 reduce=3
    echo 'reduce * * * * * chian' >>"$work/rules"
    tells 3 'run 5 passed 0' COLLOPT_AFTER=1 COLLOPT_RULES="$rules" -- allreduce=2 reduce=3
    said 1 "^collopt: COLLOPT_RULES is not used: $rules:2: reduce has no algorithm \"chian\" \
.* did you mean chain?\$" "$host, a mistake"
    said 1 '^collopt' "$host, a mistake in the rules"
    tells 2 'run 2 passed 0' COLLOPT_AFTER=1 COLLOPT_RULES="$rules.none" -- reduce=2
    said 1 "^collopt: COLLOPT_RULES is not used: $rules.none: No such file or directory\$" \
        "$host, no file"
}

# collopt-info --explain says of a call what the job has said.
explaining()
{
    tells 4 'run 4 passed 0' COLLOPT_AFTER=1 COLLOPT_LOG=decide COLLOPT_TOPOLOGY=nodes:2 -- \
        allreduce ordered=1 bytes=100000 allreduce reduce
    network=tcp crowded=
    for device in /sys/class/infiniband/* /sys/class/hfi1/* /sys/class/cxi/*; do
        [ ! -e "$device" ] || network=fast
    done
    ! grep -q 'more ranks than processors' "$work/said" || crowded=--crowded
    sed -n 's/^collopt: \([a-z]*\), 4 ranks, \([0-9]*\) bytes, \([a-z]*\) of [^:]*: /\1 \2 \3 /p' \
        "$work/said" >"$work/decided"
    [ "$(wc -l <"$work/decided")" = 4 ] || fail "$host: not 4 decisions"
    while read -r collective bytes op choice; do
        # the sums are those of integers
        case $op in sum) op=exact ;; *) op=noncommutative ;; esac
        # shellcheck disable=SC2086
        COLLOPT_TOPOLOGY=nodes:2 "$build/tools/collopt-info" --explain "$collective" --ranks 4 \
            --bytes "$bytes" --op $op --network $network --host "$host" $crowded >"$work/explained"
        grep -qxF "  $choice" "$work/explained" ||
            fail "$host: a job: $choice; collopt-info: $(cat "$work/explained")"
    done <"$work/decided"
    # and so does collopt_explain(), wherever it can know as much
    tells 2 'run 1 passed 0' COLLOPT_LOG=decide COLLOPT_REPRODUCIBLE=placement \
        -- bytes=100000 explain ordered=1
    choice=$(sed -n 's/^collopt: allreduce, 2 ranks, 100000 bytes, user of [^:]*: //p' "$work/said")
    said 2 "^rank .: explained $choice\$" "$host, explained by the library"
}

holds()                 # FILE PATTERN
{
    grep -q -- "$2" "$1" || { cat "$1"; fail "$host: the report does not hold $2"; }
}

# All blocking reductions are timed, ours and the MPI library's; together they are what the job took
# for reductions, and no more than it ran.
timed_alike()           # FILE
{
    python3 - "$1" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
calls = report["run"] + report["passed"]
parts = sum(c["seconds"]["mean"] * c["ranks"] / report["ranks"] for c in calls)
assert all(c["seconds"]["min"] > 0 for c in calls)
assert abs(parts - report["reductions"]["mean"]) < 1e-6 * parts
assert report["reductions"]["max"] < report["seconds"]["max"]
END
}

# How the ranks of a node send to each other, told by the report: 2 ranks, 16 elements of 4 bytes,
# 5 calls.
travelling()
{
    while read -r messages memory words; do
        # shellcheck disable=SC2086
        tells 2 'run .* passed 0' COLLOPT_AFTER=1 COLLOPT_REPORT=stderr $words
        said 1 "^  collopt sent $messages bytes by messages, $memory by shared memory\$" \
            "$host, $words"
    done <<EOF
0               640             -- allreduce=5
640             0               COLLOPT_SHM=off -- allreduce=5
0               [1-9][0-9]*     -- bytes=2000000 allreduce=5
0               [1-9][0-9]*     -- bytes=60000000 allreduce=5
[1-9][0-9]*     0               COLLOPT_SHM=off -- bytes=6000000 allreduce=5
[1-9][0-9]*     [1-9][0-9]*     COLLOPT_SHM_SIZE=64K -- bytes=30000 allreduce dup allreduce dup \
allreduce dup allreduce
EOF
}

# A rank that aborts the job tells what it has.
aborting()
{
    for settings in COLLOPT_AFTER=1 COLLOPT=off; do
        launch "$host" 3 LD_PRELOAD="$library" $settings COLLOPT_REPORT="$work/report-gone" \
            "$with" allreduce=5 abort=1
        ls "$work"/report-gone* >"$work/said"
        [ "$(cat "$work/said")" = "$work/report-gone.1" ] || fail "$host: the report of a rank"
        holds "$work/report-gone.1" '"rank": *1'
        holds "$work/report-gone.1" '"aborted": *true'
        holds "$work/report-gone.1" '"calls": 5'
        rm -f "$work"/report-gone*
    done
    # The launcher may end before it has passed on what the ranks wrote.
    # shellcheck disable=SC2016
    launch "$host" 2 LD_PRELOAD="$library" COLLOPT_AFTER=1 COLLOPT_REPORT=stderr \
        SAID="$work/written" sh -c 'exec "$0" "$@" 2>>"$SAID"' "$with" allreduce=5 abort=0
    cat "$work/written" >>"$work/said"
    said 1 '^collopt: rank 0 of 2, which called MPI_Abort$' "$host, aborted"
    rm "$work/written"
    refused_abort
}

# The rank takes part in the report all the same.  Open MPI ends the job.
refused_abort()
{
    launch "$host" 2 "$with" allreduce noabort=1 allreduce >"$work/alone" 2>&1 || return
    launch "$host" 2 LD_PRELOAD="$library" COLLOPT_AFTER=1 COLLOPT_REPORT="$work/report-refused" \
        COLLOPT_TRACE="$work/report-trace" "$with" allreduce noabort=1 allreduce ||
        fail "$host: an MPI_Abort that is refused: status $?"
    holds "$work/report-refused" '"combined": *true'
    [ -f "$work/report-trace.1" ] || fail "$host: no trace behind an MPI_Abort that is refused"
    rm -f "$work"/report-*
}

# Threads in reductions at the same time are not more than the run.
threading()
{
    rm -f "$work/report"
    launch "$host" 2 LD_PRELOAD="$library" COLLOPT_AFTER=1 COLLOPT_REPORT="$work/report" \
        "$(program "$host" threads)" || fail "$host: threads with a report"
    ! command -v python3 >/dev/null || python3 - "$work/report" <<'END' ||
import json, sys
report = json.load(open(sys.argv[1]))
parts = sum(c["seconds"]["mean"] * c["ranks"] / report["ranks"]
            for c in report["run"] + report["passed"] if "seconds" in c)
assert report["reductions"]["max"] <= report["seconds"]["max"]
assert report["reductions"]["mean"] < parts
END
        fail "$host: the share of threads: $(head -n 16 "$work/report")"
}

reporting()
{
    rm -f "$work"/report*
    tells 3 'run 7 passed 1' COLLOPT_AFTER=2 COLLOPT_REPORT="$work/report" \
        COLLOPT_REDUCE=binomial -- allreduce=4 bytes=4096 reduce=4
    [ -f "$work/report" ] || fail "$host: no report"
    [ "$(ls "$work" | grep -c '^report')" = 1 ] || fail "$host: more than one report: $(ls "$work")"
    holds "$work/report" '"combined": *true'
    holds "$work/report" '"ranks": *3'
    [ "$(reported run '')" = 21 ] ||
        fail "$host: the report has $(reported run '') calls run, not 21"
    [ "$(reported run '"binomial"')" = 12 ] ||
        fail "$host: the report has $(reported run '"binomial"') calls of binomial, not 12"
    [ "$(reported passed '')" = 3 ] ||
        fail "$host: the report has $(reported passed '') calls passed, not 3"
    holds "$work/report" '"MPI_Allreduce".*among the first calls'
    if command -v python3 >/dev/null; then
        timed_alike "$work/report" || fail "$host: the report's seconds: $(cat "$work/report")"
    fi
    # switched off, it is what the MPI library took
    tells 2 'run 0 passed 5' COLLOPT=off COLLOPT_REPORT="$work/report-off" -- allreduce=5
    holds "$work/report-off" '"name": "MPI_Allreduce", "reason": "switched off", '\
'"bytes_from": 33, "bytes_to": 64, "ranks": 2, "calls": 10, "bytes": 640, '
    holds "$work/report-off" '"combined": *true'
    rm "$work/report-off"
    aborting
    tells 3 'run 5 passed 0' COLLOPT_AFTER=1 COLLOPT_REPORT=stderr -- allreduce=5
    said 1 '^collopt: all 3 ranks$' "$host, report on stderr"
    # a device or a pipe stays what it is
    mkfifo "$work/report.pipe"
    cat "$work/report.pipe" >"$work/report.read" &
    tells 2 'run 5 passed 0' COLLOPT_AFTER=1 COLLOPT_REPORT="$work/report.pipe" -- allreduce=5
    [ -p "$work/report.pipe" ] || { kill $!; fail "$host: a pipe was replaced by the report"; }
    wait $!
    holds "$work/report.read" '"ranks": *2'
    rm -f "$work"/report.*
    tells 2 'run 5 passed 0' COLLOPT_AFTER=1 COLLOPT_REPORT=/dev/stdout -- allreduce=5
    said 1 '"combined": *true' "$host, report on /dev/stdout"
    # what cannot be written is told while there is time to mend it, and at the end
    tells 2 'run 5 passed 0' COLLOPT_AFTER=1 COLLOPT_REPORT="$work/none/report" -- allreduce=5
    said 1 "^collopt: COLLOPT_REPORT: the report cannot be written to $work/none/report: \
No such file" "$host, a report nowhere"
    said 1 "^collopt: COLLOPT_REPORT: the report could not be written to $work/none/report: \
No such file" "$host, no report"
    # neither does a signal end a program that writes nothing itself
    rm -f "$work"/report*
    tells 2 'run 5 passed 0' COLLOPT_AFTER=1 COLLOPT_REPORT="$work/report" -- allreduce=5 files=64
    said 1 '^collopt: COLLOPT_REPORT: the report could not be written to .*: File too large' \
        "$host, a report under ulimit -f"
    [ -z "$(ls "$work" | grep '^report')" ] || fail "$host: a part of a report is left"
    tells 2 'run 5 passed 0' COLLOPT_AFTER=1 COLLOPT_REPORT=stderr COLLOPT_LOG=decide \
        -- unheard allreduce=5
    # one trial is the host's
    tells 2 'run 4 passed 1' COLLOPT_AFTER=1 COLLOPT_ADAPT=on \
        COLLOPT_ADAPT_RULES="$work" -- allreduce=5
    said 1 "^collopt: COLLOPT_ADAPT_RULES: the rules cannot be written to $work: Is a directory" \
        "$host, rules to a folder"
    # counters of communicators that were freed
    tells 2 'run 6 passed 0' COLLOPT_AFTER=1 COLLOPT_REPORT="$work/report" \
        -- dup allreduce=2 dup allreduce=2 dup allreduce=2
    [ "$(reported run '')" = 12 ] ||
        fail "$host: the report has $(reported run '') calls run, not 12"
}

settings()              # HOST
{
    host=$1
    with=$(program "$host" settings)
    beginning
    talking
    lying
    hosting
    grouping
    waiting
    crowding
    switching
    informing
    ruling
    explaining
    reporting
    threading
    travelling
}

for_each_host settings
