# Persistent and nonblocking reductions beside all else that a program does with requests.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

# TEST_OURS: collopt runs them; elsewhere the MPI library may, and the programs hold as well.
requests()              # HOST FORM
{
    for ranks in 1 2 3; do
        quiet "$1" $ranks TEST_FORM=$2 COLLOPT_AFTER=1 TEST_OURS=1 "$(program "$1" requests)" 2000
    done
    quiet "$1" 2 TEST_FORM=$2 TEST_OURS=1 "$(program "$1" requests)" 200000
    quiet "$1" 8 TEST_FORM=$2 TEST_OURS=1 "$(program "$1" requests)" 1000
    quiet "$1" 3 TEST_FORM=$2 TEST_OURS=1 COLLOPT_CHECK=on "$(program "$1" requests)" 1000
    quiet "$1" 3 TEST_FORM=$2 TEST_OURS=1 COLLOPT_WAIT=spin "$(program "$1" requests)" 1000
    quiet "$1" 2 TEST_FORM=$2 COLLOPT_ALLREDUCE=host "$(program "$1" requests)" 50
    quiet "$1" 2 TEST_FORM=$2 TEST_OURS=1 COLLOPT_REPORT=/dev/null "$(program "$1" requests)" 50
    quiet "$1" 2 TEST_FORM=$2 COLLOPT=off COLLOPT_REPORT=/dev/null "$(program "$1" requests)" 50
}

# By messages, where the MPI library lends its progress; elsewhere it serves them.
by_messages()           # HOST FORM
{
    if ! lends_progress "$1"; then
        quiet "$1" 2 TEST_FORM=$2 COLLOPT_SHM=off "$(program "$1" requests)" 50
        quiet "$1" 2 TEST_FORM=$2 COLLOPT_SHM=off COLLOPT_CHECK=on "$(program "$1" requests)" 50
        return
    fi
    for ranks in 2 3 8; do
        quiet "$1" $ranks TEST_FORM=$2 TEST_OURS=messages COLLOPT_SHM=off \
            "$(program "$1" requests)" 50
    done
    quiet "$1" 2 TEST_FORM=$2 TEST_OURS=messages COLLOPT_SHM=off "$(program "$1" requests)" 50000
    quiet "$1" 3 TEST_FORM=$2 TEST_OURS=messages COLLOPT_SHM=off COLLOPT_CHECK=on \
        "$(program "$1" requests)" 200
    quiet "$1" 4 TEST_FORM=$2 TEST_OURS=messages COLLOPT_TOPOLOGY=nodes:2 \
        "$(program "$1" requests)" 50
}

# A thread carries them on: a result is there without another call.
by_thread()             # HOST FORM
{
    for ranks in 1 2 3; do
        quiet "$1" $ranks TEST_FORM=$2 TEST_OURS=1 COLLOPT_ASYNC=thread \
            "$(program "$1" requests)" 500 async
        ! lends_progress "$1" ||
            quiet "$1" $ranks TEST_FORM=$2 TEST_OURS=messages COLLOPT_SHM=off COLLOPT_ASYNC=thread \
            "$(program "$1" requests)" 50 async
    done
}

# A small segment does not bound the inputs of nonblocking reductions that are under way.
small_segment()         # HOST RANKS
{
    quiet "$1" "$2" COLLOPT_AFTER=1 COLLOPT_SHM_SIZE=64K TEST_FORM=nonblocking TEST_OURS=1 \
        "$(program "$1" requests)" 1000
}

both_forms()            # HOST
{
    for form in persistent nonblocking; do
        requests "$1" $form
        by_messages "$1" $form
        by_thread "$1" $form
    done
    small_segment "$1" 2
    small_segment "$1" 3
}

for_each_host both_forms
