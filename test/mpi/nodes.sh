# Nodes as stated and as found: two nodes of two ranks, told apart by their host names, are stated
# to be one, one for each rank, or others across them.  Algorithms are chosen for the stated ones;
# which ranks share memory is found.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

unshare --uts true 2>/dev/null ||
    skip "this user cannot give ranks host names of their own (unshare --uts)"

cat >"$work/placed" <<'END'
#!/bin/sh
# The first two ranks on one node, the others on another.
[ "${OMPI_COMM_WORLD_RANK-${PMI_RANK-}}" -lt 2 ] && name=first || name=second
exec unshare --uts sh -c 'hostname "$0"; exec "$@"' $name "$@"
END
chmod +x "$work/placed"

placed()                # HOST [VARIABLE=VALUE]... -- PROGRAM [ARGUMENT]...: right, on 4 ranks
{
    host=$1
    shift
    variables_of "$@"
    shift "$words"
    name=$1
    shift
    # shellcheck disable=SC2086     # a list
    launch "$host" 4 LD_PRELOAD="$library" COLLOPT_AFTER=1 COLLOPT_NODES=names $variables \
        "$work/placed" \
        "$(program "$host" "$name")" "$@" ||
        fail "$host, two nodes of two ranks,$variables $name $*: status $?"
    ! grep '^collopt' "$work/said" | grep -v ' cannot serve ' ||
        fail "$host, two nodes of two ranks,$variables $name $*: collopt complains"
}

# By messages, where the MPI library lends its progress; elsewhere it serves them.
later()                 # HOST VARIABLE=VALUE FORM
{
    if ! lends_progress "$1"; then
        placed "$1" "$2" TEST_FORM=$3 -- requests 10
        return
    fi
    placed "$1" "$2" TEST_FORM=$3 TEST_OURS=messages -- requests 50
    placed "$1" "$2" TEST_FORM=$3 TEST_OURS=messages COLLOPT_CHECK=on -- requests 50
    placed "$1" "$2" TEST_FORM=$3 -- collectives 4 3,1 count=17
}

stated()                # HOST VARIABLE=VALUE
{
    later "$1" "$2" persistent
    later "$1" "$2" nonblocking
    for algorithm in leader lanes gather; do            # the last one by multicasts
        placed "$1" "$2" COLLOPT_ALLREDUCE=$algorithm -- collectives 4 3,1 allreduce count=1000
    done
    placed "$1" "$2" -- collectives count=17
}

as_stated()             # HOST
{
    # more ranks than a node has, fewer, and other ones
    stated "$1" COLLOPT_TOPOLOGY=nodes:4
    stated "$1" COLLOPT_TOPOLOGY=nodes:1
    stated "$1" COLLOPT_TOPOLOGY=nodes:cyclic:2
    stated "$1" COLLOPT_TOPOLOGY=nodes:8
}

for_each_host as_stated
