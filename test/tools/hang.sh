# What tests of jobs that hang share: a job of hang.c in the background.

. "${COLLOPT_SOURCE:-.}/test/mpi/lang.sh"
collopt=$build/tools/collopt
cd "$work" || exit 99
# The model chooses, and no measurement of some processor: not with each algorithm a job hangs.
XDG_DATA_DIRS=$work/none
export XDG_DATA_DIRS

# A shell stands between the launcher and each rank, so that a rank that is killed is not noticed;
# what is to happen then is $then.
then='sleep 120'
seconds=600             # a job ends after so many
within=''               # a command that starts the launcher, in the place of timeout
begin()                 # HOST RANKS WAY [VARIABLE=VALUE]...
{
    job_host=$1 job_ranks=$2 way=$3
    shift 3
    : >job
    # mpirun of Open MPI 4.1 has been seen to outlive a SIGTERM
    # shellcheck disable=SC2046,SC2086  # the launcher has options
    env COLLOPT_AFTER=1 "$@" ${within:-timeout -k 10 $seconds} \
        "$collopt" $(launcher_of "$job_host") -n "$job_ranks" \
        env $(library_of "$job_host") sh -c '"$@"; '"$then" sh ./hang-"$job_host" "$way" \
        >job 2>&1 </dev/null &
    launcher=$!
    tries=0
    until [ "$(grep -c 'pid [0-9]* ready' job)" = "$job_ranks" ]; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || break
        sleep 0.1
    done
    culprit=$(pid_of 1) other=$(pid_of 0)
    cp job said
}

pid_of()                # RANK
{
    sed -n "s/.*rank $1: pid \([0-9]*\) ready.*/\1/p" job
}

# By the ids of the ranks: a launcher may leave one that is stopped.
end()
{
    rank=0
    while [ $rank -lt "$job_ranks" ]; do
        pid=$(pid_of $rank)
        [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null
        rank=$((rank + 1))
    done
    kill "$launcher" 2>/dev/null
    wait "$launcher" 2>/dev/null
}

# hang-HOST for the native HOST; false: collopt is not built for it.
compile()               # HOST
{
    built_for "$1" || return
    # shellcheck disable=SC2046
    $(wrapper "$1") -O1 -o hang-"$1" "$top/test/tools/hang.c" >said 2>&1 || fail "$1: hang.c"
}
