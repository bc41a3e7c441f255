# COLLOPT_REPRODUCIBLE on real MPIs: the same bits on both, whatever is said of nodes, topology,
# processors and algorithms.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

# The lines of one run go to $work/bits.
run_bits()              # HOST [VARIABLE=VALUE]... PROGRAM [ARGUMENT]...
{
    bits_host=$1
    shift
    launch "$bits_host" 8 LD_PRELOAD="$library" "$@" || fail "$bits_host, $*: status $?"
    grep ' p [0-9]* count ' "$work/said" | sort >"$work/bits"
    [ -s "$work/bits" ] || fail "$bits_host, $*: no results"
}

# They must be those of the first run.
same_bits()
{
    run_bits "$@"
    [ -f "$work/first" ] || cp "$work/bits" "$work/first"
    cmp -s "$work/bits" "$work/first" || {
        diff "$work/first" "$work/bits" | head -6
        fail "$*: other bits"
    }
}

placement()             # HOST
{
    with=$(program "$1" reproducible)
    same_bits "$1" COLLOPT_REPRODUCIBLE=placement "$with"
    same_bits "$1" COLLOPT_REPRODUCIBLE=placement COLLOPT_TOPOLOGY=nodes:cyclic:3 "$with"
    same_bits "$1" COLLOPT_REPRODUCIBLE=placement COLLOPT_TOPOLOGY=torus:2x2x2 COLLOPT_CUT=3000 \
        "$with"
    # the settings are the same code on all hosts, and MPICH is slow on few processors
    [ "$(mpi_of "$1")" = openmpi ] || return
    same_bits "$1" COLLOPT_REPRODUCIBLE=placement COLLOPT_TOPOLOGY=nodes:3,1,2 \
        COLLOPT_ISA=generic "$with"
    same_bits "$1" COLLOPT_REPRODUCIBLE=placement COLLOPT_TOPOLOGY=mesh:4x2 COLLOPT_WAIT=yield \
        COLLOPT_SCRATCH=0 "$with"
    run_bits "$1" COLLOPT_AFTER=1 COLLOPT_TOPOLOGY=torus:2x2x2 COLLOPT_REDUCE=chain "$with"
    [ "$(diff "$work/first" "$work/bits" | grep -c 'double_sum')" -gt 20 ] ||
        fail "$1: other orders do not show in these vectors"
}

# What depends on the place of ranks is refused, what was tuned is not used, and both are said once.
refusing()              # HOST
{
    with=$(program "$1" settings)
    echo 'allreduce * * * * * ring' >"$work/rules"
    echo '* * * * * * auto' >>"$work/rules"
    launch "$1" 4 LD_PRELOAD="$library" COLLOPT_REPRODUCIBLE=placement \
        COLLOPT_LOG=decide COLLOPT_AFTER=5 COLLOPT_RULES="$work/rules" COLLOPT_TOPOLOGY=nodes:2 \
        COLLOPT_ALLREDUCE=leader COLLOPT_SCAN=host "$(program "$1" reproducible)" ||
        fail "$1, refusing: status $?"
    said 1 'COLLOPT_AFTER=5 has no effect: with COLLOPT_REPRODUCIBLE' "$1"
    said 1 'COLLOPT_RULES has an effect only where any order gives the same bits' "$1"
    said 1 'COLLOPT_ALLREDUCE=leader cannot serve .* it follows the nodes, and '\
'COLLOPT_REPRODUCIBLE is set; the next choice' "$1"
    said 1 'COLLOPT_SCAN=host cannot serve .* the MPI library has an order of its own, and '\
'COLLOPT_REPRODUCIBLE is set; ' "$1"
    launch "$1" 4 LD_PRELOAD="$library" COLLOPT_REPRODUCIBLE=placement COLLOPT_LOG=decide \
        COLLOPT_TOPOLOGY=nodes:2 COLLOPT_ALLREDUCE=leader "$with" allreduce=2 ||
        fail "$1, integers: status $?"
    said 4 '^rank .: run 2 passed 0$' "$1, the first call"
    said 1 'allreduce, 4 ranks, .*: leader:.* (forced by COLLOPT_ALLREDUCE)' "$1, integers"
}

