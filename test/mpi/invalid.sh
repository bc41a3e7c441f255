# Invalid arguments of every function in every form: the same answers and the same handlers called
# with collopt as without; where errors end the job, the same status and the same words.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

# Every case into $work/WHO.<rank>, but those of $left_out.  A case that stops the job is left out
# from there on, and those after it are done by another job.
answers()               # HOST RANKS WHO MODE [VARIABLE=VALUE]...
{
    answers_host=$1 answers_ranks=$2 who=$work/$3 mode=$4 from=0 stops=0
    shift 4
    rm -f "$who".*
    until launch "$answers_host" "$answers_ranks" "$@" \
        "$(program "$answers_host" invalid)" "$mode" "$who" $from "$left_out"; do
        stopped=$(tail -qn 1 "$who".* | grep -v '; end$' | sort -n | tail -n 1)
        stops=$((stops + 1)) from=$((${stopped%% *} + 1))
        if [ -z "$stopped" ] || [ $stops = 60 ] || [ "$who" != "$work/alone" ]; then
            fail "$answers_host, $answers_ranks ranks, $*: stopped by ${stopped:-itself}"
            return
        fi
        echo "left out, as $answers_host alone stops the job: $stopped"
        left_out="$left_out${stopped%% *} "
        for file in "$who".*; do        # one rank may still be at the case before
            grep '; end$' "$file" >"$work/kept"
            cp "$work/kept" "$file"
        done
    done
}

# The two cases before one that stops are not compared: a rank may not have been at their end.
same()                  # HOST RANKS MODE [VARIABLE=VALUE]...
{
    same_host=$1 same_ranks=$2 same_mode=$3
    shift 3
    answers "$same_host" "$same_ranks" both "$same_mode" LD_PRELOAD="$library" "$@"
    said 0 '^collopt' "$same_host, $same_ranks ranks, $*"
    before=$(for number in $left_out; do echo "/^$((number - 1)) /d;/^$((number - 2)) /d;"; done)
    for file in "$work"/alone.*; do
        sed "$before" "$file" >"$work/1"
        sed "$before" "$work/both.${file##*.}" >"$work/2"
        [ "$(wc -l <"$work/1")" -gt 500 ] || fail "$same_host: few answers"
        diff "$work/1" "$work/2" >"$work/said" ||
            fail "$same_host, $same_ranks ranks, $same_mode, $*: < alone, > with collopt"
    done
}

# What an error that ends the job is called: OMPI's class, or MPICH's words; and the function.
words()
{
    grep -ao 'MPI_ERR_[A-Z]*\|Invalid [A-Za-z_]*\|Null [A-Za-z_]*\|in [A-Za-z_]*: \|An error .*' \
        "$work/said" | sort -u
}

# A launcher of Open MPI 4.1 loses such words now and then.
ends_alike()            # HOST MODE [CASE]
{
    for try in 1 2 3; do
        launch "$1" 1 "$(program "$1" invalid)" "$2" ${3+"$3"}
        status=$? words=$(words)
        launch "$1" 1 LD_PRELOAD="$library" COLLOPT_AFTER=1 "$(program "$1" invalid)" "$2" ${3+"$3"}
        with=$?
        [ "$(words)" != "$words" ] || break
    done
    [ $with = $status ] || fail "$1, $2 ${3-}: status $with, alone $status"
    [ $status != 0 ] || fail "$1, $2 ${3-} does not end the job"
    [ "$(words)" = "$words" ] || fail "$1, $2 ${3-}, $try times: alone it says $words"
}

all_ends()              # HOST
{
    abort=
    ! "$(program "$1" invalid)" has_abort || abort=abort
    for mode in fatal $abort; do
        for case in 'Allreduce, null operation' 'Start, nonblocking'; do
            ends_alike "$1" "$mode" "$case"
        done
    done
    ends_alike "$1" early
    ends_alike "$1" late
}

all_of()                # HOST
{
    for ranks in 1 2; do
        left_out=' '
        answers "$1" $ranks alone user
        same "$1" $ranks user COLLOPT_AFTER=1
    done
    answers "$1" 2 alone return
    same "$1" 2 return COLLOPT_AFTER=1 COLLOPT_SHM=off
    all_ends "$1"
}

for_each_host all_of
