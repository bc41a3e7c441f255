# Communicators of all sorts: made, used and freed, many of them, more than there may be hidden
# ones.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

taken_over()            # WHAT LINE
{
    grep -qx "$2" "$work/said" || fail "$1: it does not say \"$2\""
}

# As quiet(), but that communicators are refused is said, once.
refused()               # HOST RANKS [VARIABLE=VALUE]... PROGRAM [ARGUMENT]...
{
    refused_host=$1 refused_ranks=$2 refused_what="$*"
    shift 2
    launch "$refused_host" "$refused_ranks" LD_PRELOAD="$library" COLLOPT_AFTER=1 "$@" ||
        fail "$refused_what: status $?"
    said 1 "^collopt: a communicator of $refused_ranks ranks keeps the MPI library's own \
collectives: .*COLLOPT_COMMUNICATORS=" "$refused_what"
    said 1 "^collopt" "$refused_what"
}

# One rank may have fewer than the others.
cap()                   # HOST
{
    with=$(program "$1" communicators)
    refused "$1" 3 COLLOPT_COMMUNICATORS=3 "$with" cap 6
    taken_over "$1, a cap of 3" "3 of 6 communicators taken over"
    refused "$1" 3 COLLOPT_COMMUNICATORS=0 "$with" cap 3
    taken_over "$1, a cap of 0" "0 of 3 communicators taken over"
    refused "$1" 3 sh -c '[ "${OMPI_COMM_WORLD_RANK-${PMI_RANK-}}" != 1 ] ||
        export COLLOPT_COMMUNICATORS=2; exec "$@"' sh "$with" cap 6
    taken_over "$1, a cap of 2 on rank 1" "2 of 6 communicators taken over"
    quiet "$1" 2 "$with" cap 300
    taken_over "$1, many" "300 of 300 communicators taken over"
}

# What a communicator with a plan takes beside the MPI library's part: at most 40 KiB and 1 KiB for
# each rank.  MPICH's own part varies by some KiB, and its many ranks take too long here.
memory()                # HOST
{
    case $(mpi_of "$1") in openmpi) numbers='2 8 32' ;; *) numbers='2 4' ;; esac
    for ranks in $numbers; do
        launch "$1" "$ranks" "$with" memory 40 ||
            fail "$1, $ranks ranks, memory without collopt: status $?"
        alone=$(sed -n 's/^bytes per communicator: //p' "$work/said")
        quiet "$1" "$ranks" "$with" memory 40
        both=$(sed -n 's/^bytes per communicator: //p' "$work/said")
        echo "$1, $ranks ranks: a communicator takes $((both - alone)) bytes" \
            "beside the MPI library's $alone"
        [ $((both - alone)) -le $((40960 + 1024 * ranks)) ] ||
            fail "$1, $ranks ranks: a communicator takes $((both - alone)) bytes," \
                "more than 40 KiB and 1 KiB for each rank"
    done
}

communicators()         # HOST
{
    with=$(program "$1" communicators)
    for ranks in 1 2 5; do
        quiet "$1" $ranks "$with" sorts
    done
    quiet "$1" 3 "$with" attributes
    quiet "$1" 2 COLLOPT=off "$with" off 100
    quiet "$1" 2 COLLOPT_REPORT="$work/at-end" "$with" handler_at_end
    for ranks in 1 2 5; do
        quiet "$1" $ranks "$with" wildcards 20
    done
    quiet "$1" 4 "$with" repeats 2000
    quiet "$1" 2 "$with" repeats 2000
    quiet "$1" 2 "$with" churn 10000
    quiet "$1" 8 "$with" churn 50
    memory "$1"
    cap "$1"
    case $(mpi_of "$1") in
    openmpi)
        for more in COLLOPT_AFTER=1 COLLOPT_CHECK=on COLLOPT_ADAPT=on; do
            launch "$1" 2 LD_PRELOAD="$library" $more "$with" spawn_without 2 ||
                fail "$more, spawned ranks without collopt: status $?"
            said 1 "^collopt: a communicator of 4 ranks with processes of another MPI_COMM_WORLD" \
                "$more, spawned ranks without collopt"
            said 1 "^collopt" "$more, spawned ranks without collopt"
        done
        # children inherit the launcher's environment, not their parents'
        LD_PRELOAD=$library COLLOPT_AFTER=1 COLLOPT_REPORT=$work/report COLLOPT_BEYOND_WORLD=on \
            COLLOPT_TRACE=$work/trace \
            launch "$1" 2 "$with" spawn 3 || fail "spawned ranks: status $?"
        grep -q '"ranks": *2,' "$work/report" || fail "no report of those that have spawned others"
        grep -q '"ranks": *3,' "$work"/report.spawned-* ||
            fail "no report of spawned ranks beside that of the others"
        spawned=$(echo "$work"/report.spawned-*)
        spawned=$work/trace.spawned-${spawned##*-}
        [ -f "$spawned.0" ] && [ -f "$spawned.1" ] && [ -f "$spawned.2" ] ||
            fail "the traces of spawned ranks have no common name: $(ls "$work")"
        # shellcheck disable=SC2016
        LD_PRELOAD=$library COLLOPT_AFTER=1 COLLOPT_BEYOND_WORLD=on launch "$1" 2 \
            sh -c '[ "$OMPI_COMM_WORLD_RANK" != 1 ] || export COLLOPT_AFTER=5; exec "$@"' \
            sh "$with" spawn_alone 1 ||
            fail "ranks spawned by one whose world does not agree: status $?"
        said 1 "^collopt: .* have different COLLOPT_ variables: .*" \
            "a world that does not agree, and children"
        ;;
    mpich)
        launch "$1" 3 LD_PRELOAD="$library" COLLOPT_AFTER=1 COLLOPT_PCONTROL=on \
            COLLOPT_REPORT="$work/report" "$with" session || fail "$1, a session: status $?"
        said 1 '^collopt' "$1, a session"
        said 1 '^collopt: COLLOPT_REPORT: the last session has ended' "$1, a session"
        rm -f "$work/report"
        quiet "$1" 2 COLLOPT_COMMUNICATORS=3 COLLOPT_REPORT="$work/report" \
            COLLOPT_TRACE="$work/trace" "$with" session_goes_on 4
        [ -f "$work/report" ] || fail "$1: no report where a session outlives MPI_Finalize"
        quiet "$1" 2 COLLOPT_REPORT="$work/report" "$with" session_of_one
        if launch "$1" 2 "$with" session_again; then
            quiet "$1" 2 "$with" session_again
        else
            echo "the MPI library alone cannot begin again: $1"
        fi
        ;;
    esac
}

for_each_host communicators
