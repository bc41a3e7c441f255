# Containers of one machine: ranks with host names of their own are one node if and only if they can
# map each other's memory.  They can in one process namespace; they cannot in several, in several
# user namespaces, or where some have fewer privileges.  Results are right in any case.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

unshare --uts --pid --fork true 2>/dev/null ||
    skip "this user cannot give ranks host names and process namespaces of their own (unshare)"

cat >"$work/pod" <<'END'
#!/bin/sh
# The first two ranks have one name, the others another; and each what HOW says.
rank=${OMPI_COMM_WORLD_RANK-${PMI_RANK-}} how=$1
shift
[ "$rank" -lt 2 ] && name=first || name=second
set -- sh -c 'hostname "$0" && exec "$@"' $name "$@"
case $how-$name$rank in
processes-*) exec unshare --uts --pid --fork --kill-child --mount-proc "$@" ;;
users-* | user-first1) exec unshare --user --map-root-user --uts "$@" ;;
privileges-second*)
    exec unshare --uts setpriv --bounding-set -sys_ptrace --inh-caps -sys_ptrace "$@" ;;
*) exec unshare --uts "$@" ;;
esac
END
chmod +x "$work/pod"

# What MPI libraries send by themselves takes ways that work in such pods.  Over TCP, UCX needs help
# to end (bench/programs/ucx_close.c).
messages='OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp UCX_POSIX_USE_PROC_LINK=n COLLOPT_WAIT=yield'
preload=$library
if built_for mpich && ${CC:-cc} -O1 -shared -fPIC -o "$work/ucx_close.so" \
    "$top/bench/programs/ucx_close.c" -ldl; then
    preload=$work/ucx_close.so:$library
fi

in_pods()               # HOW NODES [VARIABLE=VALUE]...: what collopt says of the nodes
{
    how=$1 nodes=$2
    shift 2
    # shellcheck disable=SC2086     # lists
    launch "$host" 4 LD_PRELOAD="$preload" COLLOPT_AFTER=1 COLLOPT_LOG=decide $messages "$@" \
        "$work/pod" $how "$(program "$host" collectives)" 4 allreduce count=1000 ||
        fail "$host, $how: status $?"
    said 1 "^collopt: communicators of 4 ranks: $nodes" "$host, $how"
}

told='^collopt: host names and networks tell 2 nodes apart, '
joined="${told}and the ranks of one machine can map each other's memory: 1 "
apart="${told}some of them on one machine, whose ranks cannot map each other's memory"

pods()                  # HOST
{
    host=$1
    in_pods names 'one node of 4 ranks'
    said 1 "$joined" "$host, $how"
    said 4 '^collopt: allreduce, 4 ranks, .*, by shared memory: ' "$host, $how"
    in_pods names '2 nodes of 2 ranks' COLLOPT_NODES=names
    said 0 "$told" "$host, $how, told apart by names"
    in_pods names '2 nodes of 2 ranks' COLLOPT_SHM=off
    said 1 "$apart" "$host, $how, no shared memory"
    in_pods processes '2 nodes of 2 ranks' UCX_TLS=tcp,self
    said 0 "$told" "$host, $how"
    if unshare --user --map-root-user --uts true 2>/dev/null; then
        in_pods users '2 nodes of 2 ranks' UCX_TLS=posix,self
        said 0 "$told" "$host, $how"
        # the others could map each other's, but not that of the one with their name
        in_pods user '2 nodes of 2 ranks' UCX_TLS=posix,self
        said 1 "$apart" "$host, $how"
    fi
    if setpriv --bounding-set -sys_ptrace true 2>/dev/null; then
        in_pods privileges '2 nodes of 2 ranks' UCX_TLS=posix,self
        said 1 "$apart" "$host, $how"
    fi
}

for_each_host pods