exact()                 # HOST
{
    with=$(program "$1" exact)
    quiet "$1" 2 COLLOPT_REPRODUCIBLE=exact "$with"
    quiet "$1" 3 COLLOPT_REPRODUCIBLE=exact "$with"
    [ "$(mpi_of "$1")" = openmpi ] || return
    quiet "$1" 1 COLLOPT_REPRODUCIBLE=exact "$with"
    quiet "$1" 5 COLLOPT_REPRODUCIBLE=exact "$with"
    quiet "$1" 7 COLLOPT_REPRODUCIBLE=exact COLLOPT_TOPOLOGY=nodes:2,3 COLLOPT_ISA=generic "$with"
    # more operands than other kernels take
    quiet "$1" 11 COLLOPT_REPRODUCIBLE=exact COLLOPT_CUT=1000 "$with"
    ! launch "$1" 5 LD_PRELOAD="$library" COLLOPT_REPRODUCIBLE=placement "$with" ||
        fail "$1: placement passes for exact"
    accumulators "$1"
}

# Algorithms that combine partial sums add exact accumulators, in each form, by shared memory and by
# messages.
accumulators()          # HOST
{
    trees='COLLOPT_ALLREDUCE=recursive_doubling COLLOPT_REDUCE=binomial COLLOPT_SCAN=sweep
        COLLOPT_EXSCAN=window_doubling COLLOPT_REDUCE_SCATTER=circulant
        COLLOPT_REDUCE_SCATTER_BLOCK=ring'
    names=recursive_doubling,binomial,sweep,window_doubling,circulant,ring
    # shellcheck disable=SC2086     # several variables
    for ranks in 2 5 8; do
        quiet "$1" $ranks COLLOPT_REPRODUCIBLE=exact TEST_ALGORITHMS=$names $trees "$with" \
            $((ranks < 8 ? 700 : 17))
    done
    # shellcheck disable=SC2086
    quiet "$1" 3 COLLOPT_REPRODUCIBLE=exact TEST_ALGORITHMS=$names COLLOPT_CUT=100 \
        COLLOPT_SHM=off $trees "$with" 17
    quiet "$1" 7 COLLOPT_REPRODUCIBLE=exact COLLOPT_TOPOLOGY=nodes:2 \
        COLLOPT_ALLREDUCE=node_aware COLLOPT_REDUCE=leader "$with" 17
    for form in persistent nonblocking; do
        quiet "$1" 3 COLLOPT_REPRODUCIBLE=exact TEST_FORM=$form "$with" 700
        lends_progress "$1" || continue
        # shellcheck disable=SC2086
        quiet "$1" 5 COLLOPT_REPRODUCIBLE=exact TEST_FORM=$form COLLOPT_TOPOLOGY=nodes:2 \
            $trees "$with" 700
    done
}

# What exact does not serve runs as under placement, which is told, and so is what travels as exact
# accumulators.
not_exact()             # HOST
{
    with=$(program "$1" reproducible)
    ! launch "$1" 4 LD_PRELOAD="$library" COLLOPT_REPRODUCIBLE=exact COLLOPT_LOG=decide \
        COLLOPT_ALLREDUCE=ring COLLOPT_EXSCAN=gather "$with" ||
        fail "$1: MPI_SUM rounds like an operation of the user's"
    said 1 '^collopt: allreduce, 4 ranks, 8 bytes, sum of double, by shared memory: ring '\
'(forced by COLLOPT_ALLREDUCE, in exact accumulators)' "$1"
    said 1 '^collopt: exscan, 4 ranks, 8 bytes, sum of double, by shared memory: gather '\
'(forced by COLLOPT_EXSCAN)' "$1"
    said 1 '^collopt: scan, 4 ranks, 16 bytes, user of derived, by shared memory: '\
'recursive_doubling (fixed table, .* for sums of .*: as under placement)' "$1"
}

reproducible()          # HOST
{
    placement "$1"
    exact "$1"
    [ "$(mpi_of "$1")" = mpich ] || not_exact "$1"
    refusing "$1"
}

for_each_host reproducible
