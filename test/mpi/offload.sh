# A library that reduces in the network, under HCOLL's name: between nodes MPI_Allreduce and
# MPI_Reduce are left to the MPI library where it uses it, one line and the report say so, and
# rules, variables and a machine file go before it.  Inside nodes, and with other operations and
# collectives, collopt goes on.  Where only one rank has it, all go on.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

echo 'int collopt_test_of_hcoll;' >"$work/hcoll.c"
${CC:-cc} -shared -fPIC -Wl,-soname,libhcoll.so.1 -o "$work/libhcoll.so.1" "$work/hcoll.c" ||
    fail 'no stand-in for HCOLL'
hcoll=$work/libhcoll.so.1

# Two nodes of two ranks.
reduces()               # WHAT [VARIABLE=VALUE]... -- COMMAND...
{
    what="$host, $1"
    shift
    variables_of "$@"
    shift "$words"
    rm -f "$work/report"
    # shellcheck disable=SC2086     # a list
    launch "$host" 4 LD_PRELOAD="$hcoll:$library" COLLOPT_AFTER=1 COLLOPT_LOG=decide \
        COLLOPT_TOPOLOGY=nodes:2 COLLOPT_REPORT="$work/report" $variables \
        "$(program "$host" settings)" bytes=4096 "$@" || fail "$what: status $?"
}

counts()                # RUN LEFT: calls of all ranks
{
    run=$(reported run '"calls"') left=$(reported passed 'left to the network')
    [ "$run $left" = "$1 $2" ] || fail "$what: $run run, $left left to the network, not $1 and $2"
}

# Open MPI's own word goes before the environment: Debian's has no coll/hcoll.
switch_of()             # HOST
{
    case $(mpi_of "$1") in
    openmpi) echo OMPI_MCA_coll_hcoll_enable ;;
    *) echo MPIR_CVAR_ENABLE_HCOLL ;;
    esac
}

line='^collopt: between nodes the MPI library has HCOLL reduce: calls of MPI_Allreduce and '
offloads()              # HOST
{
    host=$1 on=$(switch_of "$1")=1 off=$(switch_of "$1")=0
    reduces 'in use' "$on" -- allreduce=3 reduce=2
    counts 0 20
    said 1 "$line" "$what"
    said 1 '^collopt: allreduce, 4 ranks, 4096 bytes.*: host (between nodes, HCOLL)$' "$what"
    reduces 'an operation that does not commute' "$on" -- ordered=2
    counts 8 0
    reduces 'inside nodes' "$on" -- halves allreduce=3
    counts 12 0
    reduces 'one node' "$on" COLLOPT_TOPOLOGY=nodes:4 -- allreduce=3
    counts 12 0
    said 0 "$line" "$what"

    reduces 'not in use' "$off" -- allreduce=3
    counts 12 0
    said 0 "$line" "$what"
    reduces 'ignored' "$on" COLLOPT_OFFLOAD=ignore -- allreduce=3
    counts 12 0
    said 0 "$line" "$what"
    reduces 'stated' "$off" COLLOPT_OFFLOAD=host -- allreduce=3
    counts 0 12
    reduces 'a variable goes before it' "$on" COLLOPT_ALLREDUCE=ring -- allreduce=3 reduce=2
    counts 12 8
    echo 'allreduce * * * * * ring' >"$work/rules"
    reduces 'rules go before it' "$on" COLLOPT_RULES="$work/rules" -- allreduce=3 reduce=2
    counts 12 8
    echo 'net.latency = 2 us' >"$work/machine"
    reduces 'a machine file goes before it' "$on" COLLOPT_MACHINE="$work/machine" -- allreduce=3
    counts 12 0

    what="$host, on one rank only"
    rm -f "$work/report"
    # shellcheck disable=SC2016
    launch "$host" 4 COLLOPT_AFTER=1 COLLOPT_LOG=decide COLLOPT_TOPOLOGY=nodes:2 "$on" \
        COLLOPT_REPORT="$work/report" sh -c '
            [ "${OMPI_COMM_WORLD_RANK-${PMI_RANK-}}" != 1 ] || hcoll=$0
            export LD_PRELOAD="$hcoll:$1"
            shift
            exec "$@"' "$hcoll" "$library" "$(program "$host" settings)" allreduce=3 reduce=2 ||
        fail "$what: status $?"
    counts 20 0
    said 0 "$line" "$what"
    said 1 '^collopt: the ranks find different libraries that reduce in the network' "$what"

    # what the MPI library itself says of its components
    [ "$(mpi_of "$host")" = openmpi ] || return
    reduces 'behind coll/tuned' "$on" OMPI_MCA_coll_hcoll_priority=10 -- allreduce=3
    counts 12 0
    reduces 'before coll/tuned' "$on" OMPI_MCA_coll_hcoll_priority=10 \
        OMPI_MCA_coll_tuned_priority=5 -- allreduce=3
    counts 0 12
}

for_each_host offloads
