# COLLOPT_ADAPT=on: every candidate is tried on all ranks alike, results stay right, one goes on;
# what was learnt is reported, and written as rules that a second run follows.  Which one is the
# fastest is not for a test to say.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

tune=$build/tools/collopt-tune
host=

adapting()              # RANKS [VARIABLE=VALUE]... -- COMMAND...
{
    ranks=$1
    shift
    variables_of "$@"
    shift "$words"
    # shellcheck disable=SC2086
    launch $host "$ranks" LD_PRELOAD="$library" COLLOPT_AFTER=1 $variables \
        "$(program $host settings)" "$@" \
        || fail "$host,$variables $*: status $?"
}

# What the last lines of all ranks say is the same.
together()              # RANKS WHAT
{
    [ "$(sed -n 's/^rank [0-9]*: run //p' "$work/said" | sort | uniq -c |
        awk '{ print $1 }')" = "$1" ] || fail "$host: ranks differ, $2"
}

# Which algorithms ran how often, of the report: the same on all ranks, since their numbers of calls
# divide by the ranks.
in_turn()               # RANKS
{
    awk -v ranks="$1" '
        /"algorithm"/ && match($0, /"calls": *[0-9]+/) {
            if (substr($0, RSTART + 8, RLENGTH - 8) % ranks) exit 1
        }' \
        "$work/report" \
        || fail "$host: ranks have run different algorithms"
}

learnt()                # PATTERN: how many lines of what was learnt match
{
    sed -n '/"learnt"/,$p' "$work/report" | grep -c "$1"
}

adapt()                 # HOST
{
    host=$1
    # four candidates, of which none runs fewer than three times; COLLOPT_CHECK compares the states
    # of all ranks
    rm -f "$work/report" "$work/rules"
    adapting 3 COLLOPT_ADAPT=on COLLOPT_CHECK=on COLLOPT_LOG=decide COLLOPT_REPORT="$work/report" \
        COLLOPT_ADAPT_RULES="$work/rules" -- allreduce=40 bytes=4096 ordered=40 bytes=20000 \
        allreduce=40 bytes=30000 allreduce=2
    together 3 'trials'
    in_turn 3
    said 3 ', 3 ranks, up to .*: tried .* host .*, and stays with ' "$host, what goes on"
    [ "$(reported passed 'MPI library chosen')" -ge 27 ] ||
        fail "$host: the MPI library was not tried"
    [ "$(learnt '"chosen": 1')" = 3 ] || fail "$host: not 3 lessons"
    [ "$(learnt '"algorithm": "host"')" = 3 ] ||
        fail "$host: the MPI library is not among what was tried"
    [ "$(learnt '"op": "noncommutative"')" -ge 2 ] ||
        fail "$host: no lessons of operations that do not commute"
    "$tune" --check "$work/rules" >"$work/said" ||
        fail "$host: collopt-tune finds fault with the rules"
    # the second run follows the rules and tries nothing
    cat "$work/rules" >"$work/said"
    [ "$(grep -c '^allreduce  *3  *1  *3 ' "$work/rules")" = 3 ] || fail "$host: not 3 rules"
    adapting 3 COLLOPT_ADAPT=on COLLOPT_LOG=decide COLLOPT_RULES="$work/rules" -- allreduce=2 \
        bytes=4096 ordered=2 bytes=20000 allreduce=2 bytes=30000 allreduce=2
    said 4 "^collopt: allreduce, 3 ranks, .* (rule $work/rules:[0-9]*)\$" \
        "$host, rules that were learnt"
    together 3 'rules that were learnt'
    # each root has trials of its own; communicators that are freed leave what they have learnt
    rm -f "$work/report"
    adapting 2 COLLOPT_ADAPT=on COLLOPT_REPORT="$work/report" -- dup reduce=80 dup reduce=80 dup
    together 2 'roots'
    [ "$(learnt '"collective": "reduce".*"communicators": 4, "chosen": [1-4]')" -ge 1 ] ||
        fail "$host: lessons of four trials"
    # what is forced is not tried, nor is anything on a communicator of one rank
    adapting 2 COLLOPT_ADAPT=on COLLOPT_LOG=decide COLLOPT_ALLREDUCE=ring -- allreduce=40 \
        info=reduce=chain reduce=40
    said 0 'tried' "$host, forced"
    said 2 '^rank .: run 80 passed 0$' "$host, forced"
    adapting 1 COLLOPT_ADAPT=on COLLOPT_LOG=decide -- allreduce=40
    said 0 'tried' "$host, one rank"
    said 1 '^rank 0: run 40 passed 0$' "$host, one rank"
    # each thread has a communicator with trials of its own
    quiet "$host" 2 COLLOPT_ADAPT=on COLLOPT_CHECK=on "$(program "$host" threads)"
    # and nothing is written where nothing is learnt
    adapting 2 COLLOPT_ADAPT_RULES="$work/none" -- allreduce=2
    said 1 '^collopt: COLLOPT_ADAPT_RULES has no effect: nothing is learnt, COLLOPT_ADAPT is off$' \
        "$host, off"
    [ ! -f "$work/none" ] || fail "$host: rules of nothing"
}

for_each_host adapt
